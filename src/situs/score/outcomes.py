"""What became of one answer: its state, and whether it is right."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import msgspec

from situs.items import (
    GRADED,
    Box,
    Boxes,
    Choice,
    Choices,
    Compound,
    Frames,
    Item,
    Number,
    Simple,
    Text,
    YesNo,
    answer_key,
    has_places,
)
from situs.profiles import unmet_needs
from situs.run import SET_ASIDE, AnswerRow, Viewing
from situs.score.columns import NOT_COUNTED, UNANSWERED
from situs.score.metrics.grades import GradePair, absent_grade, is_nominal
from situs.score.parts import (
    Part,
    Reading,
    is_place,
    meant_part,
    read_part,
    score_readings,
    unread_part,
)
from situs.score.stats.estimates import cluster_of
from situs.space import FrameBox

__all__ = [
    "NOT_COUNTED",
    "Asked",
    "Outcome",
    "ReadAnswer",
    "Scored",
    "score_answer",
    "score_answers",
]

_WORST_FIRST = ("failed", "missing", "unparsed", "refused", "answered", "unjudged")


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """One item's result, as a report shows it."""

    item_id: str
    state: str
    """`answered`, `refused`, `failed`, `unparsed`, `unjudged`, `not answerable` or `missing`."""
    right: bool | None
    """None where it is not answerable under the profile."""
    parsed: str = ""
    """What was read from the response, or why nothing was."""
    flags: tuple[str, ...] = ()
    """What a careful reader should know: `scale_inferred`, `partial`, …"""
    boxes: tuple[FrameBox, ...] = ()
    """The boxes that were read, in pixels of the pictures shown."""


class Scored(msgspec.Struct, frozen=True, gc=False):
    """An outcome with what tables group and average by; the little that is kept of each item."""

    outcome: Outcome
    cluster: str
    task: str
    form: str
    stratum: str
    tags: tuple[str, ...]
    question: str
    chance: float | None
    """Probability that a uniform guess is right; None where there is no such thing."""
    answer: str = ""
    """The true answer as a value that can be counted; empty where it is not discrete."""
    twin_group: str = ""
    truth: float | None = None
    prediction: Fraction | None = None
    values: dict[str, float] = {}
    """Scores of this answer, for metrics that are means over answers; 0 where there is none."""
    grades: tuple[GradePair, ...] = ()
    nominal: frozenset[str] = frozenset()
    """Sub-scores whose grades are kinds, not steps."""
    absent: dict[str, int | None] = {}
    """Sub-scores in which another grade than 0 means that the sign is not there, or (None) no grade does."""
    answer_right: bool | None = None
    """For answers that say both what and where: whether the what is right."""
    place_right: bool | None = None
    hidden_right: bool | None = None
    """For items that are not answerable: whether the answer was right nevertheless."""

    @property
    def credit(self) -> float:
        """1 if right, else 0; what declines or cannot be read counts as a uniform guess would.

        Gains are decided with it: else whoever declines without pictures would gain by guessing
        with them.
        """
        if self.outcome.state in UNANSWERED and self.chance is not None:
            return self.chance
        return float(bool(self.outcome.right))


def score_answer(
    item: Item,
    row: AnswerRow | None,
    gives: tuple[str, ...] | None,
    *,
    shown: Viewing | None = None,
    hidden: Sequence[str] = (),
) -> Scored:
    """Score one answer by rule.

    `gives` are the profile's promises, None if no profile is known. `shown` tells the pictures, without which no box
    or frame can be scored. `hidden` are the reasons why the pictures do not hold what the item needs.
    """
    asked = Asked.of(item, gives, shown=shown, hidden=hidden)
    return score_answers([asked.answered(row)])[0]


class Asked(msgspec.Struct, frozen=True, gc=False):
    """An item as it was asked: what the scores of all answers to it share."""

    item: Item
    shown: Viewing | None
    base: Scored
    unseen: str
    """Why a place that is asked for cannot be told on the pictures; empty if it can."""
    reasons: list[str]
    """Why it is not answerable; none if it is."""

    @classmethod
    def of(
        cls,
        item: Item,
        gives: tuple[str, ...] | None,
        *,
        shown: Viewing | None = None,
        hidden: Sequence[str] = (),
    ) -> Asked:
        """See `score_answer`."""
        unseen = _unseen(item, shown)
        reasons = list(hidden) or _unmet(item, gives) or ([unseen] if unseen else [])
        return cls(item, shown, _base(item), unseen, reasons)

    @property
    def _is_scored(self) -> bool:
        """Whether it is to be told if an answer is right, even where the item is not answerable."""
        # What is set aside can be seen, and says nothing about answers to what cannot.
        return not self.reasons or not (self.unseen or SET_ASIDE in self.reasons)

    def answered(self, row: AnswerRow | None) -> ReadAnswer:
        """With a reply, which is read."""
        if not self._is_scored or (self.reasons and row is None):
            return ReadAnswer(self, {}, is_answered=row is not None)
        if row is None:
            return ReadAnswer(self, _unread(self.item, "missing", ""), is_answered=False)
        return ReadAnswer(self, _read_parts(self.item, row, self.shown))

    def meant(self, meant: Mapping[str, Any] | None) -> ReadAnswer:
        """With what a baseline means, part by part, without its words; None if it has no answer."""
        item, shown = self.item, self.shown
        if not self._is_scored:
            return ReadAnswer(self, {})
        if meant is None:
            return ReadAnswer(self, _unread(item, "unparsed", "no answer"))
        parts = {k: meant_part(item, part, meant[k], shown) for k, part in _parts(item).items()}
        return ReadAnswer(self, parts)


class ReadAnswer(msgspec.Struct, frozen=True, gc=False):
    """An item with what was read of an answer to it, which waits to be scored."""

    asked: Asked
    parts: Mapping[str, Reading]
    """None of them where nothing needs to be scored."""
    is_answered: bool = True

    def scored(self, parts: Mapping[str, Part]) -> Scored:
        """The score, unless the item is not answerable."""
        item, base, reasons = self.asked.item, self.asked.base, self.asked.reasons
        if not reasons:
            return _combined(item, base, parts)
        right: bool | None = None
        if parts:
            right = _combined(item, base, parts).outcome.right
        elif self.is_answered and SET_ASIDE not in reasons:
            right = False
        outcome = Outcome(item.item_id, NOT_COUNTED, None, "; ".join(reasons))
        return msgspec.structs.replace(base, outcome=outcome, hidden_right=right)


def score_answers(answers: Sequence[ReadAnswer], *, with_boxes: bool = True) -> list[Scored]:
    """Score many answers at once; see `parts.score_readings`."""
    readings = [reading for one in answers for reading in one.parts.values()]
    parts = iter(score_readings(readings, with_boxes=with_boxes))
    return [one.scored({name: next(parts) for name in one.parts}) for one in answers]


def _base(item: Item) -> Scored:
    return Scored(
        outcome=Outcome(item.item_id, "missing", False),
        cluster=cluster_of(item),
        task=item.task,
        form=item.form,
        stratum=item.stratum,
        tags=item.tags,
        question=item.question,
        chance=_chance(item),
        answer=answer_key(item.answer) or "",
        twin_group=item.twin_group,
        truth=item.answer.value if isinstance(item.answer, Number) else None,
    )


def _chance(item: Item) -> float | None:
    if isinstance(item.answer, Choices):
        return 1.0 / ((1 << len(item.options)) - 1)
    return 1.0 / (len(item.options) or 2) if isinstance(item.answer, YesNo | Choice) else None


def _unmet(item: Item, gives: tuple[str, ...] | None) -> list[str]:
    missing = unmet_needs(item, gives) if gives is not None else []
    return [f"needs {', '.join(missing)}"] if missing else []


def _unseen(item: Item, shown: Viewing | None) -> str:
    """Why a place that is asked for cannot be told on the pictures; empty if it can."""
    if shown is None or not has_places(item.answer):
        return ""
    obstacle = shown.obstacle(item)
    if obstacle:
        return obstacle
    for part in _parts(item).values():
        places: Sequence[Box] | Sequence[int] = ()
        seen: Sequence[object] = ()
        if isinstance(part, Boxes):
            places, seen = part.boxes, shown.boxes(item, part.boxes)
        elif isinstance(part, Frames):
            places, seen = part.frames, shown.frames(item, part.frames)
        if places and not seen:
            return "no picture shows it"
    return ""


def _parts(item: Item) -> Mapping[str, Simple]:
    return item.answer.parts if isinstance(item.answer, Compound) else {"": item.answer}


def _unread(item: Item, state: str, reason: str) -> dict[str, Reading]:
    return {name: unread_part(item, part, state, reason) for name, part in _parts(item).items()}


def _read_parts(item: Item, row: AnswerRow, shown: Viewing | None) -> dict[str, Reading]:
    """What a reply says of each part."""
    # What answers without words (blind rows, a build's card) needs none of the readers, and does not load them.
    from situs.score.compound import split_response

    if row.state != "answered":
        return _unread(item, row.state, "")
    if shown is None and has_places(item.answer):
        return _unread(item, "unjudged", "a place cannot be judged without what was shown")
    parts = _parts(item)
    whole = isinstance(item.answer, Compound)
    texts = split_response(row.response, dict(parts)) if whole else {"": row.response}
    return {name: read_part(item, part, texts[name], shown) for name, part in parts.items()}


def _combined(item: Item, base: Scored, read: Mapping[str, Part]) -> Scored:
    """The whole of an answer: right only if all its parts are. Text, which judges read, is left out beside others."""
    if not isinstance(item.answer, Compound):
        return _single(item, base, read[""])
    parts = item.answer.parts
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
    boxes: tuple[FrameBox, ...] = ()
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
        boxes += part.boxes
        grades += part.grades
        (where if is_place(parts[name]) else what).append(part.right)
    outcome = Outcome(
        item.item_id,
        state,
        all(what) and all(where),
        "; ".join(words),
        (*dict.fromkeys(flags), *lost),
        boxes,
    )
    is_grounded = bool(what and where)
    return _with(
        base,
        outcome=outcome,
        prediction=None
        if base.truth is None
        else next(part.prediction for part in judged.values()),
        values=values,
        answer_right=all(what) if is_grounded else None,
        place_right=all(where) if is_grounded else None,
        **_graded(item, grades),
    )


def _with(base: Scored, **fields: Any) -> Scored:
    """The record with these fields."""
    scored: Scored = copy.copy(base)
    for name, value in fields.items():
        # Nobody else holds the copy yet, and `structs.replace` would go through all its fields.
        msgspec.structs.force_setattr(scored, name, value)
    return scored


def _single(item: Item, base: Scored, part: Part) -> Scored:
    """An answer of one part."""
    outcome = Outcome(
        item.item_id,
        part.state,
        part.right,
        part.shown,
        tuple(dict.fromkeys(part.flags)),
        part.boxes,
    )
    prediction = None if base.truth is None else part.prediction
    graded = _graded(item, part.grades)
    return _with(base, outcome=outcome, prediction=prediction, values=part.values, **graded)


def _graded(item: Item, grades: Sequence[GradePair]) -> dict[str, Any]:
    """What a score says of grades, under the names of their sub-scores among those of a bank."""
    if not grades:
        return {}
    said_of = tuple([name for name, _, _ in grades])
    question = item.parameters.get("question")
    names, nominal, absent = _sub_scores(item.task, question, item.tags, said_of)
    own = tuple([(name, truth, told) for name, (_, truth, told) in zip(names, grades)])
    return {"grades": own, "nominal": nominal, "absent": absent}


SubScores = tuple[tuple[str, ...], frozenset[str], dict[str, int | None]]
"""Names, those whose grades are kinds, and those in which another grade than 0, or none, means absence."""


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
