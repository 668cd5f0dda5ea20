"""How each annotated structure of a series looks under a layout."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.anatomy import Term, lesion_family
from situs.items import Box
from situs.profiles.geometry.frame import Tile
from situs.profiles.geometry.layout import Layout
from situs.profiles.pixels.renderer import Renderer
from situs.profiles.pixels.samples import in_lattice_order, slice_of
from situs.profiles.sight.visibility import SliceView, contrast, load_thresholds, width_px
from situs.space import Grid, WorldBox
from situs.volumes import LabelMap, Structure

__all__ = ["Role", "Sight", "index_slices", "lesions_of_role", "shown_part"]

_ROLES = ("largest:", "second:")


class Role(msgspec.Struct, frozen=True):
    """A lesion on the slices shown."""

    views: list[SliceView]
    outside: float
    """The share of it that no picture can show."""


class Sight:
    """The masks of one series under one layout, with the image where there is one."""

    def __init__(
        self,
        layout: Layout,
        labels: LabelMap,
        renderer: Renderer | None,
        own_terms: Mapping[str, Term] | None = None,
    ) -> None:
        """`own_terms`: what the bench says about names, which tells the user's own lesions."""
        self._own_terms = own_terms
        self._layout = layout
        self._labels = labels
        self._layers = [in_lattice_order(layer, labels.grid) for layer in labels.layers]
        self._renderer = renderer
        self._rim = load_thresholds().rim_px

    def all_structures(self) -> dict[str, list[SliceView]]:
        """Every structure on every slice it is shown on."""
        from scipy.ndimage import find_objects

        views: dict[str, list[SliceView]] = {
            structure.name: [] for structure in self._labels.structures
        }
        for tile in self._tiles():
            picture = (
                None if self._renderer is None else self._renderer.tile(self._layout.lattice, tile)
            )
            for number, layer in enumerate(self._layers):
                label_pixels = self._on(layer, tile)
                places = find_objects(label_pixels)
                for structure in self._labels.structures:
                    extent = places[structure.value - 1] if structure.value <= len(places) else None
                    if structure.layer == number and extent is not None:
                        near = _widened(extent, self._rim + 1, label_pixels.shape)
                        part = None if picture is None else picture[near]
                        views[structure.name].append(
                            self._view(tile, label_pixels[near] == structure.value, part)
                        )
        return views

    def role(self, key: str, boxes: Sequence[Box]) -> Role | None:
        """A lesion that the item knows by its role or number: what lies inside its box of the
        lesions annotated.

        None if the item has no box of it, or the masks know no such lesion.
        """
        mask = self._role_mask(key, boxes)
        if mask is None:
            return None
        views = []
        for tile in self._tiles():
            lesion_pixels = self._on(mask, tile) != 0
            if lesion_pixels.any():
                picture = (
                    None
                    if self._renderer is None
                    else self._renderer.tile(self._layout.lattice, tile)
                )
                views.append(self._view(tile, lesion_pixels, picture))
        total = int(np.count_nonzero(mask))
        inside = int(np.count_nonzero(mask[shown_part(self._layout)]))
        return Role(views, 1.0 - inside / total if total else 0.0)

    def _role_mask(self, key: str, boxes: Sequence[Box]) -> NDArray[np.bool_] | None:
        box = next((box for box in boxes if box.label == key and isinstance(box, WorldBox)), None)
        lesions = lesions_of_role(key, self._labels, self._own_terms)
        if box is None or not lesions:
            return None
        mask = np.zeros(self._layers[0].shape, dtype=bool)
        inside = index_slices(box, self._labels.grid.in_patient_order())
        for structure in lesions:
            mask[inside] |= self._layers[structure.layer][inside] == structure.value
        return mask

    def shares_outside(self) -> dict[str, float]:
        """Of each structure the share of voxels that no picture can show:
        cropped away or beyond the slices."""
        shown_voxels = shown_part(self._layout)
        result = {}
        for number, layer in enumerate(self._layers):
            totals, inside = _counts(layer), _counts(layer[shown_voxels])
            for structure in self._labels.structures:
                if structure.layer == number:
                    within = int(inside[structure.value]) if structure.value < len(inside) else 0
                    result[structure.name] = 1.0 - within / int(totals[structure.value])
        return result

    def _tiles(self) -> list[Tile]:
        """Every slice of every picture;
        through several windows, the one that shows most decides."""
        return [tile for frame in self._layout.frames for tile in frame.tiles]

    def _on(self, values: NDArray[Any], tile: Tile) -> NDArray[np.int64]:
        """Labels at the pixels of a tile."""
        plane = slice_of(values, self._layout.lattice, tile.screen, tile.index, "nearest")
        width, height = tile.size
        rows = np.floor((np.arange(height) + 0.5) * plane.shape[0] / height).astype(int)
        columns = np.floor((np.arange(width) + 0.5) * plane.shape[1] / width).astype(int)
        shown = plane[np.ix_(rows, columns)]
        if shown.dtype.kind == "f":
            shown = np.nan_to_num(shown)
        return np.asarray(shown.astype(np.int64))

    def _view(
        self, tile: Tile, mask: NDArray[np.bool_], picture: NDArray[np.uint8] | None
    ) -> SliceView:
        seen = None if picture is None else contrast(picture, mask, self._rim)
        plane = "" if tile.plane is None else tile.plane.value
        return SliceView(plane, tile.source_index, width_px(mask), seen)


def lesions_of_role(
    key: str, labels: LabelMap, own_terms: Mapping[str, Term] | None = None
) -> list[Structure]:
    """The annotated lesions that a role (`largest:liver_lesion`)
    or a numbered name (`liver_lesion_2`) may mean."""
    role = next((role for role in _ROLES if key.startswith(role)), "")
    family = key.removeprefix(role) if role else lesion_family(key, own_terms)
    lesions = {s: lesion_family(s.name, own_terms) for s in labels.structures}
    return [
        s for s, other_family in lesions.items() if other_family and family in ("*", other_family)
    ]


def shown_part(layout: Layout) -> tuple[slice, slice, slice]:
    """The acquired voxels between the outermost pictures and inside the crop."""
    parts = []
    tiles = [tile for frame in layout.frames for tile in frame.tiles]
    through = {tile.screen.through for tile in tiles}
    for number, axis in enumerate(layout.lattice.axes):
        first, last = 0.0, float(axis.known() - 1)
        if through == {number}:
            indices = sorted({tile.index for tile in tiles})
            gap = max(1.0, float(np.diff(indices).max())) if len(indices) > 1 else 1.0
            first, last = (
                max(first, indices[0] - 0.5 * (gap - 1.0)),
                min(last, indices[-1] + 0.5 * (gap - 1.0)),
            )
        low, high = (
            axis.acquired_at(first) - 0.5 * axis.step,
            axis.acquired_at(last) + 0.5 * axis.step,
        )
        begin = max(0, int(np.ceil(low - 1e-6)))
        parts.append(slice(begin, max(begin, int(np.floor(high + 1e-6)) + 1)))
    x, y, z = parts
    return x, y, z


def _counts(layer: NDArray[Any]) -> NDArray[np.int64]:
    """Voxels of each value, one slice at a time."""
    total = np.zeros(int(layer.max(initial=0)) + 1, dtype=np.int64)
    for index in range(layer.shape[2]):
        slice_counts = np.bincount(layer[:, :, index].ravel())
        total[: len(slice_counts)] += slice_counts
    return total


def _widened(extent: tuple[slice, ...], by: int, shape: tuple[int, ...]) -> tuple[slice, ...]:
    return tuple(
        slice(max(0, s.start - by), min(n, s.stop + by)) for s, n in zip(extent, shape, strict=True)
    )


def index_slices(box: WorldBox, grid: Grid) -> tuple[slice, slice, slice]:
    """The voxels whose centres may lie in a world box."""
    corners = np.array(list(itertools.product(*zip(box.lo_mm, box.hi_mm))))
    linear, shift = np.linalg.inv(grid.affine.linear), grid.affine.matrix[:3, 3]
    indices = (corners - shift) @ linear.T
    x, y, z = (
        slice(max(0, int(np.ceil(low - 1e-6))), max(0, min(n, int(np.floor(high + 1e-6)) + 1)))
        for low, high, n in zip(indices.min(axis=0), indices.max(axis=0), grid.shape, strict=True)
    )
    return x, y, z
