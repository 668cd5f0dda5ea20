"""A mask that ends in a plane against another: half of an organ drawn into its neighbour."""

from __future__ import annotations

import numpy as np
import pytest
from _blocks import block_ledger

from attacks import Study, ledger_of_study
from attacks._study import halved, mask_of, redrawn
from laws._studies import phantom_labels
from situs.facts.masks.flat import flat_faces
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure

FLAT = 0.6
PAINTED = [
    ("liver", "kidney_right", 0),
    ("stomach", "spleen", 2),
    ("pancreas", "stomach", 1),
    ("aorta", "inferior_vena_cava", 2),
]


def balls(names: tuple[str, str], centres: tuple[tuple[float, ...], tuple[float, ...]]) -> Study:
    """Two balls of 20 mm radius in one layer, 2 mm voxels."""
    shape = (60, 40, 40)
    index = np.stack(np.meshgrid(*(np.arange(n) for n in shape), indexing="ij"), axis=-1)
    layer = np.zeros(shape, dtype=np.uint8)
    for number, centre in enumerate(centres):
        near = ((index - np.array(centre)) ** 2).sum(axis=-1) <= 100.0
        layer[near & (layer == 0)] = number + 1
    grid = Grid(shape, Affine(np.diag([2.0, 2.0, 2.0, 1.0])))
    structures = tuple(Structure(n + 1, name, 0, n + 1) for n, name in enumerate(names))
    return Study(LabelMap(grid, (layer,), structures))


def painted(study: Study, over: str, of: str, world: int) -> Study:
    """The upper half of one mask drawn into another."""
    labels = study.labels
    half = halved(labels, mask_of(labels, of), world, upper=True)
    masks = {over: mask_of(labels, over) | half, of: mask_of(labels, of) & ~half}
    return study.relabelled(redrawn(labels, masks))


def doubted(study: Study) -> set[str]:
    return {name for found in ledger_of_study(study).doubts for name in found.structures}


def test_half_of_a_ball_ends_with_its_largest_section() -> None:
    """A ball that touches another at a point ends in no plane; its half ends with its largest
    section, of which the other holds all but the rim: the next section."""
    study = balls(("liver", "stomach"), ((20.0, 20.0, 20.0), (41.0, 20.0, 20.0)))
    assert all(share < 0.1 for _, share in flat_faces(ledger_of_study(study)))
    shares = dict(flat_faces(ledger_of_study(painted(study, "stomach", "liver", 0))))
    squares = np.add.outer(np.arange(-10, 11) ** 2, np.arange(-10, 11) ** 2)
    beyond, largest = (squares <= 99).sum(), (squares <= 100).sum()
    assert shares["liver", "stomach"] == beyond / largest


@pytest.mark.parametrize(
    ("first", "second"),
    [("gallbladder", "duodenum"), ("vertebrae", "spinal_cord"), ("iliopsoas_left", "colon")],
)
def test_half_of_gut_bone_or_muscle_ends_in_a_plane_as_well(first: str, second: str) -> None:
    study = balls((first, second), ((20.0, 20.0, 20.0), (41.0, 20.0, 20.0)))
    assert all(share < 0.1 for _, share in flat_faces(ledger_of_study(study)))
    shares = dict(flat_faces(ledger_of_study(painted(study, second, first, 0))))
    assert shares[first, second] > FLAT


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("kidney_left", "kidney_right"),  # akin: one may be grown to the other
        ("esophagus", "stomach"),  # tubes pass into each other
        ("lung_upper_lobe_left", "lung_lower_lobe_left"),
        ("superior_vena_cava", "heart"),
        ("vertebrae_L2", "vertebrae_L3"),  # a disc parts their end plates
        ("rib_left_8", "lung_left"),
    ],
)
def test_what_passes_into_each_other_may_meet_in_a_plane(first: str, second: str) -> None:
    blocks = {first: ((10, 10, 10), (30, 30, 30)), second: ((30, 10, 10), (50, 30, 30))}
    assert dict(flat_faces(block_ledger((60, 40, 40), 2.0, **blocks))) == {}


def test_a_vessel_may_end_on_an_organ_but_no_organ_on_a_vessel() -> None:
    blocks = {
        "inferior_vena_cava": ((10, 10, 10), (30, 30, 30)),
        "liver": ((30, 10, 10), (50, 30, 30)),
    }
    shares = dict(flat_faces(block_ledger((60, 40, 40), 2.0, **blocks)))
    assert shares == {("liver", "inferior_vena_cava"): 1.0}


@pytest.mark.parametrize(("over", "of", "world"), PAINTED)
def test_an_organ_half_drawn_into_its_neighbour_is_doubted(over: str, of: str, world: int) -> None:
    sound = Study(phantom_labels(77, 2, (4.0, 4.0, 4.0)))
    assert all(share < FLAT for _, share in flat_faces(ledger_of_study(sound)))
    assert {over, of} <= doubted(painted(sound, over, of, world))
