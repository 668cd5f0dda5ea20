"""Facts about boxes: negatives, sides, compartments, and images that are not the annotated ones."""

from __future__ import annotations

import numpy as np
import pytest

from frame_make import FRAMES, HEIGHT, WIDTH, picture
from situs.bench import find_middle
from situs.errors import SitusError
from situs.facts import ANY, BoxLedger, load_recipe
from situs.facts.boxes.ledger import _side_of, clipped
from situs.measure import head_midline
from situs.space import FrameBox, PixelGrid
from situs.volumes import FrameAnnotation, KneeSide, Mark

RECIPE = load_recipe()
KINDS = ("mass", "edema", "craniotomy", "white_matter_lesion", "lacunar_infarct")


def box(label: str, frame: int, x: float = 10.0, width: float = 8.0) -> FrameBox:
    return FrameBox(frame, x, 20.0, x + width, 30.0, label)


def ledger(
    *boxes: FrameBox, labels=(), grid=None, organ="brain", reviewed=True, unusable=(), **given
) -> BoxLedger:
    annotation = FrameAnnotation("v", organ, boxes, labels, reviewed, unusable=unusable)
    grid = grid or PixelGrid(FRAMES, WIDTH, HEIGHT)
    return BoxLedger(
        annotation, study_id="s", series="mr", recipe=RECIPE, grid=grid, kinds=KINDS, **given
    )


def test_negatives_lie_two_slices_from_the_label_and_its_like() -> None:
    """Oedema and a mass are mistaken for each other; a craniotomy is neither."""
    own = ledger(box("mass", 6), box("edema", 9), box("craniotomy", 1))
    assert [f for f in range(FRAMES) if own.is_negative("mass", f)] == [0, 1, 2, 3, 4, 11, 12, 13]
    assert [f for f in range(FRAMES) if own.is_negative("craniotomy", f)] == list(range(3, FRAMES))
    assert [f for f in range(FRAMES) if own.is_negative(ANY, f)] == [3, 4, 11, 12, 13]


def test_what_cannot_be_used_is_no_proof_of_absence() -> None:
    """Neither a row left out by the reader of files
    nor a box that lies wholly beside the picture."""
    lost = ledger(box("mass", 1), unusable=(Mark(6, "edema"),))
    beside = ledger(box("mass", 1), box("edema", 6, x=WIDTH + 1.0))
    for own in (lost, beside):
        assert [f for f in range(FRAMES) if own.is_negative("mass", f)] == [3, 4, *range(8, FRAMES)]
        assert own.is_uncertain("mass")
        assert own.is_uncertain("edema", 6)
        assert not own.is_uncertain("edema", 5)
        assert not own.is_uncertain("craniotomy")
    for mark in (Mark(-1, "edema"), Mark(-1, "")):
        assert not any(
            ledger(box("mass", 1), unusable=(mark,)).is_negative("mass", f) for f in range(FRAMES)
        )
    assert not ledger(unusable=(Mark(6, "edema"),)).fact("read_as_normal").value


def test_what_was_never_annotated_has_no_negatives() -> None:
    assert not any(ledger(box("craniotomy", 1)).is_negative("mass", f) for f in range(FRAMES))


def test_a_study_label_may_be_the_finding_anywhere() -> None:
    own = ledger(box("white_matter_lesion", 6), labels=("small_vessel_change",))
    assert not any(own.is_negative("white_matter_lesion", f) for f in range(FRAMES))


def test_every_slice_of_a_normal_volume_is_a_negative_if_it_is_known_to_exist() -> None:
    assert all(ledger(labels=("normal_for_age",)).is_negative("mass", f) for f in range(FRAMES))
    blind = ledger(labels=("normal_for_age",), grid=PixelGrid(0))
    assert not any(blind.is_negative("mass", f) for f in range(FRAMES))


def test_without_images_frames_are_known_up_to_the_last_annotated_one() -> None:
    assert ledger(box("mass", 6), grid=PixelGrid(0)).known_frames == 7
    assert ledger(grid=PixelGrid(0)).known_frames == 0


@pytest.mark.parametrize("centre", [48.0, 44.5, 51.0])
def test_the_midline_is_the_middle_of_the_head(centre: float) -> None:
    found = head_midline(picture([(5, 20, 20, 9, 9, "x")], centre))
    assert found is not None
    assert found[0] == pytest.approx(centre, abs=0.5)


def test_there_is_no_midline_in_darkness() -> None:
    assert head_midline(np.zeros((3, 40, 40))) is None


@pytest.mark.parametrize(
    ("x", "width", "side", "stable"),
    [
        (10.0, 20.0, "left", True),
        (60.0, 20.0, "right", True),
        (38.0, 20.0, "both", True),
        (38.0, 10.9, "left", False),
    ],
)
def test_sides_are_those_of_the_image(x: float, width: float, side: str, stable: bool) -> None:
    """The midline is at 48 ± 1 %; a box with 90 % of its width on one side is on that side."""
    middle = find_middle(picture([]), "brain", "h", RECIPE.boxes)
    assert middle is not None
    fact = ledger(box("mass", 4, x, width), middle=middle).fact("image_side", "mass", "4")
    assert ("unstable" not in fact.flags) is stable
    if stable:
        assert fact.value == side


def test_boxes_on_either_side_are_on_both() -> None:
    middle = find_middle(picture([]), "brain", "h", RECIPE.boxes)
    own = ledger(box("mass", 4, 10.0), box("mass", 5, 70.0), middle=middle)
    assert own.fact("image_side", "mass").value == "both"
    assert own.fact("image_side", "mass", "4").value == "left"


def test_compartments_need_the_table() -> None:
    with pytest.raises(KeyError):
        ledger(box("mass", 4)).fact("compartment", "mass")
    own = ledger(box("mass", 4, 10.0), side=KneeSide("left"))
    assert (own.fact("compartment", "mass").value, own.fact("compartment", "mass").flags) == (
        "medial",
        (),
    )
    assert (
        ledger(box("mass", 4, 10.0), side=KneeSide("right")).fact("compartment", "mass").value
        == "lateral"
    )
    near = ledger(box("mass", 4, 10.0), side=KneeSide("left", midline_x=20.0))
    assert near.fact("compartment", "mass").flags == ("unstable",)


def test_the_compartment_is_that_of_the_middle_of_all_boxes() -> None:
    """In pictures 100 pixels wide: centres at 14 and 64 lie at 39 together, at 34 and 84 at 59."""
    grid = PixelGrid(FRAMES, 100, 100)
    for first, second, side in ((10.0, 60.0, "medial"), (30.0, 80.0, "lateral")):
        own = ledger(
            box("mass", 4, first), box("mass", 5, second), grid=grid, side=KneeSide("left")
        )
        assert own.fact("compartment", "mass").value == side
        assert own.fact("compartment", "mass").flags == ("unstable",)


@pytest.mark.parametrize(
    ("x", "flags"), [(37.0, ()), (37.5, ("unstable",)), (55.0, ()), (54.5, ("unstable",))]
)
def test_a_box_may_end_where_the_band_begins(x: float, flags: tuple[str, ...]) -> None:
    """The band reaches from 45 to 55 of 100 pixels; the box is 8 wide."""
    assert RECIPE.boxes.compartment_band == 0.05
    grid = PixelGrid(FRAMES, 100, 100)
    own = ledger(box("mass", 4, x), grid=grid, side=KneeSide("left"))
    assert own.fact("compartment", "mass").flags == flags


def test_nine_tenths_of_a_box_are_enough_on_either_side() -> None:
    """A box from 1 to 11: 9 of its 10 pixels lie left of 10, and right of 2."""
    own = (FrameBox(0, 1.0, 0.0, 11.0, 5.0, "mass"),)
    sides = [_side_of(own, middle, 0.9) for middle in (12.0, 10.0, 9.9, 2.1, 2.0, 0.0)]
    assert sides == ["left", "left", "both", "both", "right", "right"]


def test_an_annotation_without_a_frame_makes_every_frame_uncertain() -> None:
    everywhere, there = Mark(-1, "mass"), Mark(2, "mass")
    assert ledger(unusable=(everywhere,)).is_uncertain("mass", 3)
    assert ledger(unusable=(there,)).is_uncertain("mass", 2)
    assert not ledger(unusable=(there,)).is_uncertain("mass", 3)
    assert ledger(unusable=(there,)).is_uncertain("mass")


@pytest.mark.parametrize(("x", "y"), [(WIDTH, 5.0), (5.0, HEIGHT), (WIDTH - 1.0, HEIGHT - 1.0)])
def test_a_box_outside_the_picture_cannot_be_used(x: float, y: float) -> None:
    own = ledger(FrameBox(3, x, y, x + 4.0, y + 4.0, "mass"))
    assert own.is_uncertain("mass", 3) is (x == WIDTH or y == HEIGHT)


def test_frames_count_from_nought() -> None:
    own = ledger(box("mass", 0))
    assert own.fact("box_count", "mass", "0").value == 1
    assert own.fact("box_count", "mass", str(FRAMES - 1)).value == 0
    for frame in (str(FRAMES), "-1"):
        with pytest.raises(KeyError):
            own.fact("box_count", "mass", frame)


def test_the_band_of_pictures_whose_width_is_unknown() -> None:
    """Twice the way to the middle stands for the width:
    a band of so great a part of 200 pixels on either side."""
    band = RECIPE.boxes.compartment_band * 200.0
    for gap, flags in ((band + 0.5, ()), (band - 0.5, ("unstable",))):
        own = ledger(
            box("mass", 4, 100.0 - gap - 8.0),
            grid=PixelGrid(FRAMES),
            side=KneeSide("left", midline_x=100.0),
        )
        assert own.fact("compartment", "mass").flags == flags


def test_boxes_at_the_edge_of_a_picture() -> None:
    """One that ends with the picture is whole,
    one beyond it is cut there, one that begins at its end is left out."""
    grid = PixelGrid(FRAMES, WIDTH, HEIGHT)
    whole = FrameBox(3, WIDTH - 9.0, HEIGHT - 9.0, WIDTH, HEIGHT, "mass")
    over = FrameBox(3, WIDTH - 9.0, HEIGHT - 9.0, WIDTH + 2.0, HEIGHT + 2.0, "mass")
    beside = FrameBox(3, WIDTH, 5.0, WIDTH + 4.0, 9.0, "mass")
    below = FrameBox(3, 5.0, HEIGHT, 9.0, HEIGHT + 4.0, "mass")
    annotation = FrameAnnotation("v", "brain", (whole, over, beside, below), (), True)
    kept, problems = clipped(annotation, grid)
    assert kept == (whole, whole)
    assert [b for b in annotation.boxes if b in problems] == [over, beside, below]
    assert ["cut at the edge" in problems[b].fix for b in (over, beside, below)] == [
        True,
        False,
        False,
    ]


def test_overlapping_boxes_of_a_frame_count_once() -> None:
    """Three boxes of 80 px² that cover 90 px² together are less than one of 120 px²."""
    heap = [box("mass", 3), box("mass", 3, x=10.5), box("mass", 3, x=11.0)]
    found = ledger(*heap, box("mass", 5, width=12.0)).fact("largest_frame", "mass")
    assert (found.value, found.flags) == (5, ())


def test_the_largest_frame_must_stand_out() -> None:
    clear = ledger(box("mass", 3), box("mass", 4, width=12.0)).fact("largest_frame", "mass")
    assert (clear.value, clear.flags) == (4, ())
    assert ledger(box("mass", 3), box("mass", 4, width=8.5)).fact(
        "largest_frame", "mass"
    ).flags == ("unstable",)
    # A tenth less, which the recipe asks for, is enough.
    tenth = ledger(box("mass", 3, width=9.0), box("mass", 4, width=10.0))
    assert tenth.fact("largest_frame", "mass").flags == ()


def test_no_frame_is_largest_where_the_largest_box_is_on_another() -> None:
    """Two boxes of 80 px² cover more than one of 110 px²: "a box around it" may mean either."""
    two = [box("mass", 3), box("mass", 3, x=40.0)]
    assert ledger(*two, box("mass", 5, width=11.0)).fact("largest_frame", "mass").flags == (
        "unstable",
    )
    for width in (7.0, 8.0):
        same = ledger(*two, box("mass", 5, width=width))
        assert same.fact("largest_frame", "mass").flags == ()


def test_boxes_beyond_the_image_are_cut_or_left_out() -> None:
    own = ledger(box("mass", 3, 90.0, 20.0), box("mass", 4, 200.0))
    assert own.boxes == (FrameBox(3, 90.0, 20.0, 96.0, 30.0, "mass"),)
    assert [problem.code for problem in own.problems.values()] == ["outside", "outside"]


def test_an_image_with_too_few_frames_is_named() -> None:
    with pytest.raises(SitusError, match="box on frame 14, but the image has 14 frames"):
        ledger(box("mass", FRAMES))
