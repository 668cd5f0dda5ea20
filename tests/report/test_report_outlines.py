"""Outlines run along every border between inside and outside, and nowhere else."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from situs.report.pictures.outlines import outline_path

Edge = tuple[tuple[int, int], tuple[int, int]]


def drawn(path: str) -> list[Edge]:
    """The unit edges an SVG path of `M`, `h`,
    `v` and `z` draws, each from its lower to its higher end."""
    edges: list[Edge] = []
    for loop in filter(None, path.split("z")):
        start = re.match(r"M(\d+) (\d+)", loop)
        assert start is not None
        here = first = (int(start[1]), int(start[2]))
        for command, length in re.findall(r"([hv])(-?\d+)", loop):
            step = (1, 0) if command == "h" else (0, 1)
            sign = 1 if int(length) > 0 else -1
            for _ in range(abs(int(length))):
                there = (here[0] + sign * step[0], here[1] + sign * step[1])
                edges.append((min(here, there), max(here, there)))
                here = there
        sign_x, sign_y = np.sign(first[0] - here[0]), np.sign(first[1] - here[1])
        while here != first:  # what `z` closes
            there = (here[0] + int(sign_x), here[1] + int(sign_y))
            edges.append((min(here, there), max(here, there)))
            here = there
    return edges


def borders(mask: np.ndarray) -> set[Edge]:
    """Brute force: the sides on which a pixel differs from its neighbour."""
    found = set()
    height, width = mask.shape
    padded = np.pad(mask, 1)
    for y in range(height + 1):
        for x in range(width + 1):
            if x < width and padded[y, x + 1] != padded[y + 1, x + 1]:
                found.add(((x, y), (x + 1, y)))
            if y < height and padded[y + 1, x] != padded[y + 1, x + 1]:
                found.add(((x, y), (x, y + 1)))
    return found


@given(arrays(bool, array_shapes(min_dims=2, max_dims=2, max_side=9)))
@settings(max_examples=150, deadline=None)
def test_an_outline_is_the_mask_edge(mask: np.ndarray) -> None:
    edges = drawn(outline_path(mask))
    assert len(edges) == len(set(edges))
    assert set(edges) == borders(mask)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=5, deadline=None)
def test_large_noise(seed: int) -> None:
    mask = np.random.default_rng(seed).random((40, 60)) < 0.5
    assert sorted(drawn(outline_path(mask))) == sorted(borders(mask))


def test_a_single_pixel() -> None:
    mask = np.zeros((5, 7), dtype=bool)
    mask[3, 4] = True
    assert outline_path(mask) == "M4 3h1v1h-1z"


@pytest.mark.parametrize("shape", [(1, 1), (3, 4)])
def test_nothing_has_no_outline(shape: tuple[int, int]) -> None:
    assert outline_path(np.zeros(shape, dtype=bool)) == ""
