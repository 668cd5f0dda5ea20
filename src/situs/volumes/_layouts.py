"""Finding studies: a TotalSegmentator folder, a folder of them, a CSV table, or one label file."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import msgspec

from situs._files import read_text
from situs.errors import SitusError, did_you_mean
from situs.volumes._volume import SUFFIXES, kind_of, stem_of

__all__ = ["StudySource", "find_studies"]

_COLUMNS = ("study", "patient", "image", "labels")
_IMAGES = ("ct.nii.gz", "mri.nii.gz")
_PUBLIC_ID = re.compile(r"s[0-9]{4}")
_KNOWN = (
    "known: a TotalSegmentator study (ct.nii.gz or mri.nii.gz beside segmentations/), a folder of such studies, "
    "a .csv with the columns study, patient, image, labels, or one label file"
)
_SHOWN = 5


class StudySource(msgspec.Struct, frozen=True):
    """Where one study lies, before anything is read."""

    stem: str
    """Folder or file name; it may name a patient, so it stays on this machine."""
    image: Path | None
    labels: Path
    """A label file or a folder of masks."""
    patient: str | None = None
    """The patient's id, if a table gives one."""
    study: str | None = None
    """The study's id, if a table gives one."""
    public_id: str | None = None
    """The id under which TotalSegmentator published the study (`s0009`)."""


def find_studies(root: str | Path) -> list[StudySource]:
    """All studies under `root`, sorted. Nothing found is an error that says which layouts are known."""
    root = Path(root)
    try:
        if root.is_dir():
            found = [_study_folder(root)] if _is_study(root) else _study_folders(root)
        elif not root.exists():
            raise SitusError("no such file or folder", where=root, fix="check the path")
        elif root.suffix.lower() == ".csv":
            found = _table(root)
        elif kind_of(root) is not None:
            found = [StudySource(stem_of(root), None, root)]
        else:
            found = []
    except (OSError, ValueError) as error:
        raise SitusError("cannot be read", where=root, fix="check the path and its permissions") from error
    if not found:
        raise SitusError("no study found", where=root, fix=f"{_KNOWN} ({', '.join(SUFFIXES)})")
    return found


def _is_study(folder: Path) -> bool:
    return (folder / "segmentations").is_dir()


def _study_folder(folder: Path) -> StudySource:
    name = folder.name or folder.resolve().name
    image = next((folder / name for name in _IMAGES if (folder / name).is_file()), None)
    public_id = name if _PUBLIC_ID.fullmatch(name) else None
    return StudySource(name, image, folder / "segmentations", public_id=public_id)


def _study_folders(root: Path) -> list[StudySource]:
    return [_study_folder(folder) for folder in sorted(root.iterdir()) if folder.is_dir() and _is_study(folder)]


def _table(path: Path) -> list[StudySource]:
    try:
        rows = list(csv.reader(io.StringIO(read_text(path), newline=""), strict=True))
    except csv.Error as error:
        raise SitusError("is not valid CSV", where=path, fix="save it again as comma-separated UTF-8") from error
    columns = [name.strip() for name in rows[0]] if rows else []
    _check_columns(columns, path)
    found, seen = [], dict[str, int]()
    missing: list[str] = []
    for number, row in enumerate(rows[1:], start=2):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != len(columns):
            raise SitusError(f"row {number} has {len(row)} cells, not {len(columns)}", where=path, fix="repair the row")
        cells = dict(zip(columns, (cell.strip() for cell in row)))
        if not cells["study"] or not cells["labels"]:
            raise SitusError(f"row {number} has no study or no labels", where=path, fix="fill the cell")
        first = seen.setdefault(cells["study"], number)
        if first != number:
            raise SitusError(f"rows {first} and {number} have the same study", where=path, fix="give each its own id")
        labels = path.parent / cells["labels"]
        image = path.parent / cells["image"] if cells.get("image") else None
        missing += [f"row {number}: {file}" for file in (image, labels) if file is not None and not file.exists()]
        stem = stem_of(labels)
        found.append(StudySource(stem, image, labels, cells.get("patient") or cells["study"], cells["study"]))
    if missing:
        shown = ", ".join(missing[:_SHOWN]) + (", …" if len(missing) > _SHOWN else "")
        raise SitusError(
            f"{len(missing)} missing files ({shown})", where=path, fix="paths are relative to the table; correct them"
        )
    return sorted(found, key=lambda source: source.study or "")


def _check_columns(columns: list[str], path: Path) -> None:
    for name in columns:
        if name not in _COLUMNS:
            raise SitusError(f"unknown column {name!r}", where=path, fix=did_you_mean(name, _COLUMNS))
    if len(set(columns)) < len(columns):
        raise SitusError("a column stands twice", where=path, fix="remove one")
    lacking = [name for name in ("study", "labels") if name not in columns]
    if lacking:
        raise SitusError(
            f"has no column {' and '.join(lacking)}", where=path, fix=f"the columns are {', '.join(_COLUMNS)}"
        )
