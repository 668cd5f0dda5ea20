"""Shapes that follow from a formula: the body of a vertebra, and how bluntly a structure ends."""

from __future__ import annotations

import numpy as np
import pytest

from situs.measure import Regions
from situs.measure.ends import _excess
from situs.measure.poses import _longest_section
from situs.measure.spine import vertebral_body
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure


def test_the_body_of_a_vertebra_is_its_ball_without_the_processes() -> None:
    """A ball of 15 voxels, a rod behind it, and at its end a ball of 12,
    in which 70 % of the largest fit as well."""
    index = np.stack(np.meshgrid(*(np.arange(n) for n in (40, 90, 40)), indexing="ij"))
    far = [
        np.sqrt((index[0] - 20) ** 2 + (index[1] - y) ** 2 + (index[2] - 20) ** 2) for y in (20, 70)
    ]
    rod = (np.abs(index[0] - 20) <= 3) & (np.abs(index[2] - 20) <= 3) & (np.abs(index[1] - 45) < 20)
    mask = (far[0] <= 15) | (far[1] <= 12) | rod
    labels = LabelMap(
        Grid(mask.shape, Affine(np.diag([2.0, 2.0, 2.0, 1.0]))),
        (mask.astype(np.uint8),),
        (Structure(1, "vertebrae_L1", 0, 1),),
    )
    body = vertebral_body(Regions(labels)["vertebrae_L1"]) / 2.0
    away = np.linalg.norm(body - 20.0, axis=1)
    assert len(body) == pytest.approx((far[0] <= 15).sum(), rel=0.05)
    assert away.max() < 16.5
    assert body.mean(axis=0) == pytest.approx([20.0, 20.0, 20.0], abs=0.1)


def test_sections_are_held_against_those_of_an_ellipsoid() -> None:
    """Of the largest section an ellipsoid has 1 - (1 - x)² at x of its half length,
    in the middle of each layer."""
    tapered = 100 * (1 - (1 - (np.arange(10) + 0.5) / 10) ** 2)
    assert _excess(np.array([100] * 10)) == pytest.approx(1 - tapered / 100)
    whole = np.array([30, 70, 100, 100, 70, 30, 0, 0])
    # Six layers: the half length is three.
    expected = 1 - (1 - np.array([0.5 / 3, 1.5 / 3, 2.5 / 3, 1, 1, 1, 1, 1])) ** 2
    assert _excess(whole) == pytest.approx(whole / 100 - expected)
    # Seen up to its last layer it may go on: all eight are its half.
    seen = np.array([30, 70, 100, 100, 70, 30, 20, 10])
    assert _excess(seen) == pytest.approx(seen / 100 - (1 - (1 - (np.arange(8) + 0.5) / 8) ** 2))
    assert _excess(whole, least_half=5) == pytest.approx(
        whole / 100 - (1 - (1 - np.minimum((np.arange(8) + 0.5) / 5, 1)) ** 2)
    )


@pytest.mark.parametrize(("start", "longest"), [(0.0, 13.0), (0.3, 18.0)])
def test_the_longest_section_of_layers(start: float, longest: float) -> None:
    """Layers of 0.5 mm: 10 mm, as long again just above, then 13 mm from x = 5 on.

    The first two share a layer; if the first layer has 0.3 less, the last two do, from x = 0 to x =
    18.
    """
    points = np.array(
        [(x, 0.0, z) for z, a, b in ((0, 0, 10), (0.4, 0, 10), (0.5, 5, 18)) for x in (a, b)]
    )
    found = _longest_section(points, np.array([0.0, 0.0, 1.0]), 0.5, start)
    assert found == pytest.approx(longest, rel=1e-2)
