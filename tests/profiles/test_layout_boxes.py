"""Boxes on the pictures and back, marks and frames on the slices that hold them,
and stacks without millimetres."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from _made import ORDERS, oblique_grid, profile, reordered

from situs.errors import SitusError
from situs.items import Boxes, Frames, Item, YesNo, mark_label
from situs.profiles import layout_of, load_profile
from situs.space import FrameBox, Grid, IndexBox, PixelGrid, WorldBox, WorldPoints

SHAPE = (15, 18, 24)


def item(**fields) -> Item:
    return msgspec.structs.replace(
        Item("i", "s", "ct", "p", "t", "yes_no", "Is it?", YesNo(True)), **fields
    )


def mark(letter: str, point) -> WorldBox:
    x, y, z = (float(v) for v in point)
    return WorldBox((x, y, z), (x, y, z), mark_label(letter))


def random_box(rng: np.random.Generator) -> IndexBox:
    lo = [int(rng.integers(0, n - 1)) for n in SHAPE]
    return IndexBox(tuple(lo), tuple(int(rng.integers(a + 1, n + 1)) for a, n in zip(lo, SHAPE)))


@pytest.mark.parametrize(
    "view",
    [
        {},
        {"plane": "coronal"},
        {"plane": "sagittal", "display": "neurological"},
        {"size_px": 200, "order": "descending"},
    ],
)
def test_a_box_returns_from_the_pictures_that_show_all_of_it(view):
    """Every slice is shown, so nothing is lost:
    lo and hi come back exactly, in every stored order."""
    rng = np.random.default_rng(0)
    upright = oblique_grid(SHAPE, 0.0)
    for order in ORDERS[::3]:
        _, grid = reordered(np.zeros(SHAPE), upright, order)
        layout = layout_of(profile(view=view), grid)
        index = random_box(rng)
        box = msgspec.structs.replace(index.to_world(upright.affine), label="liver")
        shown = layout.shown_boxes([box])
        through = layout.frames[0].plane.through.world_index
        assert len(shown) == index.hi[through] - index.lo[through]
        (back,) = layout.source_boxes(shown)
        assert back.label == "liver"
        np.testing.assert_allclose(back.lo_mm, box.lo_mm, atol=1e-6)
        np.testing.assert_allclose(back.hi_mm, box.hi_mm, atol=1e-6)


def test_a_box_on_few_slices_returns_in_the_plane_and_to_the_slice_spacing():
    grid = oblique_grid(SHAPE, 0.0)
    layout = layout_of(profile(view={"every_mm": 10.0, "size_px": 300}), grid)
    box = IndexBox((3, 4, 5), (9, 12, 20)).to_world(grid.affine)
    (back,) = layout.source_boxes(layout.shown_boxes([box]))
    np.testing.assert_allclose(back.lo_mm[:2], box.lo_mm[:2], atol=1e-6)
    np.testing.assert_allclose(back.hi_mm[:2], box.hi_mm[:2], atol=1e-6)
    assert abs(back.lo_mm[2] - box.lo_mm[2]) < 10.0
    assert abs(back.hi_mm[2] - box.hi_mm[2]) < 10.0


def test_a_box_is_cut_as_the_plane_cuts_it():
    """On an oblique grid each side of the rectangle is the
    furthest point of the slice that lies in the box."""
    from scipy.optimize import linprog

    rng = np.random.default_rng(1)
    for seed in range(3):
        grid = oblique_grid(SHAPE, 20.0, seed)
        layout = layout_of(profile(view={"size_px": 150}), grid)
        box = random_box(rng).to_world(grid.affine)
        rectangles = {r.frame: r for r in layout.shown_boxes([box])}
        for number, frame in enumerate(layout.frames):
            origin, across, down = frame.to_source(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
            slopes = np.column_stack([across - origin, down - origin])
            inside = (
                np.vstack([slopes, -slopes]),
                np.concatenate([box.hi_mm - origin, origin - box.lo_mm]),
            )
            ends = [
                linprog(c, *inside, bounds=(None, None)) for c in ([1, 0], [0, 1], [-1, 0], [0, -1])
            ]
            if any(end.status != 0 for end in ends):
                assert number not in rectangles, "the slice misses the box"
                continue
            x0, y0, x1, y1 = (sign * end.fun + 0.5 for sign, end in zip((1, 1, -1, -1), ends))
            if x1 <= 0 or y1 <= 0 or x0 >= frame.width or y0 >= frame.height:
                assert number not in rectangles
                continue
            found = rectangles[number]
            expected = max(x0, 0), max(y0, 0), min(x1, frame.width), min(y1, frame.height)
            np.testing.assert_allclose(
                [found.x0, found.y0, found.x1, found.y1], expected, atol=1e-4
            )


def test_a_box_between_two_slices_is_on_the_nearer():
    grid = oblique_grid(SHAPE, 0.0)
    layout = layout_of(profile(view={"slices": 2}), grid)
    assert [f.source_index for f in layout.frames] == [0, 23]
    near_the_top = IndexBox((3, 3, 18), (5, 5, 20)).to_world(grid.affine)
    assert [r.frame for r in layout.shown_boxes([near_the_top])] == [1]
    assert layout_of(profile(view={"index_range": (0, 5)}), grid).shown_boxes([near_the_top]) == []


def test_what_is_cropped_away_is_not_shown():
    grid = oblique_grid(SHAPE, 0.0)
    layout = layout_of(profile(crop={"shape": (5, 18, 24)}), grid)
    assert layout.shown_boxes([IndexBox((0, 0, 0), (4, 18, 24)).to_world(grid.affine)]) == []
    half = layout.shown_boxes([IndexBox((0, 0, 3), (7, 18, 4)).to_world(grid.affine)])
    assert [(r.x0, r.x1) for r in half] == [(3.0, 5.0)], (
        "columns 5 and 6 of 5 to 9, from the patient's right"
    )


def test_a_montage_has_one_rectangle_for_each_tile():
    grid = oblique_grid(SHAPE, 0.0)
    layout = layout_of(
        profile(view={"slices": 6, "montage": {"columns": 3, "rows": 2, "gap_px": 4}}), grid
    )
    (frame,) = layout.frames
    assert (frame.width, frame.height) == (3 * 15 + 2 * 4, 2 * 18 + 4)
    index = IndexBox((2, 3, 0), (7, 8, 24))
    shown = layout.shown_boxes([index.to_world(grid.affine)])
    assert len(shown) == 6
    for rectangle, tile in zip(shown, frame.tiles):
        x0, y0, x1, y1 = tile.rectangle
        assert x0 <= rectangle.x0 < rectangle.x1 <= x1
        assert y0 <= rectangle.y0 < rectangle.y1 <= y1
        assert (rectangle.x1 - rectangle.x0, rectangle.y1 - rectangle.y0) == pytest.approx(
            (5.0, 5.0)
        )
    (back,) = layout.source_boxes(shown)
    np.testing.assert_allclose(back.lo_mm, index.to_world(grid.affine).lo_mm, atol=1e-6)


def test_three_views_go_through_every_mark():
    grid = oblique_grid(SHAPE, 15.0)
    places = np.array([[3.0, 5.0, 7.0], [11.0, 5.0, 20.0]])
    points = grid.affine.to_world(places)
    marked = item(boxes=(mark("A", points[0]), mark("B", points[1])))
    layout = layout_of(profile(view={"kind": "three_views"}), grid, marked)
    shown = {(frame.plane.value, frame.source_index) for frame in layout.frames}
    assert shown == {("axial", 7), ("axial", 20), ("coronal", 5), ("sagittal", 3), ("sagittal", 11)}
    middle = layout_of(profile(view={"kind": "three_views"}), grid, item())
    assert {(f.plane.value, f.source_index) for f in middle.frames} == {
        ("axial", 12),
        ("coronal", 9),
        ("sagittal", 7),
    }


def test_the_slice_of_a_mark_takes_the_place_of_the_nearest():
    grid = oblique_grid((15, 18, 100), 15.0)
    plain = [f.source_index for f in layout_of(profile(view={"slices": 5}), grid).frames]
    assert plain == [0, 25, 50, 74, 99]
    point = grid.affine.to_world(np.array([[7.0, 9.0, 60.0]]))[0]
    marked = layout_of(profile(view={"slices": 5}), grid, item(boxes=(mark("A", point),)))
    assert [f.source_index for f in marked.frames] == [0, 25, 60, 74, 99]
    many = tuple(
        mark(c, grid.affine.to_world(np.array([[7.0, 9.0, z]]))[0])
        for c, z in zip("ABC", (60.0, 61.0, 62.0))
    )
    all_of_them = layout_of(profile(view={"slices": 3}), grid, item(boxes=many))
    assert [f.source_index for f in all_of_them.frames] == [60, 61, 62]
    one = layout_of(load_profile("one-slice"), grid, item(boxes=(mark("A", point),)))
    assert [f.source_index for f in one.frames] == [60]


def test_a_slice_level_item_has_its_frames():
    grid = oblique_grid((15, 18, 100), 0.0)
    about = item(level="slice", frames=(33, 34))
    assert {33, 34} <= {
        f.source_index for f in layout_of(load_profile("default"), grid, about).frames
    }
    assert [
        f.source_index for f in layout_of(profile(view={"slices": "item"}), grid, about).frames
    ] == [33, 34]
    assert len(layout_of(profile(view={"slices": "item"}), grid, item()).frames) == 100
    first = profile(view={"slices": "item", "limit": 1})
    assert [f.source_index for f in layout_of(first, grid, item(frames=(40, 41))).frames] == [40]


def test_the_answers_place_does_not_change_the_slices():
    """Only marks and frames that the question names do;
    else the choice would give the answer away."""
    grid = oblique_grid((15, 18, 100), 0.0)
    box = IndexBox((3, 3, 10), (5, 5, 12)).to_world(grid.affine)
    telling = item(
        answer=Boxes((box,)),
        form="boxes",
        boxes=(msgspec.structs.replace(box, label="largest:lesion"),),
    )
    made = profile(view={"slices": 5})
    assert [f.source_index for f in layout_of(made, grid, telling).frames] == [0, 25, 50, 74, 99]


def test_frames_count_from_the_feet_in_any_stored_order():
    for order in ORDERS[::5]:
        _, grid = reordered(np.zeros((6, 7, 40)), oblique_grid((6, 7, 40), 0.0), order)
        layout = layout_of(profile(view={"slices": 20}), grid)
        sources = [f.source_index for f in layout.frames]
        assert layout.shown_frames([sources[3], sources[4]]) == [3, 4]
        assert layout.shown_frames([sources[3] + 1]) in ([3], [4])
        assert layout.shown_frames([]) == []
        down = layout_of(profile(view={"slices": 20, "order": "descending"}), grid)
        assert down.shown_frames([sources[3]]) == [16]


def test_frame_boxes_of_a_volume_are_pixels_of_its_axial_slices():
    """x from the patient's right and y from the front, at voxel size."""
    grid = oblique_grid(SHAPE, 0.0)
    layout = layout_of(profile(view={"size_px": 180}), grid)
    (shown,) = layout.shown_boxes([FrameBox(7, 1.0, 2.0, 4.0, 6.0, "cyst")])
    assert shown.frame == 7
    native = layout_of(profile(), grid)
    (same,) = native.shown_boxes([FrameBox(7, 1.0, 2.0, 4.0, 6.0, "cyst")])
    assert (same.x0, same.y0, same.x1, same.y1) == pytest.approx((1.0, 2.0, 4.0, 6.0))
    corner = native.frames[7].to_source(np.array([[0.0, 0.0]]))
    np.testing.assert_allclose(
        grid.affine.to_index(WorldPoints(corner)), [[14.0, 17.0, 7.0]], atol=1e-9
    )


def test_stored_frames_are_shown_as_stored():
    layout = layout_of(load_profile("sgmri-frames"), PixelGrid(30, 320, 280))
    assert len(layout.frames) == 30
    assert (layout.frames[0].width, layout.frames[0].height, layout.frames[0].plane) == (
        320,
        280,
        None,
    )
    box = FrameBox(12, 10.0, 20.0, 30.0, 50.0, "tear")
    assert layout.shown_boxes([box]) == [box]
    assert layout.source_boxes([box]) == [box]
    np.testing.assert_allclose(
        layout.frames[12].to_source(np.array([[5.0, 9.0]])), [[12.0, 5.0, 9.0]]
    )
    np.testing.assert_allclose(
        layout.frames[12].from_source(np.array([[13.0, 5.0, 9.0]])), [[5.0, 9.0, 1.0]]
    )


def test_scaled_and_chosen_frames_map_back():
    layout = layout_of(
        profile(view={"slices": 10, "size_px": 640, "order": "descending"}), PixelGrid(28, 320, 280)
    )
    sources = [f.source_index for f in layout.frames]
    assert sources[0] == 27
    boxes = [FrameBox(sources[4], 10.0, 20.0, 30.0, 50.0, "tear")]
    assert layout.shown_boxes(boxes) == [FrameBox(4, 20.0, 40.0, 60.0, 100.0, "tear")]
    assert layout.source_boxes(layout.shown_boxes(boxes)) == boxes
    hidden = FrameBox(sources[4] + 1, 10.0, 20.0, 30.0, 50.0, "tear")
    assert [b.frame for b in layout.shown_boxes([hidden])] in ([4], [3])
    assert layout.shown_boxes([*boxes, hidden]) == layout.shown_boxes(boxes), (
        "the label is already on a picture"
    )


def test_a_size_that_is_not_known_is_asked_for_only_where_it_is_needed():
    unknown = PixelGrid(20)
    layout = layout_of(load_profile("sgmri-frames"), unknown)
    box = FrameBox(3, 1.0, 2.0, 5.0, 9.0)
    assert layout.shown_boxes([box]) == [box]
    assert layout.shown_frames([3]) == [3]
    with pytest.raises(SitusError, match="not known"):
        _ = layout.frames[0].width
    scaled = layout_of(load_profile("default"), unknown)
    assert scaled.shown_frames([3]) == [3]
    with pytest.raises(SitusError, match="not known"):
        scaled.shown_boxes([box])


def test_profiles_in_mm_refuse_stacks_without():
    for made in (
        profile(resample={"spacing_mm": 1.0}),
        profile(crop={"size_mm": (10.0, 10.0, 10.0)}),
        profile(view={"every_mm": 5.0}),
        profile(view={"kind": "three_views"}),
    ):
        with pytest.raises(SitusError, match="millimetres"):
            layout_of(made, PixelGrid(20, 30, 30))


def test_predictions_on_pictures_that_are_not_there_are_left_out():
    grid = Grid((4, 4, 4), oblique_grid((4, 4, 4), 0.0).affine)
    assert layout_of(profile(), grid).source_boxes([FrameBox(9, 0.0, 0.0, 1.0, 1.0)]) == []


def test_frames_of_an_answer_do_not_change_what_is_shown():
    grid = oblique_grid((5, 5, 50), 0.0)
    asked = item(form="frames", answer=Frames((7, 8, 9)))
    made = profile(view={"slices": 4})
    assert [f.source_index for f in layout_of(made, grid, asked).frames] == [0, 16, 33, 49]


@pytest.mark.parametrize("order", ORDERS[::5])
def test_boxes_along_the_axes_are_those_of_the_matrices_to_the_last_bit(order, monkeypatch):
    """Where pictures lie along the patient's axes, the quick way gives what matrices give."""
    rng = np.random.default_rng(7)
    _, grid = reordered(np.zeros(SHAPE), oblique_grid(SHAPE, 0.0), order)
    view = {"plane": ("axial", "coronal", "sagittal")[order[0][0]], "size_px": 157}
    quick, slow = (layout_of(profile(view=view), grid) for _ in range(2))
    assert quick._tiles.stack is not None
    monkeypatch.setitem(slow._tiles.__dict__, "stack", None)
    seen = 0
    every = []
    for _ in range(20):
        inside = random_box(rng).to_world(oblique_grid(SHAPE, 0.0).affine)
        moved = np.array([inside.lo_mm, inside.hi_mm]) + rng.uniform(-0.4, 0.4, (2, 3))
        box = WorldBox.of(moved.min(axis=0), moved.max(axis=0), "liver")
        shown = slow.shown_boxes([box])
        assert quick.shown_boxes([box]) == shown
        some = [shown[place] for place in rng.permutation(len(shown))[: rng.integers(1, 9)]]
        assert quick.source_boxes(some) == slow.source_boxes(some)
        seen += len(shown)
        every.append(box)
    assert seen > 40
    # Boxes of many items at once: those of one item, of several, and one that no slice cuts.
    far = WorldBox((900.0, 900.0, 900.0), (901.0, 901.0, 901.0), "spleen")
    many = [every[:1], every[1:7], [], every[7:], [every[0], far], [*every[:2], *every[:1]]]
    at_once = quick.stack.cuts_of_many(many)
    for boxes, own in zip(many, at_once):
        if far in boxes:
            assert own is None
        else:
            assert own == [box for box in slow.shown_boxes(boxes) if box.area > 0]


def test_oblique_pictures_are_no_stack_along_the_axes():
    assert layout_of(profile(), oblique_grid(SHAPE, 20.0))._tiles.stack is None
