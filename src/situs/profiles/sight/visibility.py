"""Whether a structure survives a profile:
large enough on enough slices, and apart from what is around it."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

__all__ = ["SliceView", "Thresholds", "contrast", "load_thresholds", "width_px"]


class Thresholds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When a structure counts as seen (`visibility.toml`)."""

    width_px: int
    """On a picture: the longest run of its pixels that is crossed by as long a run,
    in shown pixels."""
    slices: int
    """On at least so many shown slices; for a slice-level item, on its slice."""
    rim_px: int
    """How far the surroundings reach that it must stand out from."""
    contrast: float
    """Mean absolute difference in grey levels (0–255) between its median and its smoothed rim."""
    cut_share: float
    """A structure of which more than this share lies outside what is shown is not seen whole."""


@cache
def load_thresholds() -> Thresholds:
    """The shipped thresholds."""
    text = files("situs.profiles").joinpath("data", "rules", "visibility.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), Thresholds)


class SliceView(msgspec.Struct, frozen=True):
    """A structure on one shown slice."""

    plane: str
    source_index: int
    width_px: int
    contrast: float | None
    """None where there is no image."""


def width_px(mask: NDArray[np.bool_]) -> int:
    """The largest number such that a row and a column run
    of so many pixels cross inside the mask; 0 if empty."""
    if not mask.any():
        return 0
    # Looks are made by the thousand: arrays of one order in memory are compared faster.
    down = np.ascontiguousarray(_runs(np.ascontiguousarray(mask.T)).T)
    return int(np.minimum(_runs(mask), down).max())


def _runs(mask: NDArray[np.bool_]) -> NDArray[np.int32]:
    """For each pixel the length of the row run it lies in; 0 outside."""
    height, width = mask.shape
    padded = np.zeros((height, width + 2), dtype=np.int8)
    padded[:, 1:-1] = mask
    steps = np.diff(padded, axis=1)
    rows, starts = np.nonzero(steps == 1)
    ends = np.nonzero(steps == -1)[1]
    lengths = np.zeros((height, width + 1), dtype=np.int32)
    lengths[rows, starts] = ends - starts
    lengths[rows, ends] -= (ends - starts).astype(np.int32)
    run_lengths: NDArray[np.int32] = np.cumsum(lengths, axis=1, dtype=np.int32)[:, :-1]
    return run_lengths


def contrast(picture: NDArray[np.uint8], mask: NDArray[np.bool_], rim_px: int) -> float:
    """How far the structure's median grey lies from its rim;
    of colours, in the channel that shows it best."""
    rim = _dilated(mask, rim_px) & ~mask
    if not rim.any():
        return 0.0
    channels = (
        [picture] if picture.ndim == 2 else [picture[..., c] for c in range(picture.shape[2])]
    )
    return max(_difference(channel, mask, rim) for channel in channels)


def _dilated(mask: NDArray[np.bool_], by_px: int) -> NDArray[np.bool_]:
    """Every pixel within a square around one of the mask's."""
    tall = mask.copy()
    for step in range(1, by_px + 1):
        tall[step:] |= mask[:-step]
        tall[:-step] |= mask[step:]
    wide = tall.copy()
    for step in range(1, by_px + 1):
        wide[:, step:] |= tall[:, :-step]
        wide[:, :-step] |= tall[:, step:]
    return wide


def _difference(grey: NDArray[Any], mask: NDArray[np.bool_], rim: NDArray[np.bool_]) -> float:
    inside = _median(grey[mask])
    return float(np.abs(_smoothed(grey)[rim] / 9.0 - inside).mean())


def _median(grey: NDArray[np.uint8]) -> float:
    """Of grey levels, by counting them."""
    below = np.cumsum(np.bincount(grey, minlength=256))
    middle = (grey.size - 1) // 2, grey.size // 2
    return float(np.searchsorted(below, middle, side="right").mean())


def _smoothed(grey: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """The sum over each pixel and its eight neighbours; beyond the edge lies what is on it."""
    padded = np.pad(grey, 1, mode="edge").astype(np.uint16)
    columns = padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]
    sums: NDArray[np.uint16] = columns[:-2] + columns[1:-1] + columns[2:]
    return sums
