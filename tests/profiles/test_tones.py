"""One picture for every window: what its grey levels lose, by their number."""

from __future__ import annotations

import numpy as np
import pytest

from situs.profiles import (
    Profile,
    Renderer,
    Window,
    load_profile,
    reading_windows,
    tone_scale,
    tones_around,
)

CT = np.linspace(-2000.0, 3000.0, 5001)
INSIDE, OUTSIDE = 160, 95
"""Levels of the window and of all that is outside it: together, 255 steps."""


@pytest.mark.parametrize(("low", "high"), [(-160.0, 240.0), (-1350.0, 150.0), (-450.0, 1050.0)])
def test_intensities_come_back_to_half_a_step(low: float, high: float) -> None:
    tones = tones_around(Window(low, high), "ct", CT)
    back = np.interp(tones.apply(CT), tones.levels, tones.values)
    # From air at −1350 to dense bone at 1500 HU; what lies beyond is as black or white as these.
    kept = np.clip(CT, -1350.0, 1500.0)
    inside = (kept >= low) & (kept <= high)
    steps = np.where(inside, (high - low) / INSIDE, (2850.0 - (high - low)) / OUTSIDE)
    # At the ends of the window the rounded level may belong to the coarser side.
    near = (np.abs(kept - low) < 60) | (np.abs(kept - high) < 60)
    assert (np.abs(back - kept)[~near] <= steps[~near] / 2 + 1e-3).all()
    assert np.abs(back - kept).max() <= (2850.0 - (high - low)) / OUTSIDE / 2 + 1e-3


def test_levels_rise_and_end_at_black_and_white() -> None:
    for modality, values in (("ct", CT), ("mr", np.arange(0.0, 900.0)), ("mr", np.full(9, 5.0))):
        window = reading_windows(modality, values)[0]
        tones = tones_around(window, modality, values)
        assert (np.diff(tones.values) > 0).all()
        assert (np.diff(tones.levels) > 0).all()
        assert (tones.levels[0], tones.levels[-1]) == pytest.approx((0, 255))
    assert tones_around(Window(0, 80), "ct", np.array([np.nan, 40.0])).apply(
        np.array([np.nan])
    ).tolist() == [0]


def test_a_reader_chooses_from_the_usual_windows() -> None:
    tones = tones_around(Window(-160, 240), "ct", CT)
    scale = tone_scale(tones, "ct", CT)
    named = {name: ((low + high) / 2, high - low) for name, low, high in scale.windows}
    # Level and width as textbooks have them.
    assert named["brain"] == (40, 80)
    assert named["lung"] == (-600, 1500)
    assert named["bone"] == (300, 1500)
    assert named["soft tissue"] == (40, 400)
    assert scale.windows[scale.opening][0] == "soft tissue"
    own = tone_scale(tones_around(Window(0, 100), "ct", CT), "ct", CT)
    assert own.windows[own.opening] == ("as shown to models", 0, 100)
    of_mr = tone_scale(tones_around(reading_windows("mr", CT)[0], "mr", CT), "mr", CT)
    assert of_mr.windows[of_mr.opening][0] == "auto"


@pytest.mark.parametrize(
    ("profile", "has_tones"),
    [
        ("default", True),
        ("full-stack", True),
        ("3dreasonknee-o1", False),
        ("3dreasonknee-qwen", False),
    ],
)
def test_only_pictures_of_one_window_have_tones(profile: str, has_tones: bool) -> None:
    loaded: Profile = load_profile(profile)
    renderer = Renderer(loaded, np.zeros((4, 4, 4), np.int16), None, "mr")
    assert (renderer.toned() is not None) == has_tones
