"""The scans of studies whose questions come from words:
found by the volume's name, linked by hash."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from pathlib import Path

import msgspec

from situs.bench import SeriesRecord
from situs.errors import Problem, Severity, SitusError
from situs.volumes import (
    find_stacks,
    find_volumes,
    hash_frames,
    modality_of,
    open_stack,
    open_volume,
)

__all__ = ["CT_RATE", "Scan", "find_scans"]

CT_RATE = re.compile(r"(?P<patient>(?:valid|train)_\d+)_[a-z]+_\d+")
"""Names that CT-RATE published: patient, scan, reconstruction."""


class Scan(msgspec.Struct, frozen=True):
    """A study's volume, as a bench records it."""

    series: SeriesRecord
    path: Path

    @property
    def places(self) -> dict[str, str]:
        """Hash of the image → where it lies."""
        return {self.series.image_hash: str(self.path)}


def find_scans(
    root: Path | None,
    names: Collection[str],
    problems: list[Problem],
    *,
    frames: bool = False,
    skip_bad: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Scan]:
    """Name → scan; what is lacking is added to the problems, and that all of it is lacking is an
    error.

    With `frames` they are stacks of frames (fastMRI HDF5, pictures), which have pixels and no
    millimetres.
    """
    if root is None:
        return {}
    paths = _stacks(root, names) if frames else find_volumes(root, names)
    if not paths:
        form = "h5" if frames else "nii.gz"
        fix = f"files or folders are found by the volume's name, e.g. {min(names)}.{form}"
        raise SitusError("holds no volume of the questions", where=root, fix=fix)
    read = _frames if frames else _series
    scans: dict[str, Scan] = {}
    for done, (name, path) in enumerate(paths.items(), start=1):
        try:
            scans[name] = Scan(read(path), path)
        except SitusError as error:
            if not skip_bad:
                raise
            problems.append(
                Problem(
                    Severity.ERROR, "image", name, error.problem, error.fix or "give another file"
                )
            )
        progress(done, len(paths))
    lacking = len(names) - len(paths)
    if lacking:
        text = (
            f"{lacking} of {len(names)} volumes are missing; their questions are asked as text only"
        )
        problems.append(Problem(Severity.WARNING, "image", "--images", text, "add their volumes"))
    return scans


def _stacks(root: Path, names: Collection[str]) -> dict[str, Path]:
    stacks = find_stacks(root)
    return {name: stacks[name] for name in sorted(names) if name in stacks}


def _frames(path: Path) -> SeriesRecord:
    stack = open_stack(path)
    image_hash = hash_frames(stack.array())
    return SeriesRecord("mr", "mr", image_hash, "", stack.shape, (), "undeclared", "", {})


def _series(path: Path) -> SeriesRecord:
    image = open_volume(path)
    values, image_hash = image.array_and_hash()
    modality = modality_of(values)
    return SeriesRecord(
        series=modality,
        modality=modality,
        image_hash=image_hash,
        labels_hash="",
        shape=image.grid.shape,
        affine=tuple(float(v) for v in image.grid.affine.matrix.ravel()),
        side_basis=image.orientation_basis,
        annotation="",
        structures={},
    )
