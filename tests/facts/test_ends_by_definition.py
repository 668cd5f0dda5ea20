"""Which ends of a structure may be missing, what a reader's level rests on, and the bounds of
sides, spans and halves."""

from __future__ import annotations

import dataclasses
import math

import msgspec
import numpy as np
import pytest
from _blocks import block_labels, block_ledger

from situs.anatomy import term
from situs.facts import Ledger, MaskedSeries, ScanValues, load_recipe, number
from situs.facts.masks import kinds_slices, kinds_spine, midlines
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure

TILT = math.tan(math.radians(10.0))


def grid_of(spacing: tuple[float, ...]) -> Grid:
    return Grid((20, 20, 20), Affine(np.diag([*spacing, 1.0])))


@pytest.mark.parametrize(
    ("spacing", "axial"), [((1, 1, 1), True), ((6, 6, 5), True), ((6.1, 1, 5), False)]
)
def test_axial_slices_are_no_finer_than_others(spacing: tuple[float, ...], axial: bool) -> None:
    assert kinds_slices.has_axial_slices(grid_of(spacing)) is axial


@pytest.mark.parametrize("gap", [False, True])
def test_a_structure_that_is_missing_on_a_slice_has_gaps(gap: bool) -> None:
    labels = block_labels((30, 30, 30), 1.0, liver=((5, 5, 5), (20, 20, 25)))
    if gap:
        labels.layers[0][:, :, 12] = 0
    ledger = Ledger(
        labels,
        MaskedSeries(
            study_id="s", series="ct", labels_hash="", annotation="exact", side_basis="affine"
        ),
        recipe=load_recipe(),
        terms={"liver": term("liver")},
    )
    assert ("gaps" in ledger.fact("slice_span", "liver").flags) is gap


@pytest.mark.parametrize(("island", "stray"), [(22, False), (23, True)])
def test_islands_lie_on_other_slices_beyond_the_slack(island: int, stray: bool) -> None:
    """The liver's last slice is 20: what ends on 21 or 22 lies within a slice or beyond it."""
    labels = block_labels((40, 40, 40), 1.0, liver=((5, 5, 5), (25, 25, 21)))
    labels.layers[0][30, 30, island - 1] = 1
    ledger = Ledger(
        labels,
        MaskedSeries(
            study_id="s", series="ct", labels_hash="", annotation="exact", side_basis="affine"
        ),
        recipe=load_recipe(),
        terms={"liver": term("liver")},
    )
    assert ("islands" in ledger.fact("slice_span", "liver").flags) is stray
    assert ledger.fact("ends_stray", "liver").value == ("top" if stray else "")


@pytest.mark.parametrize(("height", "ends"), [(22, "top"), (21, "top+bottom")])
def test_a_low_stump_may_lack_either_end(height: int, ends: str) -> None:
    """Cut above, in a scan 120 mm wide: of a patient who lies turned what is missing may hang down
    by 120 mm · tan 10° = 21.2 mm."""
    assert 21 < 120 * TILT < 22
    ledger = block_ledger((120, 60, 60), 1.0, liver=((40, 20, 60 - height), (70, 40, 60)))
    assert ledger.fact("ends_cut", "liver").value == ends
    lower = block_ledger((120, 60, 60), 1.0, liver=((40, 20, 0), (70, 40, height)))
    expected = "bottom" if ends == "top" else ends
    assert lower.fact("ends_cut", "liver").value == expected


def test_how_much_higher_an_end_lies() -> None:
    """Side by side 40 mm apart: a turn by 10° moves them past each other by 40 · sin 10°."""
    ledger = block_ledger(
        (80, 30, 60), 1.0, liver=((10, 10, 10), (11, 11, 40)), spleen=((50, 10, 10), (51, 11, 45))
    )
    slack = 0.5 + 1.0  # one end further in, the other further out
    for end, value in (("top", -5.0), ("bottom", 0.0)):
        fact = ledger.fact(f"end_gap.{end}", "liver", "spleen")
        assert number(fact) == pytest.approx(value)
        turn = math.radians(10.0)
        most = value * math.cos(turn) + 40 * math.sin(turn)
        least = value * math.cos(turn) - 40 * math.sin(turn)
        assert fact.interval == pytest.approx((least - slack, most + slack), abs=0.05)


def test_axes_a_patient_may_have() -> None:
    """Straight up, and eight that lean by 10° all around, 45° apart."""
    ups = kinds_spine._upright(10.0)
    np.testing.assert_allclose(ups[0], [0, 0, 1])
    assert len(ups) == 9
    for n, vector in enumerate(ups[1:]):
        around = math.radians(45.0 * n)
        lean = math.sin(math.radians(10.0))
        expected = [lean * math.cos(around), lean * math.sin(around), math.cos(math.radians(10.0))]
        np.testing.assert_allclose(vector, expected, atol=1e-12)


def test_the_points_that_are_asked_about() -> None:
    """A tall block and a low one beside it: the top is the middle of the highest slice, the bottom
    of the lowest, and what lies half a slice below counts as on it."""
    ledger = block_ledger((40, 20, 40), 1.0, liver=((10, 5, 10), (21, 10, 30)))
    layer = ledger.regions.labels.layers[0]
    layer[21:31, 5:10, 10:20] = 1
    region, up = ledger.regions["liver"], np.array([0.0, 0.0, 1.0])
    points = {
        which: kinds_spine._asked_point(region, which, up, 0.5) for which in ("top", "bottom")
    }
    np.testing.assert_allclose(points["top"], [15.0, 7.0, 29.0])
    np.testing.assert_allclose(points["bottom"], [20.0, 7.0, 10.0])
    # With a whole slice more the ring of the next one counts, its middle being the same.
    thick = kinds_spine._asked_point(region, "top", up, 1.0)
    np.testing.assert_allclose(thick, [15.0, 7.0, 29.0])
    np.testing.assert_allclose(
        kinds_spine._asked_point(region, "centre", up, 0.5), region.centroid_mm
    )


def column(level_z: float, height: int = 1) -> Ledger:
    """Vertebrae T10 to L2 every 40 mm from z = 220 down, and a liver of one slice at a height."""
    row = {
        f"vertebrae_{level}": ((20, 20, 216 - 40 * n), (29, 29, 225 - 40 * n))
        for n, level in enumerate(("T10", "T11", "T12", "L1", "L2"))
    }
    z = int(level_z)
    truth = msgspec.structs.replace(load_recipe().truth, rotation_degrees=0.0)
    recipe = msgspec.structs.replace(load_recipe(), truth=truth)
    blocks = {**row, "liver": ((40, 20, z), (60, 29, z + height))}
    return block_ledger((70, 40, 250), 1.0, recipe=recipe, **blocks)


@pytest.mark.parametrize(
    ("z", "flags"),
    [(180, set()), (170, set()), (169, {"near_line"}), (200, {"near_line"}), (190, set())],
)
def test_near_the_line_between_two_vertebrae(z: int, flags: set[str]) -> None:
    """T11 lies at 180: a quarter of a level off, 10 mm, is not yet near the line. The bodies are 9
    mm high; between them no body disputes what lies nearest, and none agrees."""
    fact = column(z).fact("level.centre", "liver")
    t11 = kinds_spine.LEVELS.index("T11")
    assert number(fact) == pytest.approx(t11 + (180 - z) / 40)
    slack = 2.0 * 0.5 / 40
    assert fact.interval == pytest.approx((number(fact) - slack, number(fact) + slack))
    assert {"near_line"} & set(fact.flags) == flags
    assert ("disputed" in fact.flags) is (abs(180 - z) > 4.5)


def test_the_name_of_a_level() -> None:
    levels = kinds_spine.LEVELS
    names = [kinds_spine.level_name(place) for place in (-3.0, 0.0, 2.4, 2.6, 99.0)]
    assert names == [levels[0], levels[0], levels[2], levels[3], levels[-1]]


def halved(brain: np.ndarray, off_mm: float = 5.0) -> midlines.Midline | None:
    return midlines._halving(brain, Grid(brain.shape, Affine(np.eye(4))), off_mm)


def test_the_plane_that_halves_slices() -> None:
    """Slices 20 wide that move 1 mm to the right each; those under half as large as the largest say
    nothing."""
    brain = np.zeros((60, 30, 12), dtype=bool)
    for k in range(12):
        brain[10 + k : 30 + k, 5:25, k] = True
    brain[:, :, 10:] = False
    brain[40:60, 5:15, 10] = True  # half as large, and far aside
    whole = halved(brain[:, :, :10])
    assert whole is not None
    heights = np.array([0.0, 4.0, 9.0])
    np.testing.assert_allclose(whole.at(heights)[:, 0], 19.5 + heights)
    np.testing.assert_allclose(whole.at(heights)[:, 1], 14.5)
    assert whole.off_mm == 5.0
    moved = halved(brain)
    assert moved is not None
    assert moved.at(np.array([0.0]))[0, 0] != pytest.approx(19.5)
    brain[40, 5, 10] = False  # less than half as large
    without = halved(brain)
    assert without is not None
    np.testing.assert_allclose(without.at(heights)[:, 0], 19.5 + heights)


@pytest.mark.parametrize(("wing", "known"), [(40, True), (41, False)])
def test_a_brain_whose_edges_lie_elsewhere_is_cut(wing: int, known: bool) -> None:
    """A slice of 800 voxels with a wing of one row: its middle edge lies 20 mm aside, its centre far
    less. The difference may be as much as the plane is known to, not more."""
    brain = np.zeros((120, 30, 3), dtype=bool)
    brain[10:50, 5:25] = True
    brain[50 : 50 + wing, 5] = True
    centre = (800 * 29.5 + wing * (49.5 + wing / 2)) / (800 + wing)
    middle = (10 + 49 + wing) / 2
    assert halved(brain, abs(centre - middle) + 1e-9) is not None
    assert halved(brain, abs(centre - middle) - 1e-6) is None
    limit = abs((800 * 29.5 + 40 * 69.5) / 840 - (10 + 89) / 2)
    assert (halved(brain, limit + 1e-9) is not None) is known


def test_one_slice_has_no_plane() -> None:
    brain = np.zeros((30, 30, 3), dtype=bool)
    brain[5:20, 5:20, 1] = True
    assert halved(brain) is None
    brain[5:20, 5:20, 2] = True
    assert halved(brain) is not None


def kidneys(right: int, apart: int, up: int = 0) -> set[str]:
    """A left part of 1000 voxels, a right one of so many, and a step between their centres."""
    shape = (90, 40, 90)
    layer = np.zeros(shape, dtype=np.uint8)
    layer[5:15, 5:15, 5:15] = 1
    side = layer[5 + apart : 15 + apart, 5:15, 5 + up : 15 + up].reshape(-1)
    column = np.arange(1000) < right
    layer[5 + apart : 15 + apart, 5:15, 5 + up : 15 + up] = column.reshape(10, 10, 10)
    assert side.size == 1000
    ledger = Ledger(
        LabelMap(Grid(shape, Affine(np.eye(4))), (layer,), (Structure(1, "kidney", 0, 1),)),
        MaskedSeries(
            study_id="s", series="ct", labels_hash="", annotation="exact", side_basis="affine"
        ),
        recipe=load_recipe(),
        terms={"kidney": term("kidney")},
        scan=ScanValues(),
    )
    return set(ledger.structures)


@pytest.mark.parametrize(
    ("right", "apart", "up", "split"),
    [
        (1000, 30, 0, True),  # just 30 mm apart
        (1000, 29, 0, False),
        (1000, 40, 69, True),  # the step leans by less than 60°
        (1000, 40, 70, False),
    ],
)
def test_when_two_parts_are_two_kidneys(right: int, apart: int, up: int, split: bool) -> None:
    expected = {"kidney_left", "kidney_right"} if split else {"kidney"}
    assert kidneys(right, apart, up) == expected


@pytest.mark.parametrize(("right", "split"), [(112, True), (110, False)])
def test_each_kidney_has_a_tenth_of_both(right: int, split: bool) -> None:
    """Of 1112 voxels 112 are more than a tenth, of 1110 just 110 are less than 111."""
    expected = {"kidney_left", "kidney_right"} if split else {"kidney"}
    assert kidneys(right, 50) == expected


def test_volumes_that_may_be_equal() -> None:
    """The first is certain only if it cannot be as small as the second may be large, and the second
    only if no third may be as large."""

    def beams(*lengths: int) -> Ledger:
        return block_ledger(
            (230, 60, 20), 1.0,
            **{f"liver_lesion_{n}": ((5, 3 + 14 * n, 5), (5 + length, 13 + 14 * n, 15))
               for n, length in enumerate(lengths)},
        )  # fmt: skip

    def bounds(length: int) -> tuple[float, float]:
        faces = 2 * (100 + 20 * length)
        return (100 * length - faces / 2) / 1000, (100 * length + faces / 2) / 1000

    for lengths in ((200, 20, 5), (100, 80, 5), (200, 50, 48), (90, 85, 84)):
        ledger = beams(*lengths)
        spans = [bounds(length) for length in lengths]
        largest, second = (
            ledger.fact(kind, "liver_lesion") for kind in ("largest", "second_largest")
        )
        assert (largest.value, second.value) == ("liver_lesion_0", "liver_lesion_1")
        first_open = spans[0][0] <= max(spans[1][1], spans[2][1])
        second_open = spans[0][0] <= spans[1][1] or spans[1][0] <= spans[2][1]
        assert (largest.flags == ("unstable",)) is first_open
        assert (second.flags == ("unstable",)) is second_open


def test_what_a_turn_does_to_a_gap() -> None:
    """A step of (20, 0, 100) mm: along x it lies at 78.7° to the axis, and turned by 10° at 68.7° to
    88.7°; along z at 11.3°, and at 1.3° to 21.3°. Half a voxel at both ends is less, or more."""
    ledger = block_ledger(
        (40, 10, 130), 1.0, liver=((25, 4, 108), (30, 8, 112)), spleen=((5, 4, 8), (10, 8, 12))
    )
    length, turn = math.hypot(20.0, 100.0), math.radians(10.0)
    for axis, value in (("left_right", 20.0), ("superior_inferior", 100.0)):
        fact = ledger.fact(f"gap.{axis}", "liver", "spleen")
        angle = math.acos(value / length)
        assert number(fact) == pytest.approx(value)
        assert fact.interval == pytest.approx(
            (
                min(value - 1.0, length * math.cos(angle + turn)),
                max(value + 1.0, length * math.cos(max(0.0, angle - turn))),
            )
        )
        back = ledger.fact(f"gap.{axis}", "spleen", "liver")
        assert back.interval == pytest.approx((-fact.interval[1], -fact.interval[0]))
    level = ledger.fact("gap.anterior_posterior", "liver", "spleen")
    assert level.interval == pytest.approx((-length * math.sin(turn), length * math.sin(turn)))
    angle = ledger.fact("angle.left_right", "liver", "spleen")
    assert number(angle) == pytest.approx(math.degrees(math.acos(20.0 / length)))
    same = block_ledger(
        (30, 20, 20), 1.0, liver=((5, 5, 5), (9, 9, 9)), spleen=((4, 4, 4), (10, 10, 10))
    )
    assert same.fact("gap.left_right", "liver", "spleen").interval == (-1.0, 1.0)
    assert number(same.fact("angle.left_right", "liver", "spleen")) == 90.0
    assert number(same.fact("centre_distance", "liver", "spleen")) == 0.0
    together = same.fact("centre_distance", "liver", "spleen").interval
    assert together == pytest.approx((0.0, 2.0 * 0.5 * math.sqrt(3.0)))


def test_how_near_the_unseen_may_come() -> None:
    """A liver that leaves the scan on one side; the spleen lies 20 voxels from the nearest face, of
    which others may stop 4 before it, and both boundaries of both may be off by half a diagonal."""
    ledger = block_ledger(
        (90, 60, 60), 1.0, liver=((0, 25, 25), (9, 35, 35)), spleen=((40, 20, 22), (50, 38, 36))
    )
    assert ledger.is_cut("liver")
    assert not ledger.is_cut("spleen")
    expected = 20.0 - 4.0 - 2.0 * math.sqrt(3.0)
    for pair in (("liver", "spleen"), ("spleen", "liver")):
        fact = ledger.fact("unseen_gap", *pair)
        assert number(fact) == pytest.approx(expected)
        assert fact.interval == (number(fact), number(fact))
    near = block_ledger(
        (90, 60, 60), 1.0, liver=((0, 25, 25), (9, 35, 35)), spleen=((40, 7, 22), (50, 38, 36))
    )
    assert number(near.fact("unseen_gap", "liver", "spleen")) == 0.0


def test_a_ratio_to_what_may_be_nothing_has_no_bound() -> None:
    ledger = block_ledger(
        (40, 20, 20), 1.0, liver=((3, 3, 3), (13, 13, 13)), spleen=((20, 5, 5), (21, 6, 6))
    )
    assert ledger.fact("volume", "spleen").interval[0] == 0.0
    ratio = ledger.fact("volume_ratio", "liver", "spleen")
    assert number(ratio) == pytest.approx(1000.0)
    assert "unbounded" in ratio.flags
    assert ratio.interval[1] == 1e9


@pytest.mark.parametrize(("hi", "enveloped"), [(20, True), (21, False)])
def test_a_box_within_a_box_may_share_its_faces(hi: int, enveloped: bool) -> None:
    """The same box is within itself, on every side."""
    outer, inner = ((5, 5, 5), (20, 20, 20)), ((5, 5, 5), (hi, 9, 20))
    for pair in (("liver", "spleen"), ("spleen", "liver")):
        ledger = block_ledger((30, 30, 30), 1.0, **dict(zip(pair, (outer, inner))))
        assert ledger.fact("enveloping", *pair).value is enveloped


def test_how_far_a_turned_block_reaches() -> None:
    """A rod of 1 × 1 × 80 mm gets shorter when it leans, and wider than it is thick."""
    ledger = block_ledger((30, 30, 100), 1.0, liver=((10, 10, 10), (11, 11, 90)))
    turn = math.radians(10.0)
    tall = ledger.fact("extent.superior_inferior", "liver")
    assert number(tall) == 80.0
    shortest = 80 * math.cos(turn) + math.sin(turn)  # leaning towards a side
    longest = max(80 * math.cos(a) + math.hypot(1, 1) * math.sin(a) for a in (0.0, turn / 2, turn))
    low, high = tall.interval
    assert low == pytest.approx(shortest - 2 * 0.5, abs=0.01)
    assert high == pytest.approx(longest + 2 * 1.0, abs=0.01)
    wide = ledger.fact("extent.left_right", "liver")
    assert wide.interval[1] == pytest.approx(80 * math.sin(turn) + math.cos(turn) + 2.0, abs=0.25)


def test_masks_on_grids_that_differ() -> None:
    """Every boundary is uncertain by as much more: the surface of 700 faces of 1 mm² is two thirds
    of that."""
    labels = with_error(block_labels((40, 30, 30), 1.0, liver=((3, 3, 3), (18, 13, 13))), 0.3)
    ledger = Ledger(
        labels,
        MaskedSeries(
            study_id="s", series="ct", labels_hash="", annotation="exact", side_basis="affine"
        ),
        recipe=load_recipe(),
        terms={"liver": term("liver")},
    )
    faces = 2 * (100 + 150 + 150)
    slack = (0.5 * faces + 0.3 * faces / 1.5) / 1000
    volume = ledger.fact("volume", "liver")
    assert volume.interval == pytest.approx((1.5 - slack, 1.5 + slack))
    assert ledger.half_voxel_mm == pytest.approx([0.8, 0.8, 0.8])
    assert ledger.half_diagonal_mm == pytest.approx(math.sqrt(3) / 2 + 0.3)
    centroid = ledger.fact("centroid", "liver")
    assert centroid.interval[0] == pytest.approx(10.0 - 0.8)
    span = ledger.fact("slice_span", "liver")
    assert span.interval[2] >= 3 + 0.5 + 0.3


def with_error(labels: LabelMap, grid_error_mm: float) -> LabelMap:
    return dataclasses.replace(labels, grid_error_mm=grid_error_mm)
