"""Published profiles on real volumes of any axis order. Set SITUS_REAL_DATA to run."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from _made import ORDERS, pictures, reordered

from situs.profiles import layout_of, load_profile, shipped_profiles
from situs.space import WorldPoints
from situs.volumes import modality_of, open_volume

ROOT = Path(os.environ.get("SITUS_REAL_DATA") or "/nonexistent") / "volumes"
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not ROOT.is_dir(), reason="SITUS_REAL_DATA is not set"),
]
ABDOMEN = ROOT / "totalseg_s0009"


@pytest.fixture(
    scope="module",
    params=["totalseg_s0009/ct.nii.gz", "breast_mr_dicomseg/UCSF-BR-06/image_dce_pe1"],
)
def scan(request):
    volume = open_volume(ROOT / request.param)
    array = volume.array()
    return array, volume.grid, modality_of(array)


@pytest.mark.sampled
@pytest.mark.parametrize("name", sorted(shipped_profiles()))
def test_no_stored_order_changes_a_picture(scan, name):
    array, grid, modality = scan
    made = load_profile(name)
    frames, expected, _ = pictures(made, array, grid, modality, most=2)
    for number in (14, 37):
        others, shown, _ = pictures(made, *reordered(array, grid, ORDERS[number]), modality, most=2)
        for a, b in zip(shown, expected):
            np.testing.assert_array_equal(a, b)
        corners = np.array([[0.0, 0.0], [30.0, 20.0]])
        for a, b in zip(others, frames):
            np.testing.assert_allclose(a.to_source(corners), b.to_source(corners), atol=1e-6)


@pytest.fixture(scope="module")
def kidneys() -> np.ndarray:
    """Centres of the right and the left kidney, in mm."""
    centres = []
    for name in ("kidney_right", "kidney_left"):
        mask = open_volume(ABDOMEN / "segmentations" / f"{name}.nii.gz")
        index = np.argwhere(mask.array() > 0).mean(axis=0)
        centres.append(mask.grid.affine.to_world(WorldPoints(index[None]))[0])
    return np.array(centres)


@pytest.mark.parametrize("name", sorted(shipped_profiles()))
def test_the_right_kidney_is_on_the_left(name, kidneys):
    grid = open_volume(ABDOMEN / "ct.nii.gz").grid
    for frame in layout_of(load_profile(name), grid).frames:
        for tile in frame.tiles:
            right, left = tile.from_source(kidneys)
            assert tile.plane == "sagittal" or right[0] < left[0]
