"""Cartilage on curved bones: thickness and lost patches in closed form,
and on a real knee against SimpleITK."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from knees import BANK
from situs.anatomy.banks import Region
from situs.facts.grades import GEOMETRY, GradedStudy, GradeLedger, masks_for
from situs.facts.grades.joint import (
    Cartilage,
    JointMasks,
    cartilage_loss,
    joint_frame,
    part_of,
    patient_frame,
)
from situs.facts.grades.joint.losses import _facing_joint
from situs.facts.grades.joint.surface import BoneSurface, _along_normals, measure_surface
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure

SPACING = np.array([0.8, 0.5, 0.5])
FRAME = patient_frame("right")


def lattice(
    low: tuple[float, ...], high: tuple[float, ...], degrees: float
) -> tuple[Grid, np.ndarray]:
    """A grid over a box, turned by so much about an oblique axis, and its voxel centres in mm."""
    axis = np.array([1.0, 2.0, 0.5]) / np.linalg.norm([1.0, 2.0, 0.5])
    cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    angle = np.radians(degrees)
    turn = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    middle, half = (np.array(low) + high) / 2, (np.array(high) - low) / 2 + 6.0
    shape = tuple(np.ceil(2 * half / SPACING).astype(int))
    matrix = np.eye(4)
    matrix[:3, :3] = turn @ np.diag(SPACING)
    matrix[:3, 3] = middle - turn @ half
    index = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1)
    return Grid(shape, Affine(matrix)), index @ matrix[:3, :3].T + matrix[:3, 3]


def condyle(degrees: float) -> tuple[Grid, np.ndarray, np.ndarray, float, float, float]:
    """A ball of 20 mm under a cap of 2.4 mm out to 75° from below:
    bare within 20°, worn to 0.9 mm within 35°."""
    grid, points = lattice((-23, -23, -23), (23, 23, 23), degrees)
    radius = np.linalg.norm(points, axis=-1)
    polar = np.degrees(np.arccos(np.clip(-points[..., 2] / np.maximum(radius, 1e-9), -1, 1)))
    thick = np.select([polar <= 20, polar <= 35, polar <= 75], [0.0, 0.9, 2.4], 0.0)
    cap, lost, bare = (1 - np.cos(np.radians(limit)) for limit in (75, 35, 20))
    return (
        grid,
        radius <= 20,
        (radius > 20) & (radius <= 20 + thick),
        2.4,
        100 * lost / cap,
        100 * bare / lost,
    )


def keeled_patella(degrees: float) -> tuple[Grid, np.ndarray, np.ndarray, float, float, float]:
    """Two facets that fall away from a ridge by 30°, 3 mm of cartilage on 16 × 28 mm of each; 6 ×
    14 mm of the lateral one are bare. Where a point of the cartilage stands on its facet is told
    along the facet's normal."""
    grid, points = lattice((-20, -14, -18), (20, 12, 18), degrees)
    x, y, z = np.moveaxis(points, -1, 0)
    slope = np.tan(np.radians(30))
    above = (-10 + np.abs(x) * slope - y) * np.cos(np.radians(30))
    bone = (np.abs(x) <= 20) & (np.abs(z) <= 18) & (y <= 10) & (above <= 0)
    foot = np.abs(x) - above * 0.5
    hole = (x > 0) & (foot >= 5) & (foot <= 11) & (np.abs(z) <= 7)
    cover = (above > 0) & (above <= 3) & (foot <= 16) & (np.abs(z) <= 14) & ~hole
    return grid, bone, cover, 3.0, 100 * 6 * 14 / (16 * 28), 100.0


def trochlear_groove(degrees: float) -> tuple[Grid, np.ndarray, np.ndarray, float, float, float]:
    """A hollow of 25 mm radius in the underside of a block,
    lined with 2.6 mm over 100° and 30 mm; 30° × 12 mm bare."""
    grid, points = lattice((-22, -20, -20), (22, 20, 20), degrees)
    x, y, z = np.moveaxis(points, -1, 0)
    radius, angle = np.hypot(x, z + 18), np.degrees(np.arctan2(x, z + 18))
    bone = (np.abs(x) <= 22) & (np.abs(y) <= 20) & (z <= 20) & (z >= -8) & (radius >= 25)
    hole = (np.abs(angle) <= 15) & (np.abs(y) <= 6)
    cover = (radius < 25) & (radius >= 25 - 2.6) & (np.abs(angle) <= 50) & (np.abs(y) <= 15) & ~hole
    return grid, bone, cover, 2.6, 100 * 30 * 12 / (100 * 30), 100.0


def measured(
    grid: Grid, bone: np.ndarray, cover: np.ndarray, name: str, region: Region
) -> tuple[BoneSurface, Cartilage]:
    voxels = {name: np.argwhere(bone), "cartilage": np.argwhere(cover)}
    masks = JointMasks(grid, voxels)
    loss = cartilage_loss(part_of(region, masks, FRAME), name, "cartilage", masks, FRAME)
    assert loss is not None
    return measure_surface(voxels[name], voxels["cartilage"], grid, FRAME), loss


LATERAL_HALF = Region("lateral", "patella", {"medial_lateral": (0.5, 1.0)})
CURVED = [
    (condyle, "femur", Region("femur", "femur")),
    (keeled_patella, "patella", LATERAL_HALF),
    (trochlear_groove, "femur", Region("femur", "femur")),
]


@pytest.mark.sampled
@pytest.mark.parametrize("degrees", [0.0, 11.0])
@pytest.mark.parametrize(("shape", "name", "region"), CURVED)
def test_thickness_and_loss_on_curved_bones(
    shape, name: str, region: Region, degrees: float
) -> None:
    """A flat plane would call most of these bare;
    along the bone's own normals they are what they were made."""
    grid, bone, cover, thick, lost, bare = shape(degrees)
    surface, loss = measured(grid, bone, cover, name, region)
    whole = surface.thickness_mm > 0.7 * thick
    assert np.median(surface.thickness_mm[whole]) == pytest.approx(thick, abs=0.15)
    low, high = loss.loss.interval
    assert loss.loss.value == pytest.approx(lost, abs=3.0)
    assert low <= lost <= high
    assert low < loss.loss.value < high
    assert loss.full.value == pytest.approx(bare, abs=8.0)
    assert loss.full.interval[0] <= bare <= loss.full.interval[1]


def test_the_area_of_a_curved_surface_is_not_that_of_its_staircase() -> None:
    """A ball of 20 mm has 4πr² of it (to half a voxel of its radius);
    its voxel faces have half as much again."""
    grid, bone, cover, *_ = condyle(11.0)
    surface = measure_surface(np.argwhere(bone), np.argwhere(cover), grid, FRAME)
    below = surface.points_mm[:, 2] < 0
    assert surface.area_mm2[below].sum() == pytest.approx(2 * np.pi * 20.0**2, rel=0.03)


def test_a_gentle_thinning_and_a_bare_margin_are_not_called_lost() -> None:
    """A cap that thins smoothly to half its thickness at the pole and ends at 60°:
    nothing is certain."""
    grid, points = lattice((-23, -23, -23), (23, 23, 23), 0.0)
    radius = np.linalg.norm(points, axis=-1)
    polar = np.degrees(np.arccos(np.clip(-points[..., 2] / np.maximum(radius, 1e-9), -1, 1)))
    cover = (radius > 20) & (radius <= 20 + np.minimum(2.4, 1.2 + polar * 0.04)) & (polar <= 60)
    _, loss = measured(grid, radius <= 20, cover, "femur", Region("femur", "femur"))
    assert loss.loss.value == 0.0
    assert loss.loss.interval[0] == 0.0
    assert loss.loss.interval[1] > 40.0


def test_a_medial_and_a_lateral_mask_are_one_cartilage() -> None:
    layer = np.zeros((4, 4, 4), np.uint8)
    names = ("femur", "medial_tibial_cartilage", "lateral_tibial_cartilage")
    layer[1:] = np.arange(1, 4)[:, None, None]
    structures = tuple(
        Structure(value, name, 0, value) for value, name in enumerate(names, start=1)
    )
    masks = masks_for(
        BANK, LabelMap(Grid(layer.shape, Affine(np.eye(4))), (layer,), structures), names
    )
    assert {tuple(voxel) for voxel in masks.indices("tibial_cartilage")} == {
        tuple(v) for v in np.argwhere(layer >= 2)
    }


REAL = Path(os.environ.get("SITUS_REAL_DATA") or "/nonexistent") / "volumes" / "knee_dess"
LABELS = {
    "femoral_cartilage": (1,),
    "tibial_cartilage": (2, 3),
    "patellar_cartilage": (4,),
    "femur": (5,),
}
LABELS |= {"tibia": (6,), "patella": (7,), "lateral_meniscus": (9,), "medial_meniscus": (10,)}


@pytest.mark.real
@pytest.mark.skipif(not REAL.is_dir(), reason="SITUS_REAL_DATA is not set")
@pytest.mark.parametrize(
    ("bone", "cartilage", "mean_mm"),
    [
        ("patella", "patellar_cartilage", 1.5),
        pytest.param("tibia", "tibial_cartilage", 2.3, marks=pytest.mark.sweep),
    ],
)
def test_a_real_knee_against_distance_maps(bone: str, cartilage: str, mean_mm: float) -> None:
    """SimpleITK's distance maps give the normals and what is bare;
    the cartilage's volume is that of its voxels."""
    sitk = pytest.importorskip("SimpleITK")
    image = sitk.ReadImage(str(next(REAL.glob("*.nrrd"))))
    array = sitk.GetArrayFromImage(image).transpose(2, 1, 0)
    matrix = np.eye(4)
    matrix[:3, :3] = np.array(image.GetDirection()).reshape(3, 3) * image.GetSpacing()
    matrix[:3, 3] = image.GetOrigin()
    affine = Affine(np.diag([-1.0, -1.0, 1.0, 1.0]) @ matrix)
    named = np.argwhere(array)
    values = array[tuple(named.T)]
    voxels = {name: named[np.isin(values, labels)] for name, labels in LABELS.items()}
    masks = JointMasks(Grid(array.shape, affine), voxels)
    frame = joint_frame(masks.centres_mm(), "right")
    surface = masks.losses(bone, cartilage, frame).surface
    volume = len(voxels[cartilage]) * affine.voxel_volume_mm3
    assert (surface.area_mm2 * surface.thickness_mm).sum() == pytest.approx(volume, rel=0.06)
    bearing = surface.thickness_mm > 0.5
    mean = np.average(surface.thickness_mm[bearing], weights=surface.area_mm2[bearing])
    assert mean == pytest.approx(mean_mm, abs=0.2)
    bare_share = _bare_by_distance(
        sitk, array, image.GetSpacing(), affine, bone, cartilage, masks, frame
    )
    if bone == "patella":
        # A flat plane called its lateral half bare all over. A distance map finds cartilage also
        # around a corner.
        assert bare_share["patella_lateral"] == pytest.approx(33.0, abs=6.0)
    graded = GradedStudy("k", "k", "right", "", "", "", (), (), {}, {}, (), "h")
    ledger = GradeLedger(graded, BANK, study_id="k", series="dess", masks=masks)
    for question in (
        q for q in BANK.question if q.family == "cartilage" and q.region in bare_share
    ):
        low, high = ledger.fact("cartilage_loss_share", question.id, "size").interval
        assert low <= bare_share[question.region] <= high, question.region
        assert ledger.fact(GEOMETRY, question.id, "size").value is None, (
            "its margins leave the grade open"
        )


def _bare_by_distance(
    sitk, array, spacing, affine, bone, cartilage, masks, frame
) -> dict[str, float]:
    """By region: percent of the bone's surface facing the
    joint that has no cartilage within a millimetre."""
    used = np.argwhere(np.isin(array, (*LABELS[bone], *LABELS[cartilage])))
    low, high = used.min(axis=0) - 5, used.max(axis=0) + 6
    crop = tuple(slice(max(0, a), b) for a, b in zip(low, high))
    offset = np.array([part.start for part in crop])
    maps = []
    for values in (LABELS[bone], LABELS[cartilage]):
        mask = sitk.GetImageFromArray(
            np.isin(array[crop], values).astype(np.uint8).transpose(2, 1, 0)
        )
        mask.SetSpacing(spacing)
        distance = sitk.SignedMaurerDistanceMap(mask, squaredDistance=False, useImageSpacing=True)
        maps.append(
            sitk.GetArrayFromImage(sitk.SmoothingRecursiveGaussian(distance, 0.4)).transpose(
                2, 1, 0
            )
        )
    to_bone, to_cartilage = maps
    shell = np.argwhere(np.isin(array[crop], LABELS[bone]) & (to_bone > -0.75 * max(spacing)))
    slopes = np.stack(np.gradient(to_bone), axis=-1)[tuple(shell.T)] @ np.linalg.inv(affine.linear)
    normals = frame.own(slopes / np.linalg.norm(slopes, axis=1, keepdims=True))
    facing = normals[:, 1] < -0.5 if bone == "patella" else normals[:, 2] > 0.5
    bare = to_cartilage[tuple(shell.T)] > 1.0
    shares = {}
    flat = np.ravel_multi_index((shell + offset).T, array.shape)
    for name in (q.region for q in BANK.question if q.family == "cartilage"):
        if BANK.regions[name].structure == bone:
            part = masks.part(BANK.regions[name], frame)
            inside = np.isin(flat, np.ravel_multi_index(part.indices.T, array.shape)) & facing
            shares[name] = 100.0 * float(bare[inside].mean())
    return shares


@pytest.mark.parametrize(
    ("bone", "normals", "can"),
    [
        # 59° and 61° from the way to the joint.
        ("patella", [(0, -0.515, 0.857), (0, -0.485, 0.875)], [True, False]),
        ("tibia", [(0.857, 0, 0.515), (0.875, 0, 0.485)], [True, False]),
        ("femur", [(0, 0.857, 0.515), (0, 0.875, 0.485)], [False, True]),
        # The sides of the femur have none.
        ("femur", [(0.79, 0.613, 0), (-0.81, 0.586, 0)], [True, False]),
    ],
)
def test_where_cartilage_can_be(
    bone: str, normals: list[tuple[float, ...]], can: list[bool]
) -> None:
    surface = SimpleNamespace(normals=np.array(normals))
    assert _facing_joint(surface, bone).tolist() == can  # type: ignore[arg-type]


@pytest.mark.parametrize("away_mm", [0.65, 1.1, 1.85, 2.1, 2.2])
def test_a_slab_just_off_the_bone_is_measured_whole(away_mm: float) -> None:
    """However voxels lie along the line: a slab begins where half of a voxel is of it, and nothing
    is begun beyond 1.75 mm."""
    cover = np.zeros((3, 3, 24), dtype=bool)
    cover[:, :, 10:14] = True
    grid = Grid(cover.shape, Affine(np.eye(4)))
    normals = np.array([[0.0, 0.0, 1.0]])
    start = np.array([[1.0, 1.0, 10.0 - away_mm]])
    thickness = _along_normals(cover, np.zeros(3), start, normals, grid)
    assert thickness == pytest.approx([4.0], abs=0.13)
    far = np.array([[1.0, 1.0, 10.0 - 2.3]])
    assert _along_normals(cover, np.zeros(3), far, normals, grid) < 0.1
