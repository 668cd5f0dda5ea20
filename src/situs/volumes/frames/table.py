"""Boxes on frames from a CSV: fastMRI+, or a group's own with the same columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from situs.anatomy import finding_name
from situs.base.files import delimiter_of, read_text
from situs.errors import SitusError
from situs.volumes.frames.annotations import Mark
from situs.volumes.frames.rows import BadRow, BoxRow, volume_name

__all__ = ["read_box_csv", "read_list"]

_VOLUME = ("file", "volume", "study")
_FRAME = ("slice", "frame")
_CORNERS = (("x", "y", "width", "height"), ("x0", "y0", "x1", "y1"))
_FIX = (
    "columns: file, slice, x, y, width, height (or x0, y0, x1, y1), label; also study_level,"
    " patient"
)


def read_box_csv(path: Path) -> Iterator[BoxRow | BadRow]:
    """Rows of the file, a problem in place of each that cannot be read. Frames count from 0."""
    text = read_text(path)
    reader = csv.reader(io.StringIO(text), delimiter=delimiter_of(text), strict=True)
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        columns = _columns(header, path)
        while True:
            line = reader.line_num + 1
            row = next(reader, None)
            if row is None:
                return
            if any(cell.strip() for cell in row):
                yield _row(row, header, columns, f"{path.name}:{line}")
    except csv.Error as error:
        raise SitusError(
            f"is not a readable CSV ({error})", where=f"{path}:{reader.line_num}", fix=_FIX
        ) from error


def _columns(header: list[str], path: Path) -> tuple[str, str, tuple[str, ...]]:
    volume = next((name for name in _VOLUME if name in header), None)
    frame = next((name for name in _FRAME if name in header), None)
    corners = next((names for names in _CORNERS if set(names) <= set(header)), None)
    if volume is None or frame is None or corners is None or "label" not in header:
        raise SitusError("lacks the columns of frame boxes", where=path, fix=_FIX)
    if len(set(header)) != len(header):
        raise SitusError("has a column twice", where=path, fix=_FIX)
    return volume, frame, corners


def _row(
    cells: list[str], header: list[str], columns: tuple[str, str, tuple[str, ...]], where: str
) -> BoxRow | BadRow:
    cell_of = dict(zip(header, cells))
    volume_column, frame_column, corners = columns
    volume, label = volume_name(cell_of.get(volume_column, "")), cell_of.get("label", "")
    name, frame = finding_name(label)[0], _integer(cell_of.get(frame_column, ""))

    def bad(problem: str) -> BadRow:
        # Cells that are too many or too few may have moved: only what stands before can be told.
        mark = (
            Mark(-1 if frame is None else frame, name)
            if len(cells) == len(header)
            else Mark(-1, "")
        )
        return BadRow(where, problem, volume, mark)

    if len(cells) != len(header):
        return bad(f"has {len(cells)} cells, not {len(header)}")
    if not volume or not label.strip():
        return bad("names no volume or no label")
    level = cell_of.get("study_level", "").strip().lower()
    if level not in ("", "no", "yes"):
        return bad("study_level is neither Yes nor No")
    patient = cell_of.get("patient", "").strip()
    if level == "yes" or (
        "study_level" not in cell_of and not any(cell_of[c].strip() for c in corners)
    ):
        return BoxRow(where, volume, label, name, patient=patient)
    try:
        a, b, c, d = (float(cell_of[column]) for column in corners)
    except ValueError:
        return bad("the box is not made of numbers")
    if frame is None:
        return bad("frame is not a whole number")
    size = (c, d) if corners == _CORNERS[0] else (c - a, d - b)
    row = BoxRow(where, volume, label, name, frame, a, b, *size, patient)
    return bad(row.fault()) if row.fault() else row


def _integer(text: str) -> int | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return int(number) if abs(number) < 1e9 and number == int(number) else None


def read_list(path: Path) -> list[str]:
    """The volumes that were reviewed: one a line, no header; a file name's format is dropped."""
    names = (volume_name(line.strip().strip(",")) for line in read_text(path).splitlines())
    volumes = [name for name in names if name]
    if not volumes:
        raise SitusError("names no volume", where=path, fix="one volume per line")
    if any("," in name for name in volumes):
        raise SitusError(
            "is a table, not a list",
            where=path,
            fix="one volume per line; give boxes as an argument",
        )
    return volumes
