"""One simple answer: what a reply says of it, whether that is right, and its scores.

When is an answer right? Yes/no and choice: the true one, or another that is right as well. Several
options: exactly the true set. Number: inside the fact's interval. Frames: both ends of a range
within one picture, a set exactly. Boxes: for every label asked for, and no other, what is marked
overlaps the truth by half (tube IoU ≥ .5 over all pictures shown; ≥ .25 where the true box is
tagged `approximate`). Grades: every sub-score exactly.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import msgspec

from situs.items import (
    Boxes,
    ByKind,
    Choice,
    Choices,
    Frames,
    Grades,
    Item,
    Number,
    Simple,
    Text,
    YesNo,
    letter_of,
)
from situs.profiles import AnswerSpace
from situs.run import Viewing
from situs.score.metrics.box_batch import MatchedBoxes, match_boxes
from situs.score.metrics.boxes import matches_of, tube_iou
from situs.score.metrics.grades import GradePair
from situs.score.metrics.number import within_interval
from situs.score.metrics.registry import Given, Metric, always, metrics_of
from situs.score.metrics.sets import ends_within_one
from situs.score.read.result import Parsed, RefusedInWords, Result, Unparsed
from situs.score.replies import offered_grades, read_words
from situs.space import FrameBox, FrameBoxes

if TYPE_CHECKING:
    from situs.score.read import Offered
    from situs.score.read.box_forms.placed import Size
    from situs.score.read.box_forms.record import Mention

__all__ = [
    "Part",
    "Reading",
    "boxes_right",
    "boxes_words",
    "frames_right",
    "is_place",
    "least_overlap",
    "meant_part",
    "read_part",
    "reading_of",
    "reads_item",
    "score_reading",
    "score_readings",
    "scored_once",
    "unread_part",
    "without_places",
]

RIGHT_TUBE_IOU = 0.5
RIGHT_TUBE_IOU_APPROXIMATE = 0.25


class Part(msgspec.Struct, frozen=True, gc=False):
    """What became of one simple answer."""

    state: str
    right: bool
    shown: str
    """What was read, or why nothing was."""
    values: dict[str, float] = {}
    """Scores of this answer, for metrics that are means over answers."""
    grades: tuple[GradePair, ...] = ()
    prediction: Fraction | None = None
    flags: tuple[str, ...] = ()
    boxes: Sequence[FrameBox] = ()


def is_place(answer: Simple) -> bool:
    """Whether the answer says where, rather than what."""
    return isinstance(answer, Boxes | Frames)


def unread_part(item: Item, answer: Simple, state: str, reason: str) -> Part:
    """An answer that is not there:
    every score that would be computed is 0, and every grade missing."""
    graded = tuple((name, grade, None) for name, grade in sorted(_grades(answer).items()))
    nothing = {
        metric.id: 0.0 for metric in metrics_of(type(answer)) if metric.applies(item, answer)
    }
    return Part(state, False, reason, nothing, graded)


@dataclass(slots=True)
class Unplaced:
    """Boxes as a reply gives them, which wait to be placed on the pictures."""

    item: Item
    answer: Boxes
    mentions: Sequence[Mention]
    viewing: Viewing


Reading = Part | Given | Unplaced
"""What became of one simple answer, or what was read of it and waits to be scored."""


def read_part(item: Item, answer: Simple, response: str, shown: Viewing | None) -> Reading:
    """Parse a reply as an answer of this kind; `shown` is needed for places only."""
    if isinstance(answer, Text):
        if not response.strip():
            return unread_part(item, answer, "unparsed", "empty")
        return unread_part(item, answer, "unjudged", "a text answer needs a judge")
    result = read_words(item, answer, response, shown)
    if isinstance(answer, Boxes) and isinstance(result, Parsed) and shown is not None:
        return Unplaced(item, answer, result.value, shown)
    return reading_of(item, answer, result, shown)


def reading_of(
    item: Item, answer: Simple, result: Result[Any], shown: Viewing | None
) -> Part | Given:
    """What was read, ready to be scored (`score_readings`)."""
    if isinstance(result, RefusedInWords):
        return unread_part(item, answer, "refused", "refused in words")
    if not isinstance(result, Parsed):
        return unread_part(item, answer, "unparsed", result.reason)
    return Given(item, answer, result.value, shown, flags=result.flags)


def meant_part(item: Item, answer: Simple, meant: Any, shown: Viewing | None) -> Reading:
    """What a baseline means by its words (`meant`), as reading them would give it."""
    if isinstance(answer, Text):
        return unread_part(item, answer, "unjudged", "a text answer needs a judge")
    if isinstance(answer, _PLACELESS) and not reads_item(type(answer)):
        return scored_once(Given(item, answer, meant))
    result: Result[Any] = Parsed(meant)
    if isinstance(answer, Boxes) and shown is not None:
        result = _boxes_meant(meant, shown.space, tuple(shown.sizes(item)))
    elif isinstance(answer, Grades):
        result = _grades_meant(meant, offered_grades(item))
    return reading_of(item, answer, result, shown)


_PLACELESS = (YesNo, Choice, Choices, Number)
"""Kinds whose scores need no picture, and what is meant by which can be looked up."""
_REPEATED = (*_PLACELESS, Grades)
"""Kinds in which thousands of answers are alike."""
_MOST_REMEMBERED = 1 << 14
_REMEMBERED: dict[tuple[object, ...], tuple[tuple[Metric, ...], Part]] = {}


def reads_item(kind: type[Simple]) -> bool:
    """Whether a metric of a kind of answer reads more of the item than alike items share."""
    return any(metric.by_item for metric in metrics_of(kind))


def scored_once(given: Given) -> Part:
    """The score of an answer without a place:
    thousands of items share their answer, options and tags."""
    item, answer, said = given.item, given.answer, given.said
    metrics = metrics_of(type(answer))
    if isinstance(answer, Grades):
        key: tuple[Any, ...] = (tuple(answer.grades.items()), tuple(said.items()))
    else:
        key = (answer, item.options, said)
    # A list of metrics that was changed is another list; this one is held, so that its id stays its
    # own.
    key = (*key, item.tags, given.flags, id(metrics))
    try:
        known = _REMEMBERED.get(key)
    except TypeError:  # a reader from elsewhere may answer with what cannot be looked up
        return _scored(given, with_boxes=False)
    if known is None:
        if len(_REMEMBERED) >= _MOST_REMEMBERED:
            _REMEMBERED.clear()
        known = _REMEMBERED[key] = metrics, _scored(given, with_boxes=False)
    return known[1]


@functools.lru_cache(maxsize=2048)
def _boxes_meant(
    said: tuple[tuple[Any, ...], ...], space: AnswerSpace, sizes: tuple[Size, ...]
) -> Result[Sequence[FrameBox]]:
    """The boxes on the pictures; a grid is the same on all pictures of a size."""
    from situs.score.read.box_forms.record import Mention
    from situs.score.read.boxes import place_boxes

    mentions = []
    for frame, label, *numbers in said:
        if space.box_form == "volume":
            first, last, x0, x1, y0, y1 = numbers
            frames = tuple(range(int(first), int(last) + 1))
            mentions.append(Mention((x0, x1, y0, y1), frames, label=label, order="xxyy"))
        else:
            mentions.append(Mention(tuple(numbers), (frame,), label=label))
    return place_boxes([(mentions, space, sizes)])[0]


def _grades_meant(grades: Mapping[str, int], scales: Mapping[str, Offered]) -> Result[Any]:
    """Those on the scales that the question offers."""
    on_scale = {
        name: grade
        for name, grade in grades.items()
        if name not in scales or grade in scales[name].levels
    }
    return Parsed(on_scale) if on_scale else Unparsed("no grade given")


def score_readings(readings: Sequence[Reading], *, with_boxes: bool = True) -> list[Part]:
    """Score what was read, many answers at once: boxes are placed and matched as the rows of one
    table.

    `with_boxes` keeps the boxes that were said, for whoever looks at them.
    """
    placed = _placed(readings)
    boxes = [one for one in placed if type(one) is Given and type(one.answer) is Boxes]
    if boxes:
        matched = match_boxes(boxes, [least_overlap(given.item) for given in boxes])
        values = _box_values(boxes, matched)
        for given, right, own in zip(boxes, matched.right, values):
            given.shared.update(right=right, values=own)
    kinds = {type(one.answer) for one in placed if type(one) is Given}
    alike = {kind for kind in kinds if issubclass(kind, _REPEATED) and not reads_item(kind)}
    return [
        (
            one
            if isinstance(one, Part)
            else scored_once(one)
            if type(one.answer) in alike
            else _scored(one, with_boxes)
        )
        for one in placed
    ]


def _placed(readings: Sequence[Reading]) -> list[Part | Given]:
    """The same with all boxes on the pictures."""
    waiting = [one for one in readings if type(one) is Unplaced]
    if not waiting:
        return list(readings)  # type: ignore[arg-type]
    from situs.score.read.boxes import place_boxes

    results = iter(
        place_boxes(
            [(one.mentions, one.viewing.space, one.viewing.sizes(one.item)) for one in waiting]
        )
    )
    return [
        reading_of(one.item, one.answer, next(results), one.viewing)
        if isinstance(one, Unplaced)
        else one
        for one in readings
    ]


def _box_values(boxes: Sequence[Given], matched: MatchedBoxes) -> list[dict[str, float]]:
    """The value of each answer under every metric of boxes for which it has one."""
    rows: list[dict[str, float]] = [{} for _ in boxes]
    # Many metrics ask the same of an answer.
    known: dict[Any, list[bool]] = {}
    for metric in metrics_of(Boxes):
        if metric.applies not in known:
            known[metric.applies] = [metric.applies(given.item, given.answer) for given in boxes]
        column = matched.values.get(metric.id)
        values = [math.nan] * len(boxes) if column is None else column.tolist()
        for given, row, value, applies in zip(boxes, rows, values, known[metric.applies]):
            if not applies:
                continue
            if value == value:  # a number, which was worked out for all at once
                row[metric.id] = value
            elif (alone := _of_answer(metric, given)) is not None:
                row[metric.id] = alone
    return rows


def score_reading(reading: Reading) -> Part:
    """Score one answer that was read."""
    return score_readings([reading])[0]


def _scored(given: Given, with_boxes: bool) -> Part:
    """Whether what was read is right, what it is called,
    and its value under every metric of its kind."""
    answer = given.answer
    right, words = SCORERS[answer](given, answer)
    return Part(
        "answered",
        right,
        words,
        _values(given),
        _graded(given),
        given.said if isinstance(answer, Number) else None,
        given.flags,
        given.said if with_boxes and isinstance(answer, Boxes) else (),
    )


Scored = tuple[bool, str]
"""Whether an answer is right, and what was said, in words."""


def _score_yes_no(given: Given, answer: YesNo) -> Scored:
    return given.said is answer.value, "yes" if given.said else "no"


def _score_number(given: Given, answer: Number) -> Scored:
    words = f"{float(given.said):g} {answer.unit}".strip()
    return within_interval(given.said, answer.interval or (answer.value, answer.value)), words


def _score_choices(given: Given, answer: Choices) -> Scored:
    letters = "".join(letter_of(given.item, value) for value in given.said)
    return set(given.said) == set(answer.values), letters or "none"


def _score_choice(given: Given, answer: Choice) -> Scored:
    right = given.said == answer.value or given.said in answer.also_right
    return right, letter_of(given.item, given.said)


def _score_grades(given: Given, answer: Grades) -> Scored:
    pairs = _graded(given)
    words = ", ".join(f"{name} {'–' if told is None else told}" for name, _, told in pairs)
    return all(truth == told for _, truth, told in pairs), words


def _score_frames(given: Given, answer: Frames) -> Scored:
    right = frames_right(given.truth, given.said, contiguous=answer.contiguous)
    first = _viewing(given).space.frame_base
    pictures = ", ".join(str(frame + first) for frame in given.said)
    return right, f"pictures {pictures or 'none'}"


def _score_boxes(given: Given, answer: Boxes) -> Scored:
    right: bool | None = given.shared.get("right")
    if right is None:
        right = _boxes_right(given)
    boxes, base = FrameBoxes.of(given.said), _viewing(given).space.frame_base
    return right, boxes_words(boxes.table.tolist(), boxes.labels, base)


def _score_text(given: Given, answer: Text) -> Scored:
    raise AssertionError("free text is judged, not scored by rule")


SCORERS: ByKind[Callable[[Given, Any], Scored]] = ByKind(
    "scoring an answer",
    {
        YesNo: _score_yes_no,
        Choice: _score_choice,
        Choices: _score_choices,
        Number: _score_number,
        Grades: _score_grades,
        Frames: _score_frames,
        Boxes: _score_boxes,
        Text: _score_text,
    },
)


def _graded(given: Given) -> tuple[GradePair, ...]:
    """Sub-score, true grade, said grade; none for other kinds."""
    if not isinstance(given.answer, Grades):
        return ()
    truths = given.answer.grades
    return tuple([(name, truths[name], given.said.get(name)) for name in sorted(truths)])


def _viewing(given: Given) -> Viewing:
    if given.viewing is None:
        raise AssertionError(given.answer)
    return given.viewing


def _values(given: Given) -> dict[str, float]:
    """The value of an answer under every metric of its kind for which it has one."""
    item, answer = given.item, given.answer
    if "values" in given.shared:
        known: dict[str, float] = given.shared["values"]
        return known
    values = {}
    for metric in metrics_of(type(answer)):
        if metric.applies is always or metric.applies(item, answer):
            value = _of_answer(metric, given)
            if value is not None:
                values[metric.id] = value
    return values


def _of_answer(metric: Metric, given: Given) -> float | None:
    assert metric.of_answer is not None
    return metric.of_answer(given)


def frames_right(truth: Sequence[int], said: Sequence[int], *, contiguous: bool) -> bool:
    """Whether pictures are named rightly: both ends of a range within one, a set exactly."""
    return ends_within_one(truth, said) if contiguous else set(truth) == set(said)


def boxes_right(item: Item, truth: list[FrameBox], told: list[FrameBox]) -> bool:
    """Whether boxes under the truth's labels (`same_labels`) overlap it enough, label by label."""
    least = least_overlap(item)
    labels = {box.label for box in truth} | {box.label for box in told}
    return all(_own_tube_iou(truth, told, label) >= least for label in labels)


def _own_tube_iou(truth: list[FrameBox], told: list[FrameBox], label: str) -> float:
    return tube_iou(
        [box for box in truth if box.label == label], [box for box in told if box.label == label]
    )


def _boxes_right(given: Given) -> bool:
    """As `boxes_right`; where one thing is asked for,
    the metric of the tube has been worked out already."""
    boxes = (FrameBoxes.of(one) for one in (given.true_boxes, given.said_boxes))
    labels = {label for one in boxes for label in set(one.labels)}
    if len(labels) == 1:
        return matches_of(given).tube_iou >= least_overlap(given.item)
    return boxes_right(given.item, list(given.true_boxes), list(given.said_boxes))


def least_overlap(item: Item) -> float:
    """From which overlap on boxes are right."""
    return RIGHT_TUBE_IOU_APPROXIMATE if "approximate" in item.tags else RIGHT_TUBE_IOU


def boxes_words(rows: Sequence[Sequence[float]], labels: Sequence[str], first_picture: int) -> str:
    """The first boxes in words: their labels, pictures and sides (`FrameBoxes.table`)."""
    words = "; ".join(
        [
            f"{label}{', ' if label else ''}picture {int(frame) + first_picture}:"
            f" {x0:.0f}–{x1:.0f} × {y0:.0f}–{y1:.0f}"
            for (frame, x0, y0, x1, y1), label in zip(rows[:3], labels)
        ]
    )
    return (words + ("; …" if len(rows) > 3 else "")) or "no box"


def _grades(answer: Simple) -> dict[str, int]:
    return answer.grades if isinstance(answer, Grades) else {}


_PLACES = re.compile(
    r"<[^<>]{2,20}>\s*\[[^\]]*\]\s*<[^<>]{2,20}>|\[\s*-?[0-9.]+(?:\s*,\s*-?[0-9.]+){3,}\s*\]|"
    r"\bFrames?\s+[0-9][0-9 ,–-]*:?",
    re.IGNORECASE,
)


def without_places(response: str) -> str:
    """A reply without its boxes and the frames before them,
    so that their numbers are not taken for answers."""
    return _PLACES.sub(" ", response)
