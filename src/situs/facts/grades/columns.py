"""Column maps: how a table of grades names what we need, long or wide."""

from __future__ import annotations

from pathlib import Path

import msgspec

from situs.base.files import canonical_json, digest, parse_toml, read_text
from situs.errors import SitusError, did_you_mean

__all__ = ["FIELDS", "ColumnMap", "load_columns"]

FIELDS = (
    "study",
    "patient",
    "side",
    "time",
    "image",
    "labels",
    "shape",
    "affine",
    "question",
    "sub_score",
    "grade",
)
"""What a long table can tell, each under a column of this name unless a map says otherwise."""


class ColumnMap(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`--columns`: field → the table's own column,
    and for a wide table which column holds which grade."""

    columns: dict[str, str] = {}
    grades: dict[str, str] = {}
    """`question.sub_score` → column. With it the table is wide: one row a study."""
    sides: dict[str, str] = {}
    """What the table calls a side → `left` or `right`."""
    missing: tuple[str, ...] = ()
    """Codes that stand for a grade that was not given, beside the empty cell and NA."""

    @property
    def is_wide(self) -> bool:
        """Whether grades stand in columns of their own."""
        return bool(self.grades)

    @property
    def hash(self) -> str:
        """Equal maps have equal hashes."""
        return digest(canonical_json(self))

    def column(self, field: str) -> str:
        """The column that holds a field."""
        return self.columns.get(field, field)


def load_columns(path: Path | None) -> ColumnMap:
    """The user's map, or the plain one."""
    if path is None:
        return ColumnMap()
    try:
        column_map = msgspec.convert(parse_toml(read_text(path)), ColumnMap)
    except (ValueError, RecursionError) as error:
        fix = 'write [columns] study = "ID", and [grades] "1.size" = "column" for a wide table'
        raise SitusError(str(error), where=path, fix=fix) from error
    for name in column_map.columns:
        if name not in FIELDS:
            raise SitusError(f"unknown field {name!r}", where=path, fix=did_you_mean(name, FIELDS))
    for side in column_map.sides.values():
        if side not in ("left", "right"):
            raise SitusError(f"unknown side {side!r}", where=path, fix="sides are left and right")
    return column_map
