"""Slices that show a structure, how many there are, and the box around a lesion."""

from __future__ import annotations

import numpy as np
import pytest

from situs.anatomy import term
from situs.facts import (
    Ledger,
    MaskedSeries,
    load_recipe,
)
from situs.items import TASKS, Boxes, Frames, NotAsked, Posed, Question
from situs.space import Affine, Grid, WorldBox
from situs.volumes import LabelMap, Structure


def ledger_of(
    spacing=(1.0, 1.0, 2.5), *, up: bool = True, first: int = 10, last: int = 29, basis="affine"
) -> Ledger:
    """A spleen of 20 × 20 voxels on some axial slices, a lesion of 12 × 12 × 5;
    stored feet first unless not `up`."""
    array = np.zeros((60, 60, 50), np.uint8)
    array[10:30, 10:30, first : last + 1] = 1
    array[40:52, 40:52, 20:25] = 2
    matrix = np.diag([*spacing, 1.0])
    if not up:
        array = array[:, :, ::-1].copy()
        matrix[2, 2], matrix[2, 3] = -spacing[2], spacing[2] * 49
    names = ("spleen", "spleen_lesion")
    structures = tuple(Structure(v, name, 0, v) for v, name in enumerate(names, start=1))
    return Ledger(
        LabelMap(Grid(array.shape, Affine(matrix)), (array,), structures),
        MaskedSeries(
            study_id="s", series="ct", labels_hash="", annotation="exact", side_basis=basis
        ),
        recipe=load_recipe(),
        terms={name: term(name) for name in names},
    )


def pose(ledger: Ledger, task: str, form: str, **parameters: str) -> Posed | NotAsked:
    return TASKS[task].pose(ledger, Question(task, form, parameters))


@pytest.mark.parametrize("up", [True, False])
def test_frames_count_from_the_feet_however_the_file_is_stored(up):
    found = pose(ledger_of(up=up), "location", "frames", of="spleen")
    assert found.text == "On which axial slices is the spleen seen? Give the first and the last."
    assert found.answer == Frames(tuple(range(10, 30)))
    assert {"axial_slices", "slice_order", "frame_count"} <= set(found.needs)


def test_a_scan_of_other_slices_has_no_axial_ones():
    """4 mm from front to back against 1 mm from top to bottom:
    it was acquired in coronal slices."""
    ledger = ledger_of((1.0, 4.0, 1.0))
    assert pose(ledger, "location", "frames", of="spleen") == NotAsked(
        "not acquired in axial slices"
    )


@pytest.mark.parametrize(("first", "last"), [(0, 20), (30, 49)])
def test_cut_structures_are_not_asked_for(first, last):
    ledger = ledger_of(first=first, last=last)
    for task, form in (("location", "frames"), ("extent", "number")):
        assert pose(ledger, task, form, of="spleen") == NotAsked("structure cut off by the scan")


def test_few_slices_are_no_range():
    assert pose(ledger_of(first=10, last=12), "location", "frames", of="spleen") == NotAsked(
        "seen on too few slices"
    )


def test_the_box_around_a_lesion():
    found = pose(ledger_of(), "location", "boxes", of="largest:spleen_lesion")
    assert found.text == "Where is the largest splenic lesion? Give the box around it."
    around = WorldBox((39.5, 39.5, 48.75), (51.5, 51.5, 61.25))
    assert found.answer == Boxes((around,))


def test_a_tiny_lesion_has_no_box():
    small = ledger_of((0.5, 0.5, 1.0))
    assert pose(small, "location", "boxes", of="largest:spleen_lesion") == NotAsked(
        "lesion too small for a box"
    )
