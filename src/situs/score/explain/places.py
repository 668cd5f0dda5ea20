"""Signatures in frames and boxes: a slip is found by undoing it and asking whether the answer is
then right.

Chance: the same answer moved elsewhere, over all frames or a grid of places; the share of those
wrong answers that undoing would put right as well.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from situs.items import Boxes, Frames, Item
from situs.profiles import Plane
from situs.run import Viewing
from situs.score import boxes_right, frames_right, same_labels, tube_iou
from situs.score.explain.causes import Cause
from situs.score.explain.closed import CAUSE_OF_AXIS
from situs.score.parts import least_overlap
from situs.space import FrameBox

__all__ = ["PlaceTest", "box_tests", "frame_tests"]

PlaceTest = tuple[bool, float]
"""Whether the answer shows the cause, and the share of moved answers that would."""

_PLACES = 5
"""Along x and y: to so many places a box is moved to tell what chance would give."""
_LIKE_PRIOR = 0.5

Undo = Callable[[list[FrameBox]], list[FrameBox]]


def frame_tests(
    item: Item, truth: Frames, said: Sequence[int], shown: Viewing, prior: Sequence[int] | None
) -> dict[Cause, PlaceTest]:
    """Every cause that could show in pictures named wrongly."""
    true = shown.frames(item, truth.frames)
    frames = shown.layout(item).frames
    count = len(frames)
    if not said or count < 2:
        return {}

    def right(named: Iterable[int]) -> bool:
        return frames_right(true, sorted(named), contiguous=truth.contiguous)

    undone: dict[Cause, Callable[[Sequence[int]], bool]] = {
        Cause.OFF_BY_ONE: lambda named: _is_shifted(named, true, 1),
        Cause.OFF_BY_TWO: lambda named: _is_shifted(named, true, 2),
    }
    planes = {frame.plane for frame in frames}
    if len(planes) == 1:
        undone[_through(planes.pop())] = lambda named: right(count - 1 - f for f in named)
    if prior is not None:
        prior_frames = list(prior)
        undone[Cause.PRIOR] = lambda named: frames_right(
            prior_frames, list(named), contiguous=truth.contiguous
        )
    moved = [[f + step for f in said] for step in range(-min(said), count - max(said))]
    wrong = [named for named in moved if not right(named)]
    return {cause: (test(said), _share(map(test, wrong))) for cause, test in undone.items()}


def box_tests(
    item: Item, truth: Boxes, said: list[FrameBox], shown: Viewing, prior: list[FrameBox] | None
) -> dict[Cause, PlaceTest]:
    """Every cause that could show in boxes drawn wrongly."""
    if not said:
        return {}
    true, named = map(list, same_labels(shown.boxes(item, truth.boxes), said))
    sizes = shown.sizes(item)
    frames = shown.layout(item).frames

    least = least_overlap(item)

    def right(boxes: list[FrameBox]) -> bool:
        # A grid says hundreds of boxes: what bounds show is not measured.
        return (
            _may_meet(true, boxes)
            and _may_overlap(true, boxes, least)
            and boxes_right(item, true, boxes)
        )

    undos: dict[Cause, list[Undo]] = {}
    known = all(math.isfinite(width) for width, _ in sizes)
    planes = {frame.plane for frame in frames}
    plane = planes.pop() if len(planes) == 1 else None
    if known and not planes:
        undos.setdefault(_across(plane), []).append(
            lambda boxes: [_flipped(box, sizes, x=True) for box in boxes]
        )
        undos.setdefault(_down(plane), []).append(
            lambda boxes: [_flipped(box, sizes, x=False) for box in boxes]
        )
    if known:
        undos[Cause.BOX_SCALE] = [
            lambda boxes: [_scaled(box, sizes, 0.001) for box in boxes],
            lambda boxes: [_scaled(box, sizes, 1000.0) for box in boxes],
        ]
    undos[Cause.BOX_ORDER] = [
        lambda boxes: [
            FrameBox(b.frame, b.x0, b.y0, b.x0 + b.x1, b.y0 + b.y1, b.label) for b in boxes
        ],
        lambda boxes: [
            FrameBox(b.frame, b.x0, b.y0, max(b.x0, b.x1 - b.x0), max(b.y0, b.y1 - b.y0), b.label)
            for b in boxes
        ],
        lambda boxes: [FrameBox(b.frame, b.y0, b.x0, b.y1, b.x1, b.label) for b in boxes],
    ]
    if len(frames) > 1:
        last = len(frames) - 1
        undos[Cause.OFF_BY_ONE] = [
            lambda boxes: _stepped(boxes, -1),
            lambda boxes: _stepped(boxes, 1),
        ]
        undos[Cause.OFF_BY_TWO] = [
            lambda boxes: _stepped(boxes, -2),
            lambda boxes: _stepped(boxes, 2),
        ]
        if not planes:
            undos.setdefault(_through(plane), []).append(
                lambda boxes: [_on(box, last - box.frame) for box in boxes if box.frame <= last]
            )
    moved = [boxes for boxes in _moved(named, sizes, len(frames)) if not right(boxes)]
    result = {}
    for cause, ways in undos.items():

        def shows(boxes: list[FrameBox], ways: list[Undo] = ways) -> bool:
            return any(right(undo(boxes)) for undo in ways)

        result[cause] = shows(named), _share(map(shows, moved))
    if prior:
        prior_boxes = list(same_labels(prior, prior)[0])

        def like_prior(boxes: list[FrameBox]) -> bool:
            return (
                _may_overlap(prior_boxes, boxes, _LIKE_PRIOR)
                and tube_iou(prior_boxes, same_labels(prior_boxes, boxes)[1]) >= _LIKE_PRIOR
            )

        result[Cause.PRIOR] = like_prior(named), _share(map(like_prior, moved))
    return result


def _is_shifted(named: Iterable[int], true: Iterable[int], step: int) -> bool:
    """Whether pictures are the true ones, all of them so many further on or back."""
    frames, right = set(named), set(true)
    return {f - step for f in frames} == right or {f + step for f in frames} == right


def _across(plane: Plane | None) -> Cause:
    return Cause.MIRRORED if plane is None else CAUSE_OF_AXIS[plane.left_edge.axis]


def _down(plane: Plane | None) -> Cause:
    return Cause.UP_DOWN if plane is None else CAUSE_OF_AXIS[plane.top_edge.axis]


def _through(plane: Plane | None) -> Cause:
    return Cause.UP_DOWN if plane is None else CAUSE_OF_AXIS[plane.through]


def _share(shown: Iterable[bool]) -> float:
    values = list(shown)
    return sum(values) / len(values) if values else 1.0


def _may_meet(true: list[FrameBox], told: list[FrameBox]) -> bool:
    """Whether the hulls of both meet at all; most moved boxes are dismissed here."""
    if not true or not told:
        return False
    return (
        min(b.x0 for b in told) < max(b.x1 for b in true)
        and max(b.x1 for b in told) > min(b.x0 for b in true)
        and min(b.y0 for b in told) < max(b.y1 for b in true)
        and max(b.y1 for b in told) > min(b.y0 for b in true)
        and bool({b.frame for b in told} & {b.frame for b in true})
    )


def _may_overlap(one: list[FrameBox], other: list[FrameBox], least: float) -> bool:
    """Whether the overlap of two (IoU over all frames) can reach `least`; most moved boxes are
    dismissed here.

    What both mark is at most the sum, over frames, of the lesser sum of areas there, and what
    either marks at least the largest single box of each frame. Where every label reaches `least` by
    itself, all of them together do. A millionth is left for rounding.
    """
    areas: dict[int, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for number, boxes in enumerate((one, other)):
        for box in boxes:
            areas[box.frame][number].append(box.area)
    both = sum(min(sum(first), sum(second)) for first, second in areas.values())
    either = sum(max((*first, *second)) for first, second in areas.values())
    return both >= least * either * (1.0 - 1e-6)


def _size(box: FrameBox, sizes: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return sizes[min(box.frame, len(sizes) - 1)]


def _flipped(box: FrameBox, sizes: Sequence[tuple[float, float]], *, x: bool) -> FrameBox:
    width, height = _size(box, sizes)
    if x:
        return FrameBox(box.frame, width - box.x1, box.y0, width - box.x0, box.y1, box.label)
    return FrameBox(box.frame, box.x0, height - box.y1, box.x1, height - box.y0, box.label)


def _scaled(box: FrameBox, sizes: Sequence[tuple[float, float]], factor: float) -> FrameBox:
    """0.001: what was said in thousandths and read as pixels; 1000: the other way round."""
    width, height = _size(box, sizes)
    sx, sy = (width * factor, height * factor) if factor < 1 else (factor / width, factor / height)
    return FrameBox(box.frame, box.x0 * sx, box.y0 * sy, box.x1 * sx, box.y1 * sy, box.label)


def _on(box: FrameBox, frame: int) -> FrameBox:
    return FrameBox(frame, box.x0, box.y0, box.x1, box.y1, box.label)


def _stepped(boxes: list[FrameBox], step: int) -> list[FrameBox]:
    return [_on(box, box.frame + step) for box in boxes if box.frame + step >= 0]


def _moved(
    boxes: list[FrameBox], sizes: Sequence[tuple[float, float]], count: int
) -> Iterator[list[FrameBox]]:
    """The boxes as one piece, at a grid of places on the pictures,
    and on every stretch of pictures they fit on."""
    width, height = _size(boxes[0], sizes)
    x0, y0 = min(b.x0 for b in boxes), min(b.y0 for b in boxes)
    x1, y1 = max(b.x1 for b in boxes), max(b.y1 for b in boxes)
    first, last = min(b.frame for b in boxes), max(b.frame for b in boxes)
    for step in range(-first, max(count - last, 1 - first)):
        yield [_on(box, box.frame + step) for box in boxes]
    if not math.isfinite(width):
        return
    for column in range(_PLACES):
        for row in range(_PLACES):
            dx = column / (_PLACES - 1) * max(0.0, width - (x1 - x0)) - x0
            dy = row / (_PLACES - 1) * max(0.0, height - (y1 - y0)) - y0
            yield [
                FrameBox(b.frame, b.x0 + dx, b.y0 + dy, b.x1 + dx, b.y1 + dy, b.label)
                for b in boxes
            ]
