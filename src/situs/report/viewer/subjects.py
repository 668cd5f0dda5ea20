"""Which structures an item is about, and how they read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from situs.anatomy import Term, term
from situs.facts import Fact
from situs.items import Item, marks_of

__all__ = ["ItemSubject", "subjects_of"]

_ROLES = {"largest": ("largest:", "largest"), "second_largest": ("second:", "second largest")}
"""Kind of the fact that says which lesion plays a role → how keys and words begin."""


class ItemSubject(msgspec.Struct, frozen=True):
    """A structure of an item, with its volume if a fact states it."""

    structure: str
    plain: str
    volume: str = ""


def subjects_of(
    item: Item, facts: Iterable[Fact], own_terms: Mapping[str, Term]
) -> list[ItemSubject]:
    """The structures in the order the item names them;
    a lesion by the structure that plays its role."""
    item_facts = list(facts)
    playing = {
        _ROLES[f.kind][0] + f.subjects[0]: str(f.value) for f in item_facts if f.kind in _ROLES
    }
    volumes = {fact.subjects[0]: fact for fact in item_facts if fact.kind == "volume"}
    marks = {box.label for box in marks_of(item).values()}
    # The boxes of graded items are named by their region, which is a part of a structure.
    is_graded = any(tag.startswith("region:") for tag in item.tags)
    keys = [
        box.label for box in item.boxes if box.label and box.label not in marks and not is_graded
    ]
    keys += [tag.partition(":")[2] for tag in item.tags if tag.startswith("structure:")]
    result: dict[str, ItemSubject] = {}
    for key in keys:
        start, role = next(
            (entry for entry in _ROLES.values() if key.startswith(entry[0])), ("", "")
        )
        family = key.removeprefix(start)
        name = playing.get(key, family)
        plain = "lesion" if family == "*" else term(family, own_terms).plain
        words = f"{role} {plain}" if role else plain
        result.setdefault(name, ItemSubject(name, words, _volume_text(volumes.get(name))))
    for name in _beside(item, item_facts):
        result.setdefault(name, ItemSubject(name, term(name, own_terms).plain))
    return list(result.values())


def _beside(item: Item, facts: Iterable[Fact]) -> list[str]:
    """Structures the proof rests on though the question does not name them:
    the organ of a lesion, a vertebra."""
    names = [
        str(fact.value) for fact in facts if fact.kind == "organ_of" and fact.value is not None
    ]
    return names + [
        f"vertebrae_{tag.partition(':')[2]}" for tag in item.tags if tag.startswith("level:")
    ]


def _volume_text(fact: Fact | None) -> str:
    if fact is None or isinstance(fact.value, bool) or not isinstance(fact.value, int | float):
        return ""
    millilitres = f"{fact.value:.0f}" if fact.value >= 10 else f"{fact.value:.1f}"
    return f"{'≥ ' if 'cut' in fact.flags else ''}{millilitres} mL"
