"""From the positions of slices to one affine: order, spacing, gaps, repeats and tilt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError
from situs.space import Affine
from situs.volumes.dicom.frames import Plane

__all__ = ["Stack", "affine_of", "check_parallel", "even_step", "normal_of", "stack"]

_NOT_UNIT = 0.01
_NOT_PARALLEL = 1e-3
_SAME_PLACE_MM = 1e-3
_UNEVEN = 0.01
"""Share of the usual spacing by which a step may differ, beyond the rounding of the header."""
_DRIFT = 0.25
"""Share of the spacing by which a slice may lie off the even lattice when small errors add up."""
_TILTED = 1e-3
_TO_RAS = np.diag([-1.0, -1.0, 1.0])


@dataclass(frozen=True)
class Stack:
    """Slices in order along their normal."""

    order: tuple[int, ...]
    """Which given plane comes first, second, …; repeats stand one after the other."""
    repeats: tuple[tuple[int, int], ...]
    """Pairs of given planes that lie at one place."""
    first: NDArray[np.float64]
    step: NDArray[np.float64]
    """From slice to slice, LPS millimetres; along the normal unless the gantry was tilted."""
    tilt_degrees: float


def normal_of(plane: Plane, where: Path) -> NDArray[np.float64]:
    """Unit normal of a plane: row × column."""
    row, column = np.array(plane.orientation[:3]), np.array(plane.orientation[3:])
    lengths = np.linalg.norm(row), np.linalg.norm(column)
    if max(abs(length - 1.0) for length in lengths) > _NOT_UNIT or abs(row @ column) > _NOT_UNIT:
        raise SitusError(
            "its orientation is not two unit vectors at right angles",
            where=where,
            fix="repair the header",
        )
    normal = np.cross(row, column)
    return np.asarray(normal / np.linalg.norm(normal), dtype=np.float64)


def check_parallel(planes: Sequence[Plane], where: Path) -> None:
    """All planes must have one orientation and one pixel spacing."""
    first = planes[0]
    apart = (
        np.abs(np.array([plane.orientation for plane in planes]) - first.orientation).max(axis=1)
        > _NOT_PARALLEL
    )
    if apart.any():
        raise SitusError(
            f"slices are not parallel ({int(apart.sum())} of {len(planes)} differ from the first)",
            where=where,
            fix="a localizer, or several volumes in one series? keep one volume",
        )
    spacing = np.array([plane.spacing for plane in planes])
    if (np.abs(spacing - spacing[0]) > 1e-4 * spacing[0]).any():
        raise SitusError(
            "slices differ in pixel spacing", where=where, fix="keep one volume in the folder"
        )


def affine_of(
    plane: Plane, first: NDArray[np.float64], step: NDArray[np.float64], where: Path
) -> Affine:
    """The RAS+ affine of an array [column, row, slice]."""
    matrix = np.eye(4)
    for axis, cosines in enumerate((plane.orientation[:3], plane.orientation[3:])):
        unit = np.array(cosines) / np.linalg.norm(cosines)
        matrix[:3, axis] = _TO_RAS @ unit * plane.spacing[1 - axis]
    matrix[:3, 2] = _TO_RAS @ step
    matrix[:3, 3] = _TO_RAS @ first
    return Affine(matrix, where=where)


def stack(planes: Sequence[Plane], where: Path) -> Stack:
    """Order the planes and find the step between slices;
    uneven steps are an error that names the gap."""
    check_parallel(planes, where)
    normal = normal_of(planes[0], where)
    positions = np.array([plane.position for plane in planes])
    along = positions @ normal
    order = np.argsort(along, kind="stable")
    gaps = np.diff(along[order])
    same = np.flatnonzero(gaps < _SAME_PLACE_MM)
    repeats = tuple((int(order[n]), int(order[n + 1])) for n in same)
    distinct = np.delete(order, same + 1)
    if len(distinct) == 1:
        thickness = planes[distinct[0]].thickness
        if not thickness:
            raise SitusError(
                "is one slice without a thickness", where=where, fix="give the whole series"
            )
        return Stack(
            tuple(order.tolist()), repeats, positions[distinct[0]], thickness * normal, 0.0
        )
    _check_even(positions[distinct], normal, planes[0].spacing, where)
    step = (positions[distinct[-1]] - positions[distinct[0]]) / (len(distinct) - 1)
    tilt = float(np.arctan2(np.linalg.norm(np.cross(step, normal)), step @ normal))
    if tilt < _TILTED:
        step = (step @ normal) * normal
    return Stack(
        tuple(order.tolist()),
        repeats,
        positions[distinct[0]],
        step,
        float(np.degrees(tilt)) if tilt >= _TILTED else 0.0,
    )


def rounding_mm(positions: NDArray[np.float64]) -> float:
    """Some scanners write positions with one decimal: then a step may be off by a tenth."""
    tenths = positions * 10.0
    return 0.1 if np.abs(tenths - np.rint(tenths)).max() < 1e-6 else 0.01


def _check_even(
    positions: NDArray[np.float64],
    normal: NDArray[np.float64],
    spacing: tuple[float, ...],
    where: Path,
) -> None:
    along = positions @ normal
    gaps = np.diff(along)
    usual, rounding = float(np.median(gaps)), rounding_mm(positions)
    uneven = np.abs(gaps - usual) > _UNEVEN * usual + rounding + 1e-9
    if uneven.any():
        worst = float(gaps[np.argmax(np.abs(gaps - usual))])
        raise SitusError(
            f"slices are missing or uneven: a gap of {worst:.4g} mm where {usual:.4g} mm is usual "
            f"({int(uneven.sum())} of {gaps.size} gaps)",
            where=where,
            fix="add the missing slices, or resample the series evenly",
        )
    even = positions[0] + np.outer(
        np.linspace(0.0, 1.0, len(positions)), positions[-1] - positions[0]
    )
    off = positions - even
    drift = np.abs(off @ normal).max()
    sideways = np.linalg.norm(off - np.outer(off @ normal, normal), axis=1).max()
    if drift > _DRIFT * usual + rounding or sideways > 0.1 * min(spacing) + 2 * rounding:
        raise SitusError(
            f"slices do not lie on one even grid (up to {max(drift, sideways):.3g} mm off)",
            where=where,
            fix="resample the series evenly",
        )


def even_step(
    planes: Sequence[Plane], normal: NDArray[np.float64], where: Path
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """First position, step and number of slices of the even grid that holds all planes; some slices
    may have none.

    The step is the declared spacing where all gaps are whole multiples of it, else the smallest
    gap.
    """
    positions = np.array([plane.position for plane in planes])
    along = positions @ normal
    order = np.argsort(along, kind="stable")
    first, last = positions[order[0]], positions[order[-1]]
    gaps = np.diff(along[order])
    gaps = gaps[gaps >= _SAME_PLACE_MM]
    declared = planes[0].thickness
    if gaps.size == 0:
        if not declared:
            raise SitusError(
                "lies in one slice without a thickness",
                where=where,
                fix="give the image it was drawn on",
            )
        return first, declared * normal, 1
    room = rounding_mm(positions)
    for spacing in (declared or 0.0, float(gaps.min())):
        if spacing > _SAME_PLACE_MM:
            times = np.maximum(1.0, np.rint(gaps / spacing))
            if (np.abs(gaps - times * spacing) <= _UNEVEN * spacing * times + room).all():
                count = int(times.sum())
                step = (last - first) / count
                # A shift in plane is a tilted gantry; the rest is rounding of the header.
                straight = np.linalg.norm(np.cross(step, normal)) < _TILTED * np.linalg.norm(step)
                return first, (step @ normal) * normal if straight else step, count + 1
    raise SitusError(
        f"frames do not lie on an even grid (gaps from {gaps.min():.4g} to {gaps.max():.4g} mm)",
        where=where,
        fix="give the image it was drawn on",
    )
