"""Whether the twins of a bench are what they should be."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import msgspec

from situs.items.kinds import answer_key
from situs.items.record import Choices, Item

__all__ = ["Twins"]

_BY_LUCK = 1e-9
"""Answers as uneven as this are not drawn with equal chances."""


class _Twin(msgspec.Struct, frozen=True):
    item_id: str
    patient_id: str
    text: tuple[str, ...]
    """Task, form, words, stratum and split."""
    offered: frozenset[str]
    key: str | None


class Twins:
    """Collects the twins of a bench;
    then tells which groups, or which answers, no drawing would have given."""

    def __init__(self, fewest: int = 2) -> None:
        """`fewest` is the recipe's:
        a question may be asked of one patient alone if it allows that."""
        self._fewest = min(2, fewest)
        self._groups: dict[str, list[_Twin]] = defaultdict(list)
        self._alone: list[str] = []

    def add(self, item: Item) -> None:
        """Note one item."""
        key = None if isinstance(item.answer, Choices) else answer_key(item.answer)
        if item.twin_group:
            offered = frozenset(option.value for option in item.options)
            text = (item.task, item.form, item.question, item.stratum, item.split)
            self._groups[item.twin_group].append(
                _Twin(item.item_id, item.patient_id, text, offered, key)
            )
        elif key is not None and item.stratum == "headline":
            self._alone.append(item.item_id)

    def problems(self) -> Iterator[tuple[str, str]]:
        """Item id and what is wrong."""
        for item_id in self._alone:
            yield item_id, "has no twins, so that its answer is not balanced"
        kinds: dict[tuple[object, ...], list[_Twin]] = defaultdict(list)
        for members in self._groups.values():
            first = members[0]
            if any((twin.text, twin.offered) != (first.text, first.offered) for twin in members):
                yield first.item_id, "its twins differ in text, options, stratum or split"
            if len({twin.patient_id for twin in members}) != len(members):
                yield first.item_id, "a patient occurs twice among its twins"
            if len(members) < self._fewest:
                yield first.item_id, "its twins are missing"
            kinds[first.text[0], first.text[1], first.offered] += members
        for (*_, offered), members in kinds.items():
            if _is_uneven([twin.key for twin in members], len(offered)):  # type: ignore[arg-type]
                yield members[0].item_id, "it and its like have one answer far too often"


def _is_uneven(keys: list[str | None], offered: int) -> bool:
    """Whether some answer is so frequent that drawing with equal chances would hardly ever give it.

    By the union bound over the options; where none are shown (yes and no, or a number) there are at
    least two.
    """
    from scipy.special import bdtrc  # slow to load, and only checks need it

    counts = Counter(keys)
    if None in counts or not keys:
        return False
    total, share, most = len(keys), 1.0 / max(2, offered), max(counts.values())
    # P(X ≥ most) of the binomial; summed up term by term, it overflows from 1,030 twins on.
    return float(bdtrc(most - 1, total, share)) * max(2, offered) < _BY_LUCK
