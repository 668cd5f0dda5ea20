"""The pictures of a quiz: those of the profile,
in tones that people can window, small enough to be sent around."""

from __future__ import annotations

import base64
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.items import Item, marks_of
from situs.profiles import (
    Image,
    Layout,
    Marks,
    Presenter,
    Renderer,
    Tones,
    ToneScale,
    encode,
    marks_on,
    tone_scale,
)
from situs.profiles.schema import Encoding

__all__ = ["ItemPictures", "QuizPictures"]

_ITEM_BYTES = 690_000
"""Of an item's pictures as the page holds them: a quiz of twenty items is to go by mail."""
_QUALITIES = (88, 75, 60, 45, 30)
"""Of JPEG; the next lower is taken where an item's pictures would not fit."""
_PLAIN = ToneScale((0.0, 255.0), (0.0, 255.0), "", [("as shown to models", 0.0, 255.0)], 0)
"""Of pictures that have no one window: only their contrast can be changed."""


class ItemPictures(msgspec.Struct, frozen=True):
    """The pictures of one item."""

    keys: tuple[str, ...]
    sizes: tuple[tuple[int, int], ...]
    scale: str
    """Key of what their grey levels mean."""
    opening: int | None = None
    """The first picture on which marks are drawn, where any are."""


class QuizPictures:
    """Pictures by content. Ask for the items of a series together: one volume is kept."""

    def __init__(self, presenter: Presenter) -> None:
        self.uris: dict[str, str] = {}
        self.scales: dict[str, ToneScale] = {}
        self.bytes = 0
        self._presenter = presenter
        self._scale_of: dict[str, str] = {}
        self._renderers: dict[str, Renderer] = {}
        self._shared: dict[str, ItemPictures] = {}

    def add(self, item: Item) -> ItemPictures:
        """Those of an item; items of a series without
        marks and frames of their own share theirs."""
        key = f"{item.study_id}/{item.series}"
        if key not in self._renderers:
            self._renderers = {key: self._opened(item, key)}
            self._shared = {}
        if item.frames or marks_of(item):
            return self._made(item, key)
        if key not in self._shared:
            self._shared[key] = self._made(item, key)
        return self._shared[key]

    def _opened(self, item: Item, key: str) -> Renderer:
        renderer = self._presenter.renderer(self._presenter.series(item))
        toned = renderer.toned()
        if toned is None:
            self._add_scale(key, _PLAIN)
            return renderer
        tones = toned.window(0, toned.values)
        assert isinstance(tones, Tones)
        self._add_scale(key, tone_scale(tones, toned.modality, toned.values))
        return toned

    def _add_scale(self, key: str, scale: ToneScale) -> None:
        self._scale_of[key] = str(len(self.scales))
        self.scales[self._scale_of[key]] = scale

    def _made(self, item: Item, key: str) -> ItemPictures:
        layout, renderer = self._presenter.layout(item), self._renderers[key]
        marks = _marks(self._presenter, layout, item)
        pixels = [
            renderer.picture(layout.lattice, frame, of_frame)
            for frame, of_frame in zip(layout.frames, marks, strict=True)
        ]
        images = _fitting(pixels)
        for image in images:
            if image.digest not in self.uris:
                self.uris[image.digest] = _uri(image)
                self.bytes += len(self.uris[image.digest])
        sizes = tuple((image.width, image.height) for image in images)
        opening = next((number for number, of_frame in enumerate(marks) if of_frame), None)
        digests = tuple(image.digest for image in images)
        return ItemPictures(digests, sizes, self._scale_of[key], opening)


def _marks(presenter: Presenter, layout: Layout, item: Item) -> Sequence[Marks]:
    if presenter.profile.draw.marks:
        return marks_on(layout, item)
    return [{} for _ in layout.frames]


def _fitting(pixels: Sequence[NDArray[np.uint8]]) -> list[Image]:
    """As JPEG of the best quality with which all of them fit, or of the lowest."""
    for quality in _QUALITIES:
        images = [encode(picture, Encoding("jpeg", quality)) for picture in pixels]
        if sum(len(_uri(image)) for image in images) <= _ITEM_BYTES:
            break
    return images


def _uri(image: Image) -> str:
    return f"data:{image.media_type};base64,{base64.b64encode(image.data).decode('ascii')}"
