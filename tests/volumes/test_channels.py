"""Images of several channels: one is read where a dataset.json names them; labels stay 3D."""

from __future__ import annotations

import json

import nibabel as nib
import numpy as np
import pytest

from situs.errors import SitusError
from situs.volumes import find_studies, open_labels, open_volume

RNG = np.random.default_rng(2)
CHANNELS = RNG.integers(0, 2000, (5, 6, 4, 4)).astype(np.int16)
BRAIN = {"0": "FLAIR", "1": "T1w", "2": "t1gd", "3": "T2w"}


def dataset(root, described: dict, image: np.ndarray = CHANNELS, suffix: str = ".nii.gz"):
    for folder in ("imagesTr", "labelsTr"):
        (root / folder).mkdir(parents=True)
    labels = np.zeros(image.shape[:3], np.uint8)
    labels[1:4, 2:5, 1:3] = 1
    nib.save(
        nib.Nifti1Image(image, np.diag([1.0, 1.0, 2.0, 1.0])),
        root / "imagesTr" / f"BRATS_001{suffix}",
    )
    nib.save(
        nib.Nifti1Image(labels, np.diag([1.0, 1.0, 2.0, 1.0])),
        root / "labelsTr" / f"BRATS_001{suffix}",
    )
    described = {"name": "BRATS", "labels": {"0": "background", "1": "edema"}} | described
    (root / "dataset.json").write_text(json.dumps(described))
    return root


@pytest.mark.parametrize("suffix", [".nii", ".nii.gz"])
@pytest.mark.parametrize(
    ("key", "names", "shown"),
    [
        ("modality", BRAIN, 2),
        ("channel_names", BRAIN, 2),
        ("modality", {"0": "ADC", "1": "T2", "2": "b800", "3": "b50"}, 1),
        ("modality", {"0": "one", "1": "two", "2": "three", "3": "four"}, 0),
        ("channel_names", {"0": "PD", "1": "T1", "2": "FLAIR", "3": "x"}, 2),
    ],
)
def test_the_channel_of_the_preferred_kind_is_read(key, names, shown, suffix, tmp_path):
    (study,) = find_studies(dataset(tmp_path / "set", {key: names}, suffix=suffix))
    image = open_volume(study.image)
    assert image.grid.shape == (5, 6, 4)
    np.testing.assert_array_equal(image.array(), CHANNELS[..., shown])
    assert f"channel {shown + 1} of 4 is used" in image.warnings
    assert open_labels(study.labels).load().grid.matches(image.grid)


@pytest.mark.parametrize(
    ("described", "problem"),
    [
        ({}, "is 4D, with 4 channels or time points that nothing names"),
        (
            {"modality": {"0": "CT"}},
            "is 4D, with 4 channels or time points but its dataset.json names 1",
        ),
        ({"modality": {"0": "a", "2": "b"}}, "its channels are not numbered"),
    ],
)
def test_channels_that_nothing_names_are_refused(described, problem, tmp_path):
    root = dataset(tmp_path / "set", described)
    with pytest.raises(SitusError, match=problem):
        open_volume(root / "imagesTr" / "BRATS_001.nii.gz")


def test_four_dimensional_labels_are_refused_whatever_is_named(tmp_path):
    root = dataset(tmp_path / "set", {"modality": BRAIN})
    with pytest.raises(SitusError, match="is 4D, not a 3D volume"):
        open_labels(root / "imagesTr" / "BRATS_001.nii.gz")


def test_a_file_that_ends_before_the_last_channel_is_truncated(tmp_path):
    root = dataset(tmp_path / "set", {"modality": BRAIN}, suffix=".nii")
    path = root / "imagesTr" / "BRATS_001.nii"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(SitusError, match="truncated"):
        open_volume(path)


def test_channels_in_files_of_their_own(tmp_path):
    """nnU-Net: case_0000, case_0001, …; the one of the preferred kind is taken."""
    root = dataset(tmp_path / "set", {"channel_names": BRAIN}, CHANNELS[..., 0])
    (root / "imagesTr" / "BRATS_001.nii.gz").unlink()
    for number in range(4):
        image = nib.Nifti1Image(CHANNELS[..., number], np.diag([1.0, 1.0, 2.0, 1.0]))
        nib.save(image, root / "imagesTr" / f"BRATS_001_{number:04d}.nii.gz")
    (study,) = find_studies(root)
    assert (study.image.name, study.layout) == ("BRATS_001_0002.nii.gz", "nnunet")
