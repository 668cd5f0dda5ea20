"""Small DICOM files for the tests, with a person's name in every tag that can hold one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.sequence import Sequence
from pydicom.uid import UID, ExplicitVRLittleEndian, generate_uid

SECRET = "Quixote"
CT = "1.2.840.10008.5.1.4.1.1.2"
ENHANCED_CT = "1.2.840.10008.5.1.4.1.1.2.1"
SECONDARY_CAPTURE = "1.2.840.10008.5.1.4.1.1.7"
SECRET_UID = "1.2.826.0.1.3680043.8.498.7777777"
AXIAL = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0)


def head(sop_class: str = CT, series: str = "1", syntax: str = ExplicitVRLittleEndian) -> Dataset:
    """A data set with file meta, ids and a name planted wherever one fits."""
    dataset = Dataset()
    dataset.file_meta = FileMetaDataset()
    dataset.file_meta.TransferSyntaxUID = UID(syntax)
    dataset.SOPClassUID = dataset.file_meta.MediaStorageSOPClassUID = UID(sop_class)
    dataset.SOPInstanceUID = dataset.file_meta.MediaStorageSOPInstanceUID = generate_uid()
    dataset.StudyInstanceUID = f"{SECRET_UID}.1"
    dataset.SeriesInstanceUID = f"{SECRET_UID}.2.{series}"
    dataset.FrameOfReferenceUID = f"{SECRET_UID}.3"
    dataset.PatientName = f"{SECRET}^Alonso"
    dataset.PatientID = f"{SECRET}-1605"
    dataset.PatientBirthDate, dataset.StudyDate, dataset.StudyTime = (
        "16050116",
        "20240229",
        "112233",
    )
    dataset.InstitutionName = dataset.ReferringPhysicianName = dataset.StationName = SECRET
    dataset.SeriesDescription = dataset.StudyDescription = dataset.PatientComments = (
        f"scan of {SECRET}"
    )
    dataset.AccessionNumber = dataset.StudyID = SECRET
    dataset.Manufacturer = SECRET
    dataset.Modality = "CT"
    return dataset


def pixels(dataset: Dataset, array: np.ndarray, *, stored: int | None = None) -> Dataset:
    """Put an array [row, column] or [frame, row, column] into the data set."""
    bits = 8 * array.dtype.itemsize
    dataset.Rows, dataset.Columns = array.shape[-2:]
    dataset.SamplesPerPixel, dataset.PhotometricInterpretation = 1, "MONOCHROME2"
    dataset.BitsAllocated, dataset.BitsStored, dataset.HighBit = (
        bits,
        stored or bits,
        (stored or bits) - 1,
    )
    dataset.PixelRepresentation = int(array.dtype.kind == "i")
    if array.ndim == 3:
        dataset.NumberOfFrames = len(array)
    order = "<" if dataset.file_meta.TransferSyntaxUID.is_little_endian else ">"
    raw = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder(order)).tobytes()
    dataset.PixelData = raw + b"\0" * (len(raw) % 2)
    dataset["PixelData"].VR = "OW" if bits > 8 else "OB"
    return dataset


def save(dataset: Dataset, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    dataset.save_as(path, enforce_file_format=True)
    return path


def numbers(values: Any) -> list[str]:
    """Decimal strings of at most sixteen characters."""
    return [f"{float(v):.10g}"[:16] for v in values]


def write_series(
    folder: Path,
    volume: np.ndarray,
    *,
    orientation: tuple[float, ...] = AXIAL,
    origin: tuple[float, ...] = (-10.0, 20.5, -30.25),
    step: tuple[float, ...] = (0.0, 0.0, 2.5),
    spacing: tuple[float, float] = (0.75, 0.5),
    slopes: list[float] | None = None,
    inters: list[float] | None = None,
    syntax: str = ExplicitVRLittleEndian,
    compress: str | None = None,
    stored: int | None = None,
    series: str = "1",
    seed: int = 0,
    **tags: Any,
) -> list[Path]:
    """One file for each slice of `volume` [slice, row,
    column], with names and instance numbers in no order."""
    names = np.random.default_rng(seed).permutation(len(volume))
    written = []
    for k, plane in enumerate(volume):
        dataset = pixels(head(series=series, syntax=syntax), plane, stored=stored)
        dataset.ImageType = ["ORIGINAL", "PRIMARY", "AXIAL"]
        dataset.ImageOrientationPatient = numbers(orientation)
        dataset.ImagePositionPatient = numbers(np.add(origin, np.multiply(step, k)))
        dataset.PixelSpacing, dataset.SliceThickness = numbers(spacing), "2.5"
        dataset.InstanceNumber = int(names[k])
        dataset.RescaleSlope = numbers([slopes[k] if slopes else 1])[0]
        dataset.RescaleIntercept = numbers([inters[k] if inters else 0])[0]
        for keyword, value in tags.items():
            if value is None:
                delattr(dataset, keyword)
            else:
                setattr(dataset, keyword, value)
        if compress:
            dataset.compress(UID(compress))
        written.append(save(dataset, folder / f"{series}_{names[k]:03d}.dcm"))
    return written


def item(**tags: Any) -> Dataset:
    dataset = Dataset()
    for keyword, value in tags.items():
        setattr(dataset, keyword, Sequence([value]) if isinstance(value, Dataset) else value)
    return dataset


def write_enhanced(
    path: Path,
    volume: np.ndarray,
    order: list[int],
    inters: list[float],
    *,
    origin: tuple[float, ...] = (0.0, 0.0, 0.0),
    step: tuple[float, ...] = (0.0, 0.0, 2.0),
    syntax: str = ExplicitVRLittleEndian,
) -> Path:
    """An enhanced CT whose frames are stored in `order`;
    orientation and spacing are shared, the rest is not."""
    dataset = pixels(head(ENHANCED_CT, syntax=syntax), volume[order])
    dataset.ImageType = ["ORIGINAL", "PRIMARY", "VOLUME", "NONE"]
    measures = item(PixelSpacing=["0.5", "0.5"], SliceThickness="2")
    shared = item(
        PlaneOrientationSequence=item(ImageOrientationPatient=numbers(AXIAL)),
        PixelMeasuresSequence=measures,
    )
    dataset.SharedFunctionalGroupsSequence = Sequence([shared])
    dataset.PerFrameFunctionalGroupsSequence = Sequence(
        [
            item(
                PlanePositionSequence=item(
                    ImagePositionPatient=numbers(np.add(origin, np.multiply(step, k)))
                ),
                PixelValueTransformationSequence=item(
                    RescaleSlope="1", RescaleIntercept=numbers([inters[k]])[0]
                ),
            )
            for k in order
        ]
    )
    return save(dataset, path)
