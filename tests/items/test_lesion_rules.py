"""Lesions that the scan cuts, organs whose lesion is left out of their mask,
and names that tell too much."""

from __future__ import annotations

import numpy as np

from situs.anatomy import term
from situs.facts import (
    Ledger,
    MaskedSeries,
    load_recipe,
)
from situs.items import TASKS, Choice, NotAsked, Posed, Question, answer_key
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure

Block = tuple[slice, slice, slice]


def _ledger(annotation: str = "exact", **blocks: Block) -> Ledger:
    """Blocks of 1 mm voxels, later ones painted over earlier ones,
    so that masks exclude each other."""
    array = np.zeros((120, 80, 80), np.uint8)
    structures = []
    for value, (name, place) in enumerate(blocks.items(), start=1):
        array[place] = value
        structures.append(Structure(value, name, 0, value))
    return Ledger(
        LabelMap(Grid(array.shape, Affine(np.eye(4))), (array,), tuple(structures)),
        MaskedSeries(
            study_id="s", series="ct", labels_hash="", annotation=annotation, side_basis="affine"
        ),
        recipe=load_recipe(),
        terms={name: term(name) for name in blocks},
    )


def _box(x: int, y: int, z: int, size: int) -> Block:
    return slice(x, x + size), slice(y, y + size), slice(z, z + size)


def _pose(ledger: Ledger, task: str, form: str, **parameters: str) -> Posed | NotAsked:
    return TASKS[task].pose(ledger, Question(task, form, parameters))


def test_no_distance_is_asked_of_a_lesion_that_the_scan_cuts() -> None:
    """On the lowest slice the lesion may go on, nearer to the spleen; 10 mm higher it is whole.

    It does not come to touch the spleen out there: the spleen is whole, and 20 mm from all faces of
    the scan.
    """
    asks = (
        ("distance", "yes_no", {"ask": "within", "mm": "20"}),
        ("distance", "number", {"ask": "gap"}),
    )
    for z, asked in ((0, NotAsked), (10, Posed)):
        ledger = _ledger(liver_lesion=_box(10, 30, z, 20), spleen=_box(55, 30, 30, 30))
        for task, form, parameters in asks:
            found = _pose(ledger, task, form, a="largest:liver_lesion", b="spleen", **parameters)
            assert isinstance(found, asked), (z, task, parameters)
        contact = _pose(ledger, "contact", "yes_no", a="largest:liver_lesion", b="spleen")
        assert isinstance(contact, Posed)
        assert contact.answer.value is False
    both = _ledger(liver_lesion=_box(10, 30, 0, 20), spleen=_box(55, 30, 0, 30))
    contact = _pose(both, "contact", "yes_no", a="largest:liver_lesion", b="spleen")
    assert isinstance(contact, NotAsked), "both go on below the scan, and may meet there"


def test_an_organ_is_measured_with_the_lesion_its_mask_leaves_out() -> None:
    """The tumour is painted over the kidney:
    only both together are the cube of 40 mm, and the question says so."""
    hollow = _ledger(kidney_left=_box(10, 20, 20, 40), kidney_lesion=_box(20, 30, 30, 20))
    found = _pose(hollow, "volume", "number", of="kidney_left")
    assert isinstance(found, Posed)
    assert found.text == "What is the volume of the left kidney including its lesions, in mL?"
    assert found.answer.value == 40**3 / 1000
    length = _pose(hollow, "extent", "number", of="kidney_left")
    assert isinstance(length, Posed)
    assert length.answer.value == 4.0
    lesion = _pose(hollow, "volume", "number", of="largest:kidney_lesion")
    assert isinstance(lesion, Posed)
    assert lesion.answer.value == 20**3 / 1000
    whole = _pose(_ledger(kidney_left=_box(10, 20, 20, 40)), "volume", "number", of="kidney_left")
    assert isinstance(whole, Posed)
    assert "lesions" not in whole.text


def test_a_lesion_that_sticks_out_belongs_to_the_organ_it_is_named_for() -> None:
    """A tumour of 20 mm on the kidney's surface:
    no organ holds it, but the kidney is measured with it."""
    ledger = _ledger(
        kidney_left=_box(10, 20, 20, 40),
        spleen=_box(80, 20, 20, 30),
        kidney_tumour=_box(50, 30, 30, 20),
    )
    assert ledger.fact("organ_of", "kidney_tumour").value is None
    found = _pose(ledger, "volume", "number", of="kidney_left")
    assert isinstance(found, Posed)
    assert found.answer.value == (40**3 + 20**3) / 1000
    spleen = _pose(ledger, "volume", "number", of="spleen")
    assert isinstance(spleen, Posed)
    assert spleen.answer.value == 30**3 / 1000


def test_no_distance_to_the_organ_around_the_lesion() -> None:
    ledger = _ledger(
        kidney_left=_box(10, 20, 20, 40),
        kidney_right=_box(75, 20, 20, 40),
        kidney_lesion=_box(20, 30, 30, 20),
    )
    for organ in ("kidney_left", "kidney_right"):
        found = _pose(
            ledger, "distance", "yes_no", ask="within", a="largest:kidney_lesion", b=organ, mm="50"
        )
        assert isinstance(found, NotAsked), "the lesion's own name tells that it lies in a kidney"


def test_left_against_right_when_one_is_cut() -> None:
    """What is seen of the cut kidney may already be the larger,
    the smaller, or too near to tell."""

    def answer(cut: int, whole: int) -> str | None:
        ledger = _ledger(kidney_left=_box(5, 20, 0, cut), kidney_right=_box(65, 20, 20, whole))
        found = _pose(
            ledger,
            "comparison",
            "choice",
            ask="left_right",
            left="kidney_left",
            right="kidney_right",
            **{"or": "cut"},
        )
        return (
            found.answer.value
            if isinstance(found, Posed) and isinstance(found.answer, Choice)
            else None
        )

    assert answer(cut=50, whole=30) == "left", (
        "a lower bound that already exceeds the other is enough"
    )
    assert answer(cut=30, whole=50) == "cut", "it may or may not reach the other beyond the scan"
    assert answer(cut=40, whole=40) is None, "seen as equal: neither answer is safe"


def test_a_count_is_balanced_like_a_choice() -> None:
    ledger = _ledger(liver_lesion_1=_box(10, 30, 30, 20), liver_lesion_2=_box(60, 30, 30, 15))
    found = _pose(ledger, "count", "number", of="liver_lesion")
    assert isinstance(found, Posed)
    item = found.item(Question("count", "number", {"of": "liver_lesion"}), ledger, "p")
    assert answer_key(item.answer) == "2"


def test_nobody_asks_how_a_lesion_lies_to_its_own_organ() -> None:
    """It bulges out of the kidney, so that no organ clearly holds it;
    its name still says whose it is."""
    ledger = _ledger(
        kidney_left=_box(10, 20, 20, 30),
        kidney_right=_box(80, 20, 20, 30),
        kidney_tumour=_box(30, 20, 45, 20),
    )
    assert ledger.fact("organ_of", "kidney_tumour").value is None
    for kidney in ("kidney_left", "kidney_right"):
        about = {"a": "largest:kidney_tumour", "b": kidney}
        for task, form, parameters in (
            ("contact", "yes_no", about),
            ("distance", "yes_no", {"ask": "within", "mm": "20", **about}),
            ("direction", "yes_no", {"claim": "superior", **about}),
        ):
            assert _pose(ledger, task, form, **parameters) == NotAsked(
                "it is the lesion's own organ, or its partner"
            )


def test_that_lesions_count_is_said_once() -> None:
    ledger = _ledger(
        kidney_left=_box(10, 20, 20, 40),
        kidney_right=_box(70, 20, 20, 20),
        kidney_tumour=_box(20, 30, 30, 20),
    )
    found = _pose(ledger, "extent", "choice", a="kidney_left", b="kidney_right", which="longer")
    assert isinstance(found, Posed)
    remark = ", including their lesions"
    assert (
        found.text
        == f"Which is longer from top to bottom: the left kidney or the right kidney{remark}?"
    )
    assert [option.text for option in found.pool] == ["the left kidney", "the right kidney"]


def test_no_distance_is_asked_of_a_small_lesion_with_a_stray_voxel() -> None:
    """Of 64 voxels one is more than an island; it lies 3 mm from the spleen, the lesion 37 mm."""
    array = np.zeros((120, 80, 80), np.uint8)
    array[_box(10, 30, 30, 4)], array[_box(51, 20, 20, 30)] = 1, 2
    names = ("liver_lesion_1", "spleen")
    structures = tuple(Structure(n, name, 0, n) for n, name in enumerate(names, 1))
    pair = {"a": "largest:liver_lesion", "b": "spleen"}
    for asked in (Posed, NotAsked):
        labels = LabelMap(Grid(array.shape, Affine(np.eye(4))), (array.copy(),), structures)
        series = MaskedSeries(
            study_id="s", series="ct", labels_hash="", annotation="exact", side_basis="affine"
        )
        ledger = Ledger(
            labels, series, recipe=load_recipe(), terms={name: term(name) for name in names}
        )
        assert isinstance(_pose(ledger, "distance", "number", ask="gap", **pair), asked)
        within = _pose(ledger, "distance", "yes_no", ask="within", mm="20", **pair)
        assert isinstance(within, asked)
        array[47, 30, 30] = 1
