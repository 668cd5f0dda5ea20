"""How large structures can be: wide ranges of volume and length, as data."""

from __future__ import annotations

import csv
import fnmatch
import functools
import io
from importlib.resources import files

import msgspec

from situs.anatomy.terms import Term

__all__ = [
    "TISSUE_HU",
    "Range",
    "SizeRule",
    "beside_pairs",
    "expectation_rows",
    "plausible_range",
    "size_rules",
]

TISSUE_HU = {
    "bone": (75.0, 3000.0),
    "soft": (-90.0, 450.0),
    "brain": (-20.0, 150.0),
    "air": (-1100.0, -150.0),
    "gut": (-650.0, 450.0),
}
"""Mean CT numbers under a mask of each tissue:
thinned bone, organs full of contrast and gut full of gas included."""


class Range(msgspec.Struct, frozen=True):
    """What is plausible of one structure, healthy or diseased; a row of `ranges.csv`.

    Lengths are the longest of the three extents along the patient's axes.
    """

    structure: str
    low_ml: float
    typical_ml: float
    """A healthy adult's: what the size of the whole patient is judged by."""
    high_ml: float
    child_low_ml: float
    """A newborn's; between this and `low_ml` only a child is plausible."""
    low_mm: float
    high_mm: float
    child_low_mm: float
    tissue: str = ""
    """`bone`, `soft`, `brain`, `air` or `gut`,
    where CT numbers tell whether the mask lies on it."""
    edge: float = 0.0
    """Least contrast of the mask's edge on a CT (`Sighting.edge_contrast`);
    0 where it tells nothing."""
    sources: str = ""


class SizeRule(msgspec.Struct, frozen=True):
    """One structure is at least so many times as large as another; a row of `sizes.csv`."""

    larger: str
    smaller: str
    least_ratio: float


def expectation_rows(table: str) -> list[dict[str, str]]:
    """The rows of one table of `data/expectations`."""
    text = (
        files("situs.anatomy").joinpath("data", "expectations", f"{table}.csv").read_text("utf-8")
    )
    return list(csv.DictReader(io.StringIO(text)))


@functools.cache
def _ranges() -> tuple[Range, ...]:
    return tuple(msgspec.convert(row, Range, strict=False) for row in expectation_rows("ranges"))


@functools.cache
def size_rules() -> tuple[SizeRule, ...]:
    """Every size rule, one pair each."""
    rows = [msgspec.convert(row, SizeRule, strict=False) for row in expectation_rows("sizes")]
    return tuple(
        msgspec.structs.replace(row, smaller=name)
        for row in rows
        for name in row.smaller.split("|")
    )


@functools.cache
def beside_pairs() -> tuple[tuple[str, str], ...]:
    """Pairs of which the first lies right of the second at every height; `beside.csv`."""
    return tuple((row["right"], row["left"]) for row in expectation_rows("beside"))


def plausible_range(entry: Term) -> Range | None:
    """The range of a structure by its canonical name,
    a pattern, or its group (`brain/region`); None if unknown."""
    return _by_name(entry.canonical, f"{entry.part_of}/{entry.kind}")


@functools.lru_cache(maxsize=1024)
def _by_name(canonical: str, group: str) -> Range | None:
    by_name = (
        row for row in _ranges() if canonical and fnmatch.fnmatchcase(canonical, row.structure)
    )
    by_group = (row for row in _ranges() if row.structure == group)
    return next(by_name, None) or next(by_group, None)
