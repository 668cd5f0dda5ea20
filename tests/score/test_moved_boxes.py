"""Boxes at many places: what bounds dismiss at once is what measuring each place would dismiss."""

from __future__ import annotations

import numpy as np

from situs.score import tube_iou
from situs.score.explain import places
from situs.space import FrameBox, FrameBoxes

SIZES = [(320.0, 256.0)] * 12


def _boxes(rng: np.random.Generator) -> FrameBoxes:
    corner, size = rng.uniform(0, 200, 2), rng.uniform(5, 60, 2)
    first = int(rng.integers(0, 8))
    found = []
    for frame in range(first, first + int(rng.integers(1, 5))):
        for _ in range(int(rng.integers(1, 3))):
            x0, y0 = corner + rng.uniform(0, 6, 2)
            found.append(FrameBox(frame, x0, y0, x0 + size[0], y0 + size[1]))
    return FrameBoxes.of(found)


def _measured(true: list[FrameBox], said: list[FrameBox]) -> bool:
    return tube_iou(true, said) >= 0.25


def test_no_place_that_overlaps_enough_is_dismissed() -> None:
    rng = np.random.default_rng(3)
    sides = np.array(SIZES)
    undos = [
        lambda at: at,
        lambda at: places._flipped(at, sides, 1),
        lambda at: places._flipped(at, sides, 2),
        lambda at: places._scaled(at, sides, 0.001),
        places._ends_for_sizes,
        places._sizes_for_ends,
        places._exchanged,
        lambda at: places._stepped(at, -2),
        lambda at: places._reversed(at, 8),
    ]
    enough = asked = 0
    for number in range(40):
        said = _boxes(rng)
        moved = places._moved(said.table, SIZES, len(SIZES))
        undo = undos[number % len(undos)]
        # The truth is one of the places, or near it, so that some places do overlap.
        at = undo(moved)[int(rng.integers(len(moved)))]
        at = at[at[:, 0] >= 0]
        at[:, 1:] += rng.uniform(-4, 4)
        true = FrameBoxes(at, [""] * len(at))
        test = places._Test(true, said.labels, 0.25, _measured)
        held = test.holds(undo(moved))
        for one, is_held in zip(undo(moved), held):
            rows = one[one[:, 0] >= 0]
            boxes = list(FrameBoxes(rows, [""] * len(rows)))
            expected = bool(boxes) and len(true) > 0 and _measured(list(true), boxes)
            assert is_held == expected
            enough += expected
            asked += 1
    assert asked > 1000
    assert 40 < enough < asked / 2
