"""The longest diameter on a slice and the longest chord across it, by definition: every pair of
points, on masks so small and regular that many diameters are equally long."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import ndimage
from scipy.spatial import ConvexHull

from situs.measure import Regions, axial_diameter
from situs.measure.kernels.diameters import _width, largest_on_slices
from situs.measure.runs import find_runs
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure

SQUARE = (0.5, 0.0, 0.5)
SHEARED = (0.4, -0.3, 0.6)
"""Half a pixel along x, and along y: (fxx, 0) and (fxy, fyy)."""
FINE = (0.01, 0.0, 0.02)


def edge_middles(pixels: np.ndarray) -> np.ndarray:
    """In half pixels: the middles of the edges of each pixel, none twice."""
    moves = np.array([(1, 0), (-1, 0), (0, 1), (0, -1)])
    return np.unique((2 * pixels[:, None] + moves).reshape(-1, 2), axis=0)


def chord_across(points: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """The longest chord of the convex hull at right angles to a line.

    It ends on a line between two of the points, and none of those lines leaves the hull."""
    along = (second - first) / np.linalg.norm(second - first)
    t, s = points @ along, points @ np.array([-along[1], along[0]])
    i, j = np.triu_indices(len(points), k=1)
    longest = 0.0
    for at in np.unique(t):
        meets = (np.minimum(t[i], t[j]) <= at) & (at <= np.maximum(t[i], t[j]))
        a, b = i[meets], j[meets]
        level = t[a] == t[b]
        share = np.where(level, 0.0, (at - t[a]) / np.where(level, 1.0, t[b] - t[a]))
        cuts = np.concatenate([s[a] + share * (s[b] - s[a]), s[b][level], s[t == at]])
        longest = max(longest, np.ptp(cuts))
    return float(longest)


def by_definition(mask: np.ndarray, matrix: np.ndarray) -> tuple[float, float]:
    """The longest diameter of any 8-connected part of a slice (last axis), and of the diameters of
    that length the longest chord across."""
    best = (0.0, 0.0)
    for number in range(mask.shape[2]):
        parts, count = ndimage.label(mask[:, :, number], structure=np.ones((3, 3)))
        for part in range(1, count + 1):
            points = edge_middles(np.argwhere(parts == part)) @ matrix.T
            lengths = np.linalg.norm(points[:, None] - points[None], axis=2)
            for a, b in np.argwhere(np.triu(lengths) >= max(lengths.max(), best[0]) - 1e-9):
                chord = chord_across(points, points[a], points[b])
                best = max(best, (round(float(lengths[a, b]), 9), chord))
    return best


def matrix_of(steps: tuple[float, float, float]) -> np.ndarray:
    return np.array([[steps[0], steps[1]], [0.0, steps[2]]])


def measured(mask: np.ndarray, steps: tuple[float, float, float]) -> tuple[float, np.ndarray, int]:
    """Squared length, the hull in half pixels as the kernel has it, and the two ends in it."""
    runs = find_runs(np.asfortranarray(mask.astype(np.uint8))).of(1)
    assert runs.axes == (0, 1, 2)
    rows = runs.hi[1] - runs.lo[1]
    x, y = np.empty(4 * rows + 6, dtype=np.int64), np.empty(4 * rows + 6, dtype=np.int64)
    out = np.zeros(4, dtype=np.int64)
    squared = largest_on_slices(
        runs.x0, runs.x1, runs.y, runs.z, runs.lo[1], rows, *steps, x, y, out
    )
    hull = np.stack([x, y - 1 + 2 * runs.lo[1]], axis=1)[: out[1]]
    return squared, hull, int(out[0])


@pytest.mark.parametrize("steps", [SQUARE, SHEARED, FINE])
@pytest.mark.parametrize("seeds", [range(first, first + 12) for first in (0, 12, 24)])
def test_the_longest_diameter_and_the_longest_chord_across(
    seeds: range, steps: tuple[float, float, float]
) -> None:
    for seed in seeds:
        rng = np.random.default_rng(seed)
        mask = np.zeros((9, 8, 3), dtype=bool)
        mask[2:8, 1:7] = rng.random((6, 6, 3)) < (0.25, 0.45, 0.7)[seed % 3]
        mask[4, 4, 1] = True
        length, chord = by_definition(mask, matrix_of(steps))
        squared, _, _ = measured(mask, steps)
        assert np.sqrt(squared) == pytest.approx(length)
        affine = np.eye(4)
        affine[:2, :2] = 2 * matrix_of(steps)
        labels = LabelMap(
            Grid(mask.shape, Affine(affine)),
            (np.asfortranarray(mask.astype(np.uint8)),),
            (Structure(1, "liver", 0, 1),),
        )
        found = axial_diameter(Regions(labels)["liver"])
        assert found.length_mm == pytest.approx(length)
        assert found.perpendicular_mm == pytest.approx(chord, abs=1e-9)
        assert mask[:, :, found.slice_index].any()


@pytest.mark.parametrize("thin", range(3))
@pytest.mark.parametrize("order", itertools.permutations(range(3)))
def test_arrays_one_voxel_thin_in_any_memory_order(thin: int, order: tuple[int, ...]) -> None:
    """There the order in memory does not tell rows from slices."""
    shape = tuple(1 if axis == thin else n for axis, n in enumerate((7, 6, 4)))
    mask = np.random.default_rng(thin).random(shape) < 0.6
    stored = np.ascontiguousarray(mask.astype(np.uint8).transpose(order))
    labels = LabelMap(
        Grid(shape, Affine(np.diag([1.0, 1.0, 3.0, 1.0]))),
        (stored.transpose(np.argsort(order)),),
        (Structure(1, "liver", 0, 1),),
    )
    length, chord = by_definition(mask, matrix_of(SQUARE))
    found = axial_diameter(Regions(labels)["liver"])
    assert found.length_mm == pytest.approx(length)
    assert found.perpendicular_mm == pytest.approx(chord, abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_the_hull_has_no_corner_too_many(seed: int) -> None:
    """Of one part: the corners of the convex hull of all middles of pixel edges."""
    rng = np.random.default_rng(seed)
    mask = np.zeros((12, 11, 2), dtype=bool)
    mask[3:10, 2:9, 1] = rng.random((7, 7)) < 0.6
    mask[6, 2:9, 1] = True
    parts, _ = ndimage.label(mask[:, :, 1], structure=np.ones((3, 3)))
    mask[:, :, 1] = parts == parts[6, 4]
    _, hull, number = measured(mask, SQUARE)
    points = edge_middles(np.argwhere(mask[:, :, 1]))
    corners = points[ConvexHull(points).vertices]
    assert number == 1
    assert {tuple(p) for p in hull.tolist()} == {tuple(p) for p in corners.tolist()}


@pytest.mark.parametrize("steps", [SQUARE, SHEARED])
def test_the_chord_across_each_two_corners(steps: tuple[float, float, float]) -> None:
    """A hull as the kernel has it: its left side and its right side, each from row to row."""
    left = np.array([(4, 0), (1, 2), (0, 5), (2, 9)])
    right = np.array([(5, 0), (9, 3), (10, 6), (8, 8), (3, 9)])
    hull = np.concatenate([left, right]) + np.array([3, 7])
    points = hull @ matrix_of(steps).T
    for first, second in itertools.combinations(range(len(hull)), 2):
        x, y = np.ascontiguousarray(hull[:, 0]), np.ascontiguousarray(hull[:, 1])
        found = _width(x, y, len(left), len(hull), first, second, *steps)
        assert found == pytest.approx(chord_across(points, points[first], points[second]))
    assert _width(x, y, len(left), len(hull), 2, 2, *steps) == 0.0
