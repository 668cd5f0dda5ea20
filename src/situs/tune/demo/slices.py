"""Synthetic MR slices with findings, in the files of fastMRI+:
HDF5 volumes, a CSV of boxes, a list."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["FRAMES", "GRID", "SIDE", "write_cohort"]

SIDE = 64
FRAMES = 3
GRID = 4
"""Pixels: findings begin and end on multiples of it. So few places are learnt in minutes."""
_LABELS = ("Mass", "Edema")
_BRIGHT = {"Mass": 0.45, "Edema": -0.35}
"""How much a finding is brighter than its surroundings: a mass is bright, oedema dark."""


def write_cohort(folder: Path, count: int, seed: int) -> tuple[Path, Path, Path]:
    """`count` volumes of a patient each:
    the CSV, the list of what was read, the folder of images."""
    import h5py

    rng = np.random.default_rng(seed)
    images = folder / "images"
    images.mkdir(parents=True, exist_ok=True)
    rows: list[list[object]] = []
    names = []
    for number in range(count):
        name = f"file_brain_AXFLAIR_200_6{number:06d}"
        names.append(name)
        volume, boxes = _volume(rng, is_normal=number % 5 == 4)
        rows += [[name, frame, "No", x, y, w, h, label] for frame, x, y, w, h, label in boxes]
        if not boxes:
            rows.append([name, 0, "Yes", "", "", "", "", "Normal for age"])
        with h5py.File(images / f"{name}.h5", "w") as file:
            file["reconstruction_rss"] = volume[:, ::-1, :]  # fastMRI stores slices upside down
            file.attrs["patient_id"] = f"synthetic-{seed}-{number}"
    table = folder / "brain.csv"
    with table.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["file", "slice", "study_level", "x", "y", "width", "height", "label"])
        writer.writerows(rows)
    listed = folder / "brain_file_list.csv"
    listed.write_text("\n".join(names) + "\n", "utf-8")
    return table, listed, images


_Box = tuple[int, int, int, int, int, str]


def _volume(rng: np.random.Generator, *, is_normal: bool) -> tuple[NDArray[np.float32], list[_Box]]:
    """A head with some texture and, unless it is normal, one or two findings on some frames."""
    y, x = np.mgrid[0:SIDE, 0:SIDE] + 0.5
    centre = SIDE / 2 + rng.uniform(-1, 1, 2)
    radii = rng.uniform(25, 29), rng.uniform(27, 31)
    distance = ((x - centre[0]) / radii[0]) ** 2 + ((y - centre[1]) / radii[1]) ** 2
    tissue = 0.45 + 0.05 * np.cos(x / rng.uniform(4, 7)) * np.cos(y / rng.uniform(4, 7))
    head = np.where(distance < 1.0, tissue, 0.03) + np.where(abs(distance - 1) < 0.06, 0.35, 0.0)
    volume = np.repeat(head[None], FRAMES, axis=0)
    volume += rng.normal(0.0, 0.03, volume.shape)
    boxes: list[_Box] = []
    labels = [] if is_normal else list(rng.permutation(_LABELS)[: rng.integers(1, 3)])
    for label in labels:
        boxes += _finding(rng, volume, str(label), boxes)
    return np.clip(volume, 0.0, None).astype(np.float32), boxes


def _finding(
    rng: np.random.Generator, volume: NDArray[np.float64], label: str, others: list[_Box]
) -> list[_Box]:
    """Draw an ellipse on neighbouring frames where nothing else lies; its boxes."""
    for _ in range(100):
        width, height = (int(v) * GRID for v in rng.integers(3, 6, 2))
        left, top = (
            int(rng.integers(2, (SIDE - side) // GRID - 1)) * GRID for side in (width, height)
        )
        if all(
            left + width < ox or ox + ow < left or top + height < oy or oy + oh < top
            for _, ox, oy, ow, oh, _ in others
        ):
            break
    else:
        return []
    first = int(rng.integers(0, FRAMES))
    last = min(FRAMES - 1, first + int(rng.integers(0, 2)))
    y, x = np.mgrid[0:SIDE, 0:SIDE] + 0.5
    inside = ((x - left - width / 2) / (width / 2)) ** 2 + (
        (y - top - height / 2) / (height / 2)
    ) ** 2 < 1.0
    for frame in range(first, last + 1):
        volume[frame][inside] += _BRIGHT[label]
    return [(frame, left, top, width, height, label) for frame in range(first, last + 1)]
