"""Showing less than the scan: nothing, black, noise, marks only, or another patient."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.base.files import digest
from situs.bench import Bench, SeriesRecord
from situs.items import Box, Item
from situs.profiles import (
    Frame,
    Image,
    Layout,
    Marks,
    Presenter,
    Profile,
    VolumeInput,
    drawn_on,
    encode,
    marks_on,
)
from situs.profiles.schema import Encoding
from situs.space import FrameBox, Grid, IndexPoints, WorldBox, WorldPoints

__all__ = [
    "FORCED",
    "Blank",
    "Hidden",
    "KeptHidden",
    "Noise",
    "OneSlice",
    "OtherPatient",
    "Shuffled",
    "Silent",
    "WordsOnly",
]

FORCED = (
    "No pictures can be shown this time. Answer all the same, in the form asked for, with what is"
    " most likely."
)
"""Said after the prompt of a run without pictures, so that declining is no way out."""

Hidden = Mapping[str, tuple[str, ...]]
Pixels = NDArray[np.uint8]


class _Presented(NamedTuple):
    images: tuple[Image, ...]
    prompt: str
    volume: VolumeInput


class KeptHidden:
    """Presents items as the original run did; what is hidden is what was hidden there."""

    def __init__(self, presenter: Presenter, hidden: Hidden) -> None:
        self._presenter = presenter
        self._hidden = hidden

    @property
    def presenter(self) -> Presenter:
        """What the pictures are made by."""
        return self._presenter

    def shown_item(self, item: Item) -> Item:
        """The item whose scan is shown under the words of this one: its own."""
        return item

    def hidden(self, item: Item) -> tuple[str, ...]:
        """As in the original run, so that the same items count."""
        return self._hidden.get(item.item_id, ())

    def present(self, item: Item) -> _Presented:
        """The item as it is."""
        presented = self._presenter.present(item)
        return _Presented(presented.images, presented.prompt, presented.volume)


class WordsOnly(KeptHidden):
    """The prompt, and that an answer is wanted all the same. No pixel is read."""

    def present(self, item: Item) -> _Presented:
        """Words."""
        prompt = f"{self._presenter.prompt(item)}\n{FORCED}"
        return _Presented((), prompt, self._presenter.volume(item))


class Silent(KeptHidden):
    """The prompt as it is, without its pictures. No pixel is read."""

    def present(self, item: Item) -> _Presented:
        """Words, and none about what is missing."""
        return _Presented((), self._presenter.prompt(item), self._presenter.volume(item))


class OneSlice(KeptHidden):
    """What a profile of one slice shows; of the volume all but the middle slice is taken away."""

    def present(self, item: Item) -> _Presented:
        """One picture."""
        presented = self._presenter.present(item)
        through = _through(self._presenter.profile)

        def single(array: NDArray[Any]) -> NDArray[Any]:
            middle_only = np.full_like(array, array.min())
            where = (slice(None),) * through + (array.shape[through] // 2,)
            middle_only[where] = array[where]
            return middle_only

        return _Presented(
            presented.images, presented.prompt, _volume(self._presenter, item, "one-slice", single)
        )


class Blank(KeptHidden):
    """Black pictures; with `marks`, what the profile draws stands on them."""

    def __init__(self, presenter: Presenter, hidden: Hidden, *, marks: bool = False) -> None:
        super().__init__(presenter, hidden)
        self._marks = marks

    def present(self, item: Item) -> _Presented:
        """As many pictures as there were, and as large."""
        layout, profile = self._presenter.layout(item), self._presenter.profile
        marks = (
            marks_on(layout, item)
            if self._marks and profile.draw.marks
            else [{} for _ in layout.frames]
        )
        images = tuple(
            self._black(profile, layout, frame, of)
            for frame, of in zip(layout.frames, marks, strict=True)
        )
        return _Presented(
            images,
            self._presenter.prompt(item),
            _volume(self._presenter, item, "blank", np.zeros_like),
        )

    def _black(self, profile: Profile, layout: Layout, frame: Frame, marks: Marks) -> Image:
        if not self._marks:
            return _all_black(frame.height, frame.width, profile.encoding)
        picture: Pixels = np.zeros((frame.height, frame.width), dtype=np.uint8)
        return encode(drawn_on(profile, picture, layout.lattice, frame, marks), profile.encoding)


@cache
def _all_black(height: int, width: int, encoding: Encoding) -> Image:
    """Every frame of every item of a size is the same picture, so that it is encoded once."""
    return encode(np.zeros((height, width), dtype=np.uint8), encoding)


class Noise(KeptHidden):
    """Random grey, the same each time for one item and picture."""

    def present(self, item: Item) -> _Presented:
        """As many pictures as there were, and as large."""
        profile = self._presenter.profile
        images = []
        for number, frame in enumerate(self._presenter.layout(item).frames):
            draw = np.random.default_rng(_seed("noise", item.study_id, str(number)))
            grey = draw.integers(0, 256, size=(frame.height, frame.width), dtype=np.uint8)
            images.append(encode(grey, profile.encoding))

        def noise(array: NDArray[Any]) -> NDArray[Any]:
            low, high = float(array.min()), float(array.max())
            values = np.random.default_rng(_seed("noise", item.study_id)).uniform(
                low, high, size=array.shape
            )
            return values.astype(array.dtype)

        return _Presented(
            tuple(images),
            self._presenter.prompt(item),
            _volume(self._presenter, item, "noise", noise),
        )


class Shuffled(KeptHidden):
    """The pictures in another order, the same for all items of a study."""

    def present(self, item: Item) -> _Presented:
        """All pictures, the words as they were."""
        presented = self._presenter.present(item)
        order = np.random.default_rng(_seed("shuffled", item.study_id)).permutation(
            len(presented.images)
        )

        def shuffled(array: NDArray[Any]) -> NDArray[Any]:
            through = _through(self._presenter.profile)
            draw = np.random.default_rng(_seed("shuffled", item.study_id))
            return np.take(array, draw.permutation(array.shape[through]), axis=through)

        volume = _volume(self._presenter, item, "shuffled", shuffled)
        return _Presented(
            tuple(presented.images[position] for position in order), presented.prompt, volume
        )


class OtherPatient(KeptHidden):
    """The pictures of another patient of the same modality, under the words of this one."""

    def __init__(self, presenter: Presenter, hidden: Hidden, bench: Bench) -> None:
        super().__init__(presenter, hidden)
        self._others = _others(bench)

    def shown_item(self, item: Item) -> Item:
        """The item on the other scan:
        marks and frames stand at the same place, as shares of its extent."""
        exchange = self._others.get((item.study_id, item.series))
        if exchange is None:
            return item
        (study_id, name), series, other = exchange
        return msgspec.structs.replace(
            item,
            study_id=study_id,
            series=name,
            boxes=tuple(_moved(box, series, other) for box in item.boxes),
            frames=tuple(dict.fromkeys(_frame(frame, series, other) for frame in item.frames)),
        )

    def present(self, item: Item) -> _Presented:
        """The other scan's pictures under the words of the item."""
        presented = self._presenter.present(self.shown_item(item))
        return _Presented(presented.images, self._presenter.prompt(item), presented.volume)


Series = tuple[str, str]


def _others(bench: Bench) -> dict[Series, tuple[Series, SeriesRecord, SeriesRecord]]:
    """For every series the next one of another patient, in an order drawn by the studies' ids."""
    groups: dict[tuple[str, bool], list[tuple[str, str, SeriesRecord]]] = {}
    for study in bench.studies():
        for series in study.series:
            if series.image_hash:
                kind = series.modality, bool(series.affine)
                groups.setdefault(kind, []).append((study.patient_id, study.study_id, series))
    result: dict[Series, tuple[Series, SeriesRecord, SeriesRecord]] = {}
    for members in groups.values():
        members.sort(key=lambda entry: digest("other", entry[1], entry[2].series))
        for position, (patient, study_id, series) in enumerate(members):
            turned = members[position + 1 :] + members[:position]
            other = next((entry for entry in turned if entry[0] != patient), None)
            if other is not None:
                result[study_id, series.series] = (other[1], other[2].series), series, other[2]
    return result


def _moved(box: Box, series: SeriesRecord, other: SeriesRecord) -> Box:
    if isinstance(box, WorldBox):
        a, b = series.grid, other.grid
        assert isinstance(a, Grid)
        assert isinstance(b, Grid)
        here, there = a.in_patient_order(), b.in_patient_order()
        corners = WorldPoints(np.array([box.lo_mm, box.hi_mm]))
        share = (np.asarray(here.affine.to_index(corners)) + 0.5) / np.array(here.shape)
        placed = np.asarray(there.affine.to_world(IndexPoints(share * np.array(there.shape) - 0.5)))
        lo, hi = placed.min(axis=0), placed.max(axis=0)
        return msgspec.structs.replace(
            box,
            lo_mm=(float(lo[0]), float(lo[1]), float(lo[2])),
            hi_mm=(float(hi[0]), float(hi[1]), float(hi[2])),
        )
    wide, high = (_ratio(series.shape[axis], other.shape[axis]) for axis in (2, 1))
    return FrameBox(
        _frame(box.frame, series, other),
        box.x0 * wide,
        box.y0 * high,
        box.x1 * wide,
        box.y1 * high,
        box.label,
    )


def _frame(frame: int, series: SeriesRecord, other: SeriesRecord) -> int:
    here, there = _frames_of(series), _frames_of(other)
    return (
        min(max(there - 1, 0), int((frame + 0.5) * _ratio(here, there)))
        if here and there
        else frame
    )


def _frames_of(series: SeriesRecord) -> int:
    grid = series.grid
    return grid.in_patient_order().shape[2] if isinstance(grid, Grid) else grid.frames


def _ratio(here: int, there: int) -> float:
    return there / here if here and there else 1.0


def _through(profile: Profile) -> int:
    """The array axis across the profile's slices; that of feet and head where it has no plane."""
    letters = {"axial": "SI", "coronal": "AP", "sagittal": "RL"}[profile.view.plane.value]
    return next(axis for axis, letter in enumerate(profile.array.axes) if letter in letters)


def _volume(
    presenter: Presenter, item: Item, name: str, change: Callable[[NDArray[Any]], NDArray[Any]]
) -> VolumeInput:
    """The volume a 3D model would get, changed when it is asked for."""
    original = presenter.volume(item)
    return VolumeInput(
        lambda: change(original.array()), original.affine, digest(name, original.digest)
    )


def _seed(*parts: str) -> int:
    return int(digest(*parts, size=4), 16)
