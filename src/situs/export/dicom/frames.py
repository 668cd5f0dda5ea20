"""A grid in RAS+ millimetres as the slices of a DICOM series, with or without voxels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian, MRImageStorage
from pydicom.valuerep import DS

from situs.bench import BenchInfo, SeriesRecord, StudyRecord
from situs.errors import SitusError
from situs.export.dicom.headers import patient_header, uid_of
from situs.space import Axis, Grid

__all__ = ["SliceStack"]

_RAS_TO_LPS = np.diag([-1.0, -1.0, 1.0])
_STORED_BITS = 16


class SliceStack:
    """How the stored axes become slices, rows and columns.

    The slices lie across the axis with the largest steps, as they were acquired; of equal steps
    across the one nearest to head-feet. They are ordered along the normal of the pictures, as
    readers of DICOM do, so that a grid that turns left-handed with its stored axes comes out right.
    """

    def __init__(self, grid: Grid, where: str) -> None:
        if grid.affine.is_sheared:
            raise SitusError(
                "its voxel axes are not at right angles, which DICOM cannot say",
                where=where,
                fix="resample it first",
            )
        self.grid = grid
        linear = _RAS_TO_LPS @ grid.affine.linear
        spacing = grid.affine.spacing_mm
        vertical = [d.axis is Axis.SUPERIOR_INFERIOR for d in grid.affine.directions]
        slices = max(range(3), key=lambda a: (round(spacing[a], 6), vertical[a]))
        self.rows, self.columns = (axis for axis in range(3) if axis != slices)
        self.slices = slices
        normal = np.cross(linear[:, self.columns], linear[:, self.rows])
        self.reversed = bool(normal @ linear[:, slices] < 0.0)
        self._linear = linear
        self._origin = _RAS_TO_LPS @ grid.affine.matrix[:3, 3]

    def arranged(self, voxels: NDArray[Any]) -> NDArray[Any]:
        """An array [i, j, k] in stored order as [slice, row, column]."""
        turned = np.transpose(voxels, (self.slices, self.rows, self.columns))
        return turned[::-1] if self.reversed else turned

    def position_mm(self, number: int) -> NDArray[np.float64]:
        """The middle of the first pixel of a slice, in LPS."""
        last = self.grid.shape[self.slices] - 1
        stored = last - number if self.reversed else number
        position: NDArray[np.float64] = self._origin + stored * self._linear[:, self.slices]
        return position

    def datasets(
        self,
        info: BenchInfo,
        study: StudyRecord,
        series: SeriesRecord,
        voxels: NDArray[Any] | None,
    ) -> list[Dataset]:
        """One dataset a slice.
        Without voxels they only say what a segmentation lies on, and are not to be written."""
        spacing = self.grid.affine.spacing_mm
        across, down = self._linear[:, self.columns], self._linear[:, self.rows]
        orientation = [*(across / spacing[self.columns]), *(down / spacing[self.rows])]
        pixels = None if voxels is None else _Pixels(self.arranged(voxels))
        is_ct = series.modality == "ct"
        result = []
        for number in range(self.grid.shape[self.slices]):
            dataset = patient_header(info, study)
            dataset.SOPClassUID = CTImageStorage if is_ct else MRImageStorage
            dataset.SOPInstanceUID = uid_of(
                info, "image", study.study_id, series.series, str(number)
            )
            dataset.SeriesInstanceUID = uid_of(info, "images", study.study_id, series.series)
            dataset.FrameOfReferenceUID = uid_of(info, "frame", study.study_id, series.series)
            dataset.PositionReferenceIndicator = ""
            dataset.Modality = "CT" if is_ct else "MR"
            dataset.SeriesNumber = 1
            dataset.SeriesDescription = series.series[:64]
            dataset.InstanceNumber = number + 1
            dataset.ImageType = ["DERIVED", "SECONDARY", "AXIAL" if is_ct else "OTHER"]
            dataset.PatientPosition = ""
            dataset.Rows = self.grid.shape[self.rows]
            dataset.Columns = self.grid.shape[self.columns]
            dataset.PixelSpacing = [_decimal(spacing[a]) for a in (self.rows, self.columns)]
            dataset.SliceThickness = _decimal(spacing[self.slices])
            dataset.SpacingBetweenSlices = _decimal(spacing[self.slices])
            dataset.ImageOrientationPatient = [_decimal(v) for v in orientation]
            dataset.ImagePositionPatient = [_decimal(v) for v in self.position_mm(number)]
            dataset.SamplesPerPixel = 1
            dataset.PhotometricInterpretation = "MONOCHROME2"
            dataset.BitsAllocated = dataset.BitsStored = _STORED_BITS
            dataset.HighBit = _STORED_BITS - 1
            dataset.PixelRepresentation = 1
            _add_modality_module(dataset, is_ct)
            if pixels is not None:
                pixels.fill(dataset, number)
            _add_meta(dataset)
            result.append(dataset)
        return result


class _Pixels:
    """Voxels as 16 signed bits: as they are where they fit,
    else scaled over the range of the volume."""

    def __init__(self, voxels: NDArray[Any]) -> None:
        low, high = float(np.nanmin(voxels)), float(np.nanmax(voxels))
        is_integer = np.issubdtype(voxels.dtype, np.integer) or bool(
            np.all(voxels == np.rint(voxels))
        )
        fits = np.iinfo(np.int16).min <= low and high <= np.iinfo(np.int16).max
        self.slope, self.intercept = 1.0, 0.0
        if not (is_integer and fits):
            # The stored slope has 16 characters: what is stored is computed with the number that
            # will be read.
            self.slope = float(_decimal((high - low) / (2**_STORED_BITS - 2) or 1.0))
            self.intercept = float(_decimal((high + low) / 2.0))
        self._voxels = voxels

    def fill(self, dataset: Dataset, number: int) -> None:
        """Write one slice's pixels and how they are read."""
        stored = np.rint((self._voxels[number] - self.intercept) / self.slope)
        limits = np.iinfo(np.int16)
        clipped = np.clip(np.nan_to_num(stored), limits.min, limits.max)
        dataset.PixelData = np.ascontiguousarray(clipped, dtype="<i2").tobytes()
        dataset.RescaleSlope = _decimal(self.slope)
        dataset.RescaleIntercept = _decimal(self.intercept)
        dataset.RescaleType = "HU" if dataset.Modality == "CT" else "US"


def _add_modality_module(dataset: Dataset, is_ct: bool) -> None:
    """What the image modules of CT and MR must say, where nothing is known of the acquisition."""
    if is_ct:
        dataset.KVP = None
        dataset.AcquisitionNumber = None
        return
    dataset.ScanningSequence = "RM"
    dataset.SequenceVariant = "NONE"
    dataset.ScanOptions = ""
    dataset.MRAcquisitionType = "3D"
    dataset.EchoTime = None
    dataset.EchoTrainLength = None


def _add_meta(dataset: Dataset) -> None:
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = dataset.SOPClassUID
    meta.MediaStorageSOPInstanceUID = dataset.SOPInstanceUID
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    dataset.file_meta = meta


def _decimal(value: float) -> DS:
    """A decimal string: 16 characters, as many digits as they hold."""
    return DS(float(value), auto_format=True)
