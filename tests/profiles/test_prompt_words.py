"""The words around a question follow from what is shown and how the model shall answer."""

from __future__ import annotations

import numpy as np
import pytest
from _made import profile

from situs.items import Boxes, Choices, Compound, Frames, Grades, Item, Number, Option, Text, YesNo
from situs.profiles import layout_of, load_profile, prompt_text, shipped_profiles
from situs.profiles.prompt import intro_text
from situs.space import Affine, FrameBox, Grid, PixelGrid

pytestmark = pytest.mark.sampled

GRID = Grid((40, 50, 30), Affine(np.diag([2.0, 2.0, 3.0, 1.0])))
BOX = FrameBox(3, 1.0, 2.0, 5.0, 9.0)
ANSWERS = {
    "yes_no": YesNo(True),
    "choices": Choices(("a",)),
    "number": Number(3.0, "cm"),
    "boxes": Boxes((BOX,)),
    "frames": Frames((3, 4)),
    "grades": Grades({"cartilage": 2, "effusion": 1}),
    "text": Text(("left",)),
    "compound": Compound({"box": Boxes((BOX,)), "grades": Grades({"effusion": 1})}),
}


def asked(form: str) -> Item:
    options = (Option("a", "the liver"), Option("b", "the spleen")) if form == "choices" else ()
    return Item("i", "s", "ct", "p", "t", form, "What is it?", ANSWERS[form], options=options)


def words(form: str, **tables) -> str:
    made = profile(**tables)
    return prompt_text(asked(form), made, layout_of(made, GRID), "ct")


@pytest.mark.parametrize("form", ANSWERS)
@pytest.mark.parametrize("name", sorted(shipped_profiles()))
def test_every_profile_has_words_for_every_answer(form, name):
    made = load_profile(name)
    text = prompt_text(asked(form), made, layout_of(made, GRID), "ct")
    assert "What is it?" in text
    assert len(text.split("What is it?")[1]) > 10
    assert "{" not in text.replace('{"', "")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({}, ["from 1 to 30", "in pixels", "40 wide and 50 high", "x_min, y_min, x_max, y_max"]),
        ({"frame_base": 0}, ["from 0 to 29"]),
        ({"box_scale": "unit"}, ["from 0 to 1"]),
        ({"box_scale": "thousand"}, ["0 to 1000"]),
        ({"box_order": "xywh"}, ["x_min, y_min, width, height"]),
        ({"box_form": "volume"}, ["[start_slice, end_slice, x_min, x_max, y_min, y_max]"]),
    ],
)
def test_boxes_are_asked_for_as_they_are_read(answer, said):
    text = words("boxes", answer=answer)
    assert all(part in text for part in said)


def test_parts_of_an_answer_are_named():
    text = words("compound")
    assert "box, grades" in text
    assert "effusion" in text
    assert "x_min" in text


def test_numbers_name_their_unit_and_counts_have_none():
    assert "in cm." in words("number")
    item = Item("i", "s", "ct", "p", "t", "number", "How many?", Number(3.0, ""))
    made = profile()
    assert prompt_text(item, made, layout_of(made, GRID), "ct").endswith("Answer with one number.")


@pytest.mark.parametrize(
    ("view", "said", "unsaid"),
    [
        (
            {"size_px": 100},
            [
                "30 axial CT slices",
                "from the feet to the head",
                "patient's right",
                "1.00 mm",
                "3.0 mm apart",
            ],
            [],
        ),
        ({"order": "descending"}, ["from the head to the feet"], []),
        ({"display": "neurological"}, ["patient's left is on the left"], ["patient's right"]),
        ({"slices": 1}, ["1 axial CT slice of", "2.00 mm."], ["apart", "order", "slices"]),
        (
            {"plane": "coronal"},
            ["from the back to the front", "2.00 mm wide and 3.00 mm high", "2.0 mm apart"],
            [],
        ),
        (
            {"plane": "sagittal"},
            ["patient's left to the patient's right", "front is on the left"],
            [],
        ),
        (
            {"kind": "three_views"},
            ["one axial, one coronal and one sagittal CT slice of"],
            ["apart"],
        ),
        (
            {"slices": 4, "montage": {"columns": 2, "rows": 2}},
            ["on one sheet", "each slice", "29.0 mm apart"],
            [],
        ),
        ({"slices": 4, "fps": 4.0}, ["a video of 4 axial CT slices (4 frames per second)"], []),
    ],
)
def test_the_intro_says_what_is_shown(view, said, unsaid):
    made = profile(view=view)
    text = intro_text(made, layout_of(made, GRID), "ct")
    assert all(part in text for part in said), text
    assert not any(part in text for part in unsaid), text
    assert "  " not in text


def test_nothing_is_said_of_sides_where_there_are_no_millimetres():
    made = load_profile("default")
    text = intro_text(made, layout_of(made, PixelGrid(28, 320, 320)), "mr")
    assert text == "You see 28 MR slices of one patient, in order from the first frame to the last."


@pytest.mark.parametrize("form", ["frames", "boxes"])
def test_a_number_of_frames_that_only_the_answer_knows_is_not_told(form):
    """The bench does not know how many frames there are: two answers, one prompt."""
    made = load_profile("sgmri-frames")
    texts = set()
    for last in (5, 31):
        answer = (
            Frames((3, last)) if form == "frames" else Boxes((FrameBox(last, 1.0, 2.0, 5.0, 9.0),))
        )
        item = Item("i", "s", "mr", "p", "t", form, "Where is it?", answer)
        layout = layout_of(made, PixelGrid(0), item)
        assert layout.shown_frames([last]) == [last]
        texts.add(prompt_text(item, made, layout, "mr"))
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("default", "The question is about picture 9, counting from 1."),
        ("montage", "The question is about slice 9 in reading order, counting from 1."),
        ("sgmri-frames", ""),  # shows that slice alone
    ],
)
def test_this_slice_is_named_where_others_are_shown_beside_it(name, said):
    made = load_profile(name)
    item = Item(
        *("i", "s", "mr", "p", "t", "yes_no", "Is it on this slice?", YesNo(True)),
        level="slice",
        frames=(8,),
    )
    layout = layout_of(made, PixelGrid(20, 64, 64), item)
    text = prompt_text(item, made, layout, "mr")
    assert ("The question is about" in text) == bool(said)
    assert said in text
    assert said not in prompt_text(item, made, layout, "mr", names_slice=False) or not said
