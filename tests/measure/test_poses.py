"""What a turn of the patient changes, section by section and corner by corner."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from _random_labels import random_affine

from situs.measure import Region, Regions, axial_diameter_ratios, reach_mm, turned
from situs.measure.directions import Histogram
from situs.measure.poses import across
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure


def region_of(mask: np.ndarray, affine: Affine) -> Region:
    labels = LabelMap(
        Grid(mask.shape, affine), (mask.astype(np.uint8),), (Structure(1, "liver", 0, 1),)
    )
    return Regions(labels)["liver"]


@pytest.mark.parametrize("direction", [(0, 0, 1), (3, 0, 0), (1, -2, 2), (-0.5, 0.3, 0.1)])
def test_directions_lie_evenly_on_two_cones(direction: tuple[float, ...]) -> None:
    """The direction, then 32 at half the angle and 32 at the whole one."""
    unit = np.array(direction) / np.linalg.norm(direction)
    found = turned(np.array(direction), 12.0)
    np.testing.assert_allclose(found[0], unit, atol=1e-12)
    assert len(found) == 65
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0)
    for rim, degrees in ((found[1:33], 6.0), (found[33:], 12.0)):
        np.testing.assert_allclose(np.degrees(np.arccos(rim @ unit)), degrees)
        np.testing.assert_allclose(rim.mean(axis=0), np.cos(np.radians(degrees)) * unit, atol=1e-12)
        steps = np.linalg.norm(rim - np.roll(rim, 1, axis=0), axis=1)
        chord = 2 * np.sin(np.radians(degrees)) * np.sin(np.pi / 32)
        np.testing.assert_allclose(steps, chord)


@pytest.mark.parametrize("seed", range(6))
def test_two_directions_across_a_third(seed: int) -> None:
    normal = np.random.default_rng(seed).normal(size=3)
    normal /= np.linalg.norm(normal)
    first, second = across(normal)
    frame = np.stack([normal, first, second])
    np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(np.cross(normal, first), second, atol=1e-12)
    assert first[np.abs(normal).argmin()] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_a_structure_reaches_as_far_as_the_corners_of_its_voxels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mask = rng.random((5, 4, 6)) < 0.3
    mask[2, 2, 2] = True
    affine = random_affine(rng, oblique=True)
    region = region_of(mask, affine)
    cube = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
    corners = (np.argwhere(mask)[:, None] + cube).reshape(-1, 3) @ affine.linear.T
    corners += affine.matrix[:3, 3]
    directions = turned(rng.normal(size=3), 10.0)
    along = corners @ directions.T
    found = reach_mm(region, directions)
    np.testing.assert_allclose(found, np.stack([along.min(axis=0), along.max(axis=0)], axis=1))


def ratios_by_definition(
    points: np.ndarray, normal: np.ndarray, thickness: float, degrees: float
) -> tuple[float, float]:
    """Layers of voxel centres one slice thick, from the lowest centre and from half a slice below
    it; the widest of 36 directions within the layer."""
    lengths = []
    angles = np.pi * np.arange(36) / 36
    for vector in turned(normal, degrees):
        first, second = across(vector)
        for start in (0.0, 0.5):
            height = points @ vector
            layers: dict[int, list[np.ndarray]] = {}
            for point, level in zip(points, (height - height.min()) / thickness + start):
                layers.setdefault(int(level + 1e-6), []).append(point)
            ways = np.outer(np.cos(angles), first) + np.outer(np.sin(angles), second)
            lengths.append(max(np.ptp(layer @ ways.T, axis=0).max() for layer in layers.values()))
    return min(1.0, *np.divide(lengths, lengths[0])), max(1.0, *np.divide(lengths, lengths[0]))


@pytest.mark.parametrize("upwards", [1.0, -1.0])
def test_how_much_a_turn_changes_the_longest_diameter(upwards: float) -> None:
    """A flat plate gets shorter sections, a tilted rod longer ones."""
    plate, rod = np.zeros((2, 9, 7, 8), dtype=bool)
    plate[1:8, 1:6, 3] = True
    for n in range(8):
        rod[n, 3, n // 2 + 2] = True
    matrix = np.diag([1.5, 1.2, 2.0 * upwards, 1.0])
    matrix[:3, 3] = (5.3, -2.1, 0.7)
    for mask in (plate, rod):
        points = np.argwhere(mask) * np.diag(matrix)[:3] + matrix[:3, 3]
        expected = ratios_by_definition(points, np.array([0.0, 0.0, 1.0]), 2.0, 12.0)
        assert expected[0] < 1.0
        found = axial_diameter_ratios(region_of(mask, Affine(matrix)), 2, 12.0)
        assert found == pytest.approx(expected)


def test_a_single_voxel_has_the_same_diameter_however_it_lies() -> None:
    mask = np.zeros((3, 3, 3), dtype=bool)
    mask[1, 1, 1] = True
    assert axial_diameter_ratios(region_of(mask, Affine(np.eye(4))), 2, 10.0) == (0.0, 1.0)


@pytest.mark.parametrize("seed", range(8))
def test_how_often_one_lies_beyond_the_other(seed: int) -> None:
    """Over all pairs of bins; of two in one bin, half."""
    rng = np.random.default_rng(seed)
    counts = [rng.integers(0, 4, size=int(rng.integers(1, 9))).astype(float) for _ in range(2)]
    starts = rng.integers(-6, 7, size=2)
    for one in counts:
        one[0] = 1.0
    a, b = (Histogram(int(start), one) for start, one in zip(starts, counts))
    expected = sum(
        p * q * (1.0 if i > j else 0.5 if i == j else 0.0)
        for i, p in enumerate(counts[0] / counts[0].sum(), start=starts[0])
        for j, q in enumerate(counts[1] / counts[1].sum(), start=starts[1])
    )
    assert a.beyond(b) == pytest.approx(expected)
    assert b.beyond(a) == pytest.approx(1.0 - expected)
