"""What became of one answer: its state, and whether it is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

import msgspec

from situs.items import (
    Box,
    Boxes,
    Choice,
    Choices,
    Compound,
    Frames,
    Item,
    Number,
    Simple,
    YesNo,
    answer_key,
    has_places,
)
from situs.profiles import unmet_needs
from situs.run import SET_ASIDE, AnswerRow, Viewing
from situs.score.columns import NOT_COUNTED, UNANSWERED
from situs.score.compound.parts import (
    Part,
    Reading,
    meant_part,
    read_part,
    score_readings,
    unread_part,
)
from situs.score.judgements import Judgement, Judgements, not_counted
from situs.score.metrics.grades import GradePair
from situs.score.stats.estimates import cluster_of
from situs.space import FrameBox

__all__ = [
    "NOT_COUNTED",
    "Asked",
    "Outcome",
    "ReadAnswer",
    "Score",
    "Scored",
    "chance_of",
    "judge_answers",
    "score_answer",
    "truth_of",
]


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


class Score(Protocol):
    """What is asked of the score of one answer: a record (`Scored`) has it, and so has a row of
    columns (`explain.answers.KeptScore`)."""

    @property
    def state(self) -> str:
        """`answered`, `refused`, `unparsed`, …: see `Outcome`."""

    @property
    def right(self) -> bool | None:
        """None where it is not answerable under the profile."""

    @property
    def parsed(self) -> str:
        """What was read from the response, or why nothing was."""

    @property
    def stratum(self) -> str:
        """Of its item."""

    @property
    def chance(self) -> float | None:
        """What a uniform guess gets; None where there is no such thing."""

    @property
    def prediction(self) -> Fraction | None:
        """The number that was said."""

    @property
    def credit(self) -> float:
        """1 if right, else 0; what declines or cannot be read counts as a guess."""


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
    """Sub-scores in which another grade than 0 means that the sign is not there,
    or (None) no grade does."""
    answer_right: bool | None = None
    """For answers that say both what and where: whether the what is right."""
    place_right: bool | None = None
    hidden_right: bool | None = None
    """For items that are not answerable: whether the answer was right nevertheless."""

    @property
    def state(self) -> str:
        """Of the outcome."""
        return self.outcome.state

    @property
    def right(self) -> bool | None:
        """Of the outcome."""
        return self.outcome.right

    @property
    def parsed(self) -> str:
        """Of the outcome."""
        return self.outcome.parsed

    @property
    def judgement(self) -> Judgement:
        """What became of the answer, apart from its item."""
        own = self.outcome
        return Judgement(
            *(own.state, own.right, own.parsed, own.flags, own.boxes),
            *(self.prediction, self.values, self.grades, self.nominal, self.absent),
            *(self.answer_right, self.place_right, self.hidden_right),
        )

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

    `gives` are the profile's promises, None if no profile is known. `shown` tells the pictures,
    without which no box or frame can be scored. `hidden` are the reasons why the pictures do not
    hold what the item needs.
    """
    asked = Asked.of(item, gives, shown=shown, hidden=hidden)
    return _with_item(item, judge_answers([asked.answered(row)])[0])


class Asked(msgspec.Struct, frozen=True, gc=False):
    """An item as it was asked: what the scores of all answers to it share."""

    item: Item
    shown: Viewing | None
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
        return cls(item, shown, unseen, reasons)

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

    def judged(self, parts: Mapping[str, Part], alike: Judgements) -> Judgement:
        """The judgement, unless the item is not answerable; `alike` are those of the batch."""
        item, reasons = self.asked.item, self.asked.reasons
        if not reasons:
            return alike.of(item, parts)
        right: bool | None = None
        if parts:
            right = alike.of(item, parts).right
        elif self.is_answered and SET_ASIDE not in reasons:
            right = False
        return not_counted(reasons, right)


def judge_answers(answers: Sequence[ReadAnswer], *, with_boxes: bool = True) -> list[Judgement]:
    """Score many answers at once; see `parts.score_readings`."""
    readings = [reading for one in answers for reading in one.parts.values()]
    parts = iter(score_readings(readings, with_boxes=with_boxes))
    alike = Judgements()
    return [one.judged({name: next(parts) for name in one.parts}, alike) for one in answers]


def _with_item(item: Item, judgement: Judgement) -> Scored:
    """A judgement with what tables group the answer by."""
    one = judgement
    return Scored(
        outcome=Outcome(
            item.item_id, one.state, one.right, one.parsed, one.flags, tuple(one.boxes)
        ),
        cluster=cluster_of(item),
        task=item.task,
        form=item.form,
        stratum=item.stratum,
        tags=item.tags,
        question=item.question,
        chance=chance_of(item),
        answer=answer_key(item.answer) or "",
        twin_group=item.twin_group,
        truth=truth_of(item),
        prediction=one.prediction,
        values=one.values,
        grades=one.grades,
        nominal=one.nominal,
        absent=one.absent,
        answer_right=one.answer_right,
        place_right=one.place_right,
        hidden_right=one.hidden_right,
    )


def truth_of(item: Item) -> float | None:
    """The true number; None where none is asked for."""
    return item.answer.value if isinstance(item.answer, Number) else None


def chance_of(item: Item) -> float | None:
    """Probability that a uniform guess is right; None where there is no such thing."""
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
    # What answers without words (blind rows, a build's card) needs none of the readers, and does
    # not load them.
    from situs.score.compound.split import split_response
    from situs.score.compound.stated import stated_parts

    if row.state != "answered":
        return _unread(item, row.state, "")
    if shown is None and has_places(item.answer):
        return _unread(item, "unjudged", "a place cannot be judged without what was shown")
    parts = _parts(item)
    texts = {"": row.response}
    if isinstance(item.answer, Compound):
        stated = None if shown is None else stated_parts(item, parts, row.response, shown)
        if stated is not None:
            return stated
        texts = split_response(row.response, dict(parts))
    return {name: read_part(item, part, texts[name], shown) for name, part in parts.items()}
