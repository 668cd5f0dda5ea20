"""Small cohorts in the true layout of fastMRI+:
boxes in a CSV, reviewed volumes in a list, images in HDF5."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from pathlib import Path

import h5py
import numpy as np

HEADER = ["file", "slice", "study_level", "x", "y", "width", "height", "label"]
BRAIN = [
    "Mass",
    "Edema",
    "Craniotomy",
    "Enlarged ventricles",
    "Nonspecific white matter lesion",
    "Lacunar infarct",
]
KNEE = [
    "Meniscus Tear",
    "Joint Effusion ",
    "Bone- Subchondral edema",
    "Ligament - ACL High Grade Sprain",
    "Joint Bodies",
]
HEIGHT, WIDTH, FRAMES = 72, 96, 14


@dataclass
class Cohort:
    """Rows of annotation files by organ, and the volumes that were reviewed."""

    rows: dict[str, list[list[object]]] = field(default_factory=lambda: {"brain": [], "knee": []})
    lists: dict[str, list[str]] = field(default_factory=lambda: {"brain": [], "knee": []})

    def write(self, folder: Path) -> tuple[list[Path], list[Path]]:
        """The CSVs and lists."""
        folder.mkdir(parents=True, exist_ok=True)
        files, lists = [], []
        for organ, rows in self.rows.items():
            files.append(folder / f"{organ}.csv")
            with files[-1].open("w", newline="") as stream:
                csv.writer(stream).writerows([HEADER, *rows])
            lists.append(folder / f"{organ}_file_list.csv")
            lists[-1].write_text("\n".join(self.lists[organ]) + "\n")
        return files, lists

    def boxes(self, volume: str) -> list[tuple[int, int, int, int, int, str]]:
        """Frame, x, y, width, height and label of a volume's boxes."""
        rows = [
            row
            for organ in self.rows.values()
            for row in organ
            if row[0] == volume and row[2] == "No"
        ]
        return [(row[1], row[3], row[4], row[5], row[6], str(row[7])) for row in rows]  # type: ignore[misc]


def make_cohort(seed: int = 0, count: int = 16) -> Cohort:
    """`count` volumes of each organ; every fourth was read as normal."""
    rng = np.random.default_rng(seed)
    cohort = Cohort()
    for organ, labels in (("brain", BRAIN), ("knee", KNEE)):
        for number in range(count):
            volume = (
                f"file_brain_AXFLAIR_200_60{number:05d}"
                if organ == "brain"
                else f"file1{number:06d}"
            )
            cohort.lists[organ].append(volume)
            if number % 4 == 3:
                if organ == "brain":
                    cohort.rows[organ].append([volume, 0, "Yes", "", "", "", "", "Normal for age"])
                continue
            for label in rng.choice(labels, size=2, replace=False):
                x, y, w, h = (int(v) for v in rng.integers((8, 8, 8, 8), (74, 50, 14, 14)))
                start, length = int(rng.integers(3, 7)), int(rng.integers(2, 5))
                for step in range(length):
                    size = [w + step, h]
                    cohort.rows[organ].append([volume, start + step, "No", x, y, *size, str(label)])
    return cohort


def picture(
    boxes: list[tuple[int, int, int, int, int, str]], centre: float = WIDTH / 2
) -> np.ndarray:
    """Frames as displayed:
    a bright ellipse (the head) with brighter rectangles where the boxes are."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    head = ((x + 0.5 - centre) / 38.0) ** 2 + ((y + 0.5 - HEIGHT / 2) / 30.0) ** 2 < 1.0
    frames = np.zeros((FRAMES, HEIGHT, WIDTH), np.float32)
    frames[:, head] = 1.0
    for frame, left, top, width, height, _ in boxes:
        frames[frame, top : top + height, left : left + width] += 2.0
    return frames


def write_h5(
    path: Path, displayed: np.ndarray, patient: str | None = None, **attributes: str
) -> Path:
    """An HDF5 file as fastMRI stores it: upside down, with attributes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(path, "w") as file:
        file["reconstruction_rss"] = displayed[:, ::-1, :]
        file["kspace"] = np.zeros((2, 2), np.complex64)
        file["ismrmrd_header"] = "<header>"
        for name, value in attributes.items():
            file.attrs[name] = value
        if patient is not None:
            file.attrs["patient_id"] = patient
    return path


def write_images(cohort: Cohort, folder: Path, **attributes: str) -> Path:
    """HDF5 files of all volumes; two volumes in a row are of one patient."""
    for volumes in cohort.lists.values():
        for number, volume in enumerate(volumes):
            stack = picture(cohort.boxes(volume))
            write_h5(
                folder / f"{volume}.h5",
                stack,
                patient=f"patient-{volume[:6]}-{number // 2}",
                **attributes,
            )
    return folder
