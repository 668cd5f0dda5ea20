"""What kind of object each DICOM file is,
which series it belongs to, and whether we may look at it at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from situs.errors import SitusError
from situs.volumes.dicom.files import dicom_files, quiet, read_dataset

if TYPE_CHECKING:
    from pydicom.dataset import Dataset

__all__ = ["Head", "by_series", "find_series_near", "read_head", "refusal_of"]

_SECONDARY_CAPTURE = "1.2.840.10008.5.1.4.1.1.7"
_SEGMENTATIONS = ("1.2.840.10008.5.1.4.1.1.66.4", "1.2.840.10008.5.1.4.1.1.66.7")
_RTSTRUCT = "1.2.840.10008.5.1.4.1.1.481.3"
_RTDOSE = "1.2.840.10008.5.1.4.1.1.481.2"
_SCREENSHOTS = ("SCREEN SAVE", "SCREENSAVE", "SCREEN SHOT", "SCREENSHOT")
_KEYWORDS = (
    "SOPClassUID",
    "SeriesInstanceUID",
    "StudyInstanceUID",
    "PatientID",
    "ImageType",
    "BurnedInAnnotation",
    "Rows",
    "NumberOfFrames",
    "ReferencedSeriesSequence",
    "ReferencedFrameOfReferenceSequence",
)


@dataclass(frozen=True)
class Head:
    """One DICOM file. The ids tell files apart while the program runs;
    none is ever shown, hashed or written."""

    path: Path
    kind: str
    """`image`, `seg`, `rtstruct` or `other` (reports, presentation states, doses, …)."""
    refusal: str | None
    """Why an image must not be used, if so."""
    series: str
    study: str
    patient: str
    is_multiframe: bool
    references: tuple[str, ...]
    """Series that a segmentation or structure set was drawn on."""


def read_head(path: Path) -> Head:
    """Read the few elements that tell what a file is."""
    with quiet(path):
        dataset, _ = read_dataset(path, _KEYWORDS)
        sop_class = str(dataset.get("SOPClassUID", ""))
        if sop_class in _SEGMENTATIONS:
            kind = "seg"
        elif sop_class == _RTSTRUCT:
            kind = "rtstruct"
        else:
            kind = "image" if "Rows" in dataset and sop_class != _RTDOSE else "other"
        return Head(
            path,
            kind,
            refusal_of(dataset) if kind == "image" else None,
            str(dataset.get("SeriesInstanceUID", "")),
            str(dataset.get("StudyInstanceUID", "")),
            str(dataset.get("PatientID", "")),
            str(dataset.get("NumberOfFrames") or "1") != "1",
            tuple(dict.fromkeys(_referenced(dataset))),
        )


def refusal_of(dataset: Dataset) -> str | None:
    """Why an image is not a scan, or may show a name:
    told by its class, its type and its own declaration."""
    types = dataset.get("ImageType") or ()
    parts = {str(part).strip().upper() for part in ([types] if isinstance(types, str) else types)}
    sop_class = str(dataset.get("SOPClassUID", ""))
    if sop_class == _SECONDARY_CAPTURE or sop_class.startswith(_SECONDARY_CAPTURE + "."):
        return "a secondary capture, not a scan"
    if any(shot in part for shot in _SCREENSHOTS for part in parts):
        return "a screenshot, not a scan"
    if str(dataset.get("BurnedInAnnotation", "")).strip().upper() == "YES":
        return "an image with burnt-in annotation, which may name a person"
    if "MOSAIC" in parts:
        return "a mosaic of many slices in one picture"
    if "LOCALIZER" in parts:
        return "a localizer, not a volume"
    return None


def by_series(heads: Iterable[Head]) -> dict[str, list[Head]]:
    """The usable images of each series, in the order of their first file."""
    heads_by_series: dict[str, list[Head]] = {}
    for head in heads:
        if head.kind == "image":
            heads_by_series.setdefault(head.series, []).append(head)
    return heads_by_series


def find_series_near(labels: Head) -> list[Head]:
    """The image series that labels were drawn on: in their folder, one inside it, the parent, or
    one beside it.

    Labels that name no series take the only one of the nearest folder that has one. Empty if there
    is none.
    """
    for folder in _folders_near(labels.path):
        heads_by_series = by_series(_readable(folder))
        wanted = [series for series in labels.references if series in heads_by_series]
        if not labels.references and len(heads_by_series) == 1:
            wanted = list(heads_by_series)
        if wanted and not any(head.refusal for head in heads_by_series[wanted[0]]):
            # Read again, so that a damaged file of this folder is an error and not a missing slice.
            return by_series(read_head(file) for file in dicom_files(folder))[wanted[0]]
    return []


def _readable(folder: Path) -> Iterator[Head]:
    try:
        files = dicom_files(folder)
    except SitusError:
        return
    for file in files:
        try:
            yield read_head(file)
        except SitusError:
            continue


def _folders_near(path: Path) -> Iterator[Path]:
    folder = path.resolve().parent
    for centre in (folder, folder.parent):
        yield centre
        try:
            inside = sorted(
                other for other in centre.iterdir() if other.is_dir() and other != folder
            )
        except OSError:
            continue
        yield from inside


def _referenced(dataset: Dataset) -> list[str]:
    references: list[Any] = list(dataset.get("ReferencedSeriesSequence") or ())
    for frame in dataset.get("ReferencedFrameOfReferenceSequence") or ():
        for study in frame.get("RTReferencedStudySequence") or ():
            references += study.get("RTReferencedSeriesSequence") or ()
    return [
        str(series.get("SeriesInstanceUID", ""))
        for series in references
        if series.get("SeriesInstanceUID")
    ]
