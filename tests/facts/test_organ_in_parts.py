"""A lesion in a lobe lies in the lung: parts of an organ are no organ."""

from __future__ import annotations

import dataclasses

import pytest
from _blocks import block_ledger

from situs.anatomy import term
from situs.facts import (
    Ledger,
    MaskedSeries,
    load_recipe,
)
from situs.items import TASKS, Choice, NotAsked, Posed, Question

SHAPE = (80, 50, 100)
LOWER = ((10, 5, 5), (40, 45, 50))
UPPER = ((10, 5, 50), (40, 45, 95))
LIVER = ((50, 5, 5), (75, 45, 40))


def lungs(lesion, **more):
    """A left lung of two lobes from 5 to 95 mm, and a tumour whose mask lies over theirs."""
    return block_ledger(
        SHAPE,
        lung_lower_lobe_left=LOWER,
        lung_upper_lobe_left=UPPER,
        liver=LIVER,
        lung_tumour=lesion,
        **more,
    )


@pytest.mark.parametrize(
    ("lesion", "height"),
    [
        (((20, 20, 70), (30, 30, 90)), 75 / 90),
        (((20, 20, 35), (30, 30, 65)), 45 / 90),
    ],
    ids=["in one lobe", "across the fissure"],
)
def test_the_organ_of_a_lung_tumour_is_the_lung(lesion, height):
    """Its height is that in the lung, not in the lobe."""
    ledger = lungs(lesion)
    assert ledger.fact("organ_of", "lung_tumour").value == "lung_left"
    assert ledger.fact("height_in", "lung_tumour", "lung_left").value == pytest.approx(
        height, abs=0.02
    )
    assert "lung_left" not in ledger.structures
    assert ledger.fact("holder_side", "lung_tumour").value == "left"


def test_it_is_asked_as_the_lung():
    posed = TASKS["lesion_organ"].pose(
        lungs(((20, 20, 70), (30, 30, 90))), Question("lesion_organ", "choice", {"of": "largest:*"})
    )
    assert isinstance(posed, Posed)
    assert posed.answer == Choice("lung_left")
    assert not any("lobe" in option.text for option in posed.pool)
    assert {option.text for option in posed.pool} == {"the left lung", "the liver"}


def test_its_third_is_that_of_the_lung():
    posed = TASKS["lesion_pole"].pose(
        lungs(((20, 20, 74), (30, 30, 90))),
        Question("lesion_pole", "choice", {"of": "largest:lung_tumour"}),
    )
    assert isinstance(posed, Posed)
    assert posed.answer == Choice("upper")
    assert "lung" in posed.text


@pytest.mark.parametrize("organ", ["pancreas", "prostate", "stomach", "heart"])
def test_thirds_are_not_asked_where_readers_do_not_give_them(organ):
    """The pancreas has a head, a body and a tail; the prostate a base and an apex."""
    lesion = {"pancreas": "pancreas_tumour"}.get(organ, "liver_lesion")
    ledger = block_ledger(SHAPE, **{organ: LIVER, lesion: ((55, 10, 30), (65, 20, 38))})
    asked = TASKS["lesion_pole"].pose(
        ledger, Question("lesion_pole", "choice", {"of": f"largest:{lesion}"})
    )
    assert ledger.fact("organ_of", lesion).value == organ
    assert isinstance(asked, NotAsked)


@pytest.mark.parametrize("task", ["lesion_organ", "lesion_pole", "marks"])
def test_one_lobe_alone_is_no_organ(task):
    """Where the other lobe is not annotated nobody can say how large the lung is."""
    ledger = block_ledger(
        SHAPE, lung_upper_lobe_left=UPPER, liver=LIVER, lung_tumour=((20, 20, 70), (30, 30, 90))
    )
    assert ledger.fact("organ_of", "lung_tumour").value is None
    of = "largest:*" if task == "lesion_organ" else "largest:lung_tumour"
    parameters = {"of": of, "ask": "same_organ"} if task == "marks" else {"of": of}
    assert isinstance(TASKS[task].pose(ledger, Question(task, "choice", parameters)), NotAsked)


def test_a_lung_that_is_annotated_is_that_lung():
    ledger = lungs(((20, 20, 70), (30, 30, 90)), lung_left=(LOWER[0], UPPER[1]))
    assert ledger.fact("organ_of", "lung_tumour").value == "lung_left"
    assert ledger.organs == ["liver", "lung_left"]


def test_a_lobe_is_measured_with_the_tumour_that_its_mask_leaves_out():
    """30 × 40 × 45 mm less the tumour; with it, the block it was cut from."""
    ledger = lungs(((20, 20, 70), (30, 30, 90)))
    layers = [layer.copy() for layer in ledger.regions.labels.layers]
    layers[1][layers[3] == 1] = 0
    holed = Ledger(
        dataclasses.replace(ledger.regions.labels, layers=tuple(layers)),
        MaskedSeries(
            study_id="study",
            series="ct",
            labels_hash="hash",
            annotation="exact",
            side_basis="affine",
        ),
        recipe=load_recipe(),
        terms={name: term(name) for name in ledger.structures},
    )
    assert holed.fact("organ_of", "lung_tumour").value == "lung_left"
    lobe = holed.whole("lung_upper_lobe_left")
    assert holed.fact("volume", lobe).value == pytest.approx(30 * 40 * 45 / 1000)


def test_no_mark_is_drawn_for_an_organ_in_parts_that_another_could_claim():
    """Marks are drawn in annotated structures; a lung in lobes is none."""
    ledger = lungs(((20, 20, 70), (30, 30, 90)))
    asked = Question("marks", "choice", {"of": "largest:lung_tumour", "ask": "same_organ"})
    assert isinstance(TASKS["marks"].pose(ledger, asked), NotAsked)
