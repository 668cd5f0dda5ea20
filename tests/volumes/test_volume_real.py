"""Real files, against nibabel, pynrrd and SimpleITK. Set SITUS_REAL_DATA to run."""

from __future__ import annotations

import os
from pathlib import Path

import nibabel as nib
import nrrd
import numpy as np
import pytest
import SimpleITK as sitk  # noqa: N813

from situs.volumes import find_studies, open_labels, open_volume

ROOT = Path(os.environ.get("SITUS_REAL_DATA") or "/nonexistent") / "volumes"
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not ROOT.is_dir(), reason="SITUS_REAL_DATA is not set"),
]


def files(pattern: str) -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for path in ROOT.glob(pattern)) or ["none"]


def test_totalsegmentator_study():
    (study,) = find_studies(ROOT / "totalseg_s0009")
    labels = open_labels(study.labels).load()
    assert study.image is not None
    assert open_volume(study.image).grid.matches(labels.grid)
    assert len(labels.structures) == 53  # ../shared/data/README.md
    assert "64 empty masks: " in labels.warnings[0]
    for structure in labels.structures:
        referee = nib.load(study.labels / f"{structure.name}.nii.gz")
        np.testing.assert_array_equal(labels.mask(structure), np.asanyarray(referee.dataobj) > 0)
    np.testing.assert_array_equal(labels.grid.affine.matrix, referee.affine)
    assert len(labels.layers) < 5


@pytest.mark.parametrize(
    "name",
    files("*/**/*.nii.gz")[:1] + files("t[!o]*/**/*.nii.gz") + files("totalseg_testref/*.nii.gz"),
)
def test_nifti_files(name):
    volume, referee = open_volume(ROOT / name), nib.load(ROOT / name)
    np.testing.assert_array_equal(volume.grid.affine.matrix, referee.affine)
    assert volume.grid.affine.codes == "".join(nib.aff2axcodes(referee.affine))
    found = volume.array()
    if found.dtype == np.float32:
        np.testing.assert_allclose(found, referee.get_fdata(dtype=np.float32), rtol=1e-6)
    else:
        np.testing.assert_array_equal(found, np.asanyarray(referee.dataobj))


def test_spine_is_pir():
    labels = open_labels(ROOT / "tptbox_spine/sample_ct/sub-ct_seg-vert_label-22_msk.nii.gz")
    assert labels.grid.affine.codes == "PIR"
    assert 22 in [s.label for s in labels.load().structures]


@pytest.mark.parametrize("name", files("dcmqi_seg/*.nrrd") + files("slicerio_ctchest/CT*.nrrd"))
def test_nrrd_files(name):
    volume, image = open_volume(ROOT / name), sitk.ReadImage(str(ROOT / name))
    np.testing.assert_array_equal(volume.array(), sitk.GetArrayFromImage(image).T)
    lps = np.array(image.GetDirection()).reshape(3, 3) * image.GetSpacing()
    np.testing.assert_allclose(volume.grid.affine.linear, np.diag([-1, -1, 1]) @ lps, atol=1e-6)
    np.testing.assert_allclose(
        volume.grid.affine.matrix[:3, 3], np.array([-1, -1, 1]) * image.GetOrigin(), atol=1e-6
    )


@pytest.mark.parametrize("name", ["Segmentation", "SegmentationOverlapping"])
def test_slicer_segmentations(name):
    path = ROOT / "slicerio_ctchest" / f"{name}.seg.nrrd"
    data, header = nrrd.read(str(path))
    data = data if data.ndim == 4 else data[None]
    labels = open_labels(path).load()
    assert len(labels.layers) == len(data)
    names = {s.name: s for s in labels.structures}
    numbers = range(8 if name == "SegmentationOverlapping" else 7)
    assert len(names) == len(numbers)
    for number in numbers:
        structure = names[header[f"Segment{number}_Name"]]
        expected = data[int(header[f"Segment{number}_Layer"])] == int(
            header[f"Segment{number}_LabelValue"]
        )
        np.testing.assert_array_equal(labels.mask(structure), expected)
    assert labels.grid.matches(open_volume(ROOT / "slicerio_ctchest/CTChest4.nrrd").grid)
