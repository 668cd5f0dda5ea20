"""A table of studies: one row each, with paths relative to the table."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from situs.base.files import delimiter_of, read_text
from situs.base.remote import is_url, located, url_of
from situs.base.text import counted
from situs.errors import SitusError, did_you_mean
from situs.volumes.layouts.source import StudySource
from situs.volumes.volume import stem_of

__all__ = ["find_in_table"]

_COLUMNS = ("study", "patient", "image", "labels")
_OTHER_WORDS = {
    "labels": ("segmentation", "segmentations", "seg", "mask", "masks"),
    "image": ("scan", "volume", "img"),
    "study": ("study_id", "case", "id"),
    "patient": ("patient_id", "subject", "subject_id"),
}
"""Column → what else tables call it."""
_MOST_LISTED = 5


def find_in_table(path: Path, *, keep_missing: bool = False) -> list[StudySource]:
    """All rows, sorted by study; a mistake names its row.

    `keep_missing`: rows whose files are missing are kept, for whoever tells of each study that
    cannot be read.
    """
    try:
        text = read_text(path)
        rows = list(
            csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text), strict=True)
        )
    except csv.Error as error:
        raise SitusError(
            "is not valid CSV", where=path, fix="save it again as CSV in UTF-8"
        ) from error
    columns = [_column(name) for name in rows[0]] if rows else []
    _check_columns(columns, path)
    studies, seen = [], dict[str, int]()
    missing: list[str] = []
    for number, row in enumerate(rows[1:], start=2):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != len(columns):
            raise SitusError(
                f"row {number} has {len(row)} cells, not {len(columns)}",
                where=path,
                fix="repair the row",
            )
        cells = dict(zip(columns, (cell.strip() for cell in row)))
        if not cells["study"] or not cells["labels"]:
            raise SitusError(
                f"row {number} has no study or no labels", where=path, fix="fill the cell"
            )
        first = seen.setdefault(cells["study"], number)
        if first != number:
            raise SitusError(
                f"rows {first} and {number} have the same study",
                where=path,
                fix="give each its own id",
            )
        labels = _file(path.parent, cells["labels"])
        image = _file(path.parent, cells["image"]) if cells.get("image") else None
        missing += [
            f"row {number}: {file}"
            for file in (image, labels)
            # What lies elsewhere is looked for when its turn comes: asking for each file now would
            # take hours.
            if file is not None and url_of(file) is None and not file.exists()
        ]
        stem = stem_of(labels)
        patient = cells.get("patient") or cells["study"]
        studies.append(StudySource(stem, image, labels, patient, cells["study"], layout="table"))
    if missing and not keep_missing:
        listed = ", ".join(missing[:_MOST_LISTED]) + (", …" if len(missing) > _MOST_LISTED else "")
        raise SitusError(
            f"{counted(len(missing), 'missing file')} ({listed})",
            where=path,
            fix="paths are relative to the table; correct them, or build with --skip-bad",
        )
    return sorted(studies, key=lambda source: source.study or "")


def _column(name: str) -> str:
    word = name.strip().lower()
    return next((column for column, words in _OTHER_WORDS.items() if word in words), word)


def _file(folder: Path, cell: str) -> Path:
    """A path or address as the table writes it; a path written on Windows has backslashes."""
    if is_url(cell):
        return located(cell)
    path = folder / cell
    return path if path.exists() or "\\" not in cell else folder / cell.replace("\\", "/")


def _check_columns(columns: list[str], path: Path) -> None:
    for name in columns:
        if name not in _COLUMNS:
            raise SitusError(
                f"unknown column {name!r}", where=path, fix=did_you_mean(name, _COLUMNS)
            )
    if len(set(columns)) < len(columns):
        raise SitusError("a column occurs twice", where=path, fix="remove one")
    lacking = [name for name in ("study", "labels") if name not in columns]
    if lacking:
        raise SitusError(
            f"has no column {' and '.join(lacking)}",
            where=path,
            fix=f"the columns are {', '.join(_COLUMNS)}",
        )
