"""A mask of both kidneys becomes a left and a right one, or stays as it is."""

from __future__ import annotations

import numpy as np
import pytest

from situs.anatomy import term
from situs.facts import (
    Ledger,
    MaskedSeries,
    load_recipe,
)
from situs.items import TASKS, Choice, NotAsked, Question
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure

NAMES = ("kidney", "kidney_tumour", "kidney_cyst")


def ledger_of(array: np.ndarray, matrix: np.ndarray, basis: str = "affine") -> Ledger:
    found = [
        Structure(v, name, 0, v) for v, name in enumerate(NAMES, start=1) if (array == v).any()
    ]
    return Ledger(
        LabelMap(Grid(array.shape, Affine(matrix)), (array,), tuple(found)),
        MaskedSeries(
            study_id="s", series="ct", labels_hash="", annotation="exact", side_basis=basis
        ),
        recipe=load_recipe(),
        terms={s.name: term(s.name) for s in found},
    )


def kidneys() -> np.ndarray:
    """1 mm voxels, x to the right: the left kidney (low x) of 20 × 20 × 30, the right one of 25 ×
    20 × 40 with a tumour through its whole middle, so that its own mask falls apart, and a speck
    beside it."""
    array = np.zeros((120, 40, 60), np.uint8)
    array[5:25, 10:30, 10:40] = 1
    array[80:105, 10:30, 10:50] = 1
    array[80:105, 10:30, 25:35] = 2
    array[110:112, 10:12, 10:12] = 1
    return array


@pytest.mark.parametrize("flips", [(1, 1, 1), (-1, 1, 1), (-1, -1, -1)])
def test_two_kidneys_of_one_label_are_told_apart(flips):
    array, matrix = kidneys(), np.eye(4)
    for axis, sign in enumerate(flips):
        if sign < 0:
            array = np.flip(array, axis)
            matrix[axis, 3] = array.shape[axis] - 1
            matrix[axis, axis] = -1.0
    ledger = ledger_of(np.ascontiguousarray(array), matrix)
    assert ledger.structures == ["kidney_left", "kidney_right", "kidney_tumour"]
    assert ledger.fact("volume", "kidney_left").value == pytest.approx(20 * 20 * 30 / 1000)
    assert ledger.fact("volume", "kidney_right").value == pytest.approx((25 * 20 * 30 + 8) / 1000)
    assert ledger.fact("organ_of", "kidney_tumour").value in (None, "kidney_right")
    whole = ledger.whole("kidney_right")
    assert ledger.fact("volume", whole).value == pytest.approx((25 * 20 * 40 + 8) / 1000)


def test_the_sides_follow_the_patient_not_the_file():
    """The same array under a mirrored affine: left and right change their places."""
    mirrored = np.diag([-1.0, 1.0, 1.0, 1.0])
    ledger = ledger_of(kidneys(), mirrored)
    assert ledger.fact("volume", "kidney_right").value == pytest.approx(20 * 20 * 30 / 1000)


def one_kidney() -> np.ndarray:
    array = kidneys()
    array[60:] = 0
    return array


def horseshoe() -> np.ndarray:
    array = kidneys()
    array[25:80, 18:22, 12:16] = 1
    return array


def one_above_the_other() -> np.ndarray:
    array = np.zeros((60, 40, 120), np.uint8)
    array[5:25, 10:30, 10:40] = 1
    array[10:30, 10:30, 70:110] = 1
    return array


@pytest.mark.parametrize("make", [one_kidney, horseshoe, one_above_the_other])
def test_what_is_not_clearly_a_pair_stays_one(make):
    assert "kidney" in ledger_of(make(), np.eye(4)).structures


def test_without_an_orientation_there_are_no_sides():
    assert "kidney" in ledger_of(kidneys(), np.eye(4), basis="undeclared").structures


def test_a_lesion_is_on_the_side_of_its_kidney():
    """No vertebra is annotated and no second pair: the kidney that the tumour belongs to tells."""
    question = Question("lesion_side", "choice", {"of": "largest:kidney_tumour"})
    for matrix, side in ((np.eye(4), "right"), (np.diag([-1.0, 1.0, 1.0, 1.0]), "left")):
        ledger = ledger_of(kidneys(), matrix)
        assert ledger.midline is None
        assert TASKS["lesion_side"].pose(ledger, question).answer == Choice(side)
    single = kidneys()
    single[:60] = 0
    assert isinstance(TASKS["lesion_side"].pose(ledger_of(single, np.eye(4)), question), NotAsked)
