"""Files whose affines differ a little:
one grid, told and in every interval; beyond a tenth of a voxel, none."""

from __future__ import annotations

import json
import os
from pathlib import Path

import nibabel as nib
import numpy as np
import pytest

SPACING = 4.0
ROOT = Path(os.environ.get("SITUS_REAL_DATA", "")) / "volumes"


def study(folder: Path, masks_mm: float = 0.0, image_mm: float = 0.0) -> Path:
    """A liver, and a spleen and an image whose grids
    lie so many millimetres further to the right."""
    liver, spleen = np.zeros((40, 30, 26), np.uint8), np.zeros((40, 30, 26), np.uint8)
    liver[21:31, 10:20, 9:17] = spleen[9:15, 13:19, 10:16] = 1
    image = np.where(liver | spleen, 60, -1000).astype(np.int16)
    for name, array, shift_mm in (
        ("segmentations/liver", liver, 0.0),
        ("segmentations/spleen", spleen, masks_mm),
        ("ct", image, image_mm),
    ):
        affine = np.diag([SPACING, SPACING, SPACING, 1.0])
        affine[0, 3] = shift_mm
        path = folder / f"{name}.nii.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        nib.save(nib.Nifti1Image(array, affine), path)
    return folder


def measured(situs, folder: Path) -> tuple[dict, dict, str]:
    ran = situs("measure", folder, "--pairs", "all", "--annotation", "exact", "--json")
    assert ran.code == 0, ran.err
    report = json.loads(ran.out)
    return {s["name"]: s for s in report["structures"]}, report["pairs"][0], ran.err


@pytest.mark.parametrize("moved", ["masks_mm", "image_mm"])
def test_the_difference_belongs_to_every_interval(moved, situs, tmp_path):
    """Without annotation error a boundary is known to half a voxel:
    to 2 mm, and 2.3 mm where grids differ by 0.3."""
    plain, plain_pair, told = measured(situs, study(tmp_path / "plain"))
    assert "grids" not in told
    wider, wider_pair, told = measured(situs, study(tmp_path / "moved", **{moved: 0.3}))
    assert "differ by up to 0.3 mm" in told
    assert told.count("\n") == 1
    for name in ("liver", "spleen"):
        for found, half in ((plain[name], 2.0), (wider[name], 2.3)):
            low, high = np.array(found["centroid_mm_interval"])
            np.testing.assert_allclose(high - found["centroid_mm"], half, atol=1e-5)
            np.testing.assert_allclose(found["centroid_mm"] - low, half, atol=1e-5)
            shortest, longest = found["extent_mm_interval"]["left_right"]
            assert found["extent_mm"]["left_right"] - shortest == pytest.approx(2 * half, abs=1e-5)
            assert longest - found["extent_mm"]["left_right"] == pytest.approx(
                2 * (half + 2.0), abs=1e-5
            )
        assert wider[name]["volume_ml_interval"][1] > plain[name]["volume_ml_interval"][1]
    for pair, extra in ((plain_pair, 0.0), (wider_pair, 0.3)):
        slack = 2 * (np.sqrt(3) * SPACING / 2 + extra)
        assert pair["gap_mm_interval"][1] - pair["gap_mm"] == pytest.approx(slack, abs=1e-5)


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("moved", ["masks_mm", "image_mm"])
def test_build_tells_it_and_check_recomputes_it(moved, situs, tmp_path, label_phantoms):
    study(tmp_path / "data" / "a", **{moved: 0.3})
    label_phantoms(tmp_path / "data", 3, 1)
    ran = situs("build", "masks", tmp_path / "data", "--out", tmp_path / "bench", "--json")
    assert ran.code == 0, ran.err
    texts = [
        problem["problem"]
        for problem in json.loads(ran.out)["problems"]
        if problem["code"] == "file"
    ]
    assert len([text for text in texts if "differ by up to 0.3 mm" in text]) == 1
    checked = json.loads(situs("check", tmp_path / "bench", "--json").out)
    assert [p for p in checked["problems"] if p["severity"] == "error"] == []
    (tmp_path / "data" / "a" / "ct.nii.gz").rename(tmp_path / "elsewhere.nii.gz")
    checked = json.loads(situs("check", tmp_path / "bench", "--json").out)
    assert [p for p in checked["problems"] if p["severity"] == "error"] == []


def test_check_finds_a_grid_that_moved_after_the_build(situs, tmp_path):
    study(tmp_path / "data" / "a", masks_mm=0.3)
    # Its two blocks are far smaller than an adult's organs.
    trust = ("--trust", "*:scale")
    built = situs("build", "masks", tmp_path / "data", "--out", tmp_path / "bench", *trust)
    assert built.code == 0, built.err
    study(tmp_path / "data" / "a", masks_mm=0.2)
    ran = situs("check", tmp_path / "bench", "--json")
    assert ran.code == 1
    assert "grid" in {problem["code"] for problem in json.loads(ran.out)["problems"]}


@pytest.mark.parametrize(
    ("moved", "whose"), [("masks_mm", "liver.nii.gz and spleen.nii.gz"), ("image_mm", "image")]
)
def test_a_tenth_of_a_voxel_is_another_grid(moved, whose, situs, tmp_path):
    ran = situs("measure", study(tmp_path / "study", **{moved: 0.1 * SPACING + 0.02}))
    assert ran.code == 2
    assert whose in ran.err
    assert "not on one grid (0.42 mm apart at a corner)" in ran.err
    assert "resample" in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.skipif(not (ROOT / "totalseg_s0002").is_dir(), reason="needs SITUS_REAL_DATA")
def test_a_real_study_whose_masks_were_resampled_apart(situs):
    """92 of the 117 masks lie 0.046 mm from the others:
    nibabel's affines, compared at the corners."""
    ran = situs("measure", ROOT / "totalseg_s0002", "--json")
    assert ran.code == 0, ran.err
    assert "differ by up to 0.046 mm" in ran.err
