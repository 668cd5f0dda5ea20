"""From intensities to grey: every rule against its formula;
resampling against scipy and against means."""

from __future__ import annotations

import numpy as np
import pytest
from _made import oblique_grid, pictures, profile

from situs.profiles import Renderer, layout_of
from situs.profiles.pixels.volume_array import volume_array
from situs.profiles.pixels.window import window_of
from situs.profiles.schema import WindowRule
from situs.space import Affine, Grid

VALUES = np.random.default_rng(0).normal(200.0, 300.0, (9, 8, 7)).astype(np.float32)


def grey(values: np.ndarray, low: float, high: float) -> np.ndarray:
    return np.rint(np.clip((values - low) / (high - low), 0, 1) * 255)


def shown(window, values: np.ndarray = VALUES, **tables) -> list[np.ndarray]:
    """Axial slices as [x, y] again, for comparison with the array."""
    made = profile(window={"any": window}, **tables)
    _, found, _ = pictures(made, values, Grid(values.shape, Affine(np.eye(4))), "mr")
    return [np.swapaxes(picture[::-1, ::-1], 0, 1).astype(float) for picture in found]


def same(found: list[np.ndarray], expected: np.ndarray) -> None:
    for k, picture in enumerate(found):
        assert np.abs(picture - expected[..., k]).max() <= 1


def test_fixed():
    same(shown({"low": -100.0, "high": 500.0}), grey(VALUES, -100.0, 500.0))


def test_percentiles_of_the_volume():
    low, high = np.percentile(VALUES, [2.0, 97.0])
    same(shown({"low_percentile": 2.0, "high_percentile": 97.0}), grey(VALUES, low, high))


def test_percentiles_of_each_slice():
    expected = np.stack(
        [grey(s, *np.percentile(s, [10.0, 90.0])) for s in np.moveaxis(VALUES, 2, 0)], axis=2
    )
    same(shown({"low_percentile": 10.0, "high_percentile": 90.0, "per": "slice"}), expected)


def test_smallest_and_largest():
    rule = {"low_percentile": 0.0, "high_percentile": 100.0}
    same(shown(rule), grey(VALUES, VALUES.min(), VALUES.max()))
    expected = np.stack([grey(s, s.min(), s.max()) for s in np.moveaxis(VALUES, 2, 0)], axis=2)
    same(shown({**rule, "per": "slice"}), expected)


def test_clipped_then_scaled():
    rule = {"clip": (0.0, 400.0), "low_percentile": 0.0, "high_percentile": 100.0}
    clipped = np.clip(VALUES, 0.0, 400.0)
    same(shown(rule), grey(clipped, clipped.min(), clipped.max()))
    same(shown({**rule, "percentiles_of": "unclipped"}), grey(clipped, VALUES.min(), VALUES.max()))


def test_an_empty_slice_is_black():
    values = VALUES.copy()
    values[..., 3] = 17.0
    assert (
        shown({"low_percentile": 0.0, "high_percentile": 100.0, "per": "slice"}, values)[3].max()
        == 0
    )


def test_values_that_are_not_numbers_do_not_count():
    values = VALUES.copy()
    values[0, 0] = np.nan
    window = window_of(WindowRule(low_percentile=0.0, high_percentile=100.0), values)
    assert (window.low, window.high) == (float(np.nanmin(values)), float(np.nanmax(values)))
    assert window.apply(np.array([np.nan, np.inf, -np.inf], np.float32)).tolist() == [0, 255, 0]


def test_three_windows_as_colours():
    rules = (
        {"low": -500.0, "high": 500.0},
        {"low": 0.0, "high": 100.0},
        {"low": 100.0, "high": 400.0},
    )
    found = shown(rules, view={"windows": "rgb"})
    assert found[0].shape == (9, 8, 3)
    for channel, rule in enumerate(rules):
        same([picture[..., channel] for picture in found], grey(VALUES, rule["low"], rule["high"]))


def test_several_windows_one_after_the_other():
    rules = ({"low": -500.0, "high": 500.0}, {"low": 0.0, "high": 100.0})
    found = shown(rules)
    assert len(found) == 14
    same(found[::2], grey(VALUES, -500.0, 500.0))
    same(found[1::2], grey(VALUES, 0.0, 100.0))


def test_the_array_is_the_window_without_rounding():
    grid = oblique_grid(VALUES.shape, 0.0)
    made = profile(window={"any": {"low": -100.0, "high": 500.0}}, array={"scale": (-1.0, 1.0)})
    found = volume_array(Renderer(made, VALUES, grid, "mr"), layout_of(made, grid).lattice)
    np.testing.assert_allclose(found, np.clip((VALUES + 100.0) / 600.0, 0, 1) * 2 - 1, atol=1e-6)
    assert found.dtype == np.float32


@pytest.mark.parametrize("new", [(5, 8, 7), (20, 3, 11)])
def test_linear_resampling_is_that_of_scipy(new):
    from scipy.ndimage import map_coordinates

    grid = oblique_grid(VALUES.shape, 0.0)
    made = profile(resample={"shape": new}, array={"intensity": "stored"})
    found = volume_array(Renderer(made, VALUES, grid, "mr"), layout_of(made, grid).lattice)
    places = [(np.arange(n) + 0.5) * size / n - 0.5 for n, size in zip(new, VALUES.shape)]
    expected = map_coordinates(VALUES, np.meshgrid(*places, indexing="ij"), order=1, mode="nearest")
    np.testing.assert_allclose(found, expected, atol=1e-2)


def test_area_resampling_is_the_mean():
    values = np.random.default_rng(1).normal(size=(8, 12, 6)).astype(np.float32)
    grid = oblique_grid(values.shape, 0.0)
    made = profile(
        resample={"shape": (4, 4, 3), "interpolation": "area"}, array={"intensity": "stored"}
    )
    found = volume_array(Renderer(made, values, grid, "mr"), layout_of(made, grid).lattice)
    np.testing.assert_allclose(
        found, values.reshape(4, 2, 4, 3, 3, 2).mean(axis=(1, 3, 5)), atol=1e-5
    )


def test_a_new_spacing_keeps_the_centre():
    grid = oblique_grid((20, 21, 22), 12.0)
    lattice = layout_of(profile(resample={"spacing_mm": 1.7}), grid).lattice
    counts = [axis.known() for axis in lattice.axes]
    assert counts == [round(n * s / 1.7) for n, s in zip((20, 21, 22), grid.affine.spacing_mm)]
    np.testing.assert_allclose(lattice.spacing, 1.7)
    middle = lattice.affine @ [*((n - 1) / 2 for n in counts), 1.0]
    np.testing.assert_allclose(
        middle[:3], grid.affine.to_world(np.array([[9.5, 10.0, 10.5]]))[0], atol=1e-9
    )


def test_padding_is_black_and_the_rest_stays():
    values = np.full((6, 6, 4), 255, np.int16)
    (picture, *_), whole = shown({"low": 0.0, "high": 255.0}, values, crop={"shape": (10, 4, 6)}), 6
    assert len(shown({"low": 0.0, "high": 255.0}, values, crop={"shape": (10, 4, 6)})) == whole
    assert picture.max() == 0, "a slice below the volume"
    inside = shown({"low": 0.0, "high": 255.0}, values, crop={"shape": (10, 4, 6)})[2]
    assert inside.shape == (10, 4)
    assert inside[2:8].min() == 255
    assert inside[:2].max() == inside[8:].max() == 0
