"""How boxes are written in training text, and which coordinates a model of that form is asked for.

The form decides the answer space of the profile, so that the prompt, the target and the reader of
replies all speak of the same numbers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from situs.errors import SitusError, did_you_mean
from situs.profiles import AnswerSpace
from situs.run import speakable_boxes
from situs.space import FrameBox

__all__ = ["BOX_FORMS", "BoxForm", "box_form", "fits_grid", "smart_resize"]

Size = tuple[float, float]
_CORNERS = {"xyxy": "x_min, y_min, x_max, y_max", "xywh": "x_min, y_min, width, height"}


class BoxForm(msgspec.Struct, frozen=True):
    """One way to write boxes."""

    name: str
    about: str
    scale: Literal["pixel", "unit", "thousand"] | None
    """None: as the profile says."""
    order: Literal["xyxy", "xywh"] | None
    key: str
    """What the numbers are called in JSON; empty where boxes are lines of text."""
    decimals: int
    resized_to: int = 0
    """Coordinates are those of the picture after the
    model's own resize to this multiple, in pixels."""

    def space(self, answer: AnswerSpace) -> AnswerSpace:
        """The profile's answer space, in the coordinates of this form."""
        if self.scale is None or self.order is None:
            return answer
        return msgspec.structs.replace(
            answer, box_scale=self.scale, box_order=self.order, box_form="frames"
        )

    def words(self, answer: AnswerSpace) -> str:
        """How the prompt asks for boxes of this form; braces are doubled, as in a profile."""
        order = self.order or answer.box_order
        if self.name == "json":
            return "{box_form}"
        if not self.key:
            return f"one line per box: Frame <picture>: <what it is> <bbx>[{_CORNERS[order]}]</bbx>"
        return (
            f'a JSON list with one object per box: {{{{"frame": <picture>, '
            f'"{self.key}": [{_CORNERS[order]}], "label": "<what it is>"}}}}'
        )

    def step(self, space: AnswerSpace) -> float:
        """The smallest difference between two numbers of this form."""
        if self.name == "json":
            return {"pixel": 0.01, "thousand": 0.01, "unit": 0.00001}[space.box_scale]
        return float(10.0**-self.decimals)

    def objects(
        self, boxes: Sequence[FrameBox], space: AnswerSpace, sizes: Sequence[Size]
    ) -> list[dict[str, Any]]:
        """The boxes as JSON objects."""
        if self.name == "json":
            return list(speakable_boxes(boxes, space, sizes))
        return [
            {
                "frame": box.frame + space.frame_base,
                self.key or "bbox": self._numbers(box, space, sizes[box.frame]),
                **({"label": box.label} if box.label else {}),
            }
            for box in boxes
        ]

    def write(self, boxes: Sequence[FrameBox], space: AnswerSpace, sizes: Sequence[Size]) -> str:
        """All boxes as text; `[]` if there are none."""
        objects = self.objects(boxes, space, sizes)
        if not objects or self.key or self.name == "json":
            return json.dumps(objects)
        return "\n".join(
            " ".join(
                filter(
                    None,
                    (
                        f"Frame {one['frame']}:",
                        one.get("label", ""),
                        f"<bbx>{json.dumps(one['bbox'])}</bbx>",
                    ),
                )
            )
            for one in objects
        )

    def _numbers(self, box: FrameBox, space: AnswerSpace, size: Size) -> list[float]:
        x0, y0, x1, y1 = (self._rounded(*pair, space) for pair in _ends(box, size))
        if space.box_order == "xyxy":
            return [x0, y0, x1, y1]
        # Corners are rounded first: so the far corner is as near to the truth as the near one.
        return [x0, y0, self._plain(x1 - x0), self._plain(y1 - y0)]

    def _rounded(self, value: float, side: float, space: AnswerSpace) -> float:
        full_scale = {"thousand": 1000.0, "unit": 1.0, "pixel": side}[space.box_scale]
        scaled = value if space.box_scale == "pixel" else value / side * full_scale
        # Half up, not to even: what the published recipes and their readers do.
        rounded = math.floor(scaled * 10**self.decimals + 0.5) / 10**self.decimals
        return self._plain(min(full_scale, max(0.0, rounded)))

    def _plain(self, value: float) -> float:
        return round(value) if self.decimals == 0 else round(value, self.decimals)


def _ends(box: FrameBox, size: Size) -> list[tuple[float, float]]:
    width, height = size
    return [(box.x0, width), (box.y0, height), (box.x1, width), (box.y1, height)]


BOX_FORMS = {
    form.name: form
    for form in (
        BoxForm("json", "as the profile asks for boxes", None, None, "", 2),
        BoxForm(
            "qwen3", "Qwen3-VL: 0 to 1000 over width and height", "thousand", "xyxy", "bbox_2d", 0
        ),
        BoxForm(
            "qwen2.5",
            "Qwen2.5-VL: pixels of the picture as the model resizes it",
            "pixel",
            "xyxy",
            "bbox_2d",
            0,
            resized_to=28,
        ),
        BoxForm("pixels", "pixels of the picture shown", "pixel", "xyxy", "bbox", 0),
        BoxForm("unit", "fractions of width and height, 0 to 1", "unit", "xyxy", "bbox", 4),
        BoxForm(
            "bbx", "SGMRI-VQA: <bbx>[x, y, width, height]</bbx> in pixels", "pixel", "xywh", "", 0
        ),
    )
}
"""Box form → how it is written."""


def box_form(name: str) -> BoxForm:
    """A form by its name."""
    if name not in BOX_FORMS:
        raise SitusError(
            f"unknown box form {name!r}", where="--box-form", fix=did_you_mean(name, BOX_FORMS)
        )
    return BOX_FORMS[name]


def smart_resize(width: int, height: int, factor: int, least: int, most: int) -> tuple[int, int]:
    """The size to which Qwen's processors bring a picture: multiples of `factor`, between two
    areas.

    The published rule (`qwen_vl_utils.smart_resize`), with width first.
    """
    new_height, new_width = (max(factor, round(side / factor) * factor) for side in (height, width))
    if new_height * new_width > most:
        beta = math.sqrt(height * width / most)
        new_height, new_width = (
            max(factor, math.floor(side / beta / factor) * factor) for side in (height, width)
        )
    elif new_height * new_width < least:
        beta = math.sqrt(least / (height * width))
        new_height, new_width = (
            math.ceil(side * beta / factor) * factor for side in (height, width)
        )
    return new_width, new_height


def fits_grid(width: float, height: float, factor: int) -> bool:
    """Whether a picture keeps its size under such a resize, as far as multiples go."""
    return width % factor == 0 and height % factor == 0
