"""Where an image shows no patient:
what scanners and resampling write outside the field that was scanned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.volumes.modality import modality_of

__all__ = ["doubled_slices", "padding_of"]

_PADDING_HU = -1100.0
"""Below what any tissue or air can have:
scanners write such values outside the reconstructed circle."""
_AIR_HU = -900.0
"""Up to here a constant may be air at the lower end of the values a file can hold, not padding."""
_REPEATED_MOST = 0.1
"""More repeated slices than this share come from enlarging the image, or from doubled slices, not
from slices that are missing."""
_EVENLY = 3.0
"""Longest way from one repeat to the next beside the mean, in an image that was enlarged: up to 2
by rounding, more where its ends are empty."""
_FEWEST_VALUES = 32
"""Values on a slice of a real scan, at least."""
_BACKGROUND = 0.5
"""A value that fills more than this share of an image is its background."""
_FULL_CT = 0.5
"""Share of a CT's slice beside an empty one that has other values:
noise fills a slice of a real scan."""
_FULL_MR = 0.15
_TAPER = 0.5
"""An MR whose last slice before an empty one shows
this share of its fullest slice was cut there."""


def padding_of(values: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Voxels that show no patient; None if there are none.

    In a CT: patches of values below those of air, or of one value other than air's, that reach the
    array's border (single voxels beside metal may have such values too); slices of one value
    throughout; columns of one value through all slices, as in the corners around the reconstructed
    circle. Air that was clipped to one value fills such columns too; nothing inside the patient
    touches it. In an MR, whose background may be 0 all around the patient: empty slices beside
    which the patient is at full size. In both: slices that repeat their neighbour, as some tools
    fill gaps.
    """
    padding = np.zeros(values.shape, dtype=np.bool_)
    is_ct = modality_of(values) == "ct"
    for axis in range(3):
        _mark_empty_slices(values, axis, padding, is_ct=is_ct)
        _mark_repeated_slices(values, axis, padding)
    if is_ct:
        below = values < _PADDING_HU
        if below.any():
            _mark_patches(below, padding)
        for value in _border_constants(values):
            if np.count_nonzero(values == value) > _BACKGROUND * values.size:
                # A drawn image, or air all around; no patient reaches the limit of such a scan.
                continue
            if _PADDING_HU <= value <= _AIR_HU or value == values.min():
                _mark_columns(values, value, padding)
            elif value > _AIR_HU:
                _mark_patches(values == value, padding)
    return padding if padding.any() else None


def _slices(values: NDArray[Any], axis: int) -> NDArray[Any]:
    return np.moveaxis(values, axis, 0)


def _mark_empty_slices(
    values: NDArray[Any], axis: int, padding: NDArray[np.bool_], *, is_ct: bool
) -> None:
    planes = _slices(values, axis)
    empty = np.array([plane.min() == plane.max() for plane in planes])
    if not empty.any() or empty.all():
        return
    edges = np.flatnonzero(np.diff(empty, prepend=False, append=False))
    for first, end in edges.reshape(-1, 2):
        beside = [k for k in (first - 1, end) if 0 <= k < len(planes)]
        background = planes[first].flat[0]
        if all(_is_full(planes, k, background, is_ct=is_ct) for k in beside):
            _slices(padding, axis)[first:end] = True


def _is_full(planes: NDArray[Any], end: int, background: Any, *, is_ct: bool) -> bool:
    """Whether the slice beside empty ones shows as much as others do.

    A head stripped of its skull tapers off before the empty slices above it; a scan that was cut
    does not.
    """
    filled = np.count_nonzero(planes[end] != background)
    if is_ct:
        return bool(filled >= _FULL_CT * planes[end].size)
    fullest = max(np.count_nonzero(plane != background) for plane in planes)
    return bool(filled >= max(_FULL_MR * planes[end].size, _TAPER * fullest))


def _mark_repeated_slices(values: NDArray[Any], axis: int, padding: NDArray[np.bool_]) -> None:
    planes = _slices(values, axis)
    again = _repeated(planes)
    if len(again) <= _REPEATED_MOST * len(planes):
        # Slices of drawn images, of a few values and no noise, are often alike.
        again = [k for k in again if np.unique(planes[k]).size >= _FEWEST_VALUES]
        _slices(padding, axis)[again] = True


def doubled_slices(values: NDArray[Any]) -> int:
    """How many slices of an image repeat their neighbour, if they are more than fill gaps and lie
    more unevenly than in an image that was enlarged: two series that overlap, merged into one."""
    return max(_doubled(_slices(values, axis)) for axis in range(3))


def _doubled(planes: NDArray[Any]) -> int:
    again = [k for k in _repeated(planes) if np.unique(planes[k]).size >= _FEWEST_VALUES]
    ways = np.diff([0, *again, len(planes)])
    many = len(again) > _REPEATED_MOST * len(planes)
    return len(again) if many and ways.max() > _EVENLY * ways.mean() else 0


def _repeated(planes: NDArray[Any]) -> list[int]:
    return [k for k in range(1, len(planes)) if _is_repeated(planes[k - 1], planes[k])]


def _is_repeated(before: NDArray[Any], plane: NDArray[Any]) -> bool:
    """Whether a slice is the same as the one before; one row settles most cases."""
    middle = len(plane) // 2
    return np.array_equal(before[middle], plane[middle]) and np.array_equal(before, plane)


def _border_constants(values: NDArray[Any]) -> Iterator[Any]:
    """Every value that fills a patch of 3 × 3 voxels on the array's border."""
    seen: set[Any] = set()
    for axis in range(3):
        for face in (_slices(values, axis)[0], _slices(values, axis)[-1]):
            if min(face.shape) < 3:
                continue
            middle = face[1:-1, 1:-1]
            solid = np.ones(middle.shape, dtype=np.bool_)
            for i in range(3):
                for j in range(3):
                    solid &= face[i : i + middle.shape[0], j : j + middle.shape[1]] == middle
            seen.update(np.unique(middle[solid]).tolist())
    yield from sorted(seen)


def _mark_columns(values: NDArray[Any], value: Any, padding: NDArray[np.bool_]) -> None:
    """Mark columns that hold the value from the first slice to the last,
    where they lie in patches."""
    from scipy import ndimage

    for axis in range(3):
        planes = _slices(values, axis)
        constant = planes[0] == value
        for plane in planes[1:]:
            if not constant.any():
                break
            constant &= plane == value
        solid = ndimage.binary_opening(np.pad(constant, 1, mode="edge"), np.ones((3, 3)))[
            1:-1, 1:-1
        ]
        _slices(padding, axis)[:, solid] = True


def _mark_patches(same: NDArray[np.bool_], padding: NDArray[np.bool_]) -> None:
    """Mark flat patches of at least 3 × 3 voxels that reach the array's border, directly or through
    others.

    Noise leaves no such patch in tissue; a fill slice is often one voxel thick and askew to the
    array.
    """
    from scipy import ndimage

    solid = np.zeros_like(same)
    for axis in range(3):
        square = np.expand_dims(np.ones((3, 3), dtype=np.bool_), axis)
        # Beyond the border the value is taken to go on, so that patches at the edge count.
        wide = np.pad(same, 1, mode="edge")
        solid |= ndimage.binary_opening(wide, square)[1:-1, 1:-1, 1:-1]
    parts, count = ndimage.label(solid)
    at_border = {
        int(number)
        for axis in range(3)
        for face in (_slices(parts, axis)[0], _slices(parts, axis)[-1])
        for number in np.unique(face)
    } - {0}
    if count and at_border:
        padding |= np.isin(parts, list(at_border))
