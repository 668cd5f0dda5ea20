"""Opening labels of any kind: one file, a folder of masks,
a TotalSegmentator study, a Slicer segmentation, DICOM."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path

from situs.base.remote import arrive
from situs.errors import SitusError
from situs.space import Grid
from situs.volumes.formats.nifti import label_table
from situs.volumes.formats.stored import Stored, enough_memory
from situs.volumes.label_map import LabelMap
from situs.volumes.masks.folder import load_masks, mask_files, mask_labels
from situs.volumes.masks.segments import load_label_file
from situs.volumes.reorder import grid_warnings, reorder_onto
from situs.volumes.volume import Volume, holds_dicom, kind_of, open_volume, read_header

__all__ = ["Labels", "open_labels"]


class Labels:
    """A lazy source of labels: opening reads headers, `load` reads voxels. Immutable."""

    __slots__ = ("_grid", "_load", "_orientation_basis", "_path", "_warnings")

    def __init__(
        self,
        path: Path,
        grid: Grid,
        orientation_basis: str,
        warnings: tuple[str, ...],
        load: Callable[[], LabelMap],
    ) -> None:
        self._path = path
        self._grid = grid
        self._orientation_basis = orientation_basis
        self._warnings = warnings
        self._load = load

    @property
    def path(self) -> Path:
        """The file or folder that was opened."""
        return self._path

    @property
    def grid(self) -> Grid:
        """Shape and RAS+ affine, in stored index order."""
        return self._grid

    @property
    def orientation_basis(self) -> str:
        """`affine` if every header declares an orientation, else `undeclared`."""
        return self._orientation_basis

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is doubtful about the headers; `LabelMap.warnings` adds what loading finds."""
        return self._warnings

    def load(self) -> LabelMap:
        """Read the voxels. A source without a single labelled voxel is an error."""
        with enough_memory(self._path):
            return self._load()

    def __repr__(self) -> str:
        return f"Labels({self.grid!r})"


def open_labels(
    path: str | Path,
    names: Mapping[int, str] | None = None,
    *,
    ids: Mapping[str, int] | None = None,
    reference: Volume | str | Path | None = None,
) -> Labels:
    """Open labels from a label file, a folder of masks, a DICOM segmentation or structure set.
    Reads headers only.

    `names` names the values of a label file (others are called as the file itself says, or
    `label_<n>`). `ids` numbers the masks of a folder by name; without it, `names` read backwards
    does. `reference` is the image the labels were drawn on. DICOM labels need it: a structure set
    has no grid of its own (without a reference, the series it names is looked for near it), and a
    segmentation that leaves out empty slices is laid onto the grid of the image, as is a label file
    or a folder of masks that holds a block of it.
    """
    path = Path(path)
    arrive(path)
    if _is_dicom_labels(path):
        from situs.volumes.dicom.labels import open_dicom_labels

        return open_dicom_labels(path, dict(names or {}), _image_of(reference))
    if path.is_dir():
        known = (
            dict(ids) if ids is not None else {name: label for label, name in (names or {}).items()}
        )
        return _open_folder(path, known, _image_of(reference))
    return _open_file(path, dict(names or {}), _image_of(reference))


def _image_of(reference: Volume | str | Path | None) -> Volume | None:
    return open_volume(reference) if isinstance(reference, str | Path) else reference


def _open_file(path: Path, names: dict[int, str], image: Volume | None) -> Labels:
    """A label file."""
    stored = read_header(path)
    grid = _grid(stored)
    if kind_of(path) in (".nii", ".nii.gz"):
        names = label_table(stored) | names
    labels = Labels(
        path,
        grid,
        stored.orientation_basis,
        stored.warnings,
        lambda: load_label_file(stored, grid, names),
    )
    return _onto_image(labels, path, image)


def _onto_image(labels: Labels, path: Path, image: Volume | None) -> Labels:
    """Labels that hold a block of their image's grid,
    as 3D Slicer saves them, laid onto the whole of it."""
    labelled = labels.grid
    if image is None or reorder_onto(image.grid, labelled) is not None:
        return labels
    start = labelled.block_in(image.grid)
    if start is None:
        return labels
    grid = image.grid
    partial = _block_warning(path, labelled, grid)

    def load() -> LabelMap:
        label_map = labels.load().padded(grid, start)
        return dataclasses.replace(label_map, warnings=(*label_map.warnings, *partial))

    return Labels(path, grid, labels.orientation_basis, (*labels.warnings, *partial), load)


def _block_warning(path: Path, labelled: Grid, image_grid: Grid) -> tuple[str, ...]:
    """Said of labels that cover a part of their image,
    except where 3D Slicer saved just the box of what was drawn."""
    if labelled.voxels == image_grid.voxels or path.name.lower().endswith(".seg.nrrd"):
        return ()
    sizes = (" × ".join(map(str, grid.shape)) for grid in (labelled, image_grid))
    return (
        "labels cover only a part of their image ({} of {} voxels): the rest counts as "
        "unlabelled".format(*sizes),
    )


def _is_dicom_labels(path: Path) -> bool:
    """A DICOM file, or a folder of such files without masks."""
    if path.is_dir():
        try:
            if (path / "segmentations").is_dir() or any(kind_of(file) for file in path.iterdir()):
                return False
        except OSError as error:
            raise SitusError(
                f"cannot be read ({error.strerror})", where=path, fix="check its permissions"
            ) from error
    return holds_dicom(path)


def _open_folder(path: Path, ids: Mapping[str, int], image: Volume | None) -> Labels:
    folder = path / "segmentations" if (path / "segmentations").is_dir() else path
    image_file = None if image is None else image.path
    masks = {name: read_header(file) for name, file in mask_files(folder, image_file).items()}
    first, *others = masks.values()
    if any(len(stored.shape) != 3 for stored in masks.values()):
        raise SitusError(
            "holds a mask of several layers", where=folder, fix="open a .seg.nrrd as a file"
        )
    grids = {name: _grid(stored) for name, stored in masks.items()}
    grid, *other_grids = grids.values()
    # The masks of a study nearly always share one grid: each is compared once.
    turn_of = {distinct: reorder_onto(distinct, grid) for distinct in set(grids.values())}
    for other, other_grid in zip(others, other_grids):
        if turn_of[other_grid] is None:
            apart = grid.difference(other_grid)
            raise SitusError(
                f"{first.path.name} and {other.path.name} are not on one grid ({apart})",
                where=folder,
                fix="resample the masks onto one grid",
            )
    mask_labels(list(masks), ids, where=folder)
    bases = {stored.orientation_basis for stored in masks.values()}
    basis = "affine" if bases == {"affine"} else "undeclared"
    placed = {
        name: (stored, turn)
        for name, stored in masks.items()
        if (turn := turn_of[grids[name]]) is not None
    }
    error_mm = max(
        turn.grid(distinct).offset_mm(grid)
        for distinct, turn in turn_of.items()
        if turn is not None
    )
    texts = [text for stored in masks.values() for text in stored.warnings]
    warnings = tuple(dict.fromkeys((*texts, *grid_warnings(error_mm, "the masks"))))

    def load() -> LabelMap:
        labels = load_masks(folder, grid, placed, ids, warnings)
        return dataclasses.replace(labels, grid_error_mm=error_mm)

    return _onto_image(Labels(path, grid, basis, warnings, load), path, image)


def _grid(stored: Stored) -> Grid:
    i, j, k = stored.shape[-3:]
    return Grid((i, j, k), stored.affine)
