"""Law of crops: what is asked of a scan that cuts
structures off has the answer that the whole patient has."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _studies import ledger_of, phantom_labels
from test_pose import asked, flipped

from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure

SPACING = (3.0, 3.0, 3.0)
TASKS = ("compose", "contact", "distance")


def cropped(labels: LabelMap, axis: int, *, last: bool, share: float) -> LabelMap:
    """The scan without a share of its slices at one face."""
    shape = list(labels.grid.shape)
    gone = round(share * shape[axis])
    window = [slice(None)] * 3
    window[axis] = slice(0, shape[axis] - gone) if last else slice(gone, None)
    shape[axis] -= gone
    matrix = labels.grid.affine.matrix.copy()
    if not last:
        matrix[:3, 3] += gone * matrix[:3, axis]
    layers = tuple(np.ascontiguousarray(layer[tuple(window)]) for layer in labels.layers)
    seen = tuple(s for s in labels.structures if (layers[s.layer] == s.value).any())
    grid = Grid(tuple(shape), Affine(matrix))
    return dataclasses.replace(labels, grid=grid, layers=layers, structures=seen)


CROPS = [
    (axis, last, share) for axis in range(3) for last in (False, True) for share in (0.25, 0.4)
]


@pytest.mark.parametrize(
    "index", [2, *(pytest.param(n, marks=pytest.mark.sweep) for n in range(3, 12))]
)
def test_no_answer_of_a_cropped_scan_is_another(index: int, little_of: Callable[..., Any]) -> None:
    labels = phantom_labels(7, index, SPACING, oblique=False)
    whole = asked(ledger_of(labels), TASKS)
    for axis, last, share in little_of(CROPS, 2):
        part = asked(ledger_of(cropped(labels, axis, last=last, share=share)), TASKS)
        assert flipped(part, whole) == []


SHAPE, MM = (60, 50, 80), 2.0


def blocks(**named: tuple[tuple[int, int, int], tuple[int, int, int]]) -> LabelMap:
    layer = np.zeros(SHAPE, dtype=np.uint8)
    structures = []
    for value, (name, (low, high)) in enumerate(named.items(), start=1):
        layer[tuple(slice(a, b) for a, b in zip(low, high))] = value
        structures.append(Structure(value, name, 0, value))
    grid = Grid(SHAPE, Affine(np.diag([MM, MM, MM, 1.0])))
    return LabelMap(grid, (layer,), tuple(structures))


KIDNEY = ((20, 20, 30), (30, 30, 45))


def test_what_is_missing_lies_beyond_the_faces_of_the_scan() -> None:
    """A whole kidney 40 mm from the nearest face,
    and a vessel that leaves the scan above and below."""
    ledger = ledger_of(blocks(kidney_left=KIDNEY, aorta=((40, 20, 0), (45, 25, 80))))
    assert ledger.is_cut("aorta")
    assert not ledger.is_cut("kidney_left")
    near = max(ledger.recipe.cut.near_voxels, int(np.ceil(ledger.recipe.cut.near_mm / MM)) - 1)
    nearest = min(20, 60 - 30, 20, 50 - 30, 30, 80 - 45)
    unseen = ledger.fact("unseen_gap", "kidney_left", "aorta").value
    assert unseen == ledger.fact("unseen_gap", "aorta", "kidney_left").value
    assert 0 < unseen < (nearest - near) * MM
    assert unseen > (nearest - near) * MM - 4 * MM, "no more is taken off than the surfaces' error"


def test_nothing_is_known_of_two_that_are_cut_or_of_one_at_the_face() -> None:
    both = ledger_of(
        blocks(kidney_left=((20, 20, 0), (30, 30, 15)), aorta=((40, 20, 0), (45, 25, 80)))
    )
    assert both.fact("unseen_gap", "kidney_left", "aorta").value == 0
    close = ledger_of(
        blocks(kidney_left=((2, 20, 30), (12, 30, 45)), aorta=((40, 20, 0), (45, 25, 80)))
    )
    assert not close.is_cut("kidney_left")
    assert close.fact("unseen_gap", "kidney_left", "aorta").value == 0


def test_a_lower_end_counts_where_only_the_upper_one_is_cut() -> None:
    """Two blocks side by side, one of them cut above:
    their lower ends differ by 12 voxels, less or more by a tilt."""
    labels = blocks(spleen=((30, 20, 20), (38, 30, 80)), kidney_left=((20, 20, 32), (28, 30, 50)))
    fact = ledger_of(labels).fact("end_gap.bottom", "spleen", "kidney_left")
    assert fact.value == pytest.approx(-12 * MM)
    assert "cut" not in fact.flags
    low, high = fact.interval
    # The centres lie 20 mm apart; the blocks' corners turn about them.
    turn = 20.0 * np.sin(np.radians(10.0))
    assert low < -12 * MM - turn * 0.5
    assert -12 * MM + turn * 0.5 < high < 0
    upper = ledger_of(labels).fact("end_gap.top", "spleen", "kidney_left")
    assert "cut" in upper.flags
