"""What survives a profile: widths in shown pixels and contrast in the shown window,
on bodies of known size."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from _made import oblique_grid, profile

from situs.bench import SeriesRecord
from situs.items import Boxes, Frames, Item, YesNo, mark_label
from situs.profiles import Renderer, layout_of, load_profile
from situs.profiles.sight.hidden import judge_item
from situs.profiles.sight.structures import Sight
from situs.profiles.sight.visibility import contrast, load_thresholds, width_px
from situs.space import Affine, FrameBox, Grid, IndexBox, WorldBox
from situs.volumes import LabelMap, Structure


def disc(diameter: int) -> np.ndarray:
    """Of an odd number of pixels."""
    y, x = np.indices((41, 41)) - 20
    return x**2 + y**2 <= (diameter / 2) ** 2


def test_thresholds_are_those_of_the_definitions():
    limits = load_thresholds()
    assert (limits.width_px, limits.slices) == (4, 2)
    assert limits.contrast > 0


@pytest.mark.parametrize(
    ("rows", "columns", "width"), [(4, 4, 4), (3, 30, 3), (30, 3, 3), (1, 1, 1), (9, 12, 9)]
)
def test_the_width_of_a_rectangle_is_its_shorter_side(rows, columns, width):
    mask = np.zeros((41, 41), bool)
    mask[5 : 5 + rows, 7 : 7 + columns] = True
    assert width_px(mask) == width
    assert width_px(mask.T) == width


def test_the_width_of_other_shapes():
    assert width_px(np.zeros((5, 5), bool)) == 0
    assert width_px(disc(9)) == 9
    comb = np.zeros((20, 20), bool)
    comb[::2] = True
    assert width_px(comb) == 1, "lines of one pixel, however many"


def test_contrast_is_the_step_at_the_edge():
    mask = disc(15)
    picture = np.where(mask, 140, 100).astype(np.uint8)
    assert contrast(picture, mask, 3) == pytest.approx(40.0, abs=10.0)
    assert contrast(np.full((41, 41), 90, np.uint8), mask, 3) == 0.0
    half = np.where(mask, 120, np.where(np.arange(41) < 20, 60, 180)).astype(np.uint8)
    assert contrast(half, mask, 3) > 40, "darker on one side and lighter on the other is not alike"
    noise = np.random.default_rng(0).normal(120, 12, (41, 41)).clip(0, 255).astype(np.uint8)
    assert contrast(noise, mask, 3) < load_thresholds().contrast
    colours = np.stack(
        [np.full((41, 41), 90, np.uint8), picture, np.full((41, 41), 90, np.uint8)], axis=2
    )
    assert contrast(colours, mask, 3) == contrast(picture, mask, 3)


SHAPE = (60, 60, 40)
GRID = Grid(SHAPE, Affine(np.diag([1.0, 1.0, 2.0, 1.0])))
SERIES = SeriesRecord(
    "ct", "ct", "image", "labels", SHAPE, tuple(GRID.affine.matrix.ravel()), "affine", "exact", {}
)
WINDOW = {"any": {"low": 0.0, "high": 255.0}}


class Made:
    """A volume with cubes in it, as evidence."""

    def __init__(
        self, cubes: dict[str, tuple[IndexBox, int]], *, image: bool = True, masks: bool = True
    ) -> None:
        layer = np.zeros(SHAPE, np.uint8)
        array = np.full(SHAPE, 100, np.int16)
        structures = []
        for value, (name, (box, grey)) in enumerate(cubes.items(), start=1):
            place = tuple(slice(a, b) for a, b in zip(box.lo, box.hi))
            layer[place] = value
            array[place] = grey
            structures.append(Structure(value, name, 0, value))
        self._labels = LabelMap(GRID, (layer,), tuple(structures)) if masks else None
        self._array = array if image else None
        self._listed = {one.name: one.label for one in structures}

    def labels(self):
        return self._labels

    def _sight(self, layout, labels, made):
        return Sight(
            layout, labels, None if self._array is None else Renderer(made, self._array, GRID, "ct")
        )

    def judge(self, item: Item, made, series=SERIES):
        layout = layout_of(made, GRID, item)
        series = msgspec.structs.replace(series, structures=self._listed)
        outer = self

        class Evidence:
            def labels(self):
                return outer.labels()

            def views(self, layout, labels):
                return outer._sight(layout, labels, made).all_structures()

            def role(self, layout, labels, name, boxes):
                return outer._sight(layout, labels, made).role(name, boxes)

            def shares_outside(self, layout, labels):
                return outer._sight(layout, labels, made).shares_outside()

        return judge_item(item, made, series, layout, Evidence())


def asks(*needs: str, **fields) -> Item:
    item = Item("i", "s", "ct", "p", "direction", "yes_no", "Is it?", YesNo(True), needs=needs)
    return msgspec.structs.replace(item, **fields)


def cube(size: int, depth: int = 10) -> IndexBox:
    return IndexBox((20, 20, 10), (20 + size, 20 + size, 10 + depth))


@pytest.mark.parametrize(
    ("size", "size_px", "seen"),
    [(3, 60, False), (4, 60, True), (2, 120, True), (6, 30, False), (8, 30, True)],
)
def test_four_shown_pixels_are_needed(size, size_px, seen):
    """60 voxels shown on so many pixels: a voxel is size_px / 60 pixels."""
    verdict = Made({"liver": (cube(size), 200)}).judge(
        asks("sees:liver"), profile(view={"size_px": size_px})
    )
    assert (verdict.hidden == ()) is seen
    assert verdict.unknown == ()


@pytest.mark.parametrize(
    ("depth", "every", "seen"),
    [(1, 2.0, False), (2, 2.0, True), (6, 20.0, False), (30, 20.0, True)],
)
def test_two_shown_slices_are_needed(depth, every, seen):
    verdict = Made({"liver": (cube(12, depth), 200)}).judge(
        asks("sees:liver"), profile(view={"every_mm": every})
    )
    assert (verdict.hidden == ()) is seen


def test_the_items_slice_is_enough_for_a_slice_level_item():
    made = Made({"liver": (cube(12, 1), 200)})
    assert made.judge(asks("sees:liver", level="slice", frames=(10,)), profile()).hidden == ()
    assert made.judge(asks("sees:liver", level="slice", frames=(11,)), profile()).hidden
    assert made.judge(asks("sees:liver"), profile()).hidden


@pytest.mark.parametrize(("grey", "seen"), [(100, False), (104, False), (125, True), (75, True)])
def test_it_must_stand_out(grey, seen):
    verdict = Made({"liver": (cube(12), grey)}).judge(asks("sees:liver"), profile())
    assert (verdict.hidden == ()) is seen
    if not seen:
        assert "surroundings" in verdict.hidden[0]


def test_it_must_stand_out_in_the_shown_window():
    made = Made({"liver": (cube(12), 200)})
    assert made.judge(
        asks("sees:liver"), profile(window={"any": {"low": 0.0, "high": 90.0}})
    ).hidden
    either = {"any": ({"low": 0.0, "high": 90.0}, {"low": 50.0, "high": 250.0})}
    assert made.judge(asks("sees:liver"), profile(window=either)).hidden == ()


def test_a_lesion_is_found_by_its_role():
    """Two lesions in one mask; the item's box tells which: the small one is not seen."""
    large, small = cube(10), IndexBox((45, 45, 30), (47, 47, 32))
    made = Made({"liver_lesion": (large, 200), "liver_lesion_2": (small, 200)})
    for box, seen in ((large, True), (small, False)):
        world = msgspec.structs.replace(box.to_world(GRID.affine), label="largest:liver_lesion")
        verdict = made.judge(asks("sees:largest:liver_lesion", boxes=(world,)), profile())
        assert (verdict.hidden == ()) is seen
    unknown = made.judge(asks("sees:largest:kidney_lesion"), profile())
    assert unknown.hidden == ()
    assert unknown.unknown


def test_what_the_crop_cuts_is_not_seen_whole():
    made = Made({"liver": (IndexBox((10, 20, 10), (40, 40, 30)), 200)})
    cropped = profile(crop={"shape": (40, 0, 0)})
    assert made.judge(asks("sees:liver", task="volume"), profile()).hidden == ()
    (why,) = made.judge(
        asks("sees:liver", task="volume"), profile(crop={"shape": (20, 0, 0)})
    ).hidden
    assert "33%" in why, "20 to 40 of 10 to 40 is shown"
    assert (
        made.judge(asks("sees:liver", task="direction"), profile(crop={"shape": (20, 0, 0)})).hidden
        == ()
    )
    assert made.judge(asks("sees:liver", task="volume"), cropped).hidden == ()
    ranged = profile(view={"fraction_range": (0.0, 0.5)})
    assert "whole" in made.judge(asks("sees:liver", task="volume"), ranged).hidden[0]


def test_without_an_image_contrast_is_not_known():
    series = msgspec.structs.replace(SERIES, image_hash="")
    verdict = Made({"liver": (cube(12), 100)}, image=False).judge(
        asks("sees:liver"), profile(), series
    )
    assert verdict.hidden == ()
    assert any("contrast" in doubt for doubt in verdict.unknown)
    assert (
        Made({"liver": (cube(2), 100)}, image=False)
        .judge(asks("sees:liver"), profile(), series)
        .hidden
    )


def test_without_masks_boxes_decide_the_size():
    made = Made({}, masks=False)
    for size, seen in ((12, True), (2, False)):
        box = msgspec.structs.replace(cube(size).to_world(GRID.affine), label="liver")
        verdict = made.judge(asks("sees:liver", boxes=(box,)), profile())
        assert (verdict.hidden == ()) is seen
        assert verdict.unknown
    nothing = made.judge(asks("sees:liver"), profile())
    assert nothing.hidden == ()
    assert any("liver" in doubt for doubt in nothing.unknown)


def test_what_a_profile_does_not_give_hides():
    bare = profile(prompt={"intro": ""})
    assert Made({}).judge(asks("scale"), bare).hidden == ("needs scale",)
    given = load_profile("default")
    assert Made({}).judge(asks("scale"), given).hidden == ()
    stack = msgspec.structs.replace(SERIES, affine=(), shape=(40, 60, 60))
    assert "no millimetres" in Made({}).judge(asks("scale"), given, stack).hidden[0]


def test_marks_must_be_drawn_and_inside():
    point = (30.0, 30.0, 20.0)
    marked = asks(boxes=(WorldBox(point, point, mark_label("A")),))
    assert Made({}).judge(marked, profile()).hidden == ()
    assert Made({}).judge(marked, profile(draw={"marks": False})).hidden == (
        "its marks are not drawn",
    )
    far = (1.0, 1.0, 20.0)
    outside = asks(boxes=(WorldBox(far, far, mark_label("A")),))
    assert Made({}).judge(outside, profile(crop={"shape": (20, 20, 0)})).hidden == (
        "mark A lies outside the pictures",
    )


def test_what_is_asked_for_must_be_on_a_picture():
    box = cube(12).to_world(GRID.affine)
    located = asks(form="boxes", answer=Boxes((box,)))
    top = profile(view={"index_range": (30, 39)})
    assert Made({}).judge(located, profile()).hidden == ()
    assert "outside" in Made({}).judge(located, top).hidden[0]
    framed = asks(form="frames", answer=Frames((3, 4)))
    assert Made({}).judge(framed, profile()).hidden == ()
    assert "frames" in Made({}).judge(framed, top).hidden[0]
    assert (
        "frame 3"
        in Made({})
        .judge(asks(level="slice", frames=(3,)), profile(view={"plane": "coronal"}))
        .hidden[0]
    )
    assert (
        Made({})
        .judge(asks(form="boxes", answer=Boxes((FrameBox(3, 1, 1, 9, 9),))), profile())
        .hidden
        == ()
    )


def test_oblique_volumes_are_judged_alike():
    """The same cubes on a turned grid: nothing changes, for slices are those of the grid."""
    layer = np.zeros(SHAPE, np.uint8)
    layer[20:32, 20:32, 10:20] = 1
    array = np.where(layer, 200, 100).astype(np.int16)
    made = profile(view={"size_px": 60})
    for degrees in (0.0, 20.0):
        grid = oblique_grid(SHAPE, degrees)
        layout = layout_of(made, grid)
        labels = LabelMap(grid, (layer,), (Structure(1, "liver", 0, 1),))
        views = Sight(layout, labels, Renderer(made, array, grid, "ct")).all_structures()["liver"]
        assert [view.source_index for view in views] == list(range(10, 20))
        assert all(view.width_px >= 8 for view in views)
