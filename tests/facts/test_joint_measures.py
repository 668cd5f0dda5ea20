"""Shares, counts and millimetres of a knee's masks, on blocks that are counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from situs.anatomy.banks import Region
from situs.facts.grades.joint.frame import JointFrame, joint_frame, patient_frame
from situs.facts.grades.joint.geometry import (
    Measure,
    _edges,
    _percent,
    extrusion_mm,
    lesion_count,
    lesion_share,
)
from situs.facts.grades.joint.losses import _facing_joint, _is_abrupt
from situs.facts.grades.joint.regions import JointMasks, Part, block_of, part_of, with_lesions
from situs.facts.grades.joint.surface import BoneSurface
from situs.space import Affine, Grid

FRAME = patient_frame("right")
SPACING = (1.0, 2.0, 0.5)
SHAPE = (40, 30, 50)


def block(lo: tuple[int, ...], hi: tuple[int, ...]) -> np.ndarray:
    """Indices of all voxels between two corners."""
    grid = np.meshgrid(*(np.arange(a, b) for a, b in zip(lo, hi)), indexing="ij")
    return np.stack(grid, axis=-1).reshape(-1, 3)


def masks_of(voxels: dict[str, np.ndarray], spacing=SPACING, shape=SHAPE) -> JointMasks:
    matrix = np.diag([*spacing, 1.0])
    matrix[:3, 3] = (-7.0, 11.0, 3.0)
    return JointMasks(Grid(shape, Affine(matrix)), voxels)


def part(indices: np.ndarray) -> Part:
    return Part(indices, approximate=False, own=indices.astype(float))


def test_half_the_faces_may_be_added_or_taken() -> None:
    """A lesion of 2 × 3 × 4 voxels has 52 faces; it fills 24 of 240 voxels of the part, in which
    half of the block lies."""
    bone, lesion = block((2, 2, 2), (8, 7, 10)), block((4, 3, 4), (6, 6, 8))
    outside = block((20, 3, 4), (22, 6, 8))
    masks = masks_of({"tibia": bone})
    found = lesion_share(part(bone), np.concatenate([lesion, outside]), masks)
    assert found.value == pytest.approx(10.0)
    assert found.interval == pytest.approx((0.0, 10.0 + 100.0 * 26 / 240))
    large = block((2, 2, 2), (8, 7, 9))  # 7 of 8 layers: 6·5 + 6·7 + 5·7 = 107 pairs of faces
    found = lesion_share(part(bone), large, masks)
    assert found.value == pytest.approx(87.5)
    assert found.interval == pytest.approx((87.5 - 100.0 * 107 / 240, 100.0))
    assert lesion_share(part(bone), outside, masks) == Measure(0.0, (0.0, 0.0))
    assert lesion_share(part(bone[:0]), lesion, masks) == Measure(0.0, (0.0, 0.0))
    mask = np.zeros((4, 5, 6), dtype=bool)
    mask[1:3, 1:4, 1:5] = True
    assert _edges(mask) == 26.0


@pytest.mark.parametrize(("length", "count"), [(15, 1), (14, 0)])
def test_a_lesion_of_fifteen_cubic_millimetres_counts(length: int, count: int) -> None:
    """Voxels of 1 mm³; the other lesion is two cubes of 27 that meet at a corner."""
    two = np.concatenate([block((5, 5, 5), (8, 8, 8)), block((8, 8, 8), (11, 11, 11))])
    rod = block((20, 5, 5), (20 + length, 6, 6))
    masks = masks_of({})
    assert masks.voxel_mm3 == pytest.approx(1.0)
    everything = part(block((0, 0, 0), SHAPE))
    found = lesion_count(everything, np.concatenate([two, rod]), masks)
    assert found == Measure(1.0 + count, (1.0 + count, 2.0 + count))
    assert lesion_count(everything, two[:0], masks) == Measure(0.0, (0.0, 0.0))
    assert lesion_count(part(rod), two, masks) == Measure(0.0, (0.0, 0.0))


def test_percent_of_nothing_is_none() -> None:
    assert (_percent(3.0, 12.0), _percent(0.0, 0.0), _percent(1.0, 0.0)) == (25.0, 0.0, 0.0)


@pytest.mark.parametrize("shift", [-3, 0, 2, 4])
def test_how_far_a_meniscus_stands_out(shift: int) -> None:
    """Beyond the upper 15 mm of the tibia, in voxels of 1 × 2 × 0.5 mm: a voxel either way. What
    lies 15 mm below its top is no plateau."""
    plateau, stem = block((10, 10, 5), (30, 20, 34)), block((5, 5, 2), (39, 25, 4))
    bodies = {
        "tibia": np.concatenate([plateau, stem]),
        "lateral_meniscus": block((20, 12, 34), (30 + shift, 20 + shift, 36)),
        "medial_meniscus": block((10 - shift, 12, 34), (20, 20, 36)),
    }
    masks = masks_of(bodies)
    for meniscus, direction, step in (
        ("lateral_meniscus", "lateral", 1.0),
        ("medial_meniscus", "medial", 1.0),
        ("lateral_meniscus", "anterior", 2.0),
    ):
        value = shift * step
        expected = Measure(max(0.0, value), (max(0.0, value - step), max(0.0, value + step)))
        assert extrusion_mm(meniscus, direction, masks, FRAME) == expected
    assert extrusion_mm("lateral_meniscus", "lateral", masks_of({}), FRAME) is None


def test_the_plateau_ends_fifteen_millimetres_below_its_top() -> None:
    """The top voxel lies at 33; 30 voxels of 0.5 mm below it, at 3, none counts any more."""
    for z, stands_out in ((3, 5.0), (4, 0.0)):
        wide = block((10, 10, z), (35, 20, z + 1))
        tibia = np.concatenate([block((10, 10, 10), (30, 20, 34)), wide])
        masks = masks_of({"tibia": tibia, "lateral_meniscus": block((20, 12, 34), (35, 20, 36))})
        found = extrusion_mm("lateral_meniscus", "lateral", masks, FRAME)
        assert found is not None
        assert found.value == stands_out


def region(joint_mm: float | None = None, structure: str = "tibia", **span) -> Region:
    return Region(text=structure, structure=structure, span=span, joint_mm=joint_mm)


def test_fractions_of_an_extent() -> None:
    """Twelve voxels of 1 mm are the whole, each a twelfth; the fourth lies at 3.5 / 12, and where
    one share ends the next begins."""
    bone = block((10, 5, 5), (22, 9, 9))
    masks = masks_of({"tibia": bone}, spacing=(1.0, 1.0, 1.0))
    assert masks_of({}).half_voxel_mm == pytest.approx((1.0 + 2.0 + 0.5) / 6.0)
    shares = (np.arange(12) + 0.5) / 12
    for first, last in (
        (0.0, 1.0 / 3.0),
        (1.0 / 3.0, 2.0 / 3.0),
        (0.5, 1.0),
        (shares[3], shares[7]),
    ):
        found = part_of(region(medial_lateral=(first, last)), masks, FRAME)
        assert found is not None
        kept = [10 + n for n, s in enumerate(shares) if first <= s and (s < last or last == 1.0)]
        assert sorted(set(found.indices[:, 0].tolist())) == kept
        assert found.own == pytest.approx(found.indices + np.array([-7.0, 11.0, 3.0]))
    assert part_of(region(medial_lateral=(0.0, 0.001)), masks, FRAME) is None
    assert part_of(region(structure="patella", medial_lateral=(0.0, 1.0)), masks, FRAME) is None


@pytest.mark.parametrize(("structure", "kept"), [("tibia", range(12, 20)), ("femur", range(2, 10))])
def test_within_a_distance_of_the_joint(structure: str, kept: range) -> None:
    """The joint is at the tibia's upper and the femur's lower end. Depth is counted from half a
    voxel beyond the outermost centres; 8 layers of 1 mm lie within 8 mm, with their centres 0.5 to
    7.5 mm deep, and the ninth does not."""
    masks = masks_of({structure: block((4, 4, 2), (8, 8, 20))}, spacing=(1.0, 1.0, 1.0))
    wanted = region(8.0, structure, medial_lateral=(0.0, 1.0))
    found = part_of(wanted, masks, FRAME)
    assert found is not None
    assert sorted(set(found.indices[:, 2].tolist())) == list(kept)
    just = part_of(region(7.5, structure, medial_lateral=(0.0, 1.0)), masks, FRAME)
    assert just is not None
    assert sorted(set(just.indices[:, 2].tolist())) == list(kept)


def test_a_block_by_shares_of_an_extent() -> None:
    """x: 10 voxels of 1 mm from -2 - half to 7 + half. Nothing of it lies beyond the scan."""
    masks = masks_of({"tibia": block((5, 5, 5), (15, 15, 25))}, spacing=(1.0, 1.0, 1.0))
    spans = {
        "medial_lateral": (0.2, 0.5), "posterior_anterior": (0.0, 1.0),
        "inferior_superior": (0.75, 1.5),
    }  # fmt: skip
    box = block_of(region(**spans), masks, FRAME)
    assert box is not None
    # The voxels' centres begin at (-7, 11, 3); corners of the block's cubes are half a voxel off.
    assert box.lo_mm == pytest.approx((-2.5 + 2.0, 15.5, 7.5 + 15.0))
    assert box.hi_mm == pytest.approx((-2.5 + 5.0, 25.5, 7.5 + 30.0))
    far = {**spans, "inferior_superior": (4.0, 5.0)}
    assert block_of(region(**far), masks, FRAME) is None
    ends = {**spans, "inferior_superior": (0.75, 4.0)}
    cut = block_of(region(**ends), masks, FRAME)
    assert cut is not None
    assert cut.hi_mm[2] == pytest.approx(3.0 - 0.5 + 50.0)


def test_a_lesion_belongs_to_the_bones_nearest_to_it() -> None:
    """A hole in the tibia; the femur lies two voxels above the tibia, the lesion between them."""
    solid, hole = block((5, 5, 5), (15, 15, 15)), block((8, 8, 8), (10, 10, 10))
    tibia = np.array([v for v in solid.tolist() if v not in hole.tolist()])
    bones = {"tibia": tibia, "femur": block((5, 5, 17), (15, 15, 25))}
    filled = with_lesions(bones, hole, SHAPE)
    assert len(filled["tibia"]) == len(solid)
    assert len(filled["femur"]) == len(bones["femur"])
    between = block((7, 7, 16), (9, 9, 17))  # touches the femur, two voxels from the tibia
    filled = with_lesions(bones, between, SHAPE)
    assert len(filled["femur"]) == len(bones["femur"]) + len(between)
    assert len(filled["tibia"]) == len(tibia)
    overlapping = with_lesions(bones, block((5, 5, 5), (7, 7, 7)), SHAPE)
    assert overlapping == bones


def surface_of(normals: np.ndarray, thickness: np.ndarray | None = None) -> BoneSurface:
    points = np.column_stack([np.arange(len(normals)), np.zeros((len(normals), 2))]).astype(float)
    return BoneSurface(
        points.astype(int), points, normals, np.ones(len(normals)),
        np.ones(len(normals)) if thickness is None else thickness, 1.0, np.ones(3),
    )  # fmt: skip


def test_where_a_bone_faces_the_joint() -> None:
    """Within 60° of the way to the joint, which itself is too far; the femur's sides aside."""
    normals = np.array(
        [[0, -0.5, 0.5], [0, -0.51, 0.51], [0, -0.4, 0.4], [0.8, 0, 0], [-0.79, 0, -0.6],
         [0.79, 0, 0.49], [-0.8, 0, 0]]
    )  # fmt: skip
    surface = surface_of(normals)
    facing = {bone: _facing_joint(surface, bone).tolist() for bone in ("patella", "tibia", "femur")}
    assert facing["patella"] == [False, True, False, False, False, False, False]
    assert facing["tibia"] == [False, True, False, False, False, False, False]
    assert facing["femur"] == [False, False, True, False, True, True, False]


@pytest.mark.parametrize(("inside", "abrupt"), [(0.59, True), (0.6, False)])
def test_a_patch_is_abrupt_below_six_tenths_of_what_is_around_it(
    inside: float, abrupt: bool
) -> None:
    """Points 1 mm apart on a line. What lies farther than 1 mm from the patch, by half a voxel
    more, and no farther than 3, is around it: two points on each side."""
    thickness = np.full(40, 9.0)
    patch = np.zeros(40, dtype=bool)
    patch[18:22], thickness[18:22] = True, inside
    thickness[[16, 15, 23, 24]] = 1.0
    thickness[[17, 22]] = 0.1
    assert _is_abrupt(patch, surface_of(np.zeros((40, 3)), thickness)) is abrupt
    assert _is_abrupt(np.ones(40, dtype=bool), surface_of(np.zeros((40, 3)), thickness)) is False


def test_a_joints_own_axes() -> None:
    """Up from tibia to femur, forward to the patella but at right angles to up."""
    centres = {
        "tibia": np.array([1.0, 2.0, 3.0]), "femur": np.array([1.0, 2.0 + 3.0, 3.0 + 4.0]),
        "patella": np.array([1.0, 2.0 + 3.0 + 10.0, 3.0 + 4.0]),
    }  # fmt: skip
    for side, sign in (("right", 1.0), ("left", -1.0)):
        frame = joint_frame(centres, side)
        assert isinstance(frame, JointFrame)
        np.testing.assert_allclose(
            frame.axes, [[sign, 0, 0], [0, 0.8, -0.6], [0, 0.6, 0.8]], atol=1e-12
        )
        np.testing.assert_allclose(patient_frame(side).axes, np.diag([sign, 1.0, 1.0]), atol=1e-12)
    without = joint_frame({name: centres[name] for name in ("tibia", "femur")}, "right")
    np.testing.assert_allclose(without.axes[1], [0, 0.8, -0.6], atol=1e-12)
