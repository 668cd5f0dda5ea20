"""The reasoning of an item about boxes as text, in the forms models speak."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from situs.errors import SitusError, did_you_mean
from situs.items.record import Boxes, Choice, Choices, Frames, Item, Number, Text, YesNo, letter_of
from situs.space import FrameBox

__all__ = ["TRACE_FORMS", "trace_text"]

TRACE_FORMS = ("bbx", "qwen", "json")
"""`<bbx>[x,y,w,h]</bbx>` in prose; Qwen's `bbox_2d` in thousandths;
one JSON object of reasoning, answer and boxes."""


def trace_text(
    item: Item,
    form: str = "bbx",
    *,
    size: tuple[int, int] | None = None,
    frame_base: int = 1,
    frame: int | None = None,
) -> str:
    """The item's steps and answer as a model would write them.

    `size` is the picture's width and height, which `qwen` needs; frames are counted from
    `frame_base`. A slice-level item is shown alone, so its frame is the first, unless `frame` says
    which (0-based) it is among those shown.
    """
    if form not in TRACE_FORMS:
        raise SitusError(f"unknown form {form!r}", fix=did_you_mean(form, TRACE_FORMS))
    if form == "qwen" and size is None:
        raise SitusError(
            "the picture's size is not known, and bbox_2d counts in thousandths of it",
            where=item.item_id,
        )
    frame_number = {item.frames[0]: frame or 0} if len(item.frames) == 1 else {}
    writer = _Writer(size, frame_base, frame_number)
    answer = writer.answer(item)
    if form == "json":
        reasoning = " ".join(step.text for step in item.steps)
        boxes = [writer.entry(box) for box in _frame_boxes(item, _last_boxes(item))]
        return msgspec.json.encode(
            {"reasoning": reasoning, "answer": answer, "bboxes": boxes}
        ).decode()
    lines = []
    for step in item.steps:
        boxes_text = writer.boxes(_frame_boxes(item, step.boxes), form)
        lines.append(f"{step.text} {boxes_text}".strip())
    return "\n".join([*lines, f"Answer: {answer}"])


def _last_boxes(item: Item) -> tuple[object, ...]:
    return next((step.boxes for step in reversed(item.steps) if step.boxes), ())


def _frame_boxes(item: Item, boxes: Iterable[object]) -> list[FrameBox]:
    on_frames = [box for box in boxes if isinstance(box, FrameBox)]
    if len(on_frames) != len(list(boxes)):
        raise SitusError("has boxes in millimetres, not on frames", where=item.item_id)
    return on_frames


class _Writer:
    def __init__(
        self, size: tuple[int, int] | None, base: int, frame_number: dict[int, int]
    ) -> None:
        self._size = size
        self._base = base
        self._frame_number = frame_number

    def frame(self, frame: int) -> int:
        return self._frame_number.get(frame, frame) + self._base

    def entry(self, box: FrameBox) -> dict[str, object]:
        corner = [_number(v) for v in (box.x0, box.y0, box.x1 - box.x0, box.y1 - box.y0)]
        return {"frame": self.frame(box.frame), "label": box.label, "bbox": corner}

    def boxes(self, boxes: list[FrameBox], form: str) -> str:
        if not boxes:
            return ""
        if form == "qwen":
            return msgspec.json.encode([self._thousandths(box) for box in boxes]).decode()
        by_frame: dict[int, list[str]] = {}
        for box in boxes:
            corner = ",".join(
                str(_number(v)) for v in (box.x0, box.y0, box.x1 - box.x0, box.y1 - box.y0)
            )
            by_frame.setdefault(self.frame(box.frame), []).append(f"<bbx>[{corner}]</bbx>")
        return "; ".join(f"Frame {frame}: {', '.join(texts)}" for frame, texts in by_frame.items())

    def _thousandths(self, box: FrameBox) -> dict[str, object]:
        assert self._size is not None
        width, height = self._size
        scale = (1000.0 / width, 1000.0 / height) * 2
        corners = [round(v * s) for v, s in zip((box.x0, box.y0, box.x1, box.y1), scale)]
        return {"bbox_2d": corners, "label": box.label, "frame": self.frame(box.frame)}

    def answer(self, item: Item) -> str:
        match item.answer:
            case YesNo(value):
                return "Yes" if value else "No"
            case Choice(value):
                return f"({letter_of(item, value)})"
            case Choices(values):
                return ", ".join(
                    f"({letter})" for letter in sorted(letter_of(item, value) for value in values)
                )
            case Number(value, unit):
                return f"{value:g} {unit}".strip()
            case Frames(frames):
                return ", ".join(str(self.frame(frame)) for frame in frames)
            case Text(references):
                return references[0]
            case Boxes(boxes):
                return self.boxes(_frame_boxes(item, boxes), "bbx")
            case _:
                raise SitusError(f"a {item.form} answer has no such text", where=item.item_id)


def _number(value: float) -> int | float:
    return int(value) if value == int(value) else round(value, 2)
