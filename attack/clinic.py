"""Segmentations and contours as a hospital's system writes them, with a person's name wherever a
file has room for one: in every text, as the name of a structure, and in the names of files."""

from __future__ import annotations

import math
import random
import warnings
from pathlib import Path

import highdicom
import nibabel
import numpy as np
import pydicom
from pydicom.dataset import Dataset
from pydicom.sequence import Sequence
from pydicom.sr.codedict import codes

from attack import dicom

__all__ = ["of_a_clinic"]

_ORGANS = ("liver", "spleen", "kidney_left", "kidney_right", "aorta")
_CODES = (codes.SCT.Liver, codes.SCT.Spleen, codes.SCT.Kidney, codes.SCT.Kidney, codes.SCT.Aorta)
_STEP_MM, _ORIGIN = 5.0, (-100.0, -80.0, -70.0)
_TEXTS = ("PN", "LO", "SH", "LT", "ST", "UT")
_SPOKEN = ("SegmentLabel", "ROIName", "ROIObservationLabel")
"""Names of structures: those of organs are what is asked about."""


def of_a_clinic(rng: random.Random, corpus: Path, data: Path, name: str) -> list[str]:
    """A series with a segmentation or contours beside it; one structure is called after somebody."""
    labels = np.asarray(nibabel.load(corpus / "labels.nii.gz").dataobj)
    volume = np.moveaxis(labels, 2, 0)  # slices, rows, columns
    study = data / f"{name}-{rng.randrange(9)}"
    maker = dicom.maker()
    series = study / f"{name}'s series"
    maker.write_series(
        series,
        np.where(volume > 0, 60 + 20 * volume, -1000).astype(np.int16),
        origin=_ORIGIN,
        step=(0.0, 0.0, _STEP_MM),
        spacing=(_STEP_MM, _STEP_MM),
    )
    # A sixth structure, which no vocabulary knows.
    volume = np.where(np.roll(volume == 5, 6, axis=0) & (volume == 0), 6, volume)
    write = rng.choice([_segments, _contours])
    write(volume, series, study / f"{name}.dcm", name)
    for file in study.rglob("*.dcm"):
        _sign(file, name)
    vouched = ("--trust", study.name, "--annotation", "manual")
    return ["build", "masks", str(study), *vouched]


def _sign(file: Path, name: str) -> None:
    """The name in every text of a file, at any depth, but for the names of organs."""

    def sign(_: Dataset, element: pydicom.DataElement) -> None:
        if element.VR in _TEXTS and element.keyword not in _SPOKEN:
            element.value = name

    dataset = pydicom.dcmread(file)
    for element in dataset:
        if element.VR == "SQ" and element.keyword not in _CODED:
            for part in element.value:
                part.walk(sign, recursive=False)
        elif element.VR in _TEXTS:
            element.value = name
    dataset.save_as(file)


_CODED = ("SegmentationTypeCodeSequence", "DimensionOrganizationSequence")


def _segments(volume: np.ndarray, series: Path, out: Path, name: str) -> None:
    images = sorted(
        (pydicom.dcmread(file) for file in series.iterdir()),
        key=lambda image: float(image.ImagePositionPatient[2]),
    )
    for image in images:
        image.PatientSex = ""
    kind = highdicom.seg.SegmentAlgorithmTypeValues.MANUAL
    described = [
        highdicom.seg.SegmentDescription(number, label, codes.SCT.Organ, code, kind)
        for number, (label, code) in enumerate(
            zip((*_ORGANS, name), (*_CODES, codes.SCT.Organ)), start=1
        )
    ]
    masks = np.stack([volume == number for number in range(1, 7)], axis=-1).astype(np.uint8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        uids = highdicom.UID(), highdicom.UID()
        made = highdicom.seg.Segmentation(
            images, masks, "BINARY", described, uids[0], 1, uids[1], 1, name, name, name, name
        )
    made.save_as(out)


def _contours(volume: np.ndarray, series: Path, out: Path, name: str) -> None:
    maker = dicom.maker()
    dataset = maker.head(dicom.RTSTRUCT)
    referred = maker.item(SeriesInstanceUID=dataset.SeriesInstanceUID)
    reference = maker.item(
        RTReferencedStudySequence=maker.item(RTReferencedSeriesSequence=referred)
    )
    dataset.ReferencedFrameOfReferenceSequence = Sequence([reference])
    dataset.SeriesInstanceUID += ".9"
    dataset.StructureSetLabel = dataset.StructureSetName = name
    names = (*_ORGANS, name)
    dataset.StructureSetROISequence = Sequence(
        [
            maker.item(ROINumber=number, ROIName=roi, ROIDescription=name)
            for number, roi in enumerate(names, start=1)
        ]
    )
    dataset.ROIContourSequence = Sequence(
        [
            maker.item(
                ReferencedROINumber=number,
                ContourSequence=Sequence(
                    [
                        maker.item(
                            ContourGeometricType="CLOSED_PLANAR",
                            NumberOfContourPoints=len(points) // 3,
                            ContourData=maker.numbers(points),
                        )
                        for points in _outlines(volume == number)
                    ]
                ),
            )
            for number in range(1, len(names) + 1)
        ]
    )
    dataset.RTROIObservationsSequence = Sequence(
        [
            maker.item(ObservationNumber=n, ReferencedROINumber=n, ROIObservationLabel=name)
            for n in range(1, len(names) + 1)
        ]
    )
    maker.save(dataset, out)


def _outlines(mask: np.ndarray) -> list[list[float]]:
    """A circle a slice: the structures are balls."""
    outlines = []
    for k in np.flatnonzero(mask.any((1, 2))):
        rows, columns = np.nonzero(mask[k])
        radius = math.sqrt(len(rows) / math.pi)
        turns = [math.tau * step / 24 for step in range(24)]
        outlines.append(
            [
                value
                for turn in turns
                for value in (
                    _ORIGIN[0] + _STEP_MM * (columns.mean() + radius * math.cos(turn)),
                    _ORIGIN[1] + _STEP_MM * (rows.mean() + radius * math.sin(turn)),
                    _ORIGIN[2] + _STEP_MM * k,
                )
            ]
        )
    return outlines
