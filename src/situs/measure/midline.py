"""Where the head's midline runs in a stack of pictures, from its outline alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["head_midline"]

_OF_BRIGHT = 0.1
"""Share of the 99th percentile above which a pixel is tissue."""
_NARROWEST = 0.25
"""Rows whose outline is narrower than this share of
the picture's width say nothing about the middle."""
_FEWEST_ROWS = 10
_MAD_TO_SIGMA = 1.4826


def head_midline(frames: NDArray[Any]) -> tuple[float, float] | None:
    """The column (0 = left edge of the first pixel) of the head's middle, and how far it may be
    off; None if not found.

    On every row of every frame, the middle between the first and last pixel of the largest bright
    part; then the median over rows and frames, which a few odd rows (ears, a coil's bright spot) do
    not move.
    """
    from scipy.ndimage import binary_opening, label

    # Around the head there is 0, or less where the mean was taken off.
    around = min(0.0, float(np.median(np.concatenate([frames[:, :, 0], frames[:, :, -1]]))))
    bright = float(np.percentile(frames, 99.0)) - around
    if bright <= 0.0:
        return None
    width = frames.shape[2]
    middles: list[NDArray[np.float64]] = []
    for frame in frames:
        parts, count = label(binary_opening(frame > around + _OF_BRIGHT * bright, iterations=2))
        if count == 0:
            continue
        sizes = np.bincount(parts.ravel())
        sizes[0] = 0
        head = parts == int(sizes.argmax())
        rows = head.any(axis=1)
        first = head.argmax(axis=1)[rows]
        last = width - 1 - head[:, ::-1].argmax(axis=1)[rows]
        wide = (last - first + 1) >= _NARROWEST * width
        middles.append((first[wide] + last[wide] + 1) / 2.0)
    all_middles = np.concatenate(middles) if middles else np.empty(0)
    if all_middles.size < _FEWEST_ROWS:
        return None
    middle = float(np.median(all_middles))
    spread = float(np.median(np.abs(all_middles - middle))) * _MAD_TO_SIGMA
    return middle, spread
