"""Units of measured answers: all that reading, guessing and explaining a number need to know."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Literal

import msgspec

from situs.errors import SitusError, did_you_mean

__all__ = ["SHIPPED_UNITS", "UNITS", "Unit", "register_unit", "unit_named"]


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """A unit in which a task may ask for a number.

    >>> Unit(name="°", dimension="angle", spelled="degrees?|deg", largest_guess=180.0)
    """

    name: str
    """As it stands in questions and answers: `mL`; empty for a count."""
    dimension: str
    """What it measures; only units of one dimension are converted into each other."""
    size: Fraction = Fraction(1)
    """How many base units of its dimension it is (mm, mm², mm³, 1 of a count)."""
    spelled: str = ""
    """A regular expression of other ways to write it; upper and lower case are the same."""
    largest_guess: float
    """The most that a blind guess says; it is drawn on a log scale from 1."""
    slips: tuple[float, ...] = ()
    """Factors by which an answer is off when its unit was mistaken for a relative (mm for cm:
    10)."""
    voxel: Literal["", "length", "volume"] = ""
    """Which size of a voxel an answer is off by when voxels were counted instead."""


_CUBED = r"(?: ?(?:³|\^ ?3|\*\*3)|3)"
_SQUARED = r"(?: ?(?:²|\^ ?2|\*\*2)|2)"
_METRES = {
    "mm": ("m(?:m|illimet(?:er|re)s?)", 1),
    "cm": ("(?:cms?|centimet(?:er|re)s?)", 10),
    "dm": ("dm", 100),
    "m": ("m(?:et(?:er|re)s?)?", 1000),
}
_LITRES = {
    "mL": (r"(?:mls?|ccm|cc|millilit(?:er|re)s?)", 1_000),
    "cL": (r"(?:cl|centilit(?:er|re)s?)", 10_000),
    "dL": (r"(?:dl|decilit(?:er|re)s?)", 100_000),
    "L": (r"(?:l|lit(?:er|re)s?)", 1_000_000),
    "µL": (r"(?:[µμu]l|microlit(?:er|re)s?)", 1),
}
# "in" only where no word follows ("2 in the left lobe"), and the mark of inches only where none
# opened a quotation;
# \ue001 is what readers of replies put at the end of a sentence.
_INCH = r"inch(?:es)?|in\.?(?=\s*(?:$|[.,;)\n\ue001]))|\"(?=\s*(?:$|[.,;)\n\ue001]))|''(?!\w)"
_GUESSES = {"": 10.0, "mL": 2000.0, "mm": 300.0, "cm": 30.0}
_ANY_GUESS = 1000.0
_SLIPS = {
    "mm": (10.0, 0.1),
    "cm": (10.0, 0.1),
    "mL": (1000.0, 0.001),
    "mm²": (100.0, 0.01),
    "cm²": (100.0, 0.01),
}
_VOXELS: dict[str, Literal["length", "volume"]] = {"mm": "length", "cm": "length", "mL": "volume"}


def _shipped(name: str, dimension: str, size: Fraction | int = 1, spelled: str = "") -> Unit:
    return Unit(
        name=name,
        dimension=dimension,
        size=Fraction(size),
        spelled=spelled,
        largest_guess=_GUESSES.get(name, _ANY_GUESS),
        slips=_SLIPS.get(name, ()),
        voxel=_VOXELS.get(name, ""),
    )


# In the order in which a reply is searched for them: "mm³" before "mm", "µm" before "m".
_SHIPPED = (
    _shipped("", "count"),
    _shipped("fraction", "share"),
    _shipped("ratio", "share"),
    *(
        _shipped(f"{name}³", "volume", size**3, rf"(?:cubic |cu\.? ){word}|{word}{_CUBED}")
        for name, (word, size) in _METRES.items()
    ),
    *(
        _shipped(f"{name}²", "area", size**2, rf"(?:square |sq\.? ){word}|{word}{_SQUARED}")
        for name, (word, size) in _METRES.items()
    ),
    *(_shipped(name, "volume", size, word) for name, (word, size) in _LITRES.items()),
    _shipped("µm", "length", Fraction(1, 1000), r"[µμ]m|microns?|micromet(?:er|re)s?"),
    *(_shipped(name, "length", size, word) for name, (word, size) in _METRES.items()),
    _shipped("inch", "length", Fraction(254, 10), _INCH),
    _shipped("ft", "length", Fraction(3048, 10), "f(?:oo|ee)t|ft"),
    _shipped("%", "share", Fraction(1, 100), "%|percent|per cent|pct"),
    _shipped("slices", "slices", 1, "(?:axial )?slices?"),
)
UNITS: dict[str, Unit] = {unit.name: unit for unit in _SHIPPED}
"""Every unit that an answer may have: those shipped, then those that tasks of other packages
declare."""
SHIPPED_UNITS = tuple(UNITS)


def unit_named(name: str) -> Unit:
    """The unit that an answer names, in any of its spellings.

    An error where nobody has declared it.
    """
    stripped = name.strip()
    if stripped in UNITS:
        return UNITS[stripped]
    for unit in UNITS.values():
        if unit.spelled and re.fullmatch(unit.spelled, stripped, re.IGNORECASE):
            return unit
    known = did_you_mean(name, UNITS)
    fix = f"{known}; a unit of your own is a situs.items.Unit among the `units` of its task"
    raise SitusError(f"no unit {name!r}", fix=fix)


def register_unit(unit: Unit) -> None:
    """Make a unit known to everything that reads, guesses or explains numbers."""
    known = UNITS.get(unit.name)
    if known is not None and known != unit:
        raise SitusError(
            f"unit {unit.name!r} is declared twice, differently",
            fix="use the declared one by its name",
        )
    if not unit.largest_guess > 1.0 or unit.size <= 0:
        problem = f"unit {unit.name!r}: largest_guess must be above 1 and size above 0"
        raise SitusError(problem, fix="largest_guess is the most that a blind guess says")
    try:
        re.compile(unit.spelled)
    except re.error as error:
        raise SitusError(
            f"unit {unit.name!r}: its spelling is not a regular expression ({error})"
        ) from error
    UNITS[unit.name] = unit
