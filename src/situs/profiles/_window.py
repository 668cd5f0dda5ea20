"""From intensities to grey: which values are black and which are white."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.profiles._schema import WindowRule

__all__ = ["Window", "fitting_window", "window_of"]

_CT_WINDOWS = {"lung": (-1350.0, 150.0), "soft tissue": (-160.0, 240.0), "bone": (-450.0, 1050.0)}


class Window(msgspec.Struct, frozen=True):
    """Black at `low`, white at `high`."""

    low: float
    high: float
    name: str = ""

    def apply(self, values: NDArray[Any]) -> NDArray[np.uint8]:
        """Intensities as grey levels."""
        scaled = (values.astype(np.float32) - self.low) * (255.0 / (self.high - self.low))
        grey: NDArray[np.uint8] = np.clip(np.rint(np.nan_to_num(scaled)), 0, 255).astype(np.uint8)
        return grey


def window_of(rule: WindowRule, values: NDArray[Any]) -> Window:
    """The window a rule gives for a volume."""
    if rule.low is not None and rule.high is not None:
        return Window(rule.low, rule.high)
    return _by_percentile(values, rule.low_percentile or 0.0, rule.high_percentile or 100.0)


def _by_percentile(values: NDArray[Any], low: float, high: float) -> Window:
    finite = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    bottom, top = np.percentile(
        finite[:: max(1, finite.size // 2_000_000)] if finite.ndim == 1 else finite, [low, high]
    )
    return Window(float(bottom), float(top) if top > bottom else float(bottom) + 1.0)


def fitting_window(modality: str, values: NDArray[Any], inside: NDArray[Any]) -> Window:
    """The window a reader would choose for a target: by its own density in CT, by percentiles in MR."""
    if modality != "ct":
        return msgspec.structs.replace(_by_percentile(values, 1.0, 99.0), name="1st to 99th percentile")
    density = float(np.median(inside)) if inside.size else 40.0
    name = "lung" if density < -400 else "bone" if density > 250 else "soft tissue"
    return Window(*_CT_WINDOWS[name], name)
