"""Finding studies in any known layout:
public datasets, DICOM folders, a table, or one label file."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from situs.anatomy import term
from situs.errors import SitusError, did_you_mean
from situs.volumes.case_names import IMAGE_STEMS, is_image_folder
from situs.volumes.formats.registry import suffixes
from situs.volumes.layouts.beside import subfolders, volume_files
from situs.volumes.layouts.bids import find_bids
from situs.volumes.layouts.content import content_of
from situs.volumes.layouts.dataset import find_dataset
from situs.volumes.layouts.folders import find_brats, find_kits, find_masks, find_totalsegmentator
from situs.volumes.layouts.pairs import find_by_content, find_pairs, find_slicer, find_split
from situs.volumes.layouts.source import LAYOUTS, StudySource
from situs.volumes.layouts.table import find_in_table
from situs.volumes.masks.folder import mask_files
from situs.volumes.volume import holds_dicom, kind_of, stem_of

__all__ = ["StudySource", "Survey", "find_studies", "find_study", "survey"]

_MOST_LISTED = 8
_DATASETS = ("msd", "nnunet", "amos")
_Find = Callable[[Path], list[StudySource]]
_CASES: dict[str, _Find] = {
    "totalsegmentator": find_totalsegmentator,
    "kits": find_kits,
    "brats": find_brats,
    "bids": find_bids,
    "split": find_split,
    "slicer": find_slicer,
    "pairs": find_pairs,
    "masks": find_masks,
}
_IN_FOLDER = (
    find_totalsegmentator,
    find_dataset,
    find_kits,
    find_brats,
    find_bids,
    find_split,
    find_slicer,
    find_pairs,
    find_by_content,
)
"""What a folder is looked at as, one after the other; then as a folder of masks."""
_DEPTH = 4
"""How many folders deep studies may lie below the one that is given."""
_IMAGES_ONLY = ("imagesTr", "imagesTs", "imagesVa", "images")


class Survey(NamedTuple):
    """What lies under a path."""

    studies: list[StudySource]
    passed_over: list[Path]
    """Folders that hold volumes but fit no layout; private, as all paths are."""


def find_studies(
    root: str | Path, layout: str = "auto", *, keep_missing: bool = False
) -> list[StudySource]:
    """All studies under `root`, sorted. Nothing found is an error that says which layouts are
    known.

    `layout` is `auto` or one of the layouts that `situs list layouts` shows. `keep_missing`: rows
    of a table whose files are missing are kept; they are an error otherwise.
    """
    return survey(root, layout, keep_missing=keep_missing).studies


def survey(root: str | Path, layout: str = "auto", *, keep_missing: bool = False) -> Survey:
    """All studies under `root` as `find_studies` gives them,
    and the folders that were passed over."""
    root = Path(root)
    if layout != "auto" and layout not in LAYOUTS:
        raise SitusError(
            f"unknown layout {layout!r}",
            where="layout",
            fix=did_you_mean(layout, ["auto", *LAYOUTS]),
        )
    try:
        if not root.exists():
            raise SitusError("no such file or folder", where=root, fix="check the path")
        if root.is_dir():
            studies = _find_in_folder(root, layout)
        else:
            studies = _find_in_file(root, layout, keep_missing=keep_missing)
        if layout == "auto" and studies and root.is_dir():
            studies = [*studies, *_elsewhere(root, studies)]
        passed_over = _passed_over(root, studies) if root.is_dir() else []
    except (OSError, ValueError) as error:
        raise SitusError(
            "cannot be read", where=root, fix="check the path and its permissions"
        ) from error
    if not studies:
        if layout != "auto":
            raise SitusError(
                f"no study found in layout {layout}", where=root, fix=f"it is: {LAYOUTS[layout]}"
            )
        raise _nothing_found(root)
    return Survey(_told_apart(studies, root), passed_over)


def _nothing_found(root: Path) -> SitusError:
    """Says what lies there instead of studies."""
    volumes, unread = _files_below(root) if root.is_dir() else ([], [])
    if volumes:
        problem = (
            f"no study found: none of {len(volumes)} volumes is named as labels, e.g."
            f" {volumes[0].name}"
        )
        fix = "name label files like case_seg.nii.gz, or list image and labels in a .csv table"
        return SitusError(
            problem, where=root, fix=f"{fix}; `situs list layouts` shows what is known"
        )
    if unread:
        problem = f"no study found: {unread[0].suffix} files are not read, e.g. {unread[0].name}"
        return SitusError(
            problem, where=root, fix=f"convert them to one of {', '.join(suffixes())}"
        )
    known = ", ".join(name for name in LAYOUTS if name != "file")
    fix = (
        f"known layouts: {known}, or one label file ({', '.join(suffixes())}); `situs list layouts`"
        " describes them"
    )
    return SitusError("no study found", where=root, fix=fix)


_UNREAD = (".mgz", ".mgh", ".img", ".hdr", ".npy", ".npz", ".mat", ".h5", ".tif", ".tiff")
"""Volumes of kinds that label maps are not read from."""


def _files_below(root: Path) -> tuple[list[Path], list[Path]]:
    """Volumes, and volumes of kinds that are not read; of a large tree the first only."""
    volumes: list[Path] = []
    unread: list[Path] = []
    for number, (folder, names, files) in enumerate(os.walk(root)):
        names[:] = sorted(name for name in names if not name.startswith("."))
        paths = [Path(folder) / name for name in sorted(files) if not name.startswith(".")]
        volumes += [path for path in paths if kind_of(path) is not None]
        unread += [path for path in paths if path.suffix.lower() in _UNREAD]
        if number > _MOST_LOOKED_INTO:
            break
    return volumes, unread


def _told_apart(studies: list[StudySource], root: Path) -> list[StudySource]:
    """Studies of one name, from different folders, named by their way from the root."""
    count = Counter(study.stem for study in studies)
    result = []
    for study in studies:
        if (
            count[study.stem] > 1
            and study.public_id is None
            and study.study is None
            and root.is_dir()
        ):
            way = (
                study.labels.relative_to(root)
                if study.labels.is_relative_to(root)
                else study.labels
            )
            study = dataclasses.replace(study, stem="-".join((*way.parts[:-1], stem_of(way))))
        result.append(study)
    return result


def _passed_over(root: Path, studies: list[StudySource]) -> list[Path]:
    used = {path for study in studies for path in (study.labels, study.image) if path is not None}
    used_folders = {parent for path in used for parent in (path, *path.parents)}
    return [
        folder
        for folder in subfolders(root)
        if folder not in used_folders and folder.name not in _IMAGES_ONLY and _holds_volumes(folder)
    ]


def _elsewhere(root: Path, studies: list[StudySource]) -> list[StudySource]:
    """Studies of other layouts in the folders that the first one left over: the parent of several
    datasets.

    Labels without an image are too little to tell a dataset from a leftover; their folder is
    reported instead.
    """
    return [
        study
        for folder in _passed_over(root, studies)
        if not is_image_folder(folder.name)
        for study in _below(folder, _auto_or_masks, _DEPTH - 1)
        if study.image is not None
    ]


def _holds_volumes(folder: Path) -> bool:
    for number, (_, names, files) in enumerate(os.walk(folder)):
        if any(kind_of(Path(name)) is not None for name in files if not name.startswith(".")):
            return True
        names[:] = sorted(name for name in names if not name.startswith("."))
        if number > _MOST_LOOKED_INTO:
            break
    return False


_MOST_LOOKED_INTO = 200


def find_study(path: str | Path) -> StudySource:
    """The one study that a file or folder is; of several, the error names them."""
    studies = find_studies(path)
    if len(studies) > 1:
        listed = ", ".join(_relative(study.labels, Path(path)) for study in studies[:_MOST_LISTED])
        more = ", …" if len(studies) > _MOST_LISTED else ""
        raise SitusError(
            f"holds {len(studies)} sets of labels: {listed}{more}",
            where=path,
            fix="give one of them",
        )
    return studies[0]


def _relative(labels: Path, root: Path) -> str:
    return str(labels.relative_to(root)) if labels.is_relative_to(root) else str(labels)


def _find_in_folder(root: Path, layout: str) -> list[StudySource]:
    if layout in _DATASETS:
        return _below(root, lambda folder: find_dataset(folder, layout), _DEPTH)
    if layout in _CASES:
        return _below(root, _CASES[layout], _DEPTH)
    if layout == "dicom":
        return _find_dicom(root)
    if layout == "auto":
        return (
            _auto(root)
            or _masks_given(root)
            or _below(root, _auto_or_masks, _DEPTH)
            or _find_dicom(root)
        )
    return []


def _auto(folder: Path) -> list[StudySource]:
    return next((studies for find in _IN_FOLDER if (studies := find(folder))), [])


def _masks_given(folder: Path) -> list[StudySource]:
    """The folder that a user gave, as one of masks,
    unless its first volume is plainly an image or a label map."""
    studies = find_masks(folder)
    if not studies or _names_masks(folder):
        return studies
    first = next(file for file in volume_files(folder) if stem_of(file).lower() not in IMAGE_STEMS)
    return studies if content_of(first) in ("mask", None) else []


def _auto_or_masks(folder: Path) -> list[StudySource]:
    """As `_auto`; a folder below the one given is one of masks only if a name in it says so."""
    return _auto(folder) or (find_masks(folder) if _names_masks(folder) else [])


def _names_masks(folder: Path) -> bool:
    stems = [stem_of(file) for file in volume_files(folder)]
    if any(stem.lower() in IMAGE_STEMS for stem in stems):
        return True
    return bool(stems) and any(term(name).known for name in mask_files(folder))


def _below(root: Path, find: _Find, depth: int) -> list[StudySource]:
    """What is found in a folder, else in the folders below it."""
    if studies := find(root):
        return studies
    if depth == 0:
        return []
    return [study for folder in subfolders(root) for study in _below(folder, find, depth - 1)]


def _find_in_file(root: Path, layout: str, *, keep_missing: bool) -> list[StudySource]:
    if layout in ("auto", "table") and root.suffix.lower() in (".csv", ".tsv"):
        return find_in_table(root, keep_missing=keep_missing)
    if layout in ("auto", "file") and kind_of(root) is not None:
        return [StudySource(stem_of(root), None, root, layout="file")]
    if layout in ("auto", "dicom") and holds_dicom(root):
        return _find_dicom(root)
    return []


def _find_dicom(root: Path) -> list[StudySource]:
    from situs.volumes.layouts.dicom import find_dicom

    return find_dicom(root)
