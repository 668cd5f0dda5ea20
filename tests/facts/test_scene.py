"""What a study is judged by, measured from voxels:
vessels beside each other, their roundness, shared layers."""

from __future__ import annotations

import numpy as np
import pytest

from attacks import Study, exchanged, ledger_of_study, situs_inversus
from attacks._study import axis_toward, redrawn, renamed, reordered
from laws._studies import phantom_labels
from situs.anatomy.plausible.masks import scattered
from situs.facts.masks.scene import scene_of
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure
from situs.volumes.phantoms import make_patient

VESSELS = {"aorta", "inferior_vena_cava"}


@pytest.fixture(scope="module")
def slab() -> Study:
    """The middle of a phantom: both vessels go through it from end to end."""
    labels = phantom_labels(100, 0, (6.0, 6.0, 6.0))
    axis, _ = axis_toward(labels, 2)
    length = labels.grid.shape[axis]
    kept = [slice(None)] * 3
    kept[axis] = slice(int(0.4 * length), int(0.7 * length))
    cropped = reordered(labels, lambda layer: layer[tuple(kept)])
    shown = {s.name for s in cropped.structures if cropped.mask(s).any()}
    return Study(renamed(cropped, lambda name: name if name in shown else None))


def doubted(study: Study) -> set[str]:
    return {name for found in ledger_of_study(study).doubts for name in found.structures}


def test_vessels_that_are_cut_at_both_ends_keep_their_names(slab: Study) -> None:
    ledger = ledger_of_study(slab)
    assert all(ledger.is_cut(name) for name in VESSELS)
    assert not VESSELS & doubted(slab)


def test_their_names_exchanged_are_seen(slab: Study) -> None:
    wrong = exchanged("aorta", "inferior_vena_cava")(slab)
    assert wrong is not None
    assert doubted(wrong) >= VESSELS


def test_a_mirrored_patient_keeps_the_names(slab: Study) -> None:
    assert not VESSELS & doubted(situs_inversus(slab))


def tube(width_mm: float, depth_mm: float) -> LabelMap:
    """An elliptic aorta of 2 mm voxels that runs from head to foot, and nothing else."""
    x, y = np.mgrid[-40:41:2, -40:41:2].astype(float)
    disc = (2 * x / width_mm) ** 2 + (2 * y / depth_mm) ** 2 <= 1.0
    layer = np.repeat(disc[:, :, None], 40, axis=2).astype(np.uint8)
    return LabelMap(
        Grid(layer.shape, Affine(np.diag([2.0, 2.0, 2.0, 1.0]))),
        (layer,),
        (Structure(1, "aorta", 0, 1),),
    )


@pytest.mark.parametrize(("width", "depth"), [(24, 24), (31, 24), (24, 31)])
def test_roundness_is_width_over_depth(width: float, depth: float) -> None:
    seen = scene_of(ledger_of_study(Study(tube(width, depth))), None).aorta_roundness
    assert seen == pytest.approx(width / depth, rel=0.08)


@pytest.mark.parametrize("voxels", [2, 4])
def test_a_shared_layer_is_as_thick_as_it_is(voxels: int) -> None:
    """Two slabs that share some rows of 2 mm voxels:
    twice the volume over the surface, less for the rims."""
    shape = (40, 40, 40)
    first, second = np.zeros(shape, bool), np.zeros(shape, bool)
    first[5:35, 5:35, 5:20] = True
    second[5:35, 5:35, 20 - voxels : 35] = True
    empty = LabelMap(
        Grid(shape, Affine(np.diag([2.0, 2.0, 2.0, 1.0]))),
        (np.zeros(shape, np.uint8),),
        (Structure(1, "liver", 0, 1), Structure(2, "stomach", 0, 2)),
    )
    labels = redrawn(empty, {"liver": first, "stomach": second})
    (thickness,) = scene_of(ledger_of_study(Study(labels)), None).layers_mm.values()
    volume, surface = 900 * voxels, 2 * 900 + 4 * 30 * voxels
    assert thickness == pytest.approx(2.0 * 2.0 * volume / surface)


@pytest.mark.parametrize(
    ("left_part", "doubted"),
    [
        (((20, 70, 60), (45, 100, 90)), False),  # a left lobe, in front of the spine
        (((20, 20, 60), (45, 50, 90)), True),  # the spleen, drawn into the liver and cut with it
        (((60, 20, 60), (80, 50, 90)), False),  # behind, but beside the vertebrae
    ],
)
@pytest.mark.parametrize("spine", ["numbered", "in one mask"])
def test_a_liver_lies_in_one_flank(left_part, doubted, spine) -> None:
    """On the right, and to the left in front only. RAS+: the larger x, the further right."""
    layer = np.zeros((100, 60, 70), np.uint8)
    for number, top in enumerate((50, 35, 20)):
        layer[45:55, 15:25, top - 10 : top] = number + 2
    for low, high in (((150, 20, 40), (199, 90, 120)), left_part):
        layer[tuple(slice(a // 2, b // 2) for a, b in zip(low, high))] = 1
    names = ("liver", "vertebrae_L1", "vertebrae_L2", "vertebrae_L3")
    if spine == "in one mask":
        layer = np.minimum(layer, 2)
        names = ("liver", "vertebrae")
    structures = tuple(Structure(n, name, 0, n) for n, name in enumerate(names, 1))
    grid = Grid(layer.shape, Affine(np.diag([2.0, 2.0, 2.0, 1.0])))
    ledger = ledger_of_study(Study(LabelMap(grid, (layer,), structures)))
    problems = [one.problem for one in scattered(scene_of(ledger, None))]
    assert any("both sides of the spine" in problem for problem in problems) is doubted


@pytest.fixture(scope="module")
def mr() -> Study:
    spacing = (6.0, 6.0, 6.0)
    patient = make_patient(3, 2, modality="mr", spacing_mm=spacing)
    return Study(phantom_labels(3, 2, spacing), np.asarray(patient.image), modality="mr")


def test_masks_that_fit_an_mr_are_not_doubted(mr: Study) -> None:
    assert doubted(mr) == set()


@pytest.mark.parametrize("world", [0, 1, 2])
@pytest.mark.parametrize("mm", [-24.0, 24.0])
def test_masks_that_lie_beside_the_organs_of_an_mr_are_doubted(
    mr: Study, world: int, mm: float
) -> None:
    """They moved by four voxels with all their neighbours: only the image tells."""
    axis, _ = axis_toward(mr.labels, world)
    moved = reordered(mr.labels, lambda layer: np.roll(layer, round(mm / 6.0), axis))
    shown = {s.name for s in moved.structures}
    assert doubted(Study(moved)) < shown
    assert doubted(mr.relabelled(moved)) == shown


def test_a_stray_voxel_beside_the_spine_moves_no_rib() -> None:
    """A rib of 60 voxels beside the middle of T12, and one voxel of it beside L2."""
    layer = np.zeros((60, 30, 120), np.uint8)
    names = ("vertebrae_T11", "vertebrae_T12", "vertebrae_L1", "vertebrae_L2", "rib_right_12")
    for number, top in enumerate((110, 90, 70, 50), 1):
        layer[20:30, 10:20, top - 14 : top] = number
    layer[30:50, 12, 82:85] = 5
    structures = tuple(Structure(n, name, 0, n) for n, name in enumerate(names, 1))
    grid = Grid(layer.shape, Affine(np.diag([2.0, 2.0, 2.0, 1.0])))

    def off_levels() -> float:
        ledger = ledger_of_study(Study(LabelMap(grid, (layer.copy(),), structures)))
        (anchor,) = scene_of(ledger, None).anchors
        return anchor.off_levels

    assert abs(off_levels()) < 0.5
    layer[30, 15, 45] = 5
    assert abs(off_levels()) < 0.5


@pytest.mark.parametrize(("gap", "off"), [(0, 0.0), (4, 1.0)])
def test_a_whole_s1_that_a_disc_keeps_away_from_the_sacrum_is_l5(gap: int, off: float) -> None:
    """One piece with the sacrum or 8 mm above it; the joints of L5 reach down behind it."""
    layer = np.zeros((40, 30, 110), np.uint8)
    blocks = {"vertebrae_L4": (90, 104), "vertebrae_L5": (72, 86), "vertebrae_S1": (54, 68)}
    for number, (low, top) in enumerate((*blocks.values(), (20, 54 - gap)), 1):
        layer[10:30, 10:20, low:top] = number
    layer[16:24, 20:24, 56:86] = 2
    structures = tuple(Structure(n, name, 0, n) for n, name in enumerate((*blocks, "sacrum"), 1))
    grid = Grid(layer.shape, Affine(np.diag([2.0, 2.0, 2.0, 1.0])))
    ledger = ledger_of_study(Study(LabelMap(grid, (layer,), structures)))
    assert [
        anchor.off_levels for anchor in scene_of(ledger, None).anchors if anchor.off_levels
    ] == ([off] if off else [])
