"""What decides an item, and which of it a look showed:
the visibility rule, applied to every picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.anatomy import Term
from situs.facts import link
from situs.items import Box, Choice, Item, YesNo, boxes_in, marks_of
from situs.profiles import Layout
from situs.profiles.geometry.frame import Tile
from situs.profiles.pixels.samples import in_lattice_order, slice_of
from situs.profiles.sight.structures import index_slices, lesions_of_role
from situs.profiles.sight.visibility import SliceView, contrast, load_thresholds, width_px
from situs.room.view.scan import Look, Picture, Scan, plane_axis, shown_at
from situs.space import FrameBox, WorldBox
from situs.volumes import LabelMap

__all__ = [
    "Masks",
    "Sighting",
    "Target",
    "Triple",
    "sightings_on",
    "slices_seen",
    "targets_of",
    "unseen",
]

_SEES = "sees:"
Triple = tuple[float, float, float]


class Target(msgspec.Struct, frozen=True):
    """One thing that has to be seen."""

    name: str
    kind: Literal["mask", "boxes", "point", "slice"]
    needed: int
    """Slices on which it has to be clear."""
    at: Triple | None = None
    """Of a point: mm, or (frame, x, y)."""
    boxes: tuple[FrameBox, ...] = ()
    """Of a finding that was drawn frame by frame: its boxes. It is seen on any of them."""


class Sighting(msgspec.Struct, frozen=True):
    """A target on one shown slice."""

    target: str
    plane: str
    index: int
    """The acquired slice."""
    width_px: int | None = None
    """None where being on the slice is all that counts."""
    contrast: float | None = None
    """None where there is no mask to tell it from its rim."""

    @property
    def is_clear(self) -> bool:
        """Whether it is large enough on the picture and stands out from its surroundings."""
        limits = load_thresholds()
        wide = self.width_px is None or self.width_px >= limits.width_px
        return wide and (self.contrast is None or self.contrast >= limits.contrast)


def slices_seen(sightings: Iterable[Sighting]) -> Counter[str]:
    """Target → on how many slices it was clear."""
    clear = {(one.target, one.plane, one.index) for one in sightings if one.is_clear}
    return Counter(target for target, _, _ in clear)


def unseen(targets: Iterable[Target], sightings: Iterable[Sighting]) -> list[str]:
    """The targets that were not seen on enough slices."""
    seen = slices_seen(sightings)
    return [target.name for target in targets if seen[target.name] < target.needed]


class Masks:
    """The structures of a series, as slices of any picture."""

    def __init__(self, labels: LabelMap, terms: Mapping[str, Term]) -> None:
        self.labels = labels
        self._terms = terms
        self._structures = {structure.name: structure for structure in labels.structures}
        self._regions: dict[tuple[str, WorldBox | None], _Region | None] = {}
        self.best_views: dict[str, list[SliceView]] = {}
        """How structures look where they are largest, as far as that was worked out."""
        self.pictures: dict[Look, Picture] = {}
        """Whole slices that were drawn to find that out."""

    @cached_property
    def _layers(self) -> list[NDArray[Any]]:
        return [in_lattice_order(layer, self.labels.grid) for layer in self.labels.layers]

    def region(self, name: str, item: Item) -> _Region | None:
        """A structure, or a lesion that the item knows by its role, inside its box;
        None if no mask has it."""
        box = next((b for b in item.boxes if b.label == name and isinstance(b, WorldBox)), None)
        key = name, box
        if key not in self._regions:
            self._regions[key] = self._find_region(name, box)
        return self._regions[key]

    def _find_region(self, name: str, box: WorldBox | None) -> _Region | None:
        grid = self.labels.grid.in_patient_order()
        inside = None if box is None else index_slices(box, grid)
        if name in self._structures:
            structure = self._structures[name]
            return _Region([(self._layers[structure.layer], structure.value)], None, inside)
        lesions = lesions_of_role(name, self.labels, self._terms)
        if inside is None or not lesions:
            return None
        parts = [(self._layers[one.layer], one.value) for one in lesions]
        return _Region(parts, inside, inside)


class _Region:
    """Voxels of some labels, all of them or those inside a box of indices."""

    def __init__(
        self,
        parts: Sequence[tuple[NDArray[Any], int]],
        limits: tuple[slice, slice, slice] | None,
        around: tuple[slice, slice, slice] | None,
    ) -> None:
        self.parts = parts
        self.limits = limits
        self.around = around
        """Where it is known to lie; None if that is not known."""

    def on(self, layout: Layout, tile: Tile) -> NDArray[np.bool_] | None:
        """Its pixels on a slice, at the size of the voxels; None if there are none."""
        screen, lattice = tile.screen, layout.lattice
        if self.limits is not None:
            through = self.limits[screen.through]
            if not through.start <= tile.source_index < through.stop:
                return None
        mask: NDArray[np.bool_] | None = None
        for values, value in self.parts:
            plane = slice_of(values, lattice, screen, tile.index, "nearest") == value
            mask = plane if mask is None else mask | plane
        assert mask is not None
        if self.limits is not None:
            rows = self._within(lattice.axes[screen.rows], screen.rows, screen.flip_rows)
            columns = self._within(
                lattice.axes[screen.columns], screen.columns, screen.flip_columns
            )
            mask = mask & rows[:, None] & columns[None, :]
        return mask if mask.any() else None

    def areas(self, scan: Scan, plane: str) -> NDArray[np.int64]:
        """Voxels on each slice of a plane, where it is known to lie."""
        through = plane_axis(plane)
        box = self.around or tuple(slice(0, n) for n in self.parts[0][0].shape)
        others = tuple(axis for axis in range(3) if axis != through)
        counts = np.zeros(scan.count(plane), dtype=np.int64)
        for values, value in self.parts:
            part_counts = np.count_nonzero(values[box] == value, axis=others)
            counts[box[through].start : box[through].start + len(part_counts)] += part_counts
        return counts

    def _within(self, axis: Any, number: int, flip: bool) -> NDArray[np.bool_]:
        assert self.limits is not None
        places: NDArray[np.float64] = np.floor(axis.acquired_at(np.arange(axis.known())) + 0.5)
        limits = self.limits[number]
        inside: NDArray[np.bool_] = np.logical_and(places >= limits.start, places < limits.stop)
        return np.flip(inside) if flip else inside


def targets_of(
    item: Item,
    masks: Masks | None,
    points: Mapping[str, Triple],
    marks: Mapping[str, Triple],
) -> tuple[Target, ...]:
    """What has to be seen to answer from the scan; empty where nobody knows.

    The structures the item needs, on two slices each (on its slice, for a question about one); for
    a distance its witness points `points`, and the structures once; of `marks` (letter → where it
    is drawn) those that decide. Without masks, the boxes it speaks of; without those, its slices.
    """
    limits = load_thresholds()
    of_slice = item.level == "slice" and bool(item.frames)
    names = [need.removeprefix(_SEES) for need in item.needs if need.startswith(_SEES)]
    labelled = {box.label for box in item.boxes}
    targets: list[Target] = []
    for name in names:
        if masks is not None and masks.region(name, item) is not None:
            needed = 1 if of_slice or points else limits.slices
            targets.append(Target(name, "mask", needed))
        elif name in labelled:
            targets.append(Target(name, "boxes", _needed(item, name)))
    targets += [Target(name, "point", 1, at) for name, at in points.items()]
    targets += [
        Target(f"mark {letter}", "point", 1, at)
        for letter, at in marks.items()
        if letter in _deciding_marks(item, marks)
    ]
    if not targets and not of_slice:
        targets += _findings(item)
    if not targets and boxes_in(item.answer):
        targets.append(Target("", "boxes", 1))
    if not targets and of_slice:
        targets.append(Target("slice", "slice", len(set(item.frames))))
    return tuple(targets)


def _findings(item: Item) -> list[Target]:
    """Each finding that was drawn on the frames of a volume; where one of several is enough to
    answer (is there any, which one is it), one of them.

    Boxes are linked as readily as any rule does, so that nobody has to see one finding twice.
    """
    drawn = [box for box in (*item.boxes, *boxes_in(item.answer)) if isinstance(box, FrameBox)]
    marks = {box for box in marks_of(item).values() if isinstance(box, FrameBox)}
    by_label: dict[str, list[FrameBox]] = {}
    for box in dict.fromkeys(drawn):
        if box not in marks:
            by_label.setdefault(box.label, []).append(box)
    if by_label and isinstance(item.answer, YesNo | Choice):
        every = tuple(box for boxes in by_label.values() for box in boxes)
        return [Target(" or ".join(by_label), "boxes", 1, boxes=every)]
    findings: list[Target] = []
    for label, boxes in by_label.items():
        tubes = link(boxes, 0.0, 1)
        for number, tube in enumerate(tubes, start=1):
            name = label if len(tubes) == 1 else f"{label} {number}".strip()
            findings.append(Target(name, "boxes", 1, boxes=tube.boxes))
    return findings


def _deciding_marks(item: Item, marks: Iterable[str]) -> set[str]:
    """The mark that is the answer, and those that the question compares it with.

    The other options need not be looked at by whoever has seen where the right one lies.
    """
    offered = {option.value for option in item.options}
    deciding = {letter for letter in marks if letter not in offered}
    if isinstance(item.answer, Choice) and not item.answer.also_right:
        deciding.add(item.answer.value)
    return deciding


def _needed(item: Item, name: str) -> int:
    """As for a profile: boxes drawn on frames have to be seen on one of them."""
    boxes = [box for box in item.boxes if box.label == name]
    drawn = all(isinstance(box, FrameBox) for box in boxes)
    return 1 if item.level == "slice" or drawn else load_thresholds().slices


def sightings_on(
    picture: Picture, item: Item, targets: Iterable[Target], scan: Scan, masks: Masks | None
) -> list[Sighting]:
    """Every target that a picture shows, slice by slice."""
    sightings: list[Sighting] = []
    for target in targets:
        if target.kind == "mask":
            assert masks is not None
            region = masks.region(target.name, item)
            if region is not None:
                sightings += _of_region(picture, target, region)
        elif target.kind == "boxes":
            sightings += _of_boxes(picture, target, item)
        else:
            sightings += _of_places(picture, target, item)
    return sightings


def _of_region(picture: Picture, target: Target, region: _Region) -> Iterable[Sighting]:
    for tile in picture.tiles:
        mask = region.on(picture.layout, tile)
        if mask is not None:
            left, top = tile.corner
            width, height = tile.size
            pixels = picture.unmarked[top : top + height, left : left + width]
            yield _sighting(target, tile, mask, pixels)


def _sighting(
    target: Target, tile: Tile, mask: NDArray[np.bool_], pixels: NDArray[np.uint8]
) -> Sighting:
    """How large and how clear a mask is at the size shown. Only its surroundings are looked at."""
    rim = load_thresholds().rim_px
    spans = []
    for axis, count in ((0, tile.size[1]), (1, tile.size[0])):
        stored = mask.shape[axis]
        places = np.floor((np.arange(count) + 0.5) * stored / count).astype(int)
        there = np.flatnonzero(np.asarray(mask.any(axis=1 - axis))[places])
        low = int(there[0]) if len(there) else 0
        high = int(there[-1]) + 1 if len(there) else 0
        spans.append((places, slice(max(0, low - rim - 1), min(count, high + rim + 1))))
    (rows, down), (columns, across) = spans
    shown_mask: NDArray[np.bool_] = mask[np.ix_(rows[down], columns[across])]
    plane, width = "" if tile.plane is None else tile.plane.value, width_px(shown_mask)
    # What is too small is not seen, however it stands out; telling how far takes longest.
    wide = width >= load_thresholds().width_px
    seen = contrast(pixels[down, across], shown_mask, rim) if wide else 0.0
    return Sighting(target.name, plane, tile.source_index, width, round(seen, 3))


def _of_boxes(picture: Picture, target: Target, item: Item) -> Iterable[Sighting]:
    """The item's boxes of that label, or those it asks for, on the slices that cut them."""
    wanted: list[Box] = list(target.boxes)
    if not wanted and target.name:
        wanted = [box for box in item.boxes if box.label == target.name]
    elif not wanted:
        wanted = list(boxes_in(item.answer))
    frame = picture.layout.frames[0]
    for tile in frame.tiles:
        one = Layout(picture.layout.lattice, (type(frame)([tile], (frame.width, frame.height)),))
        cut = [
            box for box in wanted if not isinstance(box, FrameBox) or box.frame == tile.source_index
        ]
        for box in one.shown_boxes(cut):
            plane = "" if tile.plane is None else tile.plane.value
            width = int(min(box.x1 - box.x0, box.y1 - box.y0))
            yield Sighting(target.name, plane, tile.source_index, width)


def _of_places(picture: Picture, target: Target, item: Item) -> Iterable[Sighting]:
    """A point on the slice it lies on, or the very slices an item is about."""
    for tile in picture.tiles:
        plane = "" if tile.plane is None else tile.plane.value
        if target.kind == "slice":
            if plane in ("", "axial") and tile.source_index in item.frames:
                yield Sighting(target.name, plane, tile.source_index)
            continue
        half = 0.5 * float(picture.layout.lattice.spacing[tile.screen.through]) + 1e-6
        if shown_at(tile, np.array(target.at), half) is not None:
            yield Sighting(target.name, plane, tile.source_index)
