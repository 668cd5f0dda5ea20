"""Vertebral levels: a place on the curve through the vertebrae."""

from __future__ import annotations

import numpy as np
import pytest

from situs.anatomy import term
from situs.facts import (
    LEVELS,
    Ledger,
    MaskedSeries,
    level_name,
    load_recipe,
)
from situs.items import TASKS, NotAsked, Posed, Question
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure

HEIGHT = 12
"""Voxels, and mm, of a vertebra and the disc below it."""


def _ledger(organ_z: slice, *, sacrum: bool = True, organ: str = "kidney_left") -> Ledger:
    """T12 to L5 as cubes down a straight spine, and an organ beside it."""
    names = ["vertebrae_T12", *(f"vertebrae_L{n}" for n in range(1, 6))]
    array = np.zeros((60, 40, HEIGHT * 8), np.uint8)
    structures = []
    for number, name in enumerate(names):
        top = HEIGHT * 7 - number * HEIGHT
        array[25:35, 5:15, top - 10 : top] = number + 1
        structures.append(Structure(number + 1, name, 0, number + 1))
    array[5:15, 10:20, organ_z] = 20
    structures.append(Structure(20, organ, 0, 20))
    if sacrum:
        array[25:35, 5:15, 1:5] = 21
        structures.append(Structure(21, "sacrum", 0, 21))
    return Ledger(
        LabelMap(Grid(array.shape, Affine(np.eye(4))), (array,), tuple(structures)),
        MaskedSeries(
            study_id="s", series="ct", labels_hash="", annotation="exact", side_basis="affine"
        ),
        recipe=load_recipe(),
        terms={s.name: term(s.name) for s in structures},
    )


def _centre(level: str) -> float:
    """Height of a vertebra's centre by the construction above."""
    return HEIGHT * 7 - (LEVELS.index(level) - LEVELS.index("T12")) * HEIGHT - 5.5


def test_the_centre_of_an_organ_lies_at_the_vertebra_beside_it() -> None:
    z = int(_centre("L2") + 0.5)
    ledger = _ledger(slice(z - 8, z + 8))
    value = ledger.fact("level.centre", "kidney_left").value
    assert value == pytest.approx(LEVELS.index("L2"), abs=0.05)
    assert level_name(value) == "L2"
    bottom = (z - 8 - _centre("L2")) / -HEIGHT
    assert ledger.fact("level.bottom", "kidney_left").value == pytest.approx(
        LEVELS.index("L2") + bottom
    )


def test_a_level_is_asked_only_with_an_anchor_and_away_from_the_line_between_two() -> None:
    question = Question("level", "choice", {"of": "kidney_left", "at": "bottom"})
    low = int(_centre("L3"))
    asked = TASKS["level"].pose(_ledger(slice(low, low + 20)), question)
    assert isinstance(asked, Posed)
    assert asked.answer.value == "L3"
    between = int(_centre("L3") + HEIGHT / 2)
    assert isinstance(
        TASKS["level"].pose(_ledger(slice(between, between + 20)), question), NotAsked
    )
    assert isinstance(
        TASKS["level"].pose(_ledger(slice(low, low + 20), sacrum=False), question), NotAsked
    )


@pytest.mark.parametrize(
    ("line", "answer"),
    [("L2", True), ("L3", None), ("L4", False), ("L1", None), ("L5", None)],
)
def test_an_end_between_two_vertebrae_is_below_one_and_not_below_the_next(
    line: str, answer: bool | None
) -> None:
    """It lies at the line between L3 and L4: whether below L3 is not asked, nor what is two
    vertebrae away."""
    between = int(_centre("L3") - HEIGHT / 2)
    ledger = _ledger(slice(between, between + 20))
    parameters = {"ask": "past", "of": "kidney_left", "at": "bottom", "line": line}
    found = TASKS["level"].pose(ledger, Question("level", "yes_no", parameters))
    if answer is None:
        assert isinstance(found, NotAsked)
        return
    assert found.text == f"Does the lower pole of the left kidney lie below {line}?"
    assert found.answer.value is answer


@pytest.mark.parametrize(
    ("level", "asked"), [("L1", True), ("L2", True), ("L4", False), ("L5", False)]
)
def test_a_mask_of_the_canal_is_not_asked_for_the_conus(level: str, asked: bool) -> None:
    """In adults the cord ends between T12 and L3 (Saifuddin 1998);
    some models label the whole canal as cord."""
    low = int(_centre(level))
    question = Question("level", "choice", {"of": "spinal_cord", "at": "bottom"})
    posed = TASKS["level"].pose(_ledger(slice(low, HEIGHT * 8 - 2), organ="spinal_cord"), question)
    assert isinstance(posed, Posed) is asked
    if asked:
        assert posed.answer.value == level
