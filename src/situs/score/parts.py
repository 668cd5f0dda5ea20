"""One simple answer: what a reply says of it, whether that is right, and its scores.

When is an answer right? Yes/no and choice: the true one, or another that is right as well. Several options: exactly the
true set. Number: inside the fact's interval. Frames: both ends of a range within one picture, a set exactly. Boxes: for
every label asked for, and no other, what is marked overlaps the truth by half (tube IoU ≥ .5 over all pictures shown;
≥ .25 where the true box is tagged `approximate`). Grades: every sub-score exactly.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from situs.facts import LEVELS
from situs.items import (
    Boxes,
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
from situs.run import Viewing
from situs.score.metrics.boxes import (
    BOX_CENTRE_HIT_3D,
    BOX_F1,
    BOX_HIT_3D,
    BOX_IOU_3D,
    BOX_PANOPTIC,
    box_metrics,
    same_labels,
    tube_iou,
)
from situs.score.metrics.grades import GRADE_EXACT, GRADE_WITHIN_ONE, GradePair
from situs.score.metrics.number import (
    MRA_VSI_CODE,
    MRA_VSI_PAPER,
    RELATIVE_ACCURACY,
    mra_vsi_code,
    mra_vsi_paper,
    relative_accuracy,
    within_interval,
)
from situs.score.metrics.sets import (
    CHOICES_EXACT,
    CHOICES_F1,
    FRAMES_ENDS_WITHIN_ONE,
    FRAMES_F1,
    FRAMES_IOU,
    ends_within_one,
    set_f1,
    set_iou,
)
from situs.score.read import (
    Parsed,
    RefusedInWords,
)
from situs.score.replies import read_reply
from situs.space import FrameBox, WorldBox

__all__ = [
    "LEVEL_WITHIN_ONE",
    "Part",
    "boxes_right",
    "frames_right",
    "is_nominal",
    "is_place",
    "read_part",
    "unread_part",
    "without_places",
]

LEVEL_WITHIN_ONE = "accuracy.within-one"
RIGHT_TUBE_IOU = 0.5
RIGHT_TUBE_IOU_APPROXIMATE = 0.25
_BOX_IDS = frozenset(box_metrics([], []))
_LEVEL_PLACES = {name: place for place, name in enumerate(LEVELS)}


@dataclass(frozen=True, slots=True)
class Part:
    """What became of one simple answer."""

    state: str
    right: bool
    shown: str
    """What was read, or why nothing was."""
    values: dict[str, float] = field(default_factory=dict)
    """Scores of this answer, for metrics that are means over answers."""
    grades: tuple[GradePair, ...] = ()
    prediction: Fraction | None = None
    flags: tuple[str, ...] = ()
    boxes: tuple[FrameBox, ...] = ()


def is_place(answer: Simple) -> bool:
    """Whether the answer says where, rather than what."""
    return isinstance(answer, Boxes | Frames)


def unread_part(item: Item, answer: Simple, state: str, reason: str) -> Part:
    """An answer that is not there: every score that would be computed is 0, and every grade missing."""
    graded = tuple((name, grade, None) for name, grade in sorted(_grades(answer).items()))
    return Part(state, False, reason, dict.fromkeys(_metric_ids(item, answer), 0.0), graded)


def read_part(item: Item, answer: Simple, response: str, shown: Viewing | None) -> Part:
    """Parse a reply as an answer of this kind and score it; `shown` is needed for places only."""
    if isinstance(answer, Text):
        return unread_part(item, answer, "unjudged", "a text answer needs a judge")
    result = read_reply(item, answer, response, shown)
    if isinstance(result, RefusedInWords):
        return unread_part(item, answer, "refused", "refused in words")
    if not isinstance(result, Parsed):
        return unread_part(item, answer, "unparsed", result.reason)
    return _score(item, answer, result, shown)


def _score(item: Item, answer: Simple, result: Parsed[Any], shown: Viewing | None) -> Part:
    said = result.value
    match answer:
        case YesNo(truth):
            return Part("answered", said is truth, "yes" if said else "no", flags=result.flags)
        case Number():
            return _number(answer, said, result.flags)
        case Choices(values):
            letters = "".join(letter_of(item, value) for value in said) or "none"
            scores = {
                CHOICES_EXACT: float(set(said) == set(values)),
                CHOICES_F1: set_f1(values, said),
            }
            return Part("answered", set(said) == set(values), letters, scores, flags=result.flags)
        case Grades(grades):
            return _graded(item, grades, said, result.flags)
        case Frames() if shown is not None:
            return _frames(item, answer, said, result.flags, shown)
        case Boxes() if shown is not None:
            return _boxes(item, answer, said, result.flags, shown)
        case Choice(truth, also_right):
            right = said == truth or said in also_right
            return Part(
                "answered", right, letter_of(item, said), _level(truth, said), flags=result.flags
            )
        case _:
            raise AssertionError(answer)


def _level(truth: str, said: str) -> dict[str, float]:
    if truth not in _LEVEL_PLACES:
        return {}
    near = said in _LEVEL_PLACES and abs(_LEVEL_PLACES[said] - _LEVEL_PLACES[truth]) <= 1
    return {LEVEL_WITHIN_ONE: float(near)}


def _number(answer: Number, said: Fraction, flags: tuple[str, ...]) -> Part:
    scores = {
        MRA_VSI_CODE: mra_vsi_code(said, answer.value),
        MRA_VSI_PAPER: mra_vsi_paper(said, answer.value),
        RELATIVE_ACCURACY: relative_accuracy(said, answer.value),
    }
    right = within_interval(said, answer.interval or (answer.value, answer.value))
    values = {name: float(score) for name, score in scores.items() if score is not None}
    return Part(
        "answered",
        right,
        f"{float(said):g} {answer.unit}".strip(),
        values,
        prediction=said,
        flags=flags,
    )


def is_nominal(item: Item, name: str) -> bool:
    """Whether the grades of a sub-score are kinds, not steps: then being one off means nothing."""
    return f"nominal:{name}" in item.tags


def _graded(
    item: Item, grades: dict[str, int], said: dict[str, int], flags: tuple[str, ...]
) -> Part:
    pairs = tuple((name, truth, said.get(name)) for name, truth in sorted(grades.items()))
    values = {GRADE_EXACT: sum(truth == told for _, truth, told in pairs) / len(pairs)}
    near = [
        told is not None and abs(truth - told) <= 1
        for name, truth, told in pairs
        if not is_nominal(item, name)
    ]
    if near:
        values[GRADE_WITHIN_ONE] = sum(near) / len(near)
    words = ", ".join(f"{name} {'–' if told is None else told}" for name, _, told in pairs)
    return Part(
        "answered",
        all(truth == told for _, truth, told in pairs),
        words,
        values,
        pairs,
        flags=flags,
    )


def _frames(
    item: Item, answer: Frames, said: tuple[int, ...], flags: tuple[str, ...], shown: Viewing
) -> Part:
    truth = shown.frames(item, answer.frames)
    values = {FRAMES_IOU: set_iou(truth, said), FRAMES_F1: set_f1(truth, said)}
    if answer.contiguous:
        values[FRAMES_ENDS_WITHIN_ONE] = float(ends_within_one(truth, said))
    right = frames_right(truth, said, contiguous=answer.contiguous)
    words = ", ".join(str(frame + shown.space.frame_base) for frame in said) or "none"
    return Part("answered", right, f"pictures {words}", values, flags=flags)


def _boxes(
    item: Item, answer: Boxes, said: list[FrameBox], flags: tuple[str, ...], shown: Viewing
) -> Part:
    truth, told = same_labels(shown.boxes(item, answer.boxes), said)
    ids = _metric_ids(item, answer)
    values = {name: value for name, value in box_metrics(truth, told).items() if name in ids}
    if any(isinstance(box, WorldBox) for box in answer.boxes):
        overlaps, centres = _overlaps_3d(item, answer, told, shown)
        values[BOX_IOU_3D] = sum(overlaps) / len(overlaps)
        values[BOX_CENTRE_HIT_3D] = sum(centres) / len(centres)
        for threshold, name in BOX_HIT_3D.items():
            if name in ids:
                values[name] = sum(overlap >= threshold for overlap in overlaps) / len(overlaps)
    right = boxes_right(item, truth, told)
    words = "; ".join(_box_words(box, shown) for box in said[:3]) + ("; …" if len(said) > 3 else "")
    return Part("answered", right, words or "no box", values, flags=flags, boxes=tuple(said))


def frames_right(truth: Sequence[int], said: Sequence[int], *, contiguous: bool) -> bool:
    """Whether pictures are named rightly: both ends of a range within one, a set exactly."""
    return ends_within_one(truth, said) if contiguous else set(truth) == set(said)


def boxes_right(item: Item, truth: list[FrameBox], told: list[FrameBox]) -> bool:
    """Whether boxes under the truth's labels (`same_labels`) overlap it enough, label by label."""
    least = RIGHT_TUBE_IOU_APPROXIMATE if _is_approximate(item) else RIGHT_TUBE_IOU
    labels = {box.label for box in truth} | {box.label for box in told}
    return all(_own_tube_iou(truth, told, label) >= least for label in labels)


def _own_tube_iou(truth: list[FrameBox], told: list[FrameBox], label: str) -> float:
    return tube_iou(
        [box for box in truth if box.label == label], [box for box in told if box.label == label]
    )


def _overlaps_3d(
    item: Item, answer: Boxes, told: list[FrameBox], shown: Viewing
) -> tuple[list[float], list[bool]]:
    """For each label the IoU in mm of what is said with the truth, and whether its centre lies in the true box.

    Both are as the pictures show them; 0 without any.

    Pictures that are oblique to the patient's axes show the hull of a box; compared with the box itself, not even
    the truth would reach 1.
    """
    layout = shown.layout(item)
    true, _ = same_labels(
        shown.boxes(item, [box for box in answer.boxes if isinstance(box, WorldBox)]), []
    )
    truth, said = (
        {box.label: box for box in layout.source_boxes(boxes) if isinstance(box, WorldBox)}
        for boxes in (true, told)
    )
    pairs = [(box, said.get(label)) for label, box in truth.items()]
    overlaps = [0.0 if other is None else box.iou(other) for box, other in pairs]
    return overlaps or [0.0], [
        other is not None and box.holds_centre_of(other) for box, other in pairs
    ] or [False]


def _box_words(box: FrameBox, shown: Viewing) -> str:
    place = f"picture {box.frame + shown.space.frame_base}: {box.x0:.0f}–{box.x1:.0f} × {box.y0:.0f}–{box.y1:.0f}"
    return f"{box.label}, {place}" if box.label else place


def _is_approximate(item: Item) -> bool:
    return "approximate" in item.tags


def _grades(answer: Simple) -> dict[str, int]:
    return answer.grades if isinstance(answer, Grades) else {}


def _metric_ids(item: Item, answer: Simple) -> AbstractSet[str]:
    """The metrics that are means over answers of this kind."""
    match answer:
        case Number(value):
            return {MRA_VSI_CODE, MRA_VSI_PAPER, RELATIVE_ACCURACY} if value else set()
        case Choices():
            return {CHOICES_EXACT, CHOICES_F1}
        case Grades(grades):
            ordered = any(not is_nominal(item, name) for name in grades)
            return {GRADE_EXACT, GRADE_WITHIN_ONE} if ordered else {GRADE_EXACT}
        case Frames(contiguous=contiguous):
            return {FRAMES_IOU, FRAMES_F1} | ({FRAMES_ENDS_WITHIN_ONE} if contiguous else set())
        case Choice(truth):
            return {LEVEL_WITHIN_ONE} if truth in _LEVEL_PLACES else set()
        case Boxes(boxes):
            solid = any(isinstance(box, WorldBox) for box in boxes)
            ids = _BOX_IDS | (
                {BOX_IOU_3D, BOX_CENTRE_HIT_3D, *BOX_HIT_3D.values()} if solid else set()
            )
            # Boxes from geometric thirds are kept out of everything that asks for an IoU of .5.
            return (
                ids - {BOX_F1[0.5], BOX_HIT_3D[0.5], BOX_PANOPTIC} if _is_approximate(item) else ids
            )
        case _:
            return set()


_PLACES = re.compile(
    r"<[^<>]{2,20}>\s*\[[^\]]*\]\s*<[^<>]{2,20}>|\[\s*-?[0-9.]+(?:\s*,\s*-?[0-9.]+){3,}\s*\]|"
    r"\bFrames?\s+[0-9][0-9 ,–-]*:?",
    re.IGNORECASE,
)


def without_places(response: str) -> str:
    """A reply without its boxes and the frames before them, so that their numbers are not taken for answers."""
    return _PLACES.sub(" ", response)
