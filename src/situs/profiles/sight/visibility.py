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
    runs = np.minimum(_runs(mask), _runs(mask.T).T)
    return int(runs.max())


def _runs(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each pixel the length of the row run it lies in; 0 outside."""
    height, width = mask.shape
    padded = np.zeros((height, width + 2), dtype=np.int8)
    padded[:, 1:-1] = mask
    steps = np.diff(padded, axis=1)
    rows, starts = np.nonzero(steps == 1)
    ends = np.nonzero(steps == -1)[1]
    lengths = np.zeros((height, width + 1), dtype=np.int64)
    lengths[rows, starts] = ends - starts
    lengths[rows, ends] -= ends - starts
    run_lengths: NDArray[np.int64] = np.cumsum(lengths, axis=1)[:, :-1]
    return run_lengths


def contrast(picture: NDArray[np.uint8], mask: NDArray[np.bool_], rim_px: int) -> float:
    """How far the structure's median grey lies from its rim;
    of colours, in the channel that shows it best."""
    from scipy.ndimage import binary_dilation

    rim = binary_dilation(mask, structure=np.ones((3, 3), bool), iterations=rim_px) & ~mask
    if not rim.any():
        return 0.0
    channels = (
        [picture] if picture.ndim == 2 else [picture[..., c] for c in range(picture.shape[2])]
    )
    return max(_difference(channel, mask, rim) for channel in channels)


def _difference(grey: NDArray[Any], mask: NDArray[np.bool_], rim: NDArray[np.bool_]) -> float:
    from scipy.ndimage import uniform_filter

    inside = float(np.median(grey[mask]))
    around = uniform_filter(grey.astype(np.float32), 3, mode="nearest")[rim]
    return float(np.abs(around - inside).mean())
