"""What became of an answer, apart from whose it is: thousands of answers share one judgement.

Columns are made of the distinct judgements of a batch, and a row only says which of them is its
own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import msgspec

from situs.items import GRADED, Compound, Item, Text
from situs.score.columns import NOT_COUNTED
from situs.score.compound.parts import Part, is_place
from situs.score.metrics.grades import GradePair, absent_grade, is_nominal
from situs.space import FrameBox

__all__ = ["Judgement", "Judgements", "not_counted", "single_judgement", "state_of_part"]

_WORST_FIRST = ("failed", "missing", "unparsed", "refused", "answered", "unjudged")


class Judgement(msgspec.Struct, frozen=True, gc=False):
    """One answer's state, whether it is right, and its scores;
    `outcomes.Scored` has it with its item."""

    state: str
    right: bool | None
    parsed: str = ""
    flags: tuple[str, ...] = ()
    boxes: Sequence[FrameBox] = ()
    prediction: Fraction | None = None
    values: dict[str, float] = {}
    grades: tuple[GradePair, ...] = ()
    nominal: frozenset[str] = frozenset()
    absent: dict[str, int | None] = {}
    answer_right: bool | None = None
    place_right: bool | None = None
    hidden_right: bool | None = None


def not_counted(reasons: Sequence[str], right: bool | None) -> Judgement:
    """Of an answer to what the pictures do not hold, and whether it was right nevertheless."""
    return Judgement(NOT_COUNTED, None, "; ".join(reasons), hidden_right=right)


def state_of_part(judgement: Judgement, name: str) -> str:
    """How one of several parts of an answer ended, of which one at least was read."""
    lost = (state for state in _WORST_FIRST if f"{name}:{state}" in judgement.flags)
    return next(lost, judgement.state) if judgement.flags else judgement.state


class Judgements:
    """The judgements of a batch of answers:
    one for all whose answer of one part was scored alike."""

    def __init__(self) -> None:
        self._known: dict[object, tuple[Part, Judgement]] = {}

    def of(self, item: Item, parts: Mapping[str, Part]) -> Judgement:
        """The whole of an answer: right only if all its parts are."""
        if isinstance(item.answer, Compound):
            return _combined(item, item.answer, parts)
        part = parts[""]
        key: object = id(part)
        if part.grades:
            key = key, item.task, item.parameters.get("question"), item.tags
        # The part is held, so that no other one can have its id.
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = part, single_judgement(item, part)
        return known[1]


def single_judgement(item: Item, part: Part) -> Judgement:
    """Of an answer of one part."""
    return Judgement(
        part.state,
        part.right,
        part.shown,
        tuple(dict.fromkeys(part.flags)),
        part.boxes,
        part.prediction,
        part.values,
        **_graded(item, part.grades),
    )


def _combined(item: Item, answer: Compound, read: Mapping[str, Part]) -> Judgement:
    """Of several parts. Text, which judges read, is left out beside others."""
    parts = answer.parts
    if "" not in read and all(one.state == "answered" and not one.flags for one in read.values()):
        return _plain(item, answer, read)
    judged = {
        name: part for name, part in read.items() if not isinstance(parts[name], Text)
    } or dict(read)
    states = [part.state for part in judged.values()]
    state = min(states, key=_WORST_FIRST.index)
    if len(judged) > 1 and "answered" in states:
        state = "answered"
    words: list[str] = []
    flags: list[str] = []
    lost: list[str] = []
    values: dict[str, float] = {}
    boxes: Sequence[FrameBox] = ()
    grades: tuple[GradePair, ...] = ()
    what: list[bool] = []
    where: list[bool] = []
    for name, part in judged.items():
        if part.shown:
            words.append(f"{name}: {part.shown}" if name else part.shown)
        flags += part.flags
        if state == "answered" != part.state:
            lost.append(f"{name}:{part.state}")
        values.update(part.values)
        boxes = _joined(boxes, part.boxes)
        grades += part.grades
        (where if is_place(parts[name]) else what).append(part.right)
    is_grounded = bool(what and where)
    return Judgement(
        state,
        all(what) and all(where),
        "; ".join(words),
        (*dict.fromkeys(flags), *lost),
        boxes,
        values=values,
        answer_right=all(what) if is_grounded else None,
        place_right=all(where) if is_grounded else None,
        **_graded(item, grades),
    )


def _plain(item: Item, answer: Compound, read: Mapping[str, Part]) -> Judgement:
    """`_combined` of parts that were all read without anything to be said about it."""
    right = {True: True, False: True}
    values: dict[str, float] = {}
    boxes: Sequence[FrameBox] = ()
    grades: tuple[GradePair, ...] = ()
    kinds = set()
    for name, part in read.items():
        where = is_place(answer.parts[name])
        kinds.add(where)
        right[where] = right[where] and part.right
        values |= part.values
        boxes = _joined(boxes, part.boxes)
        grades += part.grades
    is_grounded = len(kinds) == 2
    return Judgement(
        "answered",
        right[True] and right[False],
        "; ".join([f"{name}: {part.shown}" for name, part in read.items() if part.shown]),
        (),
        boxes,
        values=values,
        answer_right=right[False] if is_grounded else None,
        place_right=right[True] if is_grounded else None,
        **_graded(item, grades),
    )


def _joined(boxes: Sequence[FrameBox], more: Sequence[FrameBox]) -> Sequence[FrameBox]:
    """The boxes of two parts. Mostly only one has any, and those stay the array they are."""
    if not len(boxes) or not len(more):
        return boxes if len(boxes) else more
    return (*boxes, *more)


def _graded(item: Item, grades: Sequence[GradePair]) -> dict[str, Any]:
    """What a judgement says of grades,
    under the names of their sub-scores among those of a bank."""
    if not grades:
        return {}
    said_of = tuple([name for name, _, _ in grades])
    question = item.parameters.get("question")
    names, nominal, absent = _sub_scores(item.task, question, item.tags, said_of)
    own = tuple([(name, truth, told) for name, (_, truth, told) in zip(names, grades)])
    return {"grades": own, "nominal": nominal, "absent": absent}


SubScores = tuple[tuple[str, ...], frozenset[str], dict[str, int | None]]
"""Names, those whose grades are kinds,
and those in which another grade than 0, or none, means absence."""


@lru_cache(maxsize=4096)
def _sub_scores(
    task: str, question: str | None, tags: tuple[str, ...], names: tuple[str, ...]
) -> SubScores:
    """The sub-scores of a question of a bank, which thousands of items ask: `1.size` and so on.

    What geometry says stays apart from readers' grades.
    """
    own = names
    if question is not None:
        bank = "" if task.startswith(GRADED) else f"{task.partition('.')[0]} "
        own = tuple(f"{bank}{question}.{name}" for name in names)
    nominal = frozenset(one for one, name in zip(own, names) if is_nominal(tags, name))
    absent = ((one, absent_grade(tags, name)) for one, name in zip(own, names))
    return own, nominal, {one: grade for one, grade in absent if grade != 0}
