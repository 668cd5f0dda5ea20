"""The scans of studies whose questions come from words: found by the volume's name, linked by hash."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from pathlib import Path

import msgspec

from situs.bench import SeriesRecord
from situs.errors import Problem, Severity, SitusError
from situs.volumes import find_volumes, modality_of, open_volume

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
    skip_bad: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Scan]:
    """Name → scan; what is lacking is added to the problems, and that all of it is lacking is an error."""
    if root is None:
        return {}
    paths = find_volumes(root, names)
    if not paths:
        fix = f"files or DICOM folders are found by the volume's name, e.g. {min(names)}.nii.gz"
        raise SitusError("holds no volume of the questions", where=root, fix=fix)
    scans: dict[str, Scan] = {}
    for done, (name, path) in enumerate(paths.items(), start=1):
        try:
            scans[name] = Scan(_series(path), path)
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
        text = f"{lacking} of {len(names)} volumes are not there; their questions are asked in words alone"
        problems.append(Problem(Severity.WARNING, "image", "--images", text, "add their volumes"))
    return scans


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
