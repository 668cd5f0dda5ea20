"""Studies of DICOM files:
each segmentation or structure set with the image series it was drawn on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from situs.errors import SitusError
from situs.volumes.dicom.files import dicom_files
from situs.volumes.dicom.heads import Head, by_series, find_series_near, read_head
from situs.volumes.layouts.source import StudySource

__all__ = ["find_dicom"]

_LABELS = ("seg", "rtstruct")
_MOST_FOLDERS = 100_000


def find_dicom(root: Path) -> list[StudySource]:
    """All labelled studies in a folder and the folders below it,
    or the one of a segmentation file."""
    if root.is_file():
        head = read_head(root)
        heads = [head, *(find_series_near(head) if head.kind in _LABELS else ())]
    else:
        heads = [read_head(file) for folder in _below(root) for file in dicom_files(folder)]
    labels = [head for head in heads if head.kind in _LABELS]
    if not labels and heads:
        count = len(by_series(heads))
        raise SitusError(
            f"holds DICOM ({count} image series) but no segmentation",
            where=root,
            fix="add its DICOM-SEG or RTSTRUCT file, or list image and labels in a .csv table",
        )
    stems = [root.stem] if root.is_file() else _stems(labels, heads, root)
    studies = [
        StudySource(
            stem, _image(head, heads), head.path, layout="dicom", patient_key=head.patient or None
        )
        for stem, head in zip(stems, labels)
    ]
    return sorted(studies, key=lambda source: source.stem)


def _below(root: Path) -> Iterator[Path]:
    for number, (folder, names, _) in enumerate(os.walk(root)):
        if number >= _MOST_FOLDERS:
            raise SitusError(
                f"holds more than {_MOST_FOLDERS} folders", where=root, fix="give a smaller folder"
            )
        names[:] = sorted(name for name in names if not name.startswith("."))
        yield Path(folder)


def _image(labels: Head, heads: list[Head]) -> Path | None:
    """The series that the labels name; if they name none, the only one of their study."""
    series = by_series(
        head for head in heads if head.study == labels.study or head.series in labels.references
    )
    usable = {
        key: files for key, files in series.items() if not any(file.refusal for file in files)
    }
    wanted = [usable[key] for key in labels.references if key in usable]
    if not labels.references and len(usable) == 1:
        wanted = list(usable.values())
    if not wanted:
        return None
    files = wanted[0]
    folder = files[0].path.parent
    # One file stands for its series, whatever else lies in the folder.
    inside = by_series(head for head in heads if head.path.parent == folder and not head.refusal)
    return (
        folder
        if len(inside) == 1 and len(files) > 1 and labels.path.parent != folder
        else files[0].path
    )


def _stems(labels: list[Head], heads: list[Head], root: Path) -> list[str]:
    """A name for each: its study's folder, and the file where a study has several."""
    folders = {}
    for study in {head.study for head in labels}:
        paths = [str(head.path.parent) for head in heads if head.study == study]
        folders[study] = Path(os.path.commonpath(paths))
    stems = []
    for head in labels:
        folder = folders[head.study]
        inside = folder.relative_to(root).parts
        parts = list(inside) or [root.name or root.resolve().name]
        alone = sum(folders[other.study] == folder for other in labels) == 1
        if not alone:
            parts += head.path.relative_to(folder).with_suffix("").parts
        stems.append("-".join(parts))
    return stems
