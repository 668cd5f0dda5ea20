"""What `situs measure` says of a structure, and spreads and reaches of parts, on blocks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from _blocks import block_ledger

from situs.facts import load_recipe
from situs.facts.masks import kinds_slices, scene
from situs.facts.masks.marks.kinds import _centrality, _free, _spread_mm
from situs.facts.measured import _extent_interval
from situs.space import AXES


@pytest.mark.parametrize(("annotation", "slack"), [("exact", 0.0), ("automatic", 1.5)])
def test_how_long_a_structure_may_be(annotation: str, slack: float) -> None:
    """2 mm voxels: either end half a voxel further in, or a whole one further out, unless the
    surface is less certain than that."""
    ledger = block_ledger((40, 30, 20), 2.0, annotation, liver=((3, 4, 5), (13, 12, 6)))
    region = ledger.regions["liver"]
    for axis, length in zip(AXES, (20.0, 16.0, 2.0)):
        low, high = _extent_interval(ledger, region, axis)
        assert low == pytest.approx(max(0.0, length - 2 * max(1.0, slack)))
        assert high == pytest.approx(length + 2 * max(2.0, slack))


def test_how_far_marks_lie_apart() -> None:
    points = np.array([[0, 0, 0], [3, 4, 12], [1, 0, 0], [0, -2, 1]], dtype=float)
    marks = [("liver", point) for point in points]
    farthest = max(math.dist(a, b) for a in points for b in points)
    assert _spread_mm(marks) == pytest.approx(farthest, abs=1e-6)


def test_how_central_the_first_mark_is() -> None:
    """How many of the others lie nearer to the middle of all; equal ones do not."""
    square = np.array([[4.0, 0, 0], [-4, 0, 0], [0, 4, 0], [0, -4, 0]])
    assert _centrality([("liver", point) for point in square]) == 0
    row = np.array([[6.0, 0, 0], [1, 0, 0], [-2, 0, 0], [-5, 0, 0]])
    assert _centrality([("liver", point) for point in row]) == 3
    assert _centrality([("liver", point) for point in row[[1, 0, 2, 3]]]) == 0


def test_points_that_keep_their_distance() -> None:
    points = np.array([[0.0, 0, 0], [15, 0, 0], [14.9, 0, 0], [0, 9, 12]])
    others = [np.zeros(3)]
    assert _free(points, others, 15.0).tolist() == [False, True, False, True]
    assert _free(points, [*others, np.array([16.0, 0, 0])], 15.0).tolist() == [
        False,
        False,
        False,
        True,
    ]


def test_how_far_parts_reach_beyond_the_largest() -> None:
    """10 × 8 × 6 mm, and a second part that ends 25 mm along x and 12 mm along y from its start."""
    ledger = block_ledger((50, 30, 20), 1.0, liver=((3, 3, 3), (13, 11, 9)))
    assert scene._reach_of_parts(ledger.main_region("liver")) == 1.0
    parted = block_ledger((50, 30, 20), 1.0, liver=((3, 3, 3), (13, 11, 9)))
    parted.regions.labels.layers[0][20:28, 3:15, 3:5] = 1
    assert scene._reach_of_parts(parted.main_region("liver")) == pytest.approx(2.5)


def test_a_flank_that_grazes_a_side_leaves_the_far_end() -> None:
    """The tip of a pyramid lies on the last slice across x: 13 mm above the lowest slice, where 14
    mm of it and 5 mm that others may stop early, leaning by 10°, hang down by 3.4 mm, and 5 more."""
    blocks = {"liver": ((29, 19, 19), (30, 21, 21))}
    ledger = block_ledger((30, 40, 40), 1.0, **blocks)
    layer = ledger.regions.labels.layers[0]
    for n in range(14):
        layer[29 - n, 19 - n : 21 + n, 19 - n : 21 + n] = 1
    for far_is_last in (False, True):
        assert kinds_slices._harmless_sides(ledger, "liver", 2, far_is_last=far_is_last) == [
            (0, True)
        ]
    tilt = math.tan(math.radians(load_recipe().truth.rotation_degrees))
    near = load_recipe().cut.near_mm
    assert (14 + near) * tilt + near < 13


def test_bounds_of_diameters_and_lengths() -> None:
    """2 mm voxels: either end of a diameter is off by half a pixel along its diagonal, of a length
    by half a voxel's, unless the surface is less certain."""
    for annotation, surface in (("exact", 0.0), ("automatic", 1.5)):
        ledger = block_ledger((40, 30, 20), 2.0, annotation, liver=((3, 4, 5), (23, 16, 9)))
        across, length = (ledger.fact(k, "liver") for k in ("axial_perpendicular", "length_3d"))
        for fact, half in ((across, math.sqrt(2.0)), (length, math.sqrt(3.0))):
            slack = 2.0 * max(half, surface)
            assert fact.interval == pytest.approx((fact.value - slack, fact.value + slack))
        diameter = ledger.fact("axial_diameter", "liver")
        slack = 2.0 * max(math.sqrt(2.0), surface)
        # Between the middles of outer pixel edges, and never shorter than as it lies.
        assert diameter.value == pytest.approx(2.0 * math.hypot(20.0, 11.0))
        assert diameter.interval[1] >= diameter.value + slack - 1e-9
        assert diameter.interval[0] <= diameter.value - slack + 1e-9
    area = ledger.fact("surface_area", "liver")
    assert area.value == pytest.approx(ledger.regions["liver"].surface_area_mm2 / 100.0)


@pytest.mark.parametrize(("inside", "left_out"), [(19, ()), (18, ("liver_lesion_1",))])
def test_nineteen_of_twenty_voxels_are_inside(inside: int, left_out: tuple[str, ...]) -> None:
    """A rod of 20 voxels in a liver that ends after so many of them; its surface tells as well."""
    ledger = block_ledger(
        (60, 20, 20), 1.0,
        liver=((5, 5, 5), (20 + inside, 15, 15)), liver_lesion_1=((20, 8, 8), (40, 9, 9)),
    )  # fmt: skip
    assert ledger.fact("inside_share", "liver_lesion_1", "liver").value == inside / 20
    assert ledger.fact("organ_of", "liver_lesion_1").value == "liver"
    assert ledger.lesions_left_out("liver") == left_out


@pytest.mark.parametrize(
    ("on_liver", "on_spleen", "holder"), [(6, 2, "liver"), (5, 2, None), (6, 3, None)]
)
def test_six_tenths_of_a_surface_and_at_most_two_on_the_next(
    on_liver: int, on_spleen: int, holder: str | None
) -> None:
    """Two voxels have ten faces; beyond each lies one voxel of the liver, of the spleen, or none."""
    ledger = block_ledger(
        (20, 20, 20), 1.0, liver=((1, 1, 1), (2, 2, 2)), spleen=((18, 18, 18), (19, 19, 19)),
        liver_lesion_1=((10, 10, 10), (12, 11, 11)),
    )  # fmt: skip
    beyond = [(x, 10 + a, 10 + b) for x in (10, 11) for a, b in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    beyond += [(9, 10, 10), (12, 10, 10)]
    liver, spleen, _ = ledger.regions.labels.layers
    for number, place in enumerate(beyond):
        if number < on_liver:
            liver[place] = 1
        elif number < on_liver + on_spleen:
            spleen[place] = 1
    shares = [ledger.fact("surface_share", "liver_lesion_1", n).value for n in ("liver", "spleen")]
    assert shares == pytest.approx([on_liver / 10, on_spleen / 10])
    assert ledger.fact("organ_of", "liver_lesion_1").value == holder
