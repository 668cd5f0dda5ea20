"""Coded words for structures, measurements and units.

Structures whose plain name is a concept of the dictionary that ships with pydicom (SNOMED CT) have
its code, and the side as a modifier; all others, and the measurements that have no standard code,
are coded in the private scheme `99SITUS` by the name that the ledger uses.
"""

from __future__ import annotations

import re

from highdicom.sr.coding import CodedConcept
from pydicom.sr.codedict import codes
from pydicom.sr.coding import Code

from situs.anatomy import Term
from situs.base.files import digest
from situs.space import AXES, Side

__all__ = ["SCHEME", "category_of", "measure_code", "side_of", "structure_code", "unit_code"]

SCHEME = "99SITUS"

_LONGEST_CODE = 16
_LESIONS = ("lesion", "lesion_part", "finding")
_MEASURES = {
    "volume": Code("118565006", "SCT", "Volume"),
    "axial_diameter": Code("103339001", "SCT", "Long Axis"),
    "axial_perpendicular": Code("103340004", "SCT", "Short Axis"),
    "length_3d": Code("410668003", "SCT", "Length"),
}
_UNITS = {
    "mL": Code("mL", "UCUM", "milliliter"),
    "mm": Code("mm", "UCUM", "millimeter"),
    "mm²": Code("mm2", "UCUM", "square millimeter"),
    "cm²": Code("cm2", "UCUM", "square centimeter"),
    "°": Code("deg", "UCUM", "degree"),
    "fraction": Code("1", "UCUM", "no units"),
    "": Code("1", "UCUM", "no units"),
}


def structure_code(term: Term) -> CodedConcept:
    """The type of a structure, without its side."""
    if term.kind in _LESIONS:
        return CodedConcept.from_code(codes.SCT.Lesion)
    words = re.sub(r"\b(left|right)\b", "", term.plain.lower()).split()
    keyword = "".join(word.capitalize() for word in re.split(r"[^a-z0-9]+", " ".join(words)))
    known = getattr(codes.SCT, keyword, None) if keyword else None
    if known is not None:
        return CodedConcept.from_code(known)
    return _private_code(term.name, term.plain)


def side_of(term: Term) -> CodedConcept | None:
    """Left or right, where the name says so."""
    match term.side:
        case Side.LEFT:
            return CodedConcept.from_code(codes.SCT.Left)
        case Side.RIGHT:
            return CodedConcept.from_code(codes.SCT.Right)
        case _:
            return None


def category_of(term: Term) -> CodedConcept:
    """What kind of thing it is: a lesion, an organ, or another structure of the body."""
    if term.kind in _LESIONS:
        return CodedConcept.from_code(codes.SCT.MorphologicallyAbnormalStructure)
    if term.kind == "organ":
        return CodedConcept.from_code(codes.SCT.Organ)
    return CodedConcept.from_code(codes.SCT.AnatomicalStructure)


def measure_code(kind: str) -> CodedConcept:
    """What a fact of this kind measures."""
    standard = _MEASURES.get(kind)
    if standard is not None:
        return CodedConcept.from_code(standard)
    return _private_code(kind, kind.replace(".", ", ").replace("_", " "))


def _private_code(name: str, meaning: str) -> CodedConcept:
    """A code of our own. A code value has 16 characters;
    longer ones are stored elsewhere, where few readers look."""
    value = name
    for axis in AXES:
        value = value.replace(f".{axis}", "." + "".join(word[0] for word in axis.split("_")))
    if len(value) > _LONGEST_CODE:
        value = f"{value[: _LONGEST_CODE - 5]}-{digest(name, size=2)}"
    return CodedConcept(value=value, scheme_designator=SCHEME, meaning=meaning[:64])


def unit_code(unit: str) -> CodedConcept | None:
    """The unit in UCUM; None for one that it does not know by our name."""
    known = _UNITS.get(unit)
    return None if known is None else CodedConcept.from_code(known)
