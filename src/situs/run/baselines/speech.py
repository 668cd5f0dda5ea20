"""Places, frames, grades and sets in the words,
tags and JSON that models use, in a profile's coordinates."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

from situs.profiles import AnswerSpace
from situs.space import FrameBox

__all__ = [
    "list_boxes",
    "say_boxes",
    "say_frames",
    "say_grades",
    "say_letters",
    "speakable_boxes",
    "spoken_boxes",
]

Size = tuple[float, float]


def speakable_boxes(
    boxes: Sequence[FrameBox], space: AnswerSpace, sizes: Sequence[Size]
) -> list[dict[str, object]]:
    """The boxes as objects with `frame`, `bbox` and maybe `label`,
    or one `bbox` of six numbers per volume."""
    if space.box_form == "volume":
        return [_volume(label_boxes, space, sizes) for label_boxes in _by_label(boxes).values()]
    return [
        {
            "frame": box.frame + space.frame_base,
            **_labelled(box),
            "bbox": _numbers(box, space, sizes),
        }
        for box in boxes
    ]


def say_boxes(
    boxes: Sequence[FrameBox], space: AnswerSpace, sizes: Sequence[Size], rng: random.Random
) -> str:
    """All boxes, in one of the ways models do."""
    objects = speakable_boxes(boxes, space, sizes)
    if not objects:
        return rng.choice(["[]", '{"bboxes": []}', "None."])
    ways = [json.dumps(objects), f"```json\n{json.dumps({'bboxes': objects}, indent=1)}\n```"]
    if space.box_form == "volume":
        ways += [" ".join(f"{one.get('label', 'Box')}: {one['bbox']}" for one in objects)]
        return rng.choice(ways)
    ways += [
        list_boxes(boxes, space, sizes),
        "\n".join(
            f"Frame {one['frame']}: {one.get('label', '')} <bbx>{one['bbox']}</bbx>"
            for one in objects
        ),
        "\n".join(
            f"- {one.get('label') or 'It'} lies at {one['bbox']} on frame {one['frame']}."
            for one in objects
        ),
    ]
    if space.box_scale == "thousand" and space.box_order == "xyxy":
        ways.append(json.dumps([{**one, "bbox_2d": one["bbox"]} for one in objects]))
    return rng.choice(ways)


def spoken_boxes(
    boxes: Sequence[FrameBox], space: AnswerSpace, sizes: Sequence[Size]
) -> list[dict[str, object]]:
    """What `list_boxes` says, as objects."""
    if space.box_form != "volume" or any(box.label for box in boxes):
        return speakable_boxes(boxes, space, sizes)
    return [_volume([box], space, sizes) for box in boxes]


def list_boxes(boxes: Sequence[FrameBox], space: AnswerSpace, sizes: Sequence[Size]) -> str:
    """All boxes in the plainest form, a line for each label and picture;
    also the published reader understands it."""
    if space.box_form == "volume":
        volumes = (
            [*_by_label(boxes).values()]
            if any(box.label for box in boxes)
            else [[box] for box in boxes]
        )
        spoken = [_volume(part, space, sizes) for part in volumes]
        return "\n".join(f"{one.get('label', 'Box')}: {one['bbox']}" for one in spoken) or "[]"
    opening, closing = ("<bbx>", "</bbx>") if space.box_order == "xywh" else ("", "")
    lines: dict[tuple[str, int], list[str]] = {}
    for box in boxes:
        numbers = f"{opening}{_numbers(box, space, sizes)}{closing}"
        lines.setdefault((box.label, box.frame), []).append(numbers)
    return (
        "\n".join(
            f"{label + ': ' if label else ''}Frame {frame + space.frame_base}:"
            f" {', '.join(numbers_of_frame)}"
            for (label, frame), numbers_of_frame in lines.items()
        )
        or "[]"
    )


def say_frames(frames: Sequence[int], first: int, rng: random.Random) -> str:
    """Positions of pictures as a range or list; `first` is the number of the first picture."""
    numbers = [frame + first for frame in sorted(frames)]
    if not numbers:
        return "None."
    listed = ", ".join(map(str, numbers))
    ways = [f"Frames {listed}.", json.dumps({"frames": numbers if len(numbers) != 2 else listed})]
    if len(numbers) > 1 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        ways += [
            f"{numbers[0]}-{numbers[-1]}",
            f"It is seen from frame {numbers[0]} to frame {numbers[-1]}.",
        ]
    return rng.choice(ways)


def say_grades(grades: dict[str, int], rng: random.Random) -> str:
    """Grades in the published JSON, in other JSON, or in lines."""
    return rng.choice(
        [
            json.dumps({"MOAKS_scores": grades}),
            f"The grades are as follows.\n```json\n{json.dumps(grades, indent=1)}\n```",
            str({name.upper(): grade for name, grade in grades.items()}),
            "\n".join(f"{name}: grade {grade}" for name, grade in grades.items()),
        ]
    )


def say_letters(letters: Sequence[str], rng: random.Random) -> str:
    """Several options by their letters."""
    if not letters:
        return "None of the above."
    return rng.choice(
        [
            ", ".join(letters),
            "".join(f"({letter})" for letter in letters),
            json.dumps({"answer": list(letters)}),
        ]
    )


def _labelled(box: FrameBox) -> dict[str, object]:
    return {"label": box.label} if box.label else {}


def _by_label(boxes: Sequence[FrameBox]) -> dict[str, list[FrameBox]]:
    result: dict[str, list[FrameBox]] = {}
    for box in boxes:
        result.setdefault(box.label, []).append(box)
    return result


def _volume(boxes: list[FrameBox], space: AnswerSpace, sizes: Sequence[Size]) -> dict[str, object]:
    """First and last picture, then x and y from – to, all ends included in the box."""
    frames = [box.frame + space.frame_base for box in boxes]
    x0, y0, x1, y1 = _ends(boxes[0], space, sizes)
    return {**_labelled(boxes[0]), "bbox": [min(frames), max(frames), x0, x1, y0, y1]}


def _numbers(box: FrameBox, space: AnswerSpace, sizes: Sequence[Size]) -> list[float]:
    x0, y0, x1, y1 = _ends(box, space, sizes)
    return (
        [x0, y0, x1, y1]
        if space.box_order == "xyxy"
        else [x0, y0, round(x1 - x0, 5), round(y1 - y0, 5)]
    )


def _ends(box: FrameBox, space: AnswerSpace, sizes: Sequence[Size]) -> list[float]:
    width, height = sizes[box.frame]
    full_scale, digits = {"unit": (1.0, 5), "thousand": (1000.0, 2), "pixel": (None, 2)}[
        space.box_scale
    ]
    factors = (1.0, 1.0) if full_scale is None else (full_scale / width, full_scale / height)
    ends = zip((box.x0, box.y0, box.x1, box.y1), (*factors, *factors))
    return [round(value * factor, digits) for value, factor in ends]
