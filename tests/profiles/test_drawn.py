"""What is drawn into pictures is seen on any background,
stays inside its slice, and leaves the marked pixel free."""

from __future__ import annotations

import numpy as np
import pytest
from _made import profile

from situs.items import Item, YesNo, mark_label
from situs.profiles import Renderer, layout_of
from situs.profiles.geometry.marks import marks_on
from situs.space import Affine, Grid, WorldBox

SHAPE = (100, 90, 6)
GRID = Grid(SHAPE, Affine(np.diag([1.0, 1.0, 4.0, 1.0])))


def marked(**points: tuple[float, float, float]) -> Item:
    boxes = tuple(WorldBox(point, point, mark_label(letter)) for letter, point in points.items())
    return Item("i", "s", "ct", "p", "t", "yes_no", "Is it?", YesNo(True), boxes=boxes)


def drawn(
    item: Item | None, grey: int, **tables
) -> tuple[list[np.ndarray], list[np.ndarray], list[dict]]:
    """Pictures with and without the drawing, and where the marks are."""
    made = profile(**tables)
    layout = layout_of(made, GRID, item)
    renderer = Renderer(made, np.full(SHAPE, grey, np.int16), GRID, "ct")
    marks = marks_on(layout, item) if item else [{} for _ in layout.frames]
    with_marks = [renderer.picture(layout.lattice, f, m) for f, m in zip(layout.frames, marks)]
    return with_marks, [renderer.tile(layout.lattice, f.tiles[0]) for f in layout.frames], marks


@pytest.mark.parametrize("style", ["ring", "cross"])
@pytest.mark.parametrize("grey", [0, 128, 255])
@pytest.mark.parametrize(
    "point", [(50.0, 45.0, 8.0), (1.0, 1.0, 8.0), (98.0, 2.0, 8.0), (2.0, 88.0, 8.0)]
)
def test_a_mark_is_seen_and_hides_nothing(point, grey, style):
    pictures, plain, marks = drawn(
        marked(A=point), grey, view={"size_px": 400}, draw={"mark_style": style}
    )
    assert [bool(of) for of in marks] == [False, False, True, False, False, False], (
        "the slice at z = 8 mm only"
    )
    x, y = marks[2][0]["A"]
    changed = pictures[2].astype(int) - plain[2]
    near = changed[max(0, int(y) - 1) : int(y) + 3, max(0, int(x) - 1) : int(x) + 3]
    assert (near == 0).all(), "the point itself is free"
    if grey != 255:
        assert changed.max() > 100
    if grey != 0:
        assert changed.min() < -100
    rows, columns = np.nonzero(changed)
    assert np.hypot(rows - y, columns - x).max() < 60, "all of it is beside the point"
    assert len(rows) > 40
    assert all((pictures[k] == plain[k]).all() for k in (0, 1, 3, 4, 5))


def test_a_mark_lies_where_its_point_does():
    """(50, 45, 8) mm is voxel (50, 45, 2):
    from the right 49 voxels in, from the front 44, at four pixels a voxel."""
    _, _, marks = drawn(marked(A=(50.0, 45.0, 8.0)), 100, view={"size_px": 400})
    assert marks[2][0]["A"] == pytest.approx((49 * 4 + 1.5, 44 * 4 + 1.5))


def test_letters_do_not_cover_other_marks():
    close = marked(
        A=(50.0, 45.0, 8.0), B=(56.0, 45.0, 8.0), C=(50.0, 51.0, 8.0), D=(56.0, 51.0, 8.0)
    )
    pictures, plain, marks = drawn(close, 100, view={"size_px": 400})
    for x, y in marks[2][0].values():
        middle = np.s_[int(y) - 2 : int(y) + 3, int(x) - 2 : int(x) + 3]
        np.testing.assert_array_equal(pictures[2][middle], plain[2][middle])


def test_marks_can_be_left_out_and_colours_work():
    pictures, plain, _ = drawn(marked(A=(50.0, 45.0, 8.0)), 100, draw={"marks": False})
    assert all((a == b).all() for a, b in zip(pictures, plain))
    rgb = {"any": ({"low": 0.0, "high": 255.0},) * 3}
    pictures, plain, _ = drawn(
        marked(A=(50.0, 45.0, 8.0)), 100, window=rgb, view={"windows": "rgb", "size_px": 200}
    )
    assert pictures[2].shape[2] == 3
    assert (pictures[2] != plain[2]).any()


def test_side_letters_stand_at_the_edges():
    pictures, plain, _ = drawn(None, 100, view={"size_px": 400}, draw={"side_letters": True})
    rows, columns = np.nonzero(pictures[0].astype(int) - plain[0])
    height, width = pictures[0].shape
    at_edge = (rows < 40) | (rows > height - 40) | (columns < 40) | (columns > width - 40)
    assert at_edge.all()
    assert (rows < 40).any()
    assert (columns < 40).any()
    other, _, _ = drawn(
        None, 100, view={"size_px": 400, "display": "neurological"}, draw={"side_letters": True}
    )
    assert (other[0] != pictures[0]).any(), "R and L change places"


def test_a_scale_bar_is_as_long_as_it_says():
    """100 mm on 400 px: the longest round length up to a quarter is 2 cm, 80 px."""
    pictures, plain, _ = drawn(None, 100, view={"size_px": 400}, draw={"scale_bar": True})
    white = (pictures[0] == 255) & (plain[0] != 255)
    assert white.sum(axis=1).max() in (80, 81, 82)
