"""Grey levels from which a reader can choose another window.

A picture of 256 levels that was made for one window is black and white outside it: no lung can be
seen in a soft-tissue picture. Here five of eight levels are spent inside the window and the others
outside it, so that one small picture serves every window: finer than the noise inside its own (2.5
HU for soft tissue), coarser (26 HU) elsewhere.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.profiles.pixels.window import Window, reading_windows

__all__ = ["ToneScale", "Tones", "tone_scale", "tones_around"]

_WHITE = 255.0
_INSIDE = 160.0
"""Levels of the window itself, where there is anything outside it."""
_CT_RANGE = (-1350.0, 1500.0)
"""From air to dense bone; metal is white."""


class Tones(Window, frozen=True):
    """A window whose grey levels reach beyond it."""

    values: tuple[float, ...] = ()
    """Intensities, rising, at which the scale bends."""
    levels: tuple[float, ...] = ()
    """The grey level of each."""

    def apply(self, values: NDArray[Any]) -> NDArray[np.uint8]:
        """Intensities as grey levels; black where there is no value."""
        floats = values.astype(np.float32)
        np.nan_to_num(floats, copy=False, nan=self.values[0])
        brightness = np.full(floats.shape, self.levels[0], np.float32)
        # Piece by piece: numpy's interp takes ten times as long, for every slice of a report.
        pieces = zip(self.values, self.values[1:], self.levels, self.levels[1:])
        for low, high, dark, bright in pieces:
            step = np.clip(floats, np.float32(low), np.float32(high))
            step -= np.float32(low)
            step *= np.float32((bright - dark) / (high - low))
            brightness += step
        grey: NDArray[np.uint8] = np.rint(brightness, out=brightness).astype(np.uint8)
        return grey


class ToneScale(msgspec.Struct, frozen=True):
    """What a page needs to show toned pictures in any window."""

    values: tuple[float, ...]
    levels: tuple[float, ...]
    unit: str
    windows: list[tuple[str, float, float]]
    """Name, black and white."""
    opening: int
    """The window that is shown first."""


def tones_around(window: Window, modality: str, values: NDArray[Any]) -> Tones:
    """The scale for a window of a volume; it reaches as far as the volume's values do."""
    low, high = _range(modality, values)
    below, above = max(0.0, window.low - low), max(0.0, high - window.high)
    outside = below + above
    spare = _WHITE - _INSIDE if outside else 0.0
    black = spare * below / outside if outside else 0.0
    knots = [(window.low, black), (window.high, black + _WHITE - spare)]
    if below:
        knots.insert(0, (low, 0.0))
    if above:
        knots.append((high, _WHITE))
    at, levels = zip(*knots)
    return Tones(window.low, window.high, window.name, None, tuple(at), tuple(levels))


def tone_scale(tones: Tones, modality: str, values: NDArray[Any]) -> ToneScale:
    """The scale of pictures with the windows to choose from;
    the pictures' own is the first if it is none of them."""
    windows = [(one.name, one.low, one.high) for one in reading_windows(modality, values)]
    edges = [(low, high) for _, low, high in windows]
    picture_window = (tones.low, tones.high)
    if picture_window not in edges:
        windows.insert(0, ("as shown to models", *picture_window))
        edges.insert(0, picture_window)
    unit = "HU" if modality == "ct" else ""
    return ToneScale(tones.values, tones.levels, unit, windows, edges.index(picture_window))


def _range(modality: str, values: NDArray[Any]) -> tuple[float, float]:
    finite = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    return (max(low, _CT_RANGE[0]), min(high, _CT_RANGE[1])) if modality == "ct" else (low, high)
