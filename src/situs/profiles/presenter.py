"""Items as a model receives them, study by study, with one volume in memory."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import msgspec
from numpy.typing import NDArray

from situs.base.files import canonical_json, digest
from situs.bench import Bench, Locations, SeriesRecord, load_image, load_labels, restrict
from situs.errors import SitusError
from situs.items import Box, Item, marks_of
from situs.profiles.geometry.frame import Frame
from situs.profiles.geometry.layout import Layout, layout_of
from situs.profiles.geometry.marks import Marks, marks_on
from situs.profiles.input import Image, VolumeInput
from situs.profiles.pixels.renderer import Renderer, encode
from situs.profiles.pixels.store import SliceStore
from situs.profiles.pixels.volume_array import volume_array
from situs.profiles.prompt import prompt_text
from situs.profiles.schema import Profile, picture_hash
from situs.profiles.sight.hidden import Verdict, judge_item
from situs.profiles.sight.structures import Role, Sight
from situs.profiles.sight.visibility import SliceView
from situs.space import Grid
from situs.volumes import LabelMap

__all__ = ["NO_IMAGE", "FileVolumes", "Presented", "Presenter", "Volumes"]

NO_IMAGE = "its study has no image"
"""Why an item can be shown to nobody, whatever the profile."""


@dataclass(frozen=True)
class Presented:
    """What a model is shown and told of one item."""

    images: tuple[Image, ...]
    prompt: str
    layout: Layout
    volume: VolumeInput


class Volumes(Protocol):
    """Where voxels come from: the files a bench was built from, or what a probe makes of them.

    A series' hashes stand for its voxels in every cache, so a changed volume has a series with
    hashes of its own.
    """

    def image(self, series: SeriesRecord) -> NDArray[Any]:
        """The image on the series' grid; (frames, height, width) where there are no millimetres."""

    def labels(self, series: SeriesRecord) -> LabelMap:
        """The masks on the series' grid."""


class FileVolumes:
    """The evidence files of a bench; refused if they are not what it was built from."""

    def __init__(self, bench: Bench, *, data: Path | None = None) -> None:
        self._locations = Locations.read(bench.folder, data)
        self._last: tuple[str, NDArray[Any]] | None = None

    def image(self, series: SeriesRecord) -> NDArray[Any]:
        """The image, its axes in the order of the labels.

        The last one is kept: a report draws each series' planes, then what its models saw.
        """
        key = f"{series.image_hash}/{series.affine}"
        last = self._last
        if last is not None and last[0] == key:
            return last[1]
        last = self._last = None  # two volumes need not be in memory at once
        image = load_image(series, self._locations).values
        image.flags.writeable = False  # several may hold it
        self._last = key, image
        return image

    def labels(self, series: SeriesRecord) -> LabelMap:
        """The masks."""
        return load_labels(series, self._locations)


class Presenter:
    """A bench through a profile. Ask for the items of a study together: only one volume is kept."""

    def __init__(
        self,
        bench: Bench,
        profile: Profile,
        *,
        store: SliceStore | None = None,
        data: Path | None = None,
        volumes: Volumes | None = None,
    ) -> None:
        self.profile = profile
        self.volumes: Volumes = volumes or FileVolumes(bench, data=data)
        """Where the voxels come from."""
        studies = list(bench.studies())
        self._series = {(study.study_id, s.series): s for study in studies for s in study.series}
        self._studies = {study.study_id for study in studies}
        self._own_terms = bench.info.terms
        self._store = store
        self._lock = threading.RLock()
        self._cache = _SeriesCache("")

    def series(self, item: Item) -> SeriesRecord:
        """The series an item is about."""
        series = self._series.get((item.study_id, item.series))
        if series is None and item.study_id in self._studies and not item.series:
            fix = "build or import it with --images FOLDER"
            raise SitusError("its study has no image to show", where=item.item_id, fix=fix)
        if series is None:
            raise SitusError(
                "its study is not in the bench", where=item.item_id, fix="rebuild the bench"
            )
        return series

    def layout(self, item: Item) -> Layout:
        """The pictures of an item, without their pixels."""
        return layout_of(self.profile, self.series(item).grid, item)

    def prompt(self, item: Item) -> str:
        """The words of an item; no pixel is read."""
        return prompt_text(item, self.profile, self.layout(item), self.series(item).modality)

    def present(self, item: Item) -> Presented:
        """Pictures, prompt, layout and volume of an item."""
        series = self.series(item)
        if not series.image_hash:
            fix = "build the bench with images (boxes: --images FOLDER)"
            raise SitusError("its study has annotations but no image", where=item.item_id, fix=fix)
        layout, images = self._pictures(series, item)
        prompt = prompt_text(item, self.profile, layout, series.modality)
        return Presented(images, prompt, layout, self._volume(series, layout))

    def volume(self, item: Item) -> VolumeInput:
        """The volume of an item, read when its array is asked for."""
        return self._volume(self.series(item), self.layout(item))

    def _pictures(self, series: SeriesRecord, item: Item) -> tuple[Layout, tuple[Image, ...]]:
        """Those of an item without marks and frames of its own are kept whole for the next."""
        is_special = bool(item.frames or marks_of(item))
        with self._lock:
            cached = self._cache_of(series)
            if cached.pictures is not None and not is_special:
                return cached.pictures
            layout = layout_of(self.profile, series.grid, item)
            marks = (
                marks_on(layout, item) if self.profile.draw.marks else [{} for _ in layout.frames]
            )
            images = tuple(
                self._image(series, layout, frame, of_frame)
                for frame, of_frame in zip(layout.frames, marks, strict=True)
            )
            if not is_special:
                cached.pictures = layout, images
            return layout, images

    def hidden(self, item: Item) -> tuple[str, ...]:
        """Why the item cannot be answered under this profile;
        nothing if it can, as far as that can be told."""
        if item.series and not self.series(item).image_hash:
            return (NO_IMAGE,)
        return self.verdict(item).hidden

    def verdict(self, item: Item) -> Verdict:
        """What hides the item, and what could not be decided from the evidence at hand."""
        series = self.series(item)
        return judge_item(item, self.profile, series, self.layout(item), _Evidence(self, series))

    def renderer(self, series: SeriesRecord) -> Renderer:
        """The image of a series, the only one kept."""
        with self._lock:
            cached = self._cache_of(series)
            if cached.renderer is None:
                grid = series.grid if isinstance(series.grid, Grid) else None
                cached.renderer = Renderer(
                    self.profile, self.volumes.image(series), grid, series.modality
                )
            return cached.renderer

    def _cache_of(self, series: SeriesRecord) -> _SeriesCache:
        key = f"{series.image_hash}/{series.labels_hash}"
        if self._cache.key != key:
            self._cache = _SeriesCache(key)
        return self._cache

    def _image(self, series: SeriesRecord, layout: Layout, frame: Frame, marks: Marks) -> Image:
        key = digest(
            "picture",
            series.image_hash,
            picture_hash(self.profile),
            series.modality,
            _picture_key(frame, marks),
        )
        with self._lock:
            images = self._cache_of(series).images
            if key in images:
                return images[key]
            stored = None if self._store is None else self._store.get(key)
            if stored is not None:
                image = msgspec.msgpack.decode(stored, type=Image)
            else:
                image = encode(
                    self.renderer(series).picture(layout.lattice, frame, marks),
                    self.profile.encoding,
                )
                if self._store is not None:
                    self._store.put(key, msgspec.msgpack.encode(image))
            images[key] = image
            return image

    def _volume(self, series: SeriesRecord, layout: Layout) -> VolumeInput:
        affine = layout.array_affine(self.profile.array.axes)
        name = digest("volume", series.image_hash, self.profile.hash)
        return VolumeInput(
            lambda: volume_array(self.renderer(series), layout.lattice), affine, name
        )

    def labels(self, series: SeriesRecord) -> LabelMap | None:
        """The masks of a series, the only ones kept; None if it has none on this machine."""
        if not series.labels_hash:
            return None
        with self._lock:
            cached = self._cache_of(series)
            if cached.labels is None:
                labels = self.volumes.labels(series)
                if not isinstance(series.grid, Grid) or not labels.grid.matches(series.grid):
                    raise SitusError(
                        "its masks are not on the image's grid", where=series.series, fix="rebuild"
                    )
                cached.labels = labels
            return cached.labels

    def views(
        self, series: SeriesRecord, layout: Layout, labels: LabelMap
    ) -> dict[str, list[SliceView]]:
        """How each structure looks on each slice; kept for the series, and in the store."""
        places = b"".join(_picture_key(frame, {}) for frame in layout.frames)
        key = digest(
            "sight",
            canonical_json(series.structures),
            series.image_hash,
            series.labels_hash,
            picture_hash(self.profile),
            places,
        )
        with self._lock:
            cached = self._cache_of(series)
            if key not in cached.views:
                stored = None if self._store is None else self._store.get(key)
                if stored is not None:
                    cached.views[key] = msgspec.msgpack.decode(
                        stored, type=dict[str, list[SliceView]]
                    )
                else:
                    renderer = self.renderer(series) if series.image_hash else None
                    # Only names that the bench knows: another may be a person's, and what is kept
                    # outlives the run.
                    known = restrict(labels, series.structures)
                    cached.views[key] = Sight(layout, known, renderer).all_structures()
                    if self._store is not None:
                        self._store.put(key, msgspec.msgpack.encode(cached.views[key]))
            return cached.views[key]

    def role(
        self,
        series: SeriesRecord,
        layout: Layout,
        labels: LabelMap,
        name: str,
        boxes: tuple[Box, ...],
    ) -> Role | None:
        """How a lesion looks that an item knows by its role or number; kept for the series."""
        places = b"".join(_picture_key(frame, {}) for frame in layout.frames)
        key = digest(name, canonical_json([box for box in boxes if box.label == name]), places)
        with self._lock:
            cached = self._cache_of(series)
            if key not in cached.roles:
                renderer = self.renderer(series) if series.image_hash else None
                cached.roles[key] = Sight(layout, labels, renderer, self._own_terms).role(
                    name, boxes
                )
            return cached.roles[key]


class _SeriesCache:
    """What is in memory of one series."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.renderer: Renderer | None = None
        self.labels: LabelMap | None = None
        self.images: dict[str, Image] = {}
        self.pictures: tuple[Layout, tuple[Image, ...]] | None = None
        self.views: dict[str, dict[str, list[SliceView]]] = {}
        self.roles: dict[str, Role | None] = {}


class _Evidence:
    """What the judgement of an item may look at, loaded when asked for."""

    def __init__(self, presenter: Presenter, series: SeriesRecord) -> None:
        self._presenter = presenter
        self._series = series

    def labels(self) -> LabelMap | None:
        """The masks."""
        return self._presenter.labels(self._series)

    def views(self, layout: Layout, labels: LabelMap) -> dict[str, list[SliceView]]:
        """How the structures look."""
        return self._presenter.views(self._series, layout, labels)

    def role(
        self, layout: Layout, labels: LabelMap, name: str, boxes: tuple[Box, ...]
    ) -> Role | None:
        """How a lesion looks that has no mask of its own."""
        return self._presenter.role(self._series, layout, labels, name, boxes)

    def shares_outside(self, layout: Layout, labels: LabelMap) -> dict[str, float]:
        """How much of each structure no picture can show."""
        return Sight(layout, labels, None).shares_outside()


def _picture_key(frame: Frame, marks: Marks) -> bytes:
    """What of a layout a picture depends on, beside volume and profile."""
    tiles = [
        (tile.plane, tile.index, tile.window, tile.corner, tile.size, tile.screen.flip_columns)
        for tile in frame.tiles
    ]
    drawn = {
        str(tile_number): {a: (round(x, 3), round(y, 3)) for a, (x, y) in of.items()}
        for tile_number, of in marks.items()
    }
    return canonical_json([frame.width, frame.height, tiles, drawn])
