"""The cues by which five marks are balanced, counted mark by mark."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from situs.facts.masks.marks import pairs
from situs.facts.masks.marks.pairs import MARKS


def drawn(seed: int, sets: int = 40) -> np.ndarray:
    """(x y z, mark, set): whole millimetres, so that some are equal."""
    return np.random.default_rng(seed).integers(-6, 7, size=(3, MARKS + 1, sets)).astype(float)


def ranks_by_definition(marks: np.ndarray, middle_x: float) -> list[int]:
    """Of one set of (mark, x y z), the first the right one and the last its partner: how many of
    the other three come before the right one by each cue."""
    four, partner = marks[:MARKS], marks[MARKS]
    middle = four.mean(axis=0)
    # Towards the side on which the four lie, the farther the sooner.
    side = -1.0 if middle[0] < middle_x else 1.0
    cues = []
    for mark, own in enumerate(four):
        outwards = own - middle
        others = [np.linalg.norm(own - four[k]) for k in range(MARKS) if k != mark]
        along = outwards @ (partner - middle) / max(float(np.linalg.norm(outwards)), 1e-6)
        cues.append(
            (
                np.linalg.norm(own - partner),
                np.linalg.norm(outwards),
                min(others),
                -along,
                abs(own[1] - partner[1]),
                own[0] * side,
            )
        )
    rounded = np.round(cues, 6)
    return [int((rounded[1:, cue] < rounded[0, cue]).sum()) for cue in range(len(rounded[0]))]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("middle_x", [0.0, 0.75])
def test_ranks_of_the_right_mark(seed: int, middle_x: float) -> None:
    points = drawn(seed)
    points[:, :, 0] = [[0, 4, -2, 1, 3], [2, 2, 0, 0, 0], [1, 1, 1, 1, 1]]  # middle x of 0.75
    lengths = pairs._lengths_mm(points)
    ranks = pairs._ranks(points, lengths, middle_x)
    order = list(itertools.combinations(range(MARKS + 1), 2))
    for number in range(points.shape[2]):
        marks = points[:, :, number].T
        expected = [math.dist(marks[a], marks[b]) for a, b in order]
        assert lengths[:, number] == pytest.approx(expected)
        assert ranks[:, number].tolist() == ranks_by_definition(marks, middle_x)


def test_kin_among_the_four() -> None:
    kin = np.zeros((6, 6), dtype=bool)
    kin[1, 4] = kin[4, 1] = True
    sets = np.array(list(itertools.permutations(range(6), MARKS)))
    expected = [{1, 4} <= set(one) for one in sets.tolist()]
    assert pairs._has_kin(sets, kin).tolist() == expected


def test_each_set_asks_for_another_structure_if_there_is_one() -> None:
    def found(off: float, spread: float, name: str) -> pairs.Found:
        return (off, spread), [(name, np.zeros(3))]

    best = [
        {"liver": found(1.0, 5.0, "liver"), "spleen": found(2.0, 1.0, "spleen")},
        {"liver": found(0.0, 9.0, "liver")},
        {"spleen": found(1.0, 2.0, "spleen"), "liver": found(0.0, 0.0, "liver")},
    ]
    chosen = pairs._of_different_structures(best)
    assert [marks[0][0] for marks in chosen] == ["spleen", "liver", "liver"]
