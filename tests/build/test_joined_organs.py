"""Two organs drawn as one mask: no mark is asked for in the one that the mask does not name, and a
neighbour's spur leaves the organ in doubt."""

from __future__ import annotations

import numpy as np
import pytest

from attacks import ATTACKS, Study, ledger_of_study
from attacks._study import mask_of
from laws._studies import phantom_labels
from situs.anatomy import term
from situs.anatomy.plausible import Scene, Sighting, absent_places, judge
from situs.facts import Ledger
from situs.facts.masks.cores import spur_mm
from situs.measure import Regions
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure

SPACING_MM = (6.0, 6.0, 6.0)
PLACES_MM = {
    "liver": (62.0, 55.0, 28.0),
    "spleen": (-92.0, 5.0, 32.0),
    "pancreas": (-12.0, 62.0, 0.0),
    "kidney_left": (-65.0, 8.0, -12.0),
}
"""Of a usual patient, from the centre of L1, as `places.csv` has them."""
USUAL_ML = {"liver": 1500.0, "spleen": 190.0, "pancreas": 75.0, "kidney_left": 165.0}


def usual_patient(sign: float = 1.0) -> Scene:
    """Four organs in their usual places; with -1 mirrored, and rightly named."""
    named = {n: n for n in PLACES_MM} if sign > 0 else {"kidney_left": "kidney_right"}
    at = {named.get(n, n): (sign * x, y, z) for n, (x, y, z) in PLACES_MM.items()}
    usual_ml = {named.get(n, n): ml for n, ml in USUAL_ML.items()}
    sightings = {n: Sighting(usual_ml[n], mm, (50.0, 50.0, 50.0)) for n, mm in at.items()}
    return Scene(sightings, {name: term(name) for name in sightings})


@pytest.mark.parametrize(
    ("sign", "kidney", "height_mm"), [(1.0, "kidney_right", -22.0), (-1.0, "kidney_left", -12.0)]
)
def test_an_absent_organ_is_expected_where_the_others_put_it(
    sign: float, kidney: str, height_mm: float
) -> None:
    place = absent_places(usual_patient(sign))[kidney]
    assert place.centre == pytest.approx((sign * 65.0, 8.0, height_mm), abs=12.0)
    ball_mm = 10.0 * (3.0 * 165.0 / (4.0 * np.pi)) ** (1.0 / 3.0)
    assert (place.half_axes > ball_mm + 2.0 * np.array([14.0, 16.0, 22.0])).all()
    assert place.holds(place.centre[None] + [[0.0, 0.0, 0.0], [0.0, 0.0, ball_mm]]).all()
    beyond = place.centre + np.eye(3) * 1.01 * place.half_axes
    assert not place.holds(beyond).any()


def test_nothing_is_expected_beside_three_organs_or_of_lungs() -> None:
    scene = usual_patient()
    assert not [name for name in absent_places(scene) if name.startswith("lung")]
    fewer = {name: scene.sightings[name] for name in list(scene.sightings)[:3]}
    assert absent_places(Scene(fewer, scene.terms)) == {}


def sites_of(ledger: Ledger, name: str) -> np.ndarray:
    found = [sites[name] for sites in ledger.mark_sites.anywhere.values() if name in sites]
    return np.concatenate(found) if found else np.zeros((0, 3))


@pytest.mark.parametrize(
    ("attack", "whole", "hidden"),
    [
        ("kidney_joined_to_liver", "liver", "kidney_right"),
        ("stomach_joined_to_liver", "liver", "stomach"),
        ("kidney_called_spleen", "spleen", "kidney_left"),
    ],
)
def test_no_mark_lies_in_an_organ_under_anothers_name(attack: str, whole: str, hidden: str) -> None:
    study = Study(phantom_labels(3, 1, SPACING_MM))
    spoilt = ATTACKS[attack](study)
    assert spoilt is not None
    points = sites_of(ledger_of_study(spoilt), whole)
    index = np.rint(spoilt.labels.grid.affine.to_index(points)).astype(int)
    assert not mask_of(study.labels, hidden)[tuple(index.T)].any()
    assert len(points) or attack == "kidney_called_spleen"


def kidney(spur_voxels: int, spacing: float = 2.0) -> LabelMap:
    """An ellipsoid of 60 × 60 × 100 mm, and on its top a rod of 6 mm across."""
    shape, middle = (41, 41, 81), np.array([20, 20, 30])
    at = (np.indices(shape).transpose(1, 2, 3, 0) - middle) * spacing
    mask = ((at / [30.0, 30.0, 50.0]) ** 2).sum(axis=3) <= 1.0
    mask[19:22, 19:22, 30 : 56 + spur_voxels] = True
    grid = Grid(shape, Affine(np.diag([spacing, spacing, spacing, 1.0])))
    return LabelMap(grid, (mask.astype(np.uint8),), (Structure(1, "kidney_left", 0, 1),))


@pytest.mark.parametrize("voxels", [0, 3, 6, 12])
def test_a_spur_is_as_long_as_what_sticks_out_thinly(voxels: int) -> None:
    measured = spur_mm(Regions(kidney(voxels))["kidney_left"])
    assert measured == pytest.approx(2.0 * voxels, abs=4.0)  # two voxels


def test_large_voxels_tell_of_no_spur() -> None:
    assert spur_mm(Regions(kidney(12, spacing=6.0))["kidney_left"]) == 0.0


@pytest.mark.parametrize(("voxels", "doubted"), [(0, False), (2, False), (8, True)])
def test_a_kidney_with_a_long_spur_is_doubted(voxels: int, doubted: bool) -> None:
    doubts = judge(ledger_of_study(Study(kidney(voxels))).scene)
    assert any("thin spur" in one.problem for one in doubts) == doubted
