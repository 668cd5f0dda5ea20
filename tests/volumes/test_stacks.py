"""Stacks of frames: the flip of fastMRI, and files that cannot be used."""

from __future__ import annotations

from pathlib import Path

import h5py
import nibabel
import numpy as np
import pytest
from PIL import Image

from frame_make import FRAMES, HEIGHT, WIDTH, picture, write_h5
from situs.errors import SitusError
from situs.volumes import find_stacks, open_stack


def test_a_box_drawn_on_the_array_lands_on_the_finding(tmp_path: Path) -> None:
    """fastMRI+ boxes are drawn on the image flipped up-down; the stored array is not flipped."""
    box = (4, 20, 50, 12, 8, "Mass")
    path = write_h5(tmp_path / "a.h5", picture([box]))
    stack = open_stack(path)
    frame, x, y, width, height, _ = box
    shown = stack.array()
    assert stack.shape == shown.shape == (FRAMES, HEIGHT, WIDTH)
    inside = shown[frame, y : y + height, x : x + width]
    assert inside.min() >= 2.0
    assert (shown[frame] >= 2.0).sum() == width * height
    with h5py.File(
        path
    ) as file:  # the rule of the official notebook, on the stored array: y' = H - y - height
        stored = file["reconstruction_rss"][frame]
    assert stored[HEIGHT - y - height : HEIGHT - y, x : x + width].min() >= 2.0


def test_of_all_attributes_only_the_patient_is_read(tmp_path: Path) -> None:
    path = write_h5(
        tmp_path / "a.h5", picture([]), patient="abc123", acquisition="AXT1", planted="Jane Doe"
    )
    stack = open_stack(path)
    assert stack.patient_key == "abc123"
    assert "Jane" not in repr(stack)
    assert open_stack(write_h5(tmp_path / "b.h5", picture([]))).patient_key is None


def test_the_hash_is_of_pixels_alone(tmp_path: Path) -> None:
    one = open_stack(write_h5(tmp_path / "a.h5", picture([]), patient="p")).content_hash()
    assert (
        open_stack(write_h5(tmp_path / "b.h5", picture([]), patient="q", note="x")).content_hash()
        == one
    )
    assert (
        open_stack(write_h5(tmp_path / "c.h5", picture([(1, 9, 9, 9, 9, "")]))).content_hash()
        != one
    )


def _truncated(path: Path) -> None:
    write_h5(path, picture([]))
    path.write_bytes(path.read_bytes()[:2000])


def _no_dataset(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["kspace"] = np.zeros((2, 3, 4))


def _external_link(path: Path) -> None:
    write_h5(path.with_name("other.h5"), picture([]))
    with h5py.File(path, "w") as file:
        file["reconstruction_rss"] = h5py.ExternalLink("other.h5", "reconstruction_rss")


def _soft_link(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["x"] = np.zeros((2, 3, 4))
        file["reconstruction_rss"] = h5py.SoftLink("/x")


def _external_storage(path: Path) -> None:
    path.with_name("raw.bin").write_bytes(bytes(96))
    with h5py.File(path, "w") as file:
        file.create_dataset(
            "reconstruction_rss",
            (2, 3, 4),
            "f4",
            external=[(str(path.with_name("raw.bin")), 0, 96)],
        )


def _virtual(path: Path) -> None:
    write_h5(path.with_name("other.h5"), picture([]))
    layout = h5py.VirtualLayout((FRAMES, HEIGHT, WIDTH), "f4")
    layout[:] = h5py.VirtualSource("other.h5", "reconstruction_rss", (FRAMES, HEIGHT, WIDTH))
    with h5py.File(path, "w") as file:
        file.create_virtual_dataset("reconstruction_rss", layout)


def _huge(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file.create_dataset(
            "reconstruction_rss", (1000, 10_000, 10_000), "f4", chunks=(1, 100, 100)
        )


def _hollow(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file.create_dataset("reconstruction_rss", (100, 1000, 1000), "f4", chunks=(1, 100, 100))


def _complex(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["reconstruction_rss"] = np.zeros((2, 3, 4), np.complex64)


def _flat(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["reconstruction_rss"] = np.zeros((3, 4))


def _group(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file.create_group("reconstruction_rss")


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (_truncated, "truncated"),
        (lambda path: path.write_bytes(b"not hdf5"), "not a whole HDF5"),
        (_no_dataset, "lacks the dataset reconstruction_rss .it holds only k-space"),
        (_external_link, "link to another place"),
        (_soft_link, "link to another place"),
        (_external_storage, "not data of this file"),
        (_virtual, "not data of this file"),
        (_huge, "exceed"),
        (_hollow, "more than the file can hold"),
        (_complex, "not made of real numbers"),
        (_flat, "2D"),
        (_group, "not data of this file"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_unusable_hdf5_is_named(tmp_path: Path, make, problem: str) -> None:
    make(tmp_path / "a.h5")
    with pytest.raises(SitusError, match=problem):
        open_stack(tmp_path / "a.h5")


def test_values_must_be_finite(tmp_path: Path) -> None:
    stack = picture([])
    stack[0, 0, 0] = np.nan
    with pytest.raises(SitusError, match="not finite"):
        open_stack(write_h5(tmp_path / "a.h5", stack)).array()


def test_other_reconstructions_of_public_files_are_found(tmp_path: Path) -> None:
    for name in ("reconstruction_esc", "reconstruction"):
        with h5py.File(tmp_path / "a.h5", "w") as file:
            file[name] = picture([])[:, ::-1]
        assert np.array_equal(open_stack(tmp_path / "a.h5").array(), picture([]))


def _pngs(folder: Path, frames: np.ndarray, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, frame in enumerate(frames, start=1):
        Image.fromarray(frame.astype(np.uint8)).save(folder / f"{name}{number:03d}.png")


def test_pictures_and_nifti_are_stacks_too(tmp_path: Path) -> None:
    frames = picture([(3, 20, 30, 10, 5, "x")]) * 40
    _pngs(tmp_path / "case1", frames, "")
    _pngs(tmp_path / "flat", frames, "case2_slice_")
    _pngs(tmp_path / "flat", frames[::-1], "case3_slice_")
    nibabel.save(nibabel.Nifti1Image(frames.T.copy(), np.eye(4)), tmp_path / "case4.nii.gz")
    write_h5(tmp_path / "deep" / "case5.h5", frames)
    found = find_stacks(tmp_path)
    assert sorted(found) == ["case1", "case2", "case3", "case4", "case5"]
    for name in found:
        expected = frames[::-1] if name == "case3" else frames
        assert np.array_equal(open_stack(found[name]).array(), expected), name


def test_two_stacks_of_one_name_are_refused(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        write_h5(tmp_path / folder / "file1000001.h5", picture([]))
    with pytest.raises(SitusError, match="two stacks"):
        find_stacks(tmp_path)


def test_frames_of_different_size_are_refused(tmp_path: Path) -> None:
    _pngs(tmp_path, picture([])[:2], "s_")
    Image.new("L", (5, 5)).save(tmp_path / "s_003.png")
    with pytest.raises(SitusError, match="same size"):
        open_stack(tmp_path)


@pytest.mark.parametrize(("lost", "said"), [(3, "numbered 3"), (1, "numbered from 2")])
def test_a_stack_with_a_missing_picture_is_refused(tmp_path: Path, lost: int, said: str) -> None:
    _pngs(tmp_path, picture([])[:5], "volA_slice_")
    (tmp_path / f"volA_slice_{lost:03d}.png").unlink()
    with pytest.raises(SitusError, match=said):
        open_stack(tmp_path)
