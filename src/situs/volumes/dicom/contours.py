"""RT structure sets: closed contours to masks on the grid of the image they were drawn on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError
from situs.space import Grid, WorldPoints
from situs.volumes.dicom.files import quiet, read_dataset
from situs.volumes.dicom.format import whole
from situs.volumes.formats.stored import clean_name
from situs.volumes.label_map import LabelMap
from situs.volumes.limits import MAX_STRUCTURES
from situs.volumes.masks.painter import Painter
from situs.volumes.masks.polygons import fill_even_odd
from situs.volumes.reorder import Reorder

if TYPE_CHECKING:
    from pydicom.dataset import Dataset

__all__ = ["Region", "across_slices", "load_contours", "read_contours"]

_KEYWORDS = ("StructureSetROISequence", "ROIContourSequence")
_CONTOUR_DATA = 0x30060050
_CLOSED = ("CLOSED_PLANAR", "CLOSEDPLANAR_XOR")
_OFF_PLANE = 0.1
"""Share of the slice spacing by which a contour's points may lie off their slice."""


@dataclass(frozen=True)
class Region:
    """One region of interest: its closed contours, in LPS millimetres."""

    number: int
    name: str
    contours: tuple[NDArray[np.float64], ...]
    open_contours: int
    """Points and open lines, which enclose nothing."""


def read_contours(path: Path) -> tuple[Region, ...]:
    """All regions of a structure set, in file order."""
    with quiet(path):
        dataset, _ = read_dataset(path, _KEYWORDS)
        names = {
            str(item.get("ROINumber")): clean_name(str(item.get("ROIName") or ""))
            for item in dataset.get("StructureSetROISequence") or ()
        }
        regions = tuple(
            _region(item, names, path) for item in dataset.get("ROIContourSequence") or ()
        )
    numbers = [region.number for region in regions]
    if not regions or len(set(numbers)) < len(numbers) or max(numbers) > MAX_STRUCTURES:
        raise SitusError(
            "lists no contours, or one region twice", where=path, fix="export it again"
        )
    return regions


def _region(item: Dataset, names: Mapping[str, str], path: Path) -> Region:
    number = whole(item.get("ReferencedROINumber"), what="region number", where=path)
    closed, others = [], 0
    for contour in item.get("ContourSequence") or ():
        if str(contour.get("ContourGeometricType", "")).strip().upper() in _CLOSED:
            closed.append(_points(contour, path))
        else:
            others += 1
    return Region(number, names.get(str(number)) or f"region_{number}", tuple(closed), others)


def _points(contour: Dataset, path: Path) -> NDArray[np.float64]:
    """The points of one contour.

    A decimal string of thousands of numbers is parsed at once, not one by one.
    """
    element: Any = contour.get_item(_CONTOUR_DATA)
    stored = element.value if element is not None else b""
    values = stored.strip(b" \0").split(b"\\") if isinstance(stored, bytes) else list(stored or ())
    flat = np.array(values, dtype="S" if isinstance(stored, bytes) else None).astype(np.float64)
    if flat.size < 9 or flat.size % 3 or not np.isfinite(flat).all() or np.abs(flat).max() > 1e7:
        raise SitusError(
            "a contour is not a list of points in space", where=path, fix="export it again"
        )
    return np.asarray(flat.reshape(-1, 3))


def across_slices(grid: Grid, regions: tuple[Region, ...]) -> Grid:
    """The grid with the axis across the contours last, wherever the image has it stored."""
    flat = np.zeros(3)
    for points in (points for region in regions for points in region.contours):
        index = np.asarray(grid.affine.to_index(WorldPoints(points * [-1.0, -1.0, 1.0])))
        flat += np.ptp(index, axis=0) <= 2 * _OFF_PLANE
    across = int(flat.argmax())
    if across == 2 or flat[2] == flat[across]:
        return grid
    i, j = (axis for axis in range(3) if axis != across)
    return Reorder((i, j, across), (False, False, False)).grid(grid)


def load_contours(
    path: Path, regions: tuple[Region, ...], grid: Grid, names: Mapping[int, str]
) -> LabelMap:
    """Fill the contours of every region slice by slice; a voxel is inside if its centre is."""
    placed = [[_in_slice(points, grid) for points in region.contours] for region in regions]
    off = sum(item is None for contours in placed for item in contours)
    if off:
        raise SitusError(
            f"{off} of {sum(map(len, placed))} contours do not lie in a slice of the image",
            where=path,
            fix="give the image series they were drawn on",
        )
    numbers = [region.number for region in regions]
    warnings = []
    if 0 in numbers:
        numbers = list(range(1, len(regions) + 1))
        warnings.append("a region is numbered 0: regions are numbered in file order")
    if unfilled := sum(region.open_contours for region in regions):
        warnings.append(f"{unfilled} points or open contours enclose nothing and are ignored")
    columns, rows, _ = grid.shape
    painter = Painter(grid, max(numbers), path)
    for number, region, contours in zip(numbers, regions, placed):
        by_slice: dict[int, list[NDArray[np.float64]]] = {}
        for k, points in filter(None, contours):
            by_slice.setdefault(k, []).append(points)
        masks = {k: fill_even_odd(polygons, rows, columns) for k, polygons in by_slice.items()}
        painter.add(number, names.get(number, region.name), masks)
    return painter.label_map(tuple(warnings))


def _in_slice(points: NDArray[np.float64], grid: Grid) -> tuple[int, NDArray[np.float64]] | None:
    """Slice and in-plane index coordinates of a contour, or None if it lies in no slice."""
    index = np.asarray(grid.affine.to_index(WorldPoints(points * [-1.0, -1.0, 1.0])))
    k = int(np.rint(index[:, 2].mean()))
    if not 0 <= k < grid.shape[2] or np.abs(index[:, 2] - k).max() > _OFF_PLANE:
        return None
    return k, index[:, :2]
