"""A small file of every format, written here and read as any other: same voxels, same places."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["READERS"]

_SHAPE = (32, 40, 6)
_SPACING_MM = (2.0, 3.0, 4.0)
_ORIGIN_RAS_MM = (-10.0, -20.0, 30.0)
_TO_LPS = np.diag([-1.0, -1.0, 1.0])


def _voxels() -> NDArray[np.int16]:
    return np.arange(np.prod(_SHAPE), dtype=np.int16).reshape(_SHAPE)


def _affine() -> NDArray[np.float64]:
    matrix = np.diag([*_SPACING_MM, 1.0])
    matrix[:3, 3] = _ORIGIN_RAS_MM
    return matrix


def _same(path: Path) -> str:
    """Read a file or folder; raise unless every voxel lies at its place."""
    from situs.volumes import open_volume

    volume = open_volume(path)
    values, affine = volume.array(), volume.grid.affine.matrix
    index = np.array(list(np.ndindex(*_SHAPE)))
    world = index @ _affine()[:3, :3].T + _affine()[:3, 3]
    inverse = np.linalg.inv(affine)
    read = np.rint(world @ inverse[:3, :3].T + inverse[:3, 3]).astype(int)
    if not np.array_equal(values[tuple(read.T)], _voxels().ravel()):
        raise ValueError("voxels are not at their places")
    return f"{values.size:,} voxels at their places"


def _sizes() -> str:
    return " ".join(map(str, _SHAPE))


def _nifti(folder: Path) -> str:
    import nibabel

    nibabel.save(nibabel.Nifti1Image(_voxels(), _affine()), folder / "image.nii.gz")
    return _same(folder / "image.nii.gz")


def _nrrd(folder: Path) -> str:
    columns = (_TO_LPS @ _affine()[:3, :3]).T
    origin = _TO_LPS @ np.array(_ORIGIN_RAS_MM)

    def vector(values: NDArray[np.float64]) -> str:
        return "(" + ",".join(f"{v:g}" for v in values) + ")"

    header = [
        "NRRD0004",
        "type: short",
        "dimension: 3",
        "space: left-posterior-superior",
        f"sizes: {_sizes()}",
        f"space directions: {' '.join(map(vector, columns))}",
        f"space origin: {vector(origin)}",
        "endian: little",
        "encoding: raw",
    ]
    path = folder / "image.nrrd"
    path.write_bytes("\n".join(header).encode() + b"\n\n" + _voxels().tobytes(order="F"))
    return _same(path)


def _metaimage(folder: Path) -> str:
    origin = _TO_LPS @ np.array(_ORIGIN_RAS_MM)
    header = [
        "ObjectType = Image",
        "NDims = 3",
        "BinaryData = True",
        "BinaryDataByteOrderMSB = False",
        "TransformMatrix = -1 0 0 0 -1 0 0 0 1",
        f"Offset = {' '.join(f'{v:g}' for v in origin)}",
        f"ElementSpacing = {' '.join(f'{v:g}' for v in _SPACING_MM)}",
        f"DimSize = {_sizes()}",
        "ElementType = MET_SHORT",
        "ElementDataFile = LOCAL",
    ]
    path = folder / "image.mha"
    path.write_bytes("\n".join(header).encode() + b"\n" + _voxels().tobytes(order="F"))
    return _same(path)


def _slices() -> list[Any]:
    """The volume as plain DICOM slices."""
    from pydicom.dataset import Dataset, FileMetaDataset
    from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian

    result = []
    for number in range(_SHAPE[2]):
        dataset = Dataset()
        dataset.file_meta = FileMetaDataset()
        dataset.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
        dataset.file_meta.MediaStorageSOPClassUID = dataset.SOPClassUID = CTImageStorage
        dataset.file_meta.MediaStorageSOPInstanceUID = dataset.SOPInstanceUID = f"2.25.{number + 9}"
        dataset.StudyInstanceUID, dataset.SeriesInstanceUID = "2.25.1", "2.25.2"
        dataset.FrameOfReferenceUID = "2.25.3"
        dataset.PatientID = "doctor"
        dataset.Modality = "CT"
        dataset.InstanceNumber = number + 1
        dataset.ImageOrientationPatient = [-1, 0, 0, 0, -1, 0]
        x, y, z = _TO_LPS @ np.array(_ORIGIN_RAS_MM)
        dataset.ImagePositionPatient = [x, y, z + number * _SPACING_MM[2]]
        dataset.PixelSpacing = [_SPACING_MM[1], _SPACING_MM[0]]
        dataset.SliceThickness = _SPACING_MM[2]
        dataset.Columns, dataset.Rows = _SHAPE[:2]
        dataset.SamplesPerPixel = 1
        dataset.PhotometricInterpretation = "MONOCHROME2"
        dataset.BitsAllocated = dataset.BitsStored = 16
        dataset.HighBit, dataset.PixelRepresentation = 15, 1
        dataset.RescaleSlope, dataset.RescaleIntercept = 1, 0
        dataset.PixelData = np.ascontiguousarray(_voxels()[:, :, number].T).tobytes()
        result.append(dataset)
    return result


def _dicom(folder: Path) -> str:
    for number, dataset in enumerate(_slices()):
        dataset.save_as(folder / f"{number}.dcm", enforce_file_format=True)
    return _same(folder)


def _compressed(syntax: str) -> Callable[[Path], str]:
    """A trial of a lossless encoding that another package reads."""

    def trial(folder: Path) -> str:
        from pydicom.uid import JPEG2000Lossless, JPEGLSLossless

        if syntax == "JPEG 2000":
            import openjpeg  # noqa: F401
        else:
            import jpeg_ls  # type: ignore[import-untyped,unused-ignore]  # noqa: F401
        uid = JPEG2000Lossless if syntax == "JPEG 2000" else JPEGLSLossless
        for number, dataset in enumerate(_slices()):
            dataset.compress(uid, generate_instance_uid=False)
            dataset.save_as(folder / f"{number}.dcm", enforce_file_format=True)
        return _same(folder)

    return trial


def _segmentation(folder: Path) -> str:
    import highdicom as hd
    from pydicom.sr.codedict import codes

    from situs.volumes import open_labels

    images = _slices()
    for image in images:
        image.PatientName = image.PatientBirthDate = image.PatientSex = ""
        image.StudyID = image.AccessionNumber = image.StudyDate = image.StudyTime = ""
        image.ReferringPhysicianName = ""
    mask = np.zeros(_SHAPE[::-1], dtype=np.uint8)
    mask[2:4, 1:4, 1:3] = 1
    described = hd.seg.SegmentDescription(
        1, "liver", codes.SCT.Organ, codes.SCT.Liver, hd.seg.SegmentAlgorithmTypeValues.MANUAL
    )
    file = hd.seg.Segmentation(
        images, mask, "BINARY", [described], "2.25.5", 2, "2.25.6", 1, "Situs", "Situs", "0", "0"
    )
    file.save_as(folder / "segmentation.dcm")
    labels = open_labels(folder / "segmentation.dcm").load()
    (structure,) = labels.structures
    voxels = int(labels.mask(structure).sum())
    if voxels != int(mask.sum()):
        raise ValueError(f"{voxels} voxels, not {int(mask.sum())}")
    return f"{voxels} voxels of {structure.name}"


def _fastmri(folder: Path) -> str:
    import h5py

    from situs.volumes import open_stack

    with h5py.File(folder / "file1.h5", "w") as file:
        file["reconstruction_rss"] = np.transpose(_voxels(), (2, 1, 0)).astype(np.float32)
    frames = open_stack(folder / "file1.h5").array()
    # Such files hold their pictures upside down.
    if not np.array_equal(frames[:, ::-1], np.transpose(_voxels(), (2, 1, 0))):
        raise ValueError("pictures are not as written")
    return f"{len(frames)} frames"


READERS: dict[str, Callable[[Path], str]] = {
    "reads NIfTI": _nifti,
    "reads NRRD": _nrrd,
    "reads MetaImage": _metaimage,
    "reads DICOM": _dicom,
    "reads JPEG 2000": _compressed("JPEG 2000"),
    "reads JPEG-LS": _compressed("JPEG-LS"),
    "reads DICOM segmentations": _segmentation,
    "reads fastMRI (HDF5)": _fastmri,
}
