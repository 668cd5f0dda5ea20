"""Public layouts by the file names under which they were published, and DICOM studies."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from dicom_make import write_series
from test_dicom_labels import SQUARE, at, blobs, contour, write_contours, write_seg

from situs.errors import SitusError
from situs.volumes import find_studies, open_labels, open_volume

OLD = {"0": "background", "1": "liver", "2": "cancer"}
NEW = {"background": 0, "liver": 1, "cancer": 2, "ignore": 3}


def touch(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return root


def describe(root: Path, **fields: object) -> None:
    (root / "dataset.json").write_text(json.dumps(fields))


def test_decathlon(tmp_path):
    root = touch(
        tmp_path / "Task03_Liver",
        "imagesTr/liver_0.nii.gz",
        "imagesTr/liver_12.nii.gz",
        "imagesTs/liver_3.nii.gz",
        "labelsTr/liver_0.nii.gz",
        "labelsTr/liver_12.nii.gz",
        "labelsTr/._liver_12.nii.gz",
    )
    describe(root, name="LIVER", labels=OLD, modality={"0": "CT"}, numTraining=131, training=[])
    first, second = find_studies(root)
    assert (first.stem, first.public_id, first.layout, first.vocabulary) == (
        "liver_0",
        "liver_0",
        "msd",
        "msd_liver",
    )
    assert first.names == {1: "liver", 2: "cancer"}
    assert second.image == root / "imagesTr/liver_12.nii.gz"
    assert second.labels == root / "labelsTr/liver_12.nii.gz"


def test_nnunet(tmp_path):
    root = touch(
        tmp_path / "Dataset500_Ours",
        "imagesTr/Doe_Jane_0000.nii.gz",
        "imagesTr/Doe_Jane_0001.nii.gz",
        "labelsTr/Doe_Jane.nii.gz",
        "labelsTr/liver_2.nii.gz",
    )
    describe(root, labels=NEW | {"both": [1, 2]}, channel_names={"0": "CT"}, file_ending=".nii.gz")
    jane, other = find_studies(root)
    assert (jane.layout, jane.vocabulary, jane.public_id) == ("nnunet", None, None)
    assert jane.image == root / "imagesTr/Doe_Jane_0000.nii.gz"
    assert jane.names == {1: "liver", 2: "cancer"}
    assert (other.image, other.public_id) == (None, None)


def test_kits_as_nnunet(tmp_path):
    root = touch(
        tmp_path / "Dataset220_KiTS2023",
        "imagesTr/case_00000_0000.nii.gz",
        "labelsTr/case_00000.nii.gz",
    )
    describe(
        root, name="KiTS2023", labels={"background": 0, "kidney": [1, 2, 3]}, file_ending=".nii.gz"
    )
    (found,) = find_studies(root)
    assert (found.layout, found.vocabulary, found.public_id, found.names) == (
        "nnunet",
        "kits",
        "case_00000",
        None,
    )


def test_amos(tmp_path):
    names = [
        f"{kind}{split}/amos_{n:04d}.nii.gz"
        for kind in ("images", "labels")
        for split, n in (("Tr", 1), ("Va", 8))
    ]
    root = touch(tmp_path / "amos22", *names)
    describe(root, name="AMOS", labels={"0": "background", "1": "spleen"})
    found = find_studies(root)
    assert [s.public_id for s in found] == ["amos_0001", "amos_0008"]
    assert {(s.layout, s.vocabulary) for s in found} == {("amos", "amos")}
    assert found[1].image == root / "imagesVa/amos_0008.nii.gz"


@pytest.mark.parametrize("inside", ["", "data", "dataset"])
def test_kits(tmp_path, inside):
    files = [f"case_0000{n}/{name}.nii.gz" for n in (2, 1) for name in ("imaging", "segmentation")]
    root = touch(tmp_path / inside, *files, "case_x/segmentation.nii.gz")
    found = find_studies(tmp_path)
    assert [s.public_id for s in found] == ["case_00001", "case_00002"]
    assert found[0].image == root / "case_00001/imaging.nii.gz"
    assert (found[0].layout, found[0].vocabulary) == ("kits", "kits")


def test_brats(tmp_path):
    case = "BraTS-GLI-00001-000"
    new = touch(
        tmp_path / "new",
        *(f"{case}/{case}-{part}.nii.gz" for part in ("t1n", "t1c", "t2w", "t2f", "seg")),
    )
    (found,) = find_studies(new)
    assert (found.public_id, found.layout, found.vocabulary) == (case, "brats", "brats2023")
    assert found.image == new / case / f"{case}-t1c.nii.gz"
    assert found.patient_key == "BraTS-GLI-00001"
    assert "BraTS-GLI-00001'" not in repr(found)
    case = "BraTS19_CBICA_AAB_1"
    parts = ("t1", "t1ce", "t2", "flair", "seg")
    old = touch(tmp_path / "old", *(f"HGG/{case}/{case}_{part}.nii.gz" for part in parts))
    (found,) = find_studies(old)
    assert (found.public_id, found.vocabulary) == (case, "brats2020")
    assert found.image == old / "HGG" / case / f"{case}_t1ce.nii.gz"
    ours = touch(tmp_path / "ours", *(f"Jane/Jane_{part}.nii.gz" for part in parts))
    assert find_studies(ours)[0].public_id is None


def test_totalsegmentator_suggests_its_vocabulary(tmp_path):
    (tmp_path / "s0001" / "segmentations").mkdir(parents=True)
    touch(tmp_path / "s0001", "mri.nii.gz")
    (found,) = find_studies(tmp_path, layout="totalsegmentator")
    assert (found.layout, found.vocabulary) == ("totalsegmentator", "totalsegmentator_mr")


@pytest.mark.parametrize(
    "labels",
    [
        {"a": "b"},
        {"liver": -1},
        {"liver": 1, "spleen": 1},
        {"": 1},
        {"liver": 1.5},
        {"liver": {}},
        [1],
        {"1": "\x07"},
    ],
)
def test_descriptions_with_mistakes(tmp_path, labels):
    touch(tmp_path, "labelsTr/a.nii.gz")
    describe(tmp_path, labels=labels)
    with pytest.raises(SitusError) as caught:
        find_studies(tmp_path)
    assert "\n" not in str(caught.value)
    (tmp_path / "dataset.json").write_text("{")
    with pytest.raises(SitusError, match="not valid JSON"):
        find_studies(tmp_path)


def test_the_layout_can_be_chosen(tmp_path):
    touch(tmp_path, "case_00001/segmentation.nii.gz")
    assert find_studies(tmp_path, layout="kits")[0].layout == "kits"
    with pytest.raises(
        SitusError, match=r"no study found in layout brats; it is: a folder for each case"
    ):
        find_studies(tmp_path, layout="brats")
    with pytest.raises(SitusError, match=r"unknown layout 'nnunett'; did you mean nnunet\?"):
        find_studies(tmp_path, layout="nnunett")
    with pytest.raises(SitusError, match="layout table"):
        find_studies(tmp_path / "case_00001/segmentation.nii.gz", layout="table")


def test_dicom_studies(tmp_path):
    image = np.arange(6 * 9 * 7, dtype=np.int16).reshape(6, 9, 7)
    write_series(tmp_path / "one/series", image)
    write_seg(tmp_path / "one/series", blobs(), "BINARY", ["liver", "tumour"])
    (found,) = find_studies(tmp_path)
    assert (found.stem, found.layout, found.public_id) == ("one", "dicom", None)
    assert (found.image, found.labels) == (tmp_path / "one/series", tmp_path / "one/seg")
    assert found.image is not None
    volume = open_volume(found.image)
    labels = open_labels(found.labels, reference=volume).load()
    assert labels.grid == volume.grid
    assert find_studies(tmp_path / "one/seg")[0].image == (tmp_path / "one/series").resolve()
    assert "1605" not in repr(found)


def test_dicom_study_in_one_folder(tmp_path):
    image = np.arange(6 * 9 * 7, dtype=np.int16).reshape(6, 9, 7)
    write_series(tmp_path / "x", image, series="1")
    write_series(tmp_path / "x", image + 1, series="2")
    write_contours(tmp_path / "x" / "rt.dcm", {(1, "liver"): [contour(at(SQUARE, 2))]})
    (found,) = find_studies(tmp_path / "x")
    assert found.stem == "x"
    assert found.image is not None
    np.testing.assert_array_equal(open_volume(found.image).array(), image.T)
    assert open_labels(found.labels).grid == open_volume(found.image).grid


def test_dicom_images_alone_are_no_study(tmp_path):
    write_series(tmp_path, np.zeros((2, 3, 4), np.int16))
    with pytest.raises(
        SitusError, match=r"1 image series\) but no segmentation; add its DICOM-SEG"
    ):
        find_studies(tmp_path)
