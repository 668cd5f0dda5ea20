"""Opening DICOM segmentations and structure sets as labels."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from situs.errors import SitusError
from situs.volumes.dicom.contours import across_slices, load_contours, read_contours
from situs.volumes.dicom.files import dicom_files
from situs.volumes.dicom.heads import Head, find_series_near, read_head
from situs.volumes.dicom.seg import own_grid, place, read_segmentation, turned_to
from situs.volumes.dicom.seg_load import header_warnings, load_segmentation
from situs.volumes.dicom.series import open_images
from situs.volumes.labels import Labels
from situs.volumes.volume import Volume

__all__ = ["open_dicom_labels"]


def open_dicom_labels(path: Path, names: Mapping[int, str], reference: Volume | None) -> Labels:
    """Open a segmentation or structure set, or the only one in a folder."""
    head = _the_labels(path) if path.is_dir() else read_head(path)
    if head.kind == "seg":
        return _open_segmentation(path, head, names, reference)
    if head.kind == "rtstruct":
        return _open_contours(path, head, names, reference or _find_reference(head))
    raise SitusError(
        "is DICOM but neither a segmentation nor a structure set",
        where=path,
        fix="open an image with open_volume",
    )


def _the_labels(folder: Path) -> Head:
    heads = [read_head(file) for file in dicom_files(folder)]
    for kind in ("seg", "rtstruct"):
        segmentations = [head for head in heads if head.kind == kind]
        if len(segmentations) == 1:
            return segmentations[0]
        if segmentations:
            raise SitusError(
                f"holds {len(segmentations)} segmentations",
                where=folder,
                fix="give the path of the file you want",
            )
    raise SitusError(
        "holds no segmentation", where=folder, fix="give a DICOM-SEG or RTSTRUCT file, or masks"
    )


def _open_segmentation(
    path: Path, head: Head, names: Mapping[int, str], reference: Volume | None
) -> Labels:
    header = read_segmentation(head.path)
    grid = (
        turned_to(reference.grid, header.planes[0]) if reference is not None else own_grid(header)
    )
    slices = place(header, grid)
    return Labels(
        path,
        grid,
        "affine",
        header_warnings(header),
        lambda: load_segmentation(header, grid, slices, names),
    )


def _open_contours(path: Path, head: Head, names: Mapping[int, str], reference: Volume) -> Labels:
    regions = read_contours(head.path)
    grid = across_slices(reference.grid, regions)
    return Labels(
        path,
        grid,
        reference.orientation_basis,
        (),
        lambda: load_contours(head.path, regions, grid, names),
    )


def _find_reference(head: Head) -> Volume:
    """The image series that a structure set names, near it."""
    files = find_series_near(head)
    if not files:
        raise SitusError(
            "the image series it was drawn on is not beside it",
            where=head.path,
            fix="give it as the reference image, or put both in one folder",
        )
    return open_images(files[0].path.parent, [file.path for file in files])
