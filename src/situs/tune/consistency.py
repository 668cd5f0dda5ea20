"""Answer–box consistency: the answer recomputed from the model's own boxes, beside the one it gave.

A model may mark the right side and say the other. The answer that its boxes imply is put in the
place of the truth, and the scorer says whether the reply agrees: nothing is read in another way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from situs.items import Answer, Boxes, Choice, Frames, Item, Number, YesNo
from situs.run import AnswerRow, Viewing
from situs.score import Parsed, score_answer
from situs.space import FrameBox
from situs.tune.grounding import read_boxes

__all__ = ["consistency", "implied_answer"]


def consistency(reply: str, item: Item, viewing: Viewing) -> float | None:
    """1 if the answer is the one that the reply's own boxes imply, else 0.

    None where the question cannot be answered from boxes, and where boxes or answer cannot be read.
    """
    if isinstance(item.answer, Boxes) or viewing.obstacle(item):
        return None
    read = read_boxes(reply, item, viewing)
    if not isinstance(read, Parsed):
        return None
    implied = implied_answer(item, list(read.value), viewing)
    if implied is None:
        return None
    asked = msgspec.structs.replace(item, answer=implied)
    scored = score_answer(asked, AnswerRow(item.item_id, "answered", reply), None, shown=viewing)
    return float(bool(scored.outcome.right)) if scored.outcome.state == "answered" else None


def implied_answer(item: Item, boxes: list[FrameBox], viewing: Viewing) -> Answer | None:
    """What the boxes say; None where boxes do not answer such a question."""
    rule = _RULES.get((item.task, item.parameters.get("ask", "")))
    return None if rule is None else rule(item, boxes, viewing)


def _detected(item: Item, boxes: list[FrameBox], viewing: Viewing) -> Answer | None:
    return YesNo(bool(boxes)) if isinstance(item.answer, YesNo) else None


def _counted(item: Item, boxes: list[FrameBox], viewing: Viewing) -> Answer | None:
    count = float(_linked(boxes))
    return Number(count, "", (count, count)) if isinstance(item.answer, Number) else None


def _framed(item: Item, boxes: list[FrameBox], viewing: Viewing) -> Answer | None:
    """The pictures with a box, as frames of the series."""
    if not isinstance(item.answer, Frames) or not boxes:
        return None
    frames = [
        frame
        for frame in range(_last_frame(item, viewing))
        if set(viewing.frames(item, [frame])) & {box.frame for box in boxes}
    ]
    return Frames(tuple(frames), item.answer.contiguous) if frames else None


def _largest_frame(item: Item, boxes: list[FrameBox], viewing: Viewing) -> Answer | None:
    """The picture on which the boxes cover most."""
    areas: dict[int, float] = {}
    for box in boxes:
        areas[box.frame] = areas.get(box.frame, 0.0) + box.area
    if not areas:
        return None
    best = max(areas, key=lambda frame: areas[frame])
    return _framed(item, [box for box in boxes if box.frame == best], viewing)


def _sided(item: Item, boxes: list[FrameBox], viewing: Viewing) -> Answer | None:
    """The half of the picture that holds the boxes' centres; both where they lie on both."""
    if not boxes or not isinstance(item.answer, Choice):
        return None
    widths = [width for width, _ in viewing.sizes(item)]
    left = [(box.x0 + box.x1) / 2 < widths[box.frame] / 2 for box in boxes]
    side = "left" if all(left) else "both" if any(left) else "right"
    values = {option.value for option in item.options}
    return Choice(side) if side in values else None


_RULES: dict[tuple[str, str], Callable[[Item, list[FrameBox], Viewing], Answer | None]] = {
    ("detection", ""): _detected,
    ("counting", ""): _counted,
    ("localization", "range"): _framed,
    ("localization", "set"): _framed,
    ("localization", "largest"): _largest_frame,
    ("localization", "side"): _sided,
}
"""Task and what it asks → the answer that boxes imply. Others are not decided by boxes alone."""


def _last_frame(item: Item, viewing: Viewing) -> int:
    grid = viewing.grid(item)
    frames = getattr(grid, "frames", None)
    return int(frames) if frames else len(viewing.sizes(item))


def _linked(boxes: Sequence[FrameBox]) -> int:
    """Findings: boxes of one label that overlap on neighbouring pictures belong together."""
    groups = list(range(len(boxes)))
    for one in range(len(boxes)):
        for other in range(one):
            if _belong(boxes[one], boxes[other]):
                old, new = groups[one], groups[other]
                groups = [new if group == old else group for group in groups]
    return len(set(groups))


def _belong(one: FrameBox, other: FrameBox) -> bool:
    apart = abs(one.frame - other.frame) != 1 or one.label != other.label
    return not apart and (
        min(one.x1, other.x1) > max(one.x0, other.x0)
        and min(one.y1, other.y1) > max(one.y0, other.y0)
    )
