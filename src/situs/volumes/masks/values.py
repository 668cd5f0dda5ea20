"""Stored numbers to label values: whole, not negative, in the smallest unsigned type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError
from situs.volumes.limits import MAX_STRUCTURES

__all__ = ["Seen", "present_values", "smallest_unsigned", "to_labels"]

_CHUNK = 1 << 20
_WORDS = 1 << 15
"""Eight-byte words looked at together: they stay in the processor's cache."""
_LARGEST = 2**31 - 1
_SCALED_TOLERANCE = 1e-5
"""Relative room for a float32 slope;
labels stored as floats without scaling must be exactly whole."""


def smallest_unsigned(largest: int) -> np.dtype[Any]:
    """uint8, uint16 or uint32, whichever just holds `largest`."""
    return np.dtype(np.uint8 if largest < 1 << 8 else np.uint16 if largest < 1 << 16 else np.uint32)


def to_labels(flat: NDArray[Any], slope: float, inter: float, *, where: object) -> NDArray[Any]:
    """A flat array of label values; the same memory where the stored type allows it."""
    if flat.dtype.kind == "f" or (slope, inter) != (1.0, 0.0):
        largest = _largest_whole(flat) if (slope, inter) == (1.0, 0.0) else None
        if largest is not None:
            return flat.astype(smallest_unsigned(largest))
        largest = _check_whole(flat, slope, inter, where)
        labels = np.empty(flat.size, dtype=smallest_unsigned(largest))
        for start, values in _scaled(flat, slope, inter):
            labels[start : start + values.size] = np.rint(values)
        return labels
    if flat.dtype == np.uint8:
        return flat
    if flat.dtype.kind == "i" and int(flat.min()) < 0:
        raise _negative(int(flat.min()), int((flat < 0).sum()), where)
    largest = int(flat.max())
    if largest > _LARGEST:
        raise _too_large(largest, where)
    kind = smallest_unsigned(largest)
    unsigned = flat.view(f"u{flat.dtype.itemsize}")
    return unsigned if kind.itemsize >= unsigned.dtype.itemsize else unsigned.astype(kind)


def _candidates(flat: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Pieces that together hold every value of a contiguous array, most of its repeats left out.

    Labels repeat along a row: an eight-byte word that equals the one before it holds nothing new.
    """
    in_full_words = flat.size * flat.dtype.itemsize // 8 * 8 // flat.dtype.itemsize
    words = flat[:in_full_words].view(np.uint64)
    for start in range(0, words.size, _WORDS):
        part = words[start : start + _WORDS + 1]
        yield part[:1].view(flat.dtype)
        changed = part[1:][part[1:] != part[:-1]]
        changed.sort()
        yield changed[:1].view(flat.dtype)
        yield changed[1:][changed[1:] != changed[:-1]].view(flat.dtype)
    yield flat[in_full_words:]


def _largest_whole(flat: NDArray[Any]) -> int | None:
    """The largest of an array of floats if all are whole
    and neither negative nor too large, else None."""
    largest = 0.0
    with np.errstate(all="ignore"):
        for values in _candidates(flat):
            if not ((values >= 0) & (values <= _LARGEST) & (values == np.rint(values))).all():
                return None
            largest = max(largest, float(values.max(initial=0)))
    return int(largest)


def _scaled(
    flat: NDArray[Any], slope: float, inter: float
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    for start in range(0, flat.size, _CHUNK):
        values = flat[start : start + _CHUNK].astype(np.float64)
        if (slope, inter) != (1.0, 0.0):
            values = values * slope + inter
        yield start, values


def _check_whole(flat: NDArray[Any], slope: float, inter: float, where: object) -> int:
    """The largest label, or an error with an example and the number of voxels concerned."""
    tolerance = 0.0 if (slope, inter) == (1.0, 0.0) else _SCALED_TOLERANCE
    largest, fractional, example = 0.0, 0, 0.0
    with np.errstate(all="ignore"):
        for _, values in _scaled(flat, slope, inter):
            if not np.isfinite(values).all():
                count = int((~np.isfinite(values)).sum())
                raise SitusError(
                    f"labels hold NaN or infinity (at least {count} voxels)",
                    where=where,
                    fix="replace them by 0",
                )
            apart = np.abs(values - np.rint(values)) > tolerance * np.maximum(1.0, np.abs(values))
            if apart.any():
                example = example or float(values[apart][0])
                fractional += int(apart.sum())
            if not fractional and values.min() < -0.5:
                raise _negative(round(float(values.min())), int((values < -0.5).sum()), where)
            largest = max(largest, float(values.max()))
    if fractional:
        raise SitusError(
            f"fractional labels (e.g. {example:.6g}; {fractional} voxels): a probability map?",
            where=where,
            fix="threshold it first",
        )
    if largest > _LARGEST:
        raise _too_large(largest, where)
    return round(largest)


def _negative(example: int, count: int, where: object) -> SitusError:
    return SitusError(
        f"negative labels (e.g. {example}; {count} voxels): an image instead of labels?",
        where=where,
        fix="give the label file, or set them to 0",
    )


def _too_large(example: float, where: object) -> SitusError:
    return SitusError(
        f"label {example:.0f} is above {_LARGEST}", where=where, fix="renumber the labels"
    )


class Seen:
    """Which values occur in labels of one byte, noted piece by piece while they are read."""

    def __init__(self) -> None:
        self._table = np.zeros(1 << 8, dtype=np.bool_)

    def watch(self, piece: bytes) -> None:
        """Note the values of a piece."""
        words = np.frombuffer(piece, np.uint64, len(piece) // 8)
        if words.size:
            self._table[words[:1].view(np.uint8)] = True
            changed = words[1:][words[1:] != words[:-1]]
            if changed.size:
                changed.sort()
                self._table[changed[:1].view(np.uint8)] = True
                self._table[changed[1:][changed[1:] != changed[:-1]].view(np.uint8)] = True
        self._table[np.frombuffer(piece, np.uint8, len(piece) % 8, 8 * words.size)] = True

    @property
    def values(self) -> list[int]:
        """The values above 0, ascending."""
        return [int(value) for value in np.flatnonzero(self._table) if value]


def present_values(flat: NDArray[Any], *, where: object) -> list[int]:
    """The label values above 0 that occur, ascending."""
    present: set[int] = set()
    if flat.dtype.itemsize <= 2:
        seen = np.zeros(1 << 8 * flat.dtype.itemsize, dtype=np.bool_)
        for values in _candidates(flat):
            seen[values] = True
        present.update(np.flatnonzero(seen).tolist())
    else:
        for values in _candidates(flat):
            present.update(np.unique(values).tolist())
            if len(present) > MAX_STRUCTURES:
                break
    present.discard(0)
    if len(present) > MAX_STRUCTURES:
        raise SitusError(
            f"more than {MAX_STRUCTURES} label values: an image?",
            where=where,
            fix="give the label file",
        )
    return sorted(present)
