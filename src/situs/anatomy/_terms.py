"""What a structure's name means: how it reads, its side and partner, and what may be asked of it."""

from __future__ import annotations

import csv
import functools
import io
import re
from enum import StrEnum
from importlib.resources import files

import msgspec

from situs.errors import SitusError
from situs.space import Side

__all__ = ["COLUMNS", "Naming", "Term", "is_spine", "lesion_family", "parse_terms", "term"]

COLUMNS = ("label", "name", "plain", "side", "partner", "naming", "system", "kind", "ask_size")


class Naming(StrEnum):
    """What a sided name follows when the patient is mirrored."""

    POSITIONAL = "positional"
    """The name follows the place (kidney, rib, femur): a mirrored left kidney is a right kidney."""
    MORPHOLOGICAL = "morphological"
    """The name follows the form (cardiac chambers, lung lobes): mirrored, it has no name."""
    UNSIDED = ""


class Term(msgspec.Struct, frozen=True):
    """One structure of a vocabulary."""

    name: str
    plain: str
    """As a colleague would say it, without the article: `left kidney`."""
    side: Side | None = None
    partner: str | None = None
    naming: Naming = Naming.UNSIDED
    system: str = ""
    kind: str = "structure"
    """`organ`, `vessel`, `bone`, `vertebra`, `muscle`, `tract`, `lesion`, `finding`, `region` or `structure`."""
    ask_size: bool = False
    known: bool = True
    """False for a name that no vocabulary holds: usable on screen, never written into a bench."""

    @property
    def mirrored_name(self) -> str | None:
        """The name of the structure after reflecting the patient; None where that is undefined."""
        if self.naming is Naming.UNSIDED:
            return self.name
        return self.partner if self.naming is Naming.POSITIONAL else None


def parse_terms(text: str, *, where: object) -> list[tuple[int | None, Term]]:
    """Rows of a vocabulary CSV (`label,name` at least) as (label, term)."""
    rows = csv.DictReader(io.StringIO(text, newline=""))
    found = tuple(rows.fieldnames or ())
    unknown = [column for column in found if column not in COLUMNS]
    if "name" not in found or unknown:
        raise SitusError(
            f"columns are {', '.join(map(repr, found)) or 'missing'}", where=where, fix=f"use {', '.join(COLUMNS)}"
        )
    result: list[tuple[int | None, Term]] = []
    try:
        for number, row in enumerate(rows, start=2):
            result.append(_parse_row(row, f"{where}:{number}"))
    except csv.Error as error:
        raise SitusError(f"is not a CSV table ({error})", where=where, fix="save it as a plain CSV") from error
    return result


def _parse_row(row: dict[str, str | None], where: str) -> tuple[int | None, Term]:
    cell = {column: (row.get(column) or "").strip() for column in COLUMNS}
    if None in row or not re.fullmatch(r"[\w][\w .()+-]{0,80}", cell["name"]):
        raise SitusError(f"bad row (name {cell['name']!r})", where=where, fix="one label and one name a row")
    if cell["label"] and not re.fullmatch(r"\d{1,9}", cell["label"]):
        raise SitusError(f"label {cell['label']!r} is not a whole number", where=where, fix="give the voxel value")
    guess = _by_wording(cell["name"])
    try:
        entry = Term(
            name=cell["name"],
            plain=cell["plain"] or guess.plain,
            side=Side(cell["side"]) if cell["side"] else guess.side,
            partner=cell["partner"] or (guess.partner if not cell["naming"] else None),
            naming=Naming(cell["naming"]) if cell["naming"] else guess.naming,
            system=cell["system"],
            kind=cell["kind"] or "structure",
            ask_size=cell["ask_size"] == "yes",
        )
    except ValueError as error:
        fix = "side is left or right, naming positional or morphological"
        raise SitusError(str(error), where=where, fix=fix) from error
    return (int(cell["label"]) if cell["label"] else None), entry


@functools.cache
def _shipped_terms() -> dict[str, Term]:
    table: dict[str, Term] = {}
    for entry in sorted(files("situs.anatomy").joinpath("data").iterdir(), key=lambda e: e.name):
        if entry.name.endswith(".csv"):
            table.update((t.name, t) for _, t in parse_terms(entry.read_text("utf-8"), where=entry.name))
    return table


_NUMBERED = re.compile(r"(?P<family>\w+?_(?:lesion|tumou?r|cyst|nodule|metastasis))_(?P<number>\d{1,3})")


def lesion_family(name: str) -> str | None:
    """`liver_lesion` for `liver_lesion`, `liver_lesion_1`, `liver_lesion_2` …; None if it is not a lesion."""
    if (match := _NUMBERED.fullmatch(name)) and match["family"] in _shipped_terms():
        return match["family"]
    entry = _shipped_terms().get(name)
    return name if entry is not None and entry.kind == "lesion" else None


_MORPHOLOGICAL_WORDS = {"lobe", "atrium", "ventricle", "appendage", "segment", "trunk", "auricle"}


def _by_wording(name: str) -> Term:
    """What the words of an unlisted name tell: a whole word `left` or `right` gives the side."""
    words = [word for word in re.split(r"[\W_]+", name) if word]
    lower = [word.lower() for word in words]
    sides = [word for word in lower if word in ("left", "right")]
    if len(sides) != 1:
        return Term(name=name, plain=" ".join(words), known=False)
    side = Side(sides[0])
    naming = Naming.MORPHOLOGICAL if _MORPHOLOGICAL_WORDS & set(lower) else Naming.POSITIONAL
    swapped = re.sub(sides[0], lambda m: _like(m[0], side.mirrored.value), name, flags=re.IGNORECASE)
    partner = swapped if naming is Naming.POSITIONAL else None
    return Term(name=name, plain=" ".join(words), side=side, partner=partner, naming=naming, known=False)


def _like(pattern: str, word: str) -> str:
    if pattern.isupper():
        return word.upper()
    return word.capitalize() if pattern[0].isupper() else word


def term(name: str) -> Term:
    """The term of a structure name: from the shipped vocabularies, a numbered lesion, or its own wording."""
    shipped = _shipped_terms()
    if name in shipped:
        return shipped[name]
    family = lesion_family(name)
    if family is not None:
        number = name.rsplit("_", 1)[1]
        base = shipped[family]
        return msgspec.structs.replace(base, name=name, plain=f"{base.plain} {number}")
    return _by_wording(name)


def is_spine(name: str) -> bool:
    """Whether the structure marks the midline: a vertebra or the sacrum."""
    return term(name).kind == "vertebra"
