"""From intensities to grey: which values are black and which are white."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError
from situs.profiles.schema import Profile, WindowRule

__all__ = ["Window", "fitting_window", "reading_windows", "rules_of", "window_of"]

_CT_WINDOWS = {
    "soft tissue": (-160.0, 240.0),
    "lung": (-1350.0, 150.0),
    "bone": (-450.0, 1050.0),
    "liver": (-40.0, 160.0),
    "brain": (0.0, 80.0),
    "mediastinum": (-125.0, 225.0),
}
_MR_SHARES = {
    "auto": (0.0, 1.0),
    "bright": (0.0, 0.6),
    "brighter": (0.0, 0.35),
    "no background": (0.15, 1.0),
    "dark half": (0.0, 0.5),
    "bright half": (0.4, 1.0),
}
"""Of the range from the 1st to the 99th percentile: intensities of MR have no unit."""

_MOST_SAMPLED = 2_000_000
"""Percentiles of values with missing ones are taken of an even sample of about this many."""


class Window(msgspec.Struct, frozen=True):
    """Black at `low`, white at `high`; values are first clipped, where the window says so."""

    low: float
    high: float
    name: str = ""
    clip: tuple[float, float] | None = None

    def share(self, values: NDArray[Any]) -> NDArray[np.float32]:
        """0 at black and 1 at white, not beyond; black where there is no value."""
        floats = values.astype(np.float32)
        if self.clip is not None:
            np.clip(floats, *self.clip, out=floats)
        floats -= np.float32(self.low)
        floats *= np.float32(1.0 / (self.high - self.low))
        np.nan_to_num(floats, copy=False, nan=0.0, posinf=1.0, neginf=0.0)
        return np.clip(floats, 0.0, 1.0, out=floats)

    def apply(self, values: NDArray[Any]) -> NDArray[np.uint8]:
        """Intensities as grey levels."""
        grey: NDArray[np.uint8] = np.rint(self.share(values) * np.float32(255.0)).astype(np.uint8)
        return grey


def rules_of(profile: Profile, modality: str) -> tuple[WindowRule, ...]:
    """The windows a profile has for a modality."""
    rules = profile.window.get(modality, profile.window.get("any"))
    if rules is None:
        problem = f"profile {profile.name!r} has no window for {modality}"
        raise SitusError(problem, fix=f"add [window.{modality}] or [window.any] to it")
    return rules if isinstance(rules, tuple) else (rules,)


def window_of(rule: WindowRule, values: NDArray[Any]) -> Window:
    """The window a rule gives for the values of a volume or a slice."""
    if rule.low is not None and rule.high is not None:
        return Window(rule.low, rule.high, clip=rule.clip)
    low, high = _percentiles(values, rule.low_percentile or 0.0, rule.high_percentile or 100.0)
    if rule.clip is not None and rule.percentiles_of == "clipped":
        low, high = (min(max(value, rule.clip[0]), rule.clip[1]) for value in (low, high))
    return Window(low, high if high > low else low + 1.0, clip=rule.clip)


def _percentiles(values: NDArray[Any], low: float, high: float) -> tuple[float, float]:
    """Of the finite values; of the clipped ones they are the clipped percentiles,
    for clipping keeps the order."""
    finite = values
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        finite = values[np.isfinite(values)]
        finite = finite[:: max(1, finite.size // _MOST_SAMPLED)]
    if not finite.size:
        return 0.0, 1.0
    if (low, high) == (0.0, 100.0):
        return float(finite.min()), float(finite.max())
    bottom, top = np.percentile(finite, [low, high])
    return float(bottom), float(top)


def fitting_window(modality: str, values: NDArray[Any], inside: NDArray[Any]) -> Window:
    """The window a reader would choose for a target:
    by its own density in CT, by percentiles in MR."""
    if modality != "ct":
        low, high = _percentiles(values, 1.0, 99.0)
        return Window(low, high if high > low else low + 1.0, "1st to 99th percentile")
    density = float(np.median(inside)) if inside.size else 40.0
    name = "lung" if density < -400 else "bone" if density > 250 else "soft tissue"
    return Window(*_CT_WINDOWS[name], name)


def reading_windows(modality: str, values: NDArray[Any]) -> list[Window]:
    """The windows that people may choose from, the usual one first; never by what is asked."""
    if modality == "ct":
        return [Window(*edges, name) for name, edges in _CT_WINDOWS.items()]
    auto = fitting_window(modality, values, values[:0])
    width = auto.high - auto.low
    return [
        Window(auto.low + low * width, auto.low + high * width, name)
        for name, (low, high) in _MR_SHARES.items()
    ]
