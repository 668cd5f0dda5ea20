"""The pictures of a report: slices at acquired resolution,
encoded once and shared between items."""

from __future__ import annotations

import base64
import io
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from situs.bench import Bench, Locations, StudyRecord
from situs.errors import SitusError
from situs.facts import Fact
from situs.items import Boxes, Item, parts_of
from situs.profiles import PLANES, Plane, Tones, ToneScale, Volumes, tone_scale, tones_around
from situs.report.covered import series_key
from situs.report.pictures.evidence import Evidence
from situs.report.pictures.marks import Marks, Point, marks_of
from situs.report.pictures.slices import opening_slice, shown_slices, spoken_ranges
from situs.report.pictures.strips import StripStore
from situs.report.viewer.payload import Shared
from situs.report.viewer.subjects import subjects_of

__all__ = ["Embedded", "PlaneFrame", "embed_pictures", "pictured_series", "plane_frames"]

_QUALITY = 88
_MOST_SLICES = (40, 24, 12, 6, 2)
"""Slices per plane and item; the next smaller number is
taken when an item would not fit its share of the file."""


class PlaneFrame(msgspec.Struct, frozen=True):
    """The letters on the four edges of a plane's picture,
    and the patient axes (0 x, 1 y, 2 z) it shows."""

    left: str
    right: str
    top: str
    bottom: str
    across: int
    down: int
    through: int


class PlaneView(msgspec.Struct, frozen=True):
    """One plane of one item."""

    slices: list[int]
    opening: int
    spoken: str
    """`31–70`"""
    jumps: list[int]
    """For each structure the slice that shows it best."""


class View(msgspec.Struct, frozen=True):
    """The pictures of one item."""

    source: str
    """Key into the pictures: series and window."""
    series: str
    shape: tuple[int, int, int]
    spacing: tuple[float, float, float]
    structures: list[str]
    planes: dict[str, PlaneView]
    marks: Marks
    boxed: bool
    """Whether its boxes are part of the answer, and so drawn from the start."""
    asked: list[tuple[str, Point]] = []
    """Letter and place of the marks that the question speaks of; always drawn."""


class Embedded(msgspec.Struct, frozen=True):
    """What was embedded, and what could not be."""

    shared: Shared
    items: list[str]
    unreadable: int
    """Items whose image or masks could not be read, or did not fit."""
    shortened: int
    """Views with fewer slices than usual, to keep the file small."""


def plane_frames() -> dict[str, PlaneFrame]:
    """How each plane's picture is labelled and laid out."""
    return {
        plane.value: PlaneFrame(
            left=plane.left_edge.letter,
            right=plane.left_edge.opposite.letter,
            top=plane.top_edge.letter,
            bottom=plane.top_edge.opposite.letter,
            across=plane.left_edge.axis.world_index,
            down=plane.top_edge.axis.world_index,
            through=plane.through.world_index,
        )
        for plane in PLANES
    }


def pictured_series(studies: Iterable[StudyRecord], locations: Locations) -> set[str]:
    """Series whose image has a place on this machine."""
    pictured = set()
    for study in studies:
        for series in study.series:
            if not series.image_hash:
                continue
            try:
                locations.find(series.image_hash)
            except SitusError:
                continue
            pictured.add(f"{study.study_id}/{series.series}")
    return pictured


def embed_pictures(
    bench: Bench,
    items: Sequence[Item],
    studies: Mapping[str, StudyRecord],
    facts: Mapping[str, Fact],
    volumes: Volumes,
    budget_bytes: int,
    strips: StripStore,
    imaged: Container[str],
) -> Embedded:
    """Pictures of the items within a budget, one series in memory at a time.

    Each item gets what its models saw (`strips`), and, where there are masks, the reader's three
    planes. `imaged` are the series with an image at hand. Series share the budget equally;
    in one, an item may take half of what is left, because those after it show the same slices.
    """
    by_series: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        by_series[series_key(item)].append(item)
    store = _Store(bench, facts)
    seen: list[str] = []
    lost = 0
    for series_before, (key, of_series) in enumerate(by_series.items()):
        at_hand = key in imaged
        evidence = _evidence(bench, studies, key, of_series[0], volumes) if at_hand else None
        used = store.bytes + strips.bytes
        most_used = used + (budget_bytes - used) // (len(by_series) - series_before)
        for number, item in enumerate(of_series):
            rest = most_used - store.bytes - strips.bytes
            allowance = rest // min(2, len(of_series) - number)
            before = strips.bytes
            has_pixels = strips.add(item, allowance // 2, imaged=at_hand)
            if evidence is not None:
                store.add(item, key, evidence, allowance - (strips.bytes - before))
            has_pixels = has_pixels or item.item_id in store.views
            if has_pixels:
                seen.append(item.item_id)
            lost += at_hand and not has_pixels
    shared = Shared(
        dict(store.views),
        store.pictures,
        store.outlines,
        dict(plane_frames()),
        dict(strips.strips),
        strips.pictures,
        store.tones,
    )
    return Embedded(shared, seen, lost, store.shortened + strips.shortened)


def _evidence(
    bench: Bench, studies: Mapping[str, StudyRecord], key: str, item: Item, volumes: Volumes
) -> Evidence | None:
    """Image and masks of a series;
    None where it has no masks, no millimetres, or they cannot be read."""
    study = studies[item.study_id]
    series = next(s for s in study.series if f"{study.study_id}/{s.series}" == key)
    if not series.affine or not series.labels_hash:
        return None
    try:
        return Evidence(bench, study, series, volumes)
    except SitusError:
        return None


class _Store:
    """Slices and outlines by series, window, plane and index."""

    def __init__(self, bench: Bench, facts: Mapping[str, Fact]) -> None:
        self.views: dict[str, View] = {}
        self.pictures: dict[str, dict[str, dict[int, str]]] = {}
        self.outlines: dict[str, dict[str, dict[str, dict[int, str]]]] = {}
        self.tones: dict[str, ToneScale] = {}
        self._toned: dict[str, Tones] = {}
        self.bytes = 0
        self.shortened = 0
        self._bench = bench
        self._facts = facts
        self._shapes: dict[tuple[str, str], dict[tuple[str, str], Fact]] = defaultdict(dict)
        for fact in facts.values():
            if fact.kind in ("centroid", "box") and fact.subjects:
                self._shapes[fact.study_id, fact.series][fact.kind, fact.subjects[0]] = fact

    def add(self, item: Item, series: str, evidence: Evidence, allowance: int) -> None:
        """Embed one item's pictures, with fewer slices if they would not fit the allowance."""
        item_facts = [self._facts[fact_id] for fact_id in item.fact_ids if fact_id in self._facts]
        subjects = [
            s
            for s in subjects_of(item, item_facts, self._bench.info.terms)
            if s.structure in evidence
        ]
        if not subjects:
            return
        names = [s.structure for s in subjects]
        window = evidence.window(names[0])
        source = f"{series}/{window.low:g}:{window.high:g}"
        modality, values = evidence.volume.modality, evidence.volume.array
        if source not in self._toned:
            self._toned[source] = tones_around(window, modality, values)
        tones = self._toned[source]
        areas = {name: evidence.areas(name) for name in names}
        marks = marks_of(
            item, subjects, item_facts, self._shapes.get((item.study_id, item.series), {}), evidence
        )
        boxed = any(isinstance(part, Boxes) for part in parts_of(item.answer).values())
        opening = _box_slices(marks) if boxed else _gap_slices(marks)
        if marks.letters:
            opening = _letter_slices(item, marks.letters)
        draft = _Draft(
            evidence, tones, self.pictures.get(source, {}), self.outlines.get(series, {})
        )
        for most in _MOST_SLICES:
            planes = {
                plane: _plane_view(
                    [areas[name][plane] for name in names],
                    most,
                    opening[plane],
                    exact=bool(marks.letters),
                )
                for plane in PLANES
            }
            cost = draft.cost(planes, names)
            if cost <= allowance:
                break
        else:
            return
        self.shortened += most != _MOST_SLICES[0]
        self.bytes += cost
        draft.keep(
            planes,
            names,
            self.pictures.setdefault(source, {}),
            self.outlines.setdefault(series, {}),
        )
        if source not in self.tones:
            self.tones[source] = tone_scale(tones, modality, values)
        grid = evidence.volume.grid
        self.views[item.item_id] = View(
            source=source,
            series=series,
            shape=grid.shape,
            spacing=grid.affine.spacing_mm,
            structures=names,
            planes={plane.value: view for plane, view in planes.items()},
            marks=marks,
            boxed=boxed,
            asked=list(marks.letters.items()),
        )


class _Draft:
    """What an item would add; nothing is encoded twice."""

    def __init__(
        self,
        evidence: Evidence,
        tones: Tones,
        pictures: Mapping[str, Mapping[int, str]],
        outlines: Mapping[str, Mapping[str, Mapping[int, str]]],
    ) -> None:
        self._evidence = evidence
        self._tones = tones
        self._pictures = pictures
        self._outlines = outlines
        self._new_pictures: dict[tuple[str, int], str] = {}
        self._new_outlines: dict[tuple[str, str, int], str] = {}

    def cost(self, planes: Mapping[Plane, PlaneView], names: Sequence[str]) -> int:
        """Bytes these slices add to the file."""
        total = 0
        for plane, view in planes.items():
            for index in view.slices:
                if index not in self._pictures.get(plane.value, {}):
                    total += len(self._picture(plane, index)) + 8
                for name in names:
                    if index not in self._outlines.get(name, {}).get(plane.value, {}):
                        total += len(self._outline(name, plane, index)) + 8
        return total

    def keep(
        self,
        planes: Mapping[Plane, PlaneView],
        names: Sequence[str],
        pictures: dict[str, dict[int, str]],
        outlines: dict[str, dict[str, dict[int, str]]],
    ) -> None:
        """Put the slices where all items find them."""
        for plane, view in planes.items():
            for index in view.slices:
                of_plane = pictures.setdefault(plane.value, {})
                if index not in of_plane:
                    of_plane[index] = self._picture(plane, index)
                for name in names:
                    edges = outlines.setdefault(name, {}).setdefault(plane.value, {})
                    if index not in edges:
                        edges[index] = self._outline(name, plane, index)

    def _picture(self, plane: Plane, index: int) -> str:
        key = (plane.value, index)
        if key not in self._new_pictures:
            self._new_pictures[key] = _encode(
                self._evidence.volume.picture(plane, index, self._tones).grey
            )
        return self._new_pictures[key]

    def _outline(self, name: str, plane: Plane, index: int) -> str:
        key = (name, plane.value, index)
        if key not in self._new_outlines:
            self._new_outlines[key] = self._evidence.outline(name, plane, index)
        return self._new_outlines[key]


def _gap_slices(marks: Marks) -> dict[Plane, float | None]:
    """Where a distance between surfaces starts: there the item opens."""
    gap = next((line for line in marks.lines if line.kind == "gap"), None)
    return {
        plane: None if gap is None else gap.start[plane.through.world_index] for plane in PLANES
    }


def _box_slices(marks: Marks) -> dict[Plane, float | None]:
    """The middle of the first box: there an item opens that asks for it."""
    if not marks.boxes:
        return dict.fromkeys(PLANES)
    middle = np.mean(marks.boxes[0].corners, axis=0)
    return {plane: float(middle[plane.through.world_index]) for plane in PLANES}


def _letter_slices(item: Item, letters: Mapping[str, Point]) -> dict[Plane, float | None]:
    """Through the mark that is the answer, else through the first:
    all marks lie on one axial slice."""
    value = getattr(item.answer, "value", "")
    right = str(value).removeprefix("mark ")
    point = letters.get(right) or next(iter(letters.values()))
    return {plane: point[plane.through.world_index] for plane in PLANES}


def _plane_view(
    areas: Sequence[NDArray[np.int64]], most: int, start: float | None, *, exact: bool
) -> PlaneView:
    """`start` is where it opens: on the nearest slice of the first structure,
    or, if `exact`, on that very slice."""
    opening = opening_slice(areas)
    if start is not None:
        seen = np.arange(len(areas[0])) if exact else np.flatnonzero(areas[0])
        opening = int(seen[np.argmin(np.abs(seen - start))])
    slices = shown_slices(areas, opening, most)
    if opening not in slices:
        slices = sorted({*slices, opening})
    jumps = [opening_slice([area]) for area in areas]
    return PlaneView(slices, opening, spoken_ranges(slices), jumps)


def _encode(grey: NDArray[np.uint8]) -> str:
    stream = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(grey)).save(
        stream, "JPEG", quality=_QUALITY, optimize=True
    )
    return "data:image/jpeg;base64," + base64.b64encode(stream.getvalue()).decode("ascii")
