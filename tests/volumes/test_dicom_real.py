"""Real DICOM against SimpleITK, pydicom and the NRRD twins of the segmentations.

Set SITUS_REAL_DATA to run.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pydicom
import pytest
import SimpleITK as sitk  # noqa: N813

from situs.volumes import find_studies, open_labels, open_volume

ROOT = Path(os.environ.get("SITUS_REAL_DATA") or "/nonexistent") / "volumes"
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not ROOT.is_dir(), reason="SITUS_REAL_DATA is not set"),
]
BREAST = ROOT / "breast_mr_dicomseg/UCSF-BR-06"


@pytest.mark.sampled
@pytest.mark.parametrize(
    "name",
    [
        "totalseg_testref/example_ct_dicom",
        "breast_mr_dicomseg/UCSF-BR-06/image_dce_pe1",
        "dcmqi_seg/ct-3slice",
        "dcmqi_seg/23x38x3/image",
        "dcmqi_seg/24x38x3/image",
        "dcmqi_seg/23x38x3/multiframe/mf.dcm",
        "dcmqi_seg/24x38x3/multiframe/mf.dcm",
    ],
)
def test_series(name):
    path = ROOT / name
    if path.is_dir():
        reader = sitk.ImageSeriesReader()
        reader.SetFileNames(reader.GetGDCMSeriesFileNames(str(path)))
        image = reader.Execute()
    else:
        image = sitk.ReadImage(str(path))
    volume = open_volume(path)
    np.testing.assert_array_equal(volume.array(), sitk.GetArrayFromImage(image).T)
    linear = np.array(image.GetDirection()).reshape(3, 3) * image.GetSpacing()
    np.testing.assert_allclose(volume.grid.affine.linear, np.diag([-1, -1, 1]) @ linear, atol=1e-5)
    np.testing.assert_allclose(
        volume.grid.affine.matrix[:3, 3], np.array([-1, -1, 1]) * image.GetOrigin(), atol=1e-5
    )
    assert volume.warnings == ()


TWINS = [
    ("liver.dcm", 1, "liver_seg.nrrd", 1),
    ("partial_overlaps.dcm", 1, "partial_overlaps-1.nrrd", 1),
    ("partial_overlaps.dcm", 2, "partial_overlaps-2.nrrd", 2),
    ("partial_overlaps.dcm", 3, "partial_overlaps-3.nrrd", 3),
    ("partial_overlaps.dcm", 4, "partial_overlaps-1.nrrd", 4),
    ("partial_overlaps.dcm", 5, "partial_overlaps-1.nrrd", 5),
    ("sparse-labelmap-noppv.dcm", 1, "sparse_labelmap_noppv_seg.nrrd", 1),
    ("sparse-labelmap-ppv5.dcm", 1, "sparse_labelmap_ppv5_seg.nrrd", 1),
    ("23x38x3/seg/label.seg", 1, "23x38x3/nrrd/label.nrrd", 1),
    ("24x38x3/seg/label.seg", 1, "24x38x3/nrrd/label.nrrd", 1),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("seg", "label", "twin", "value"), TWINS)
def test_segmentations_equal_their_twins(seg, label, twin, value):
    labels = open_labels(ROOT / "dcmqi_seg" / seg).load()
    image = sitk.ReadImage(str(ROOT / "dcmqi_seg" / twin))
    expected = np.argwhere(value == sitk.GetArrayFromImage(image).T)
    lps = np.array(
        [image.TransformIndexToPhysicalPoint(tuple(map(int, index))) for index in expected]
    )
    index = labels.grid.affine.to_index(lps * [-1, -1, 1])
    np.testing.assert_allclose(index, np.rint(index), atol=1e-4)
    (structure,) = [s for s in labels.structures if s.label == label]
    found = np.argwhere(labels.mask(structure))
    assert {*map(tuple, np.rint(index).astype(int).tolist())} == {*map(tuple, found.tolist())}


def test_no_other_structure_is_found():
    assert [
        s.name for s in open_labels(ROOT / "dcmqi_seg/sparse-labelmap-ppv5.dcm").load().structures
    ] == ["Liver"]
    overlapping = open_labels(ROOT / "dcmqi_seg/partial_overlaps.dcm").load()
    assert [s.name for s in overlapping.structures] == [
        "GREEN",
        "ORANGE",
        "PURPLE",
        "LIGHT_BLUE",
        "DARK_BLUE",
    ]
    assert len(overlapping.layers) == 3  # as many files as dcmqi needs


def test_fractional_breast_against_the_standard_formula():
    (study,) = find_studies(BREAST)
    assert (study.image, study.labels) == (BREAST / "image_dce_pe1", BREAST / "mask/1-1.dcm")
    image = open_volume(study.image)
    assert image.grid.affine.codes == "PIR"
    onto = open_labels(study.labels, reference=image).load()
    assert onto.grid == image.grid
    own = open_labels(study.labels).load()
    assert "0.5" in own.warnings[0]
    seg = pydicom.dcmread(study.labels)
    shared = seg.SharedFunctionalGroupsSequence[0]
    cosines = np.array(
        shared.PlaneOrientationSequence[0].ImageOrientationPatient, dtype=float
    ).reshape(2, 3)
    spacing = np.array(shared.PixelMeasuresSequence[0].PixelSpacing, dtype=float)
    lps = []
    for frame, plane in zip(seg.pixel_array, seg.PerFrameFunctionalGroupsSequence, strict=True):
        first = np.array(plane.PlanePositionSequence[0].ImagePositionPatient, dtype=float)
        row, column = np.nonzero(frame / seg.MaximumFractionalValue >= 0.5)
        lps.append(
            first
            + np.outer(column * spacing[1], cosines[0])
            + np.outer(row * spacing[0], cosines[1])
        )
    lps = np.concatenate(lps)
    for labels in (own, onto):
        index = np.rint(labels.grid.affine.to_index(lps * [-1, -1, 1])).astype(int)
        found = np.argwhere(labels.mask(labels.structures[0]))
        assert {*map(tuple, index.tolist())} == {*map(tuple, found.tolist())}
