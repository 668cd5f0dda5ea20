"""On which side of the picture the medial compartment of a knee lies:
from a table, since the images do not tell."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec

from situs.base.files import canonical_json, digest, read_csv
from situs.errors import SitusError
from situs.volumes.frames.rows import volume_name

__all__ = ["KneeSide", "read_sides"]

_FIX = (
    "columns: file, medial (left or right: the side of the picture), and, if known, midline_x"
    " (pixels)"
)


class KneeSide(msgspec.Struct, frozen=True):
    """What the table says of one volume."""

    medial: str
    """`left` or `right` of the picture."""
    midline_x: float | None = None
    """Column of the joint's middle; without it, the middle of the picture."""

    @property
    def hash(self) -> str:
        """Hash of the statement."""
        return digest(canonical_json(self))


def read_sides(path: Path) -> dict[str, KneeSide]:
    """Volume → side. All that is wrong is counted, the first is told with its line."""
    columns, rows = read_csv(path)
    header = [name.strip() for name in columns]
    if not {"file", "medial"} <= set(header):
        raise SitusError("lacks the columns file and medial", where=path, fix=_FIX)
    sides: dict[str, KneeSide] = {}
    bad: list[tuple[int, str]] = []
    for line, row in rows:
        cells = dict.fromkeys(header, "") | {
            key.strip(): value.strip() for key, value in row.items()
        }
        volume, medial, middle = (
            volume_name(cells["file"]),
            cells["medial"].lower(),
            cells.get("midline_x", ""),
        )
        try:
            midline = float(middle) if middle else None
        except ValueError:
            midline = math.nan
        if not volume or volume in sides:
            bad.append((line, "names no volume, or one that was named before"))
        elif medial not in ("left", "right"):
            bad.append((line, "medial is neither left nor right"))
        elif midline is not None and not math.isfinite(midline):
            bad.append((line, "midline_x is not a number"))
        else:
            sides[volume] = KneeSide(medial, midline)
    if bad:
        more = f" (and {len(bad) - 1} more lines)" if len(bad) > 1 else ""
        raise SitusError(bad[0][1] + more, where=f"{path}:{bad[0][0]}", fix=_FIX)
    return sides
