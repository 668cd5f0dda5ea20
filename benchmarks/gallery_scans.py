"""Synthetic scans for the gallery, of kinds that `situs build phantoms` does not make: frames of a
knee with boxes in fastMRI+'s files, and chests and abdomens with a report each.

Everything is drawn, and known because it was drawn; no patient's data is in it.
"""

from __future__ import annotations

import csv
from pathlib import Path

import h5py
import nibabel as nib
import numpy as np
from nibabel.affines import apply_affine
from numpy.typing import NDArray
from scipy import ndimage

from situs.volumes.phantoms import make_knee, make_patient

__all__ = ["write_frames", "write_reports"]

Array = NDArray[np.float32]

_SHOWN = {"bone_marrow_lesion": "Bone- Subchondral edema", "joint_fluid": "Joint Effusion "}
"""What a phantom knee holds, under the labels of fastMRI+."""
_FEWEST_PX = 60
_CHEST = (96, 80, 72)
_CHEST_MM = 4.0


def write_frames(folder: Path, count: int, seed: int) -> list[Path]:
    """Coronal frames of phantom knees as HDF5, with the boxes of what they hold: the CSV, the list
    of what was read, and the folder of images."""
    images = folder / "images"
    images.mkdir(parents=True, exist_ok=True)
    rows: list[list[object]] = []
    names = []
    for number in range(count):
        name = f"file1{number:06d}"
        names.append(name)
        knee = make_knee(
            seed, number, spacing_mm=(0.6, 3.5, 0.6), oblique=False, reorder=False, noise=True
        )
        if number % 3 < 2:
            for structure, label in _SHOWN.items():
                rows += [[name, *row, label] for row in _boxes(_frames(knee.mask(structure)))]
        with h5py.File(images / f"{name}.h5", "w") as file:
            # fastMRI stores frames upside down.
            file["reconstruction_rss"] = _frames(knee.image).astype(np.float32)[:, ::-1, :]
            file.attrs["patient_id"] = f"synthetic-{number}"
    table = folder / "knee.csv"
    with table.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["file", "slice", "study_level", "x", "y", "width", "height", "label"])
        writer.writerows(rows)
    reviewed = folder / "knee_file_list.csv"
    reviewed.write_text("\n".join(names) + "\n", "utf-8")
    return [table, reviewed, images]


def _frames(voxels: NDArray[np.generic]) -> NDArray[np.generic]:
    """Right, front, head → coronal frames from front to back, as displayed."""
    return voxels.transpose(1, 2, 0)[::-1, ::-1, ::-1]


def _boxes(frames: NDArray[np.generic]) -> list[list[object]]:
    """Frame, "No", x, y, width and height around each part that can be seen."""
    boxes: list[list[object]] = []
    for frame, picture in enumerate(frames):
        parts, _ = ndimage.label(picture)
        for part, (rows, columns) in enumerate(ndimage.find_objects(parts), start=1):
            if (parts == part).sum() >= _FEWEST_PX:
                width, height = columns.stop - columns.start, rows.stop - rows.start
                boxes.append([frame, "No", columns.start, rows.start, width, height])
    return boxes


def write_reports(folder: Path, seed: int) -> tuple[Path, Path]:
    """The reports of four scans, and the folder of the scans."""
    images = folder / "images"
    images.mkdir(parents=True, exist_ok=True)
    chest = _chest(nodule_mm=(75.0, 20.0, 60.0), seed=seed)
    nib.save(nib.Nifti1Image(chest, np.diag([_CHEST_MM] * 3 + [1.0])), images / "chest.nii.gz")
    reports = {"chest": "There is a 24 mm nodule in the apical segment of the right upper lobe."}
    reports |= _abdomens(images, seed)
    table = folder / "reports.csv"
    with table.open("w", newline="", encoding="utf-8") as stream:
        rows = [(name, text, "") for name, text in reports.items()]
        csv.writer(stream).writerows([("id", "findings", "impression"), *rows])
    return table, images


def _chest(nodule_mm: tuple[float, float, float], seed: int) -> NDArray[np.int16]:
    """A trunk with two lungs, a heart, a spine, and a nodule; RAS, in HU."""
    grid = [(np.arange(n) - (n - 1) / 2) * _CHEST_MM for n in _CHEST]
    x, y, z = np.meshgrid(*grid, indexing="ij", sparse=True)

    def ball(centre: tuple[float, float, float], radii: tuple[float, float, float]) -> Array:
        (cx, cy, cz), (rx, ry, rz) = centre, radii
        inside: Array = ((x - cx) / rx) ** 2 + ((y - cy) / ry) ** 2 + ((z - cz) / rz) ** 2
        return inside

    hu = np.full(_CHEST, -1000.0, np.float32)
    hu[np.broadcast_to((x / 170) ** 2 + (y / 115) ** 2 < 1, _CHEST)] = 40.0
    for side in (-80.0, 80.0):
        hu[ball((side, 5.0, -10.0), (68.0, 88.0, 135.0)) < 1] = -860.0
    hu[ball((-25.0, 35.0, -50.0), (55.0, 50.0, 60.0)) < 1] = 45.0
    hu[np.broadcast_to(x**2 + (y + 75) ** 2 < 20**2, _CHEST)] = 350.0
    hu[ball(nodule_mm, (12.0, 12.0, 12.0)) < 1] = 60.0
    hu += np.random.default_rng(seed).normal(0.0, 12.0, _CHEST)
    return np.rint(hu).astype(np.int16)


def _abdomens(images: Path, seed: int) -> dict[str, str]:
    """Scans of phantom patients with something drawn in: their names and reports."""
    drawn = {
        "kidney": (
            ("kidney_left", 0.8, 11.0, 4.0),
            "There is a 22 mm cyst in the upper pole of the left kidney.",
        ),
        "side": (
            ("kidney_right", 0.5, 12.0, 4.0),
            "There is a 24 mm cyst in the right kidney.",
        ),
        "spine": (
            ("vertebrae_L2", 0.5, 10.0, 60.0),
            "There is a hemangioma in the L2 vertebra.",
        ),
    }
    reports = {}
    for number, (name, (finding, text)) in enumerate(drawn.items()):
        patient = make_patient(
            seed, number, modality="ct", spacing_mm=(1.5, 1.5, 3.0), oblique=False, reorder=False
        )
        hu = np.asarray(patient.image, np.float32).copy()
        _draw(hu, patient.mask(finding[0]), patient.grid.affine.matrix, finding)
        nib.save(
            nib.Nifti1Image(np.rint(hu).astype(np.int16), patient.grid.affine.matrix),
            images / f"{name}.nii.gz",
        )
        reports[name] = text
    return reports


def _draw(
    hu: Array,
    organ: NDArray[np.bool_],
    affine: NDArray[np.float64],
    finding: tuple[str, float, float, float],
) -> None:
    """A ball of one value in an organ: its structure, the share of the organ's height at which it
    lies, its radius in mm, and its HU."""
    _, height, radius_mm, value = finding
    places = apply_affine(affine, np.argwhere(organ))
    level = np.quantile(places[:, 2], height)
    centre = np.median(places[abs(places[:, 2] - level) < 4.0], axis=0)
    inside = np.linalg.norm(places - centre, axis=1) < radius_mm
    hu[tuple(np.argwhere(organ)[inside].T)] = value
