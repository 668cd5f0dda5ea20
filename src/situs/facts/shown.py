"""What `situs measure` says, as tables."""

from __future__ import annotations

from situs.facts.measured import MeasuredFile
from situs.tables import Style, Table

__all__ = ["measured_tables"]

_TENTH = Style(digits=1)
_EXTENTS = {
    "left_right": "LR mm",
    "anterior_posterior": "AP mm",
    "superior_inferior": "SI mm",
}


def measured_tables(measured: MeasuredFile, title: str) -> list[Table]:
    """A row a structure, and a row a pair where pairs were asked for."""
    table = _structure_table(measured, title)
    return [table, _pair_table(measured)] if measured.pairs else [table]


def _structure_table(measured: MeasuredFile, title: str) -> Table:
    places = ("x mm", "y mm", "z mm")
    columns = (
        "structure",
        "label",
        "mL",
        "interval",
        *places,
        *_EXTENTS.values(),
        "parts",
        "cut",
    )
    rows = tuple(
        (
            s.name,
            s.label,
            s.volume_ml,
            s.volume_ml_interval,
            *s.centroid_mm,
            *(s.extent_mm[axis] for axis in _EXTENTS),
            s.components,
            "cut" if s.cut else "",
        )
        for s in measured.structures
    )
    return Table(
        "structures",
        title,
        columns,
        rows,
        "x, y, z: the centre in RAS+ mm; LR, AP, SI: the extent. cut: continues beyond the scan.",
        {
            **dict.fromkeys(("mL", *places, *_EXTENTS.values()), _TENTH),
            "interval": Style(digits=1, ends=("low", "high")),
        },
    )


def _pair_table(measured: MeasuredFile) -> Table:
    lengths = ("centres mm", "boundaries mm", "gap mm")
    rows = tuple(
        (
            p.a,
            p.b,
            p.centre_distance_mm,
            p.boundary_distance_mm,
            p.gap_mm,
            p.contact_mm2 if p.touching else None,
            " ".join(value for value in p.direction.values() if value),
        )
        for p in measured.pairs
    )
    return Table(
        "pairs",
        "Pairs",
        ("a", "b", *lengths, "contact mm²", "a lies … of b"),
        rows,
        styles={**dict.fromkeys(lengths, _TENTH), "contact mm²": Style(digits=0, absent="")},
    )
