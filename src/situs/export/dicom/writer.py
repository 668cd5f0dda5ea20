"""The files of a study: `images/`, segmentations, and the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pydicom.dataset import Dataset

from situs.base.files import file_name
from situs.bench import Bench
from situs.errors import SitusError
from situs.export.about import About
from situs.export.dicom.frames import SliceStack
from situs.export.dicom.report import measurement_report
from situs.export.dicom.segmentation import Segment, segmentations
from situs.export.evidence import Scope, SeriesEvidence, evidence_of
from situs.export.written import Written, write_readme

__all__ = ["write_studies"]

_WORDS = (
    "One folder per study and series: `images/` (where the study has an image),"
    " `segmentation-N.dcm` (structures that overlap lie in different files){report}. Patient ids"
    " are those of the bench; no header of a source file was copied, UIDs are made from the bench,"
    " and dates are placeholders. Pixels are 16 bits with a rescale slope."
)
_REPORT_WORDS = ", and `report.dcm` (TID 1500; each number names its fact by the tracking id)"


def write_studies(
    bench: Bench, scope: Scope, folder: Path, about: About, *, report: bool
) -> Written:
    """Every series in millimetres as DICOM, with a structured report if one is wanted."""
    left_out: Counter[str] = Counter()
    studies: set[str] = set()
    pictures = 0
    for evidence in evidence_of(bench, scope, left_out):
        if evidence.grid.affine.is_sheared:
            left_out["voxel axes not at right angles, which DICOM cannot say"] += 1
            continue
        if evidence.labels is None and not report:
            left_out["series without masks"] += 1
            continue
        series = folder / file_name(evidence.study.study_id) / file_name(evidence.series.series)
        pictures += _write_series(evidence, series, report)
        studies.add(evidence.study.study_id)
    write_readme(folder, about, [_WORDS.format(report=_REPORT_WORDS if report else "")])
    load = "3D Slicer, OHIF or highdicom: import the folder"
    return Written(len(studies), pictures, load, dict(left_out), counted="studies")


def _write_series(evidence: SeriesEvidence, folder: Path, with_report: bool) -> int:
    """Write the files of one series; how many images there are."""
    stack = SliceStack(evidence.grid, evidence.name)
    voxels = evidence.voxels()
    images = stack.datasets(evidence.bench.info, evidence.study, evidence.series, voxels)
    files: Sequence[Dataset] = ()
    segments: dict[str, Segment] = {}
    if evidence.labels is not None:
        files, segments = segmentations(evidence, stack, images, evidence.labels)
    written = 0
    if voxels is not None:
        for number, dataset in enumerate(images, start=1):
            _save(dataset, folder / "images" / f"{number:05d}.dcm")
        written = len(images)
    for number, dataset in enumerate(files, start=1):
        _save(dataset, folder / f"segmentation-{number}.dcm")
    document = measurement_report(evidence, images, files, segments) if with_report else None
    if document is not None:
        _save(document, folder / "report.dcm")
    return written


def _save(dataset: Dataset, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        dataset.save_as(path, enforce_file_format=True)
    except ValueError as error:
        raise SitusError(f"cannot be written as DICOM ({error})", where=path.name) from error
