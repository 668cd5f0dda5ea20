"""A file format and a model of another package, through the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

READER = {"situs.readers": {"npz": "situs_npz:read"}}
CLIENT = {"situs.clients": {"bright": "situs_bright:Bright"}}


@pytest.fixture(scope="module")
def packages(outside):
    found = outside("formats")
    found.install_example("situs_npz", READER, "Adding a file format")
    found.install_example("situs_bright", CLIENT, "Adding a client")
    return found


@pytest.fixture
def labels(tmp_path):
    """Two blocks of 4 × 5 × 6 and 2 × 2 × 2 voxels of 1 × 2 × 3 mm."""
    voxels = np.zeros((20, 20, 20), dtype=np.uint8)
    voxels[2:6, 3:8, 4:10] = 1
    voxels[10:12, 10:12, 10:12] = 2
    path = tmp_path / "labels.npz"
    np.savez(path, voxels=voxels, affine=np.diag([1.0, 2.0, 3.0, 1.0]))
    return path


def test_a_format_is_measured(packages, labels, tmp_path):
    names = tmp_path / "names.json"
    names.write_text(json.dumps({"1": "liver", "2": "spleen"}))
    found = packages.json("measure", labels, "--names", names)
    assert [(s["name"], s["volume_ml"]) for s in found["structures"]] == [
        ("liver", pytest.approx(4 * 5 * 6 * 6 / 1000)),
        ("spleen", pytest.approx(2 * 2 * 2 * 6 / 1000)),
    ]


def test_a_folder_of_masks_may_have_the_format(packages, labels, tmp_path):
    with np.load(labels) as archive:
        voxels, affine = archive["voxels"], archive["affine"]
    folder = tmp_path / "segmentations"
    folder.mkdir()
    for value, name in ((1, "liver"), (2, "spleen")):
        np.savez(folder / f"{name}.npz", voxels=(voxels == value).astype(np.uint8), affine=affine)
    found = packages.json("measure", folder)
    assert {s["name"]: s["voxels"] for s in found["structures"]} == {"liver": 120, "spleen": 8}


def test_a_vocabulary_is_a_file(packages, tmp_path):
    """Four blocks of 2 × 2 × 2 voxels, named as the guide shows."""
    voxels = np.zeros((20, 20, 20), dtype=np.uint8)
    for label in range(1, 5):
        voxels[3 * label : 3 * label + 2, 8:10, 8:10] = label
    path, names = tmp_path / "labels.npz", tmp_path / "gynaecology.csv"
    np.savez(path, voxels=voxels, affine=np.diag([10.0, 10.0, 10.0, 1.0]))
    names.write_text(packages.example("Adding a vocabulary", "csv"))
    found = packages.json("measure", path, "--names", names)
    assert {
        (s["label"], s["name"], s["side"], round(s["volume_ml"], 9)) for s in found["structures"]
    } == {
        (1, "liver", None, 8.0),
        (2, "ovary_left", "left", 8.0),
        (3, "ovary_right", "right", 8.0),
        (4, "ovarian_cyst", None, 8.0),
    }


def test_a_damaged_file_is_an_error_in_one_line(packages, tmp_path):
    path = tmp_path / "labels.npz"
    path.write_bytes(b"no archive")
    assert "cannot be read (" in packages.refused("measure", path)
    np.savez(path, voxels=np.zeros((3, 3), dtype=np.uint8), affine=np.eye(4))
    assert "labels.npz" in packages.refused("measure", path)


def test_without_the_package_the_format_is_unknown(outside, labels):
    assert "not a volume of a known kind" in outside("nothing").refused("measure", labels)


def test_a_client_is_a_kind_of_its_own(packages, bench, tmp_path):
    ran = packages.json(
        "run", bench, "--model", "bright?threshold=90", "--limit", 3, "--out", tmp_path / "run"
    )
    assert ran["states"] == {"answered": 3}
    rows = [
        json.loads(line) for line in (tmp_path / "run" / "answers.jsonl").read_text().splitlines()
    ]
    assert {row["response"] for row in rows} <= {"yes", "no"}
    assert json.loads((tmp_path / "run" / "run.json").read_text())["client"].startswith("bright")


def test_an_unknown_client_names_those_that_are_offered(packages, bench, tmp_path):
    said = packages.refused("run", bench, "--model", "brigth", "--out", tmp_path / "run")
    assert "did you mean bright" in said
