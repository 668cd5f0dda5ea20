"""When a question is asked, of patients made of blocks: every refusal has its reason."""

from __future__ import annotations

import math

import pytest
from _blocks import block_ledger

from situs.facts import Ledger, span
from situs.items import TASKS, Choice, NotAsked, Number, Posed, Question, YesNo
from situs.items.subjects import subjects

SHAPE = (120, 60, 60)
SPINE = {
    "vertebrae_L1": ((56, 20, 40), (65, 30, 50)),
    "vertebrae_L3": ((56, 20, 10), (65, 30, 20)),
}


def pose(ledger: Ledger, task: str, form: str, **parameters: str) -> Posed | NotAsked:
    return TASKS[task].pose(ledger, Question(task, form, parameters))


def pair(step: tuple[int, int, int], basis: str = "affine", edge: int = 5) -> Ledger:
    """Two cubes of 6 mm, the liver so many mm from the spleen."""
    lo = (10, 10, 10) if edge else (0, 10, 10)
    moved = tuple(a + b for a, b in zip(lo, step))
    cube = {n: (at, tuple(v + 6 for v in at)) for n, at in (("spleen", lo), ("liver", moved))}
    return block_ledger(SHAPE, basis=basis, **cube)


@pytest.mark.parametrize(
    ("claim", "answer"), [("right", True), ("left", False), ("anterior", None), ("superior", None)]
)
def test_a_direction_is_asked_only_where_it_holds(claim, answer):
    """40 mm to the right, level with the other on both other axes."""
    found = pose(pair((40, 0, 0)), "direction", "yes_no", a="liver", b="spleen", claim=claim)
    if answer is None:
        assert found == NotAsked("direction too close to call")
        return
    assert found.answer == YesNo(answer)
    assert (
        found.text
        == f"Is the liver to the {claim} of the spleen, from the patient's point of view?"
    )


@pytest.mark.parametrize(
    ("claim", "words"), [("superior", "above"), ("inferior", "below"), ("anterior", "in front of")]
)
def test_questions_read_as_a_colleague_would_ask(claim, words):
    step = {"anterior": (0, 40, 0)}.get(claim, (0, 0, 40))
    found = pose(pair(step), "direction", "yes_no", a="liver", b="spleen", claim=claim)
    assert found.text == f"Is the liver {words} the spleen?"
    assert found.answer == YesNo(claim != "inferior")


@pytest.mark.parametrize("across", [0, 10, 14, 16, 25, 40])
def test_a_four_way_direction_needs_one_axis_to_dominate(across):
    """Within 30° of the axis after a turn of 10°: an angle of at most 20°, a slope of 0.364."""
    found = pose(
        pair((40, across, 0)),
        "direction",
        "choice",
        a="liver",
        b="spleen",
        plane="left_right+anterior_posterior",
    )
    if math.degrees(math.atan2(across, 40)) + 10.0 <= 30.0:
        assert found.answer == Choice("right")
        assert {option.value for option in found.pool} == {"left", "right", "anterior", "posterior"}
    else:
        assert found == NotAsked("no single axis dominates")


def test_directions_of_cut_enveloped_or_unoriented_structures_are_not_asked():
    asked = {"a": "liver", "b": "spleen", "claim": "right"}
    cut = pose(pair((40, 0, 0), edge=0), "direction", "yes_no", **asked)
    assert cut == NotAsked("structure cut off by the scan")
    unknown = pose(pair((40, 0, 0), basis="undeclared"), "direction", "yes_no", **asked)
    assert isinstance(unknown, NotAsked)
    assert "orientation" in unknown.reason
    around = block_ledger(
        SHAPE, spleen=((2, 2, 2), (100, 50, 50)), liver=((90, 10, 10), (95, 15, 15))
    )
    assert pose(around, "direction", "yes_no", **asked) == NotAsked(
        "one structure envelops the other"
    )


@pytest.mark.parametrize("size", [20, 21, 23, 26, 30])
def test_volumes_are_compared_only_if_their_intervals_do_not_overlap(size):
    """Cubes of 20 mm against larger ones; each face may be off by half a voxel: n³ ± 3 n²."""
    ledger = block_ledger(
        SHAPE, spleen=((2, 2, 2), (22, 22, 22)), liver=((40, 2, 2), (40 + size, 2 + size, 2 + size))
    )
    found = pose(
        ledger, "comparison", "choice", ask="larger", a="liver", b="spleen", which="larger"
    )
    if size**3 - 3 * size**2 > 20**3 + 3 * 20**2:
        assert found.answer == Choice("liver")
        smaller = pose(
            ledger, "comparison", "choice", ask="larger", a="liver", b="spleen", which="smaller"
        )
        assert smaller.answer == Choice("spleen")
    else:
        assert found == NotAsked("volumes too close to call")


@pytest.mark.parametrize(("cut_is_larger", "asked"), [(True, True), (False, False)])
def test_a_cut_structure_may_only_be_the_larger(cut_is_larger, asked):
    """What is seen of it is a lower bound."""
    size = 30 if cut_is_larger else 10
    ledger = block_ledger(
        SHAPE, spleen=((60, 2, 2), (80, 22, 22)), liver=((0, 2, 2), (size, 2 + size, 2 + size))
    )
    found = pose(
        ledger, "comparison", "choice", ask="larger", a="liver", b="spleen", which="larger"
    )
    assert (
        (found.answer == Choice("liver"))
        if asked
        else (found == NotAsked("structure cut off by the scan"))
    )


def test_three_in_order():
    blocks = {
        n: ((2 + 40 * k, 2, 2), (2 + 40 * k + s, 2 + s, 2 + s))
        for k, (n, s) in enumerate([("spleen", 20), ("liver", 35), ("pancreas", 10)])
    }
    found = pose(
        block_ledger(SHAPE, **blocks),
        "comparison",
        "choice",
        ask="rank",
        of="liver+pancreas+spleen",
    )
    assert found.answer == Choice("liver>spleen>pancreas")
    assert len(found.pool) == math.factorial(3)
    said = " ".join(step.text for step in found.steps if step.kind == "compare")
    assert "The liver" in said
    assert "The spleen" in said


@pytest.mark.parametrize(
    ("left", "right", "answer"), [(30, 20, "left"), (20, 30, "right"), (20, 20, None)]
)
def test_left_against_right(left, right, answer):
    ledger = block_ledger(
        SHAPE,
        kidney_left=((5, 5, 5), (5 + left, 5 + left, 5 + left)),
        kidney_right=((60, 5, 5), (60 + right, 5 + right, 5 + right)),
    )
    asked = {"ask": "left_right", "left": "kidney_left", "right": "kidney_right"}
    found = pose(ledger, "comparison", "choice", **asked)
    if answer is None:
        assert found == NotAsked("volumes too close to call")
        return
    assert found.answer == Choice(answer)
    assert found.text == "Which kidney is larger by volume?"
    assert {o.value for o in found.pool} == {"left", "right"}
    offered = pose(ledger, "comparison", "choice", **asked, **{"or": "cut"})
    assert (offered.answer, {o.value for o in offered.pool}) == (
        found.answer,
        {"left", "right", "cut"},
    )


@pytest.mark.parametrize(("seen", "answer"), [(10, "cut"), (40, "left")])
def test_left_against_right_when_one_is_cut(seen, answer):
    """A cut kidney of which more is seen than the whole other one is larger;
    else it cannot be told."""
    ledger = block_ledger(
        SHAPE,
        kidney_left=((0, 5, 5), (seen, 5 + seen, 5 + seen)),
        kidney_right=((60, 5, 5), (80, 25, 25)),
    )
    asked = {"ask": "left_right", "left": "kidney_left", "right": "kidney_right", "or": "cut"}
    assert pose(ledger, "comparison", "choice", **asked).answer == Choice(answer)


@pytest.mark.parametrize(("centre", "answer"), [(90, "right"), (30, "left"), (60, None)])
def test_the_side_of_a_lesion(centre, answer):
    lesion = ((centre - 4, 20, 25), (centre + 5, 29, 34))
    found = pose(
        block_ledger(SHAPE, **SPINE, liver_lesion_1=lesion),
        "lesion_side",
        "choice",
        of="largest:liver_lesion",
    )
    if answer is None:
        assert found == NotAsked("lesion too near the midline")
        return
    assert found.answer == Choice(answer)
    assert found.text == "On which side of the patient is the largest liver lesion?"


def test_sides_that_cannot_be_told():
    lesion = {"liver_lesion_1": ((85, 20, 25), (94, 29, 34))}
    of = {"of": "largest:liver_lesion"}
    assert "midline" in pose(block_ledger(SHAPE, **lesion), "lesion_side", "choice", **of).reason
    unknown = block_ledger(SHAPE, basis="undeclared", **SPINE, **lesion)
    assert "orientation" in pose(unknown, "lesion_side", "choice", **of).reason
    cut = block_ledger(SHAPE, **SPINE, liver_lesion_1=((111, 20, 25), (120, 29, 34)))
    assert pose(cut, "lesion_side", "choice", **of) == NotAsked("structure cut off by the scan")
    alike = block_ledger(SHAPE, **SPINE, **lesion, liver_lesion_2=((100, 20, 25), (109, 29, 34)))
    assert "too alike" in pose(alike, "lesion_side", "choice", **of).reason


@pytest.mark.parametrize("size", [8, 11, 13, 30])
def test_a_volume_is_asked_only_if_known_well_enough(size):
    """A cube of n voxels is known to ± 3/n: a quarter at 12."""
    ledger = block_ledger(SHAPE, 1.0, spleen=((5, 5, 5), (5 + size, 5 + size, 5 + size)))
    found = pose(ledger, "volume", "number", of="spleen")
    if 3.0 / size > ledger.recipe.truth.volume_half_width:
        assert found == NotAsked("volume not known well enough")
        return
    assert isinstance(found.answer, Number)
    assert found.answer.value == pytest.approx(size**3 / 1000.0)
    assert found.answer.interval == pytest.approx(span(ledger.fact("volume", "spleen")))
    assert found.text == "What is the volume of the spleen, in mL?"


def test_a_cut_volume_is_not_asked():
    ledger = block_ledger(SHAPE, spleen=((0, 5, 5), (30, 35, 35)))
    assert pose(ledger, "volume", "number", of="spleen") == NotAsked(
        "structure cut off by the scan"
    )


@pytest.mark.parametrize(("edge", "asked"), [(59, True), (45, False)])
def test_what_is_seen_of_a_cut_structure_may_exceed_a_limit(edge, asked):
    """Of a spleen at the border 59³ mm³ are at least 195 mL, 45³ less than 95; it may be larger."""
    ledger = block_ledger((120, 70, 70), spleen=((0, 5, 5), (edge, 5 + edge, 5 + edge)))
    found = pose(ledger, "volume", "yes_no", ask="more_than", of="spleen", ml="120")
    in_range = pose(ledger, "volume", "choice", ask="range", of="spleen")
    assert in_range == NotAsked("structure cut off by the scan")
    if asked:
        assert found.answer == YesNo(True)
        assert "at least" in found.steps[1].text
    else:
        assert found == NotAsked("structure cut off by the scan")


def test_the_last_range_holds_a_cut_structure_that_is_larger_still():
    ledger = block_ledger((120, 90, 90), spleen=((0, 5, 5), (80, 85, 85)))
    assert pose(ledger, "volume", "choice", ask="range", of="spleen").answer == Choice("450-inf")


@pytest.mark.parametrize(
    ("limit", "answer"), [("8", YesNo(True)), ("12", NotAsked("structure cut off by the scan"))]
)
def test_what_is_seen_of_a_cut_length_may_exceed_a_limit(limit, answer):
    """110 mm are seen, and it goes on above; over 10° of tilt at least 100 are left."""
    ledger = block_ledger((60, 60, 120), spleen=((20, 20, 10), (40, 40, 120)))
    found = pose(ledger, "extent", "yes_no", ask="longer_than", of="spleen", cm=limit)
    assert (found if isinstance(found, NotAsked) else found.answer) == answer
    assert pose(ledger, "extent", "number", of="spleen") == NotAsked(
        "structure cut off by the scan"
    )


@pytest.mark.parametrize(
    ("spleen_z", "kidney_z", "answer"),
    [
        ((40, 90), (20, 80), Choice("kidney_left")),
        ((10, 60), (50, 100), Choice("spleen")),
        ((0, 60), (50, 100), Choice("spleen")),  # cut below: it reaches further down still
        ((10, 60), (0, 100), Choice("kidney_left")),
        ((0, 60), (0, 100), "tilt"),
        ((40, 90), (38, 90), "tilt"),  # 2 mm apart, and 30 mm beside each other: 10° are 5 mm
    ],
)
def test_which_reaches_further_down(spleen_z, kidney_z, answer):
    """The one that does may be cut there; the other must show its end."""
    ledger = block_ledger(
        (60, 60, 120),
        spleen=((10, 30, spleen_z[0]), (30, 50, spleen_z[1])),
        kidney_left=((40, 30, kidney_z[0]), (58, 50, kidney_z[1])),
    )
    found = pose(ledger, "reach", "choice", a="spleen", b="kidney_left", end="bottom")
    if isinstance(answer, str):
        assert answer in found.reason
        return
    assert found.answer == answer
    assert found.text == "Which reaches further down: the spleen or the left kidney?"


def test_which_reaches_further_is_a_control_where_nearly_every_patient_is_alike():
    """The vena cava begins below the aorta's end; spleens differ more."""
    names = ("aorta", "inferior_vena_cava", "spleen", "kidney_left")
    ledger = block_ledger(SHAPE, **dict.fromkeys(names, ((9, 9, 9), (20, 20, 20))))
    asked = TASKS["reach"].questions(ledger, subjects(ledger))
    controls = {(q.parameters["a"], q.parameters["end"]): q.textbook for q in asked}
    assert controls == {("aorta", "bottom"): True, ("spleen", "bottom"): False}


def test_one_whose_end_may_lie_beyond_the_scan_is_not_said_to_reach_less_far():
    """The spleen leaves the scan to the side at its full section."""
    blocks = {"spleen": ((0, 30, 40), (30, 50, 90)), "kidney_left": ((40, 30, 10), (58, 50, 80))}
    ledger = block_ledger((60, 60, 120), **blocks)
    assert pose(ledger, "reach", "choice", a="spleen", b="kidney_left", end="bottom") == NotAsked(
        "structure cut off by the scan"
    )


@pytest.mark.parametrize("task", ["direction", "volume", "lesion_side"])
def test_a_missing_structure_is_a_key_error(task):
    parameters = {
        "a": "liver",
        "b": "spleen",
        "of": "largest:liver_lesion" if task == "lesion_side" else "liver",
    }
    with pytest.raises(KeyError):
        pose(
            block_ledger(SHAPE, spleen=((5, 5, 5), (9, 9, 9))),
            task,
            "choice",
            **parameters,
            claim="left",
        )
