"""A fact: one typed spatial statement with its value, how sure it is, and how it came to be."""

from __future__ import annotations

import msgspec

from situs.base.files import canonical_json, digest

__all__ = ["Cell", "Derivation", "Fact", "FactValue", "Interval", "Measured", "Quoted", "fact_id"]

Interval = tuple[float, ...]
FactValue = bool | int | float | str | tuple[float, ...] | None


class Measured(msgspec.Struct, frozen=True, tag="measured"):
    """Computed from voxels or boxes by a named function."""

    function: str
    """`name@version`, e.g. `volume@1`."""
    parameters: dict[str, float | str]
    inputs: tuple[str, ...]
    """`role:hash` of each piece of evidence (`labels:…`)
    or `fact:id` of each fact it was computed from."""


class Quoted(msgspec.Struct, frozen=True, tag="quoted"):
    """Read from a span of text."""

    document: str
    """Hash of the document."""
    start: int
    end: int
    quote: str


class Cell(msgspec.Struct, frozen=True, tag="cell"):
    """Read from a table."""

    table: str
    """Hash of the table."""
    row: str
    column: str


Derivation = Measured | Quoted | Cell


class Fact(msgspec.Struct, frozen=True):
    """One statement about one study."""

    fact_id: str
    study_id: str
    series: str
    kind: str
    """What is stated, e.g. `volume`, `centroid`, `direction`."""
    subjects: tuple[str, ...]
    """The structures or findings it speaks of, in the order the kind defines (a relative to b)."""
    value: FactValue
    unit: str
    """`mL`, `mm`, `fraction`, or empty."""
    interval: Interval | None
    """Where the value lies if voxels, annotation and pose err as the definitions allow: low, high;
    for a value of several numbers all lows, then all highs. None if it is not a number."""
    derivation: Derivation
    flags: tuple[str, ...] = ()
    """E.g. `cut` (a lower bound), `islands`, `unstable` (does not hold over the interval)."""


def fact_id(
    study_id: str, series: str, kind: str, subjects: tuple[str, ...], qualifier: str = ""
) -> str:
    """A fact's name: what it is about, not what was found, so that a changed value keeps its id."""
    return "f" + digest(canonical_json([study_id, series, kind, subjects, qualifier]), size=8)
