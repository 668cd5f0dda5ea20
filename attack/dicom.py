"""A DICOM series with contours and a segmentation, as small as they get."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path
from types import ModuleType

import highdicom
import numpy as np
import pydicom
from pydicom.sequence import Sequence
from pydicom.sr.codedict import codes

__all__ = ["RTSTRUCT", "maker", "write"]

RTSTRUCT = "1.2.840.10008.5.1.4.1.1.481.3"
_SLICES, _ROWS, _COLUMNS = 6, 9, 7


def write(folder: Path) -> None:
    """`dicom/series/*.dcm` with `dicom/contours.dcm`,
    and a segmentation of it in another folder."""
    tool = maker()
    ramp = np.arange(_SLICES * _ROWS * _COLUMNS, dtype=np.int16).reshape(_SLICES, _ROWS, _COLUMNS)
    tool.write_series(folder / "dicom" / "series", ramp)
    _contours(tool, folder)
    _segments(folder)


def maker() -> ModuleType:
    """The tests' own writer of DICOM files."""
    path = Path(__file__).parents[1] / "tests" / "volumes" / "dicom_make.py"
    spec = importlib.util.spec_from_file_location("dicom_make", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _contours(tool: ModuleType, folder: Path) -> None:
    dataset = tool.head(RTSTRUCT)
    series = tool.item(SeriesInstanceUID=dataset.SeriesInstanceUID)
    reference = tool.item(RTReferencedStudySequence=tool.item(RTReferencedSeriesSequence=series))
    dataset.ReferencedFrameOfReferenceSequence = Sequence([reference])
    dataset.SeriesInstanceUID += ".9"
    dataset.StructureSetROISequence = Sequence([tool.item(ROINumber=1, ROIName="liver")])
    square = ((1, 1), (5, 1), (5, 7), (1, 7))
    outlines = [
        tool.item(
            ContourGeometricType="CLOSED_PLANAR",
            NumberOfContourPoints=len(square),
            # Columns are 0.5, rows 0.75 and slices 2.5 mm apart, from the series' first voxel on.
            ContourData=tool.numbers(
                v for x, y in square for v in (-10 + x / 2, 20.5 + 0.75 * y, -30.25 + 2.5 * k)
            ),
        )
        for k in range(1, 5)
    ]
    found = tool.item(ReferencedROINumber=1, ContourSequence=Sequence(outlines))
    dataset.ROIContourSequence = Sequence([found])
    tool.save(dataset, folder / "dicom" / "contours.dcm")


def _segments(folder: Path) -> None:
    images = [pydicom.dcmread(file) for file in sorted((folder / "dicom" / "series").iterdir())]
    images.sort(key=lambda image: float(image.ImagePositionPatient[2]))
    for image in images:
        image.PatientSex = ""
    mask = np.zeros((_SLICES, _ROWS, _COLUMNS, 1), np.uint8)
    mask[1:5, 2:7, 1:5, 0] = 1
    kind = highdicom.seg.SegmentAlgorithmTypeValues.MANUAL
    organ = highdicom.seg.SegmentDescription(1, "liver", codes.SCT.Organ, codes.SCT.Liver, kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        uids = highdicom.UID(), highdicom.UID()
        made = highdicom.seg.Segmentation(
            images, mask, "BINARY", [organ], uids[0], 1, uids[1], 1, "m", "m", "1", "s"
        )
    (folder / "segments").mkdir()
    made.save_as(folder / "segments" / "segments.dcm")
