"""What an automatic segmentation says of a structure: a few measures of the ledger, in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import msgspec

from situs.anatomy import canonical_name, list_names
from situs.errors import SitusError, did_you_mean
from situs.facts import Fact, Ledger
from situs.items import resolve
from situs.items.subjects import subjects

__all__ = [
    "TOLD_TO",
    "Segmentation",
    "ToolWord",
    "Value",
    "say_values",
    "tool_values",
    "values_in_words",
]

Value = float | str
Shift = Callable[[Fact], float]
"""The number that is told for a fact: its value, or one within its interval."""

TOLD_TO = 0.1
"""Numbers are put in words to a tenth."""
_EXTENTS = {
    "extent.superior_inferior": "length from top to bottom",
    "extent.left_right": "width from left to right",
    "extent.anterior_posterior": "depth from front to back",
}
_DIRECTIONS = (
    "direction.left_right",
    "direction.anterior_posterior",
    "direction.superior_inferior",
)
_ROLE = re.compile(r"^(largest|second largest)\s+(.+)$")


class ToolWord(msgspec.Struct, frozen=True):
    """One answer of the tool, as it stands in the journal."""

    structure: str
    other: str
    words: str
    """As the model reads them."""
    values: dict[str, Value] = {}
    lie: str = ""
    """Which lie it is; empty for the truth."""
    truth: dict[str, Value] = {}
    """With a lie: what a truthful tool would have said."""


Segmentation = Callable[[str, str], ToolWord]
"""What a session may ask: a structure, and another or nothing."""


def tool_values(ledger: Ledger, structure: str, other: str, shift: Shift) -> dict[str, Value]:
    """The measures of a structure, or those between two; an unknown name is refused."""
    family = _family(ledger, structure)
    if family is not None and not other:
        count = len(ledger.families[family])
        return {"number": str(count)} | dict(_of_one(ledger, f"largest:{family}", shift))
    key = _key_of(ledger, structure)
    if not other:
        return dict(_of_one(ledger, key, shift))
    return dict(_of_two(ledger, key, _key_of(ledger, other), shift))


def say_values(structure: str, other: str, values: dict[str, Value]) -> str:
    """The measures in one line."""
    about = f"{structure} and {other}" if other else structure
    return f"Segmentation of {about}: {values_in_words(values)}."


def values_in_words(values: dict[str, Value]) -> str:
    """The measures as they are read, numbers to a tenth."""
    return "; ".join(
        f"{name} {value:.1f}" if isinstance(value, float) else f"{name} {value}"
        for name, value in values.items()
    )


def _of_one(ledger: Ledger, key: str, shift: Shift) -> Iterator[tuple[str, Value]]:
    subject = resolve(ledger, key)
    name = subject.structure
    prefix = "largest: " if key.startswith("largest:") else ""
    yield f"{prefix}volume (mL)", shift(ledger.fact("volume", ledger.whole(name)))
    for kind, words in _EXTENTS.items():
        if (fact := _fact(ledger, kind, name)) is not None:
            yield f"{prefix}{words} (mm)", shift(fact)
    if (side := _fact(ledger, "side", name)) is not None:
        yield f"{prefix}side of the patient", str(side.value)
    if (span := _fact(ledger, "slice_span", name)) is not None and isinstance(span.value, tuple):
        first, last = (int(value) + 1 for value in span.value)
        yield f"{prefix}axial slices", f"{first} to {last}"
    organ = _fact(ledger, "organ_of", name) if subject.is_lesion else None
    if organ is not None and organ.value is not None:
        yield f"{prefix}lies in", str(organ.value).replace("_", " ")


def _of_two(ledger: Ledger, a: str, b: str, shift: Shift) -> Iterator[tuple[str, Value]]:
    first, second = (resolve(ledger, key).structure for key in (a, b))
    if first == second:
        raise SitusError("these are one structure; name two")
    if (gap := _fact(ledger, "main_gap", first, second)) is not None:
        yield "shortest distance (mm)", shift(gap)
    if (centres := _fact(ledger, "centre_distance", first, second)) is not None:
        yield "distance of the centres (mm)", shift(centres)
    for kind in _DIRECTIONS:
        if (fact := _fact(ledger, kind, first, second)) is not None and fact.value:
            yield f"first lies, by {kind.partition('.')[2].replace('_', '–')}", str(fact.value)


def _fact(ledger: Ledger, kind: str, *names: str) -> Fact | None:
    """A fact, or nothing where the patient allows none."""
    try:
        return ledger.fact(kind, *names)
    except (SitusError, KeyError, ValueError):
        return None


def _plain(name: str) -> str:
    return re.sub(r"[\s_]+", " ", name.strip().lower()).removeprefix("the ").removesuffix("s")


def _family(ledger: Ledger, name: str) -> str | None:
    wanted = _plain(name)
    for family in ledger.families:
        if wanted in (_plain(family), _plain(ledger.family_term(family).plain)):
            return family
    return None


def _key_of(ledger: Ledger, name: str) -> str:
    """The subject that a plain name means.

    Nobody learns from an unknown one what else is annotated.
    """
    known: dict[str, str] = {}
    for subject in subjects(ledger):
        known.setdefault(_plain(subject.short), subject.key)
        known.setdefault(_plain(subject.key), subject.key)
    known |= {_plain(structure): structure for structure in ledger.structures}
    wanted = _plain(name)
    if wanted == "largest lesion" and ledger.families:
        return "largest:*"
    if (role := _ROLE.match(wanted)) is not None:
        family = _family(ledger, role[2])
        start = "largest:" if role[1] == "largest" else "second:"
        if family is not None and (start == "largest:" or len(ledger.families[family]) > 1):
            return start + family
    elif (family := _family(ledger, name)) is not None:
        return f"largest:{family}"
    key = known.get(wanted) or known.get(_plain(canonical_name(name) or ""))
    if key is None:
        words = [entry.plain for entry in list_names(())]
        fix = did_you_mean(wanted, words) if wanted not in words else "try another"
        raise SitusError(f"no {name[:60]!r} is segmented here", fix=fix)
    return key
