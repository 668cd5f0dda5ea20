"""What a structure's name means:
how it reads, its side and partner, and what may be asked of it."""

from __future__ import annotations

import csv
import functools
import io
import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from importlib.resources import files
from typing import Any, NamedTuple

import msgspec

from situs.anatomy.spelling import Key, keys_of, swap_side
from situs.base.files import delimiter_of
from situs.errors import SitusError
from situs.space import Side

__all__ = [
    "COLUMNS",
    "KINDS",
    "Naming",
    "Row",
    "Term",
    "canonical_name",
    "family_term",
    "lesion_family",
    "parse_row",
    "parse_terms",
    "shipped_terms",
    "term",
    "without_number",
]

COLUMNS = (
    "label",
    "pattern",
    "name",
    "alias",
    "plain",
    "formal",
    "synonyms",
    "side",
    "partner",
    "naming",
    "system",
    "kind",
    "part_of",
    "expected_side",
    "neighbours",
    "exhaustive",
    "ask_size",
)


KINDS = (
    "organ",
    "vessel",
    "bone",
    "vertebra",
    "spine",
    "muscle",
    "tract",
    "cartilage",
    "ligament",
    "lesion",
    "lesion_part",
    "finding",
    "region",
    "group",
    "structure",
)
"""What a structure may be."""
_PATHOLOGY = ("lesion", "lesion_part", "finding")


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
    """One of `KINDS`: `spine` is several vertebrae in one mask, `lesion_part` a tumour's edema or
    core (measured, not asked about as a lesion), `group` several structures in one mask."""
    ask_size: bool = False
    known: bool = True
    """False for a name that no vocabulary holds: usable on screen, never written into a bench."""
    canonical: str = ""
    """The name in the shipped table whose meaning this is; empty for a user's own structure."""
    formal: str = ""
    """The formal name: Latin where anatomists use it, else empty."""
    synonyms: tuple[str, ...] = ()
    part_of: str | None = None
    """Canonical name of the whole; for a lesion, of the organ."""
    expected_side: Side | None = None
    """Where it normally lies, although its name does not say so (liver:
    right); None on the midline or if it varies."""
    neighbours: tuple[str, ...] = ()
    """Canonical names of what normally touches it or lies next to it."""
    exhaustive: bool = False
    """Whether the source declares that every instance is annotated, so that they may be counted."""

    @property
    def is_pathology(self) -> bool:
        """Whether it is a lesion, a part of one or a finding: no textbook knows where it lies."""
        return self.kind in _PATHOLOGY

    @property
    def mirrored_name(self) -> str | None:
        """The name of the structure after reflecting the patient; None where that is undefined."""
        if self.naming is Naming.UNSIDED:
            return self.name
        return self.partner if self.naming is Naming.POSITIONAL else None


class Row(NamedTuple):
    """One row of a name map."""

    label: int | None
    pattern: str
    """What a file may call the structure:
    a glob, or a regular expression after `re:`; empty if none is given."""
    term: Term
    given: frozenset[str]
    """Columns whose cell is not blank."""


def parse_terms(
    text: str, *, where: object, meaning: Callable[[str], Term] | None = None
) -> list[Row]:
    """Rows of a vocabulary CSV (`name` at least).

    A blank or missing cell takes what `meaning` knows of the name: by default, what its words tell.
    """
    table = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter_of(text), strict=True)
    try:
        columns = tuple(table.fieldnames or ())
    except csv.Error as error:
        raise SitusError(
            f"is not a CSV table ({error})", where=where, fix="save it as a plain CSV"
        ) from error
    unknown = [column for column in columns if column not in COLUMNS]
    if "name" not in columns or unknown or len(set(columns)) < len(columns):
        raise SitusError(
            f"columns are {', '.join(map(repr, columns)) or 'missing'}",
            where=where,
            fix=f"use {', '.join(COLUMNS)}",
        )
    result: list[Row] = []
    try:
        for number, row in enumerate(table, start=2):
            if None in row:
                raise SitusError(
                    "bad row (too many cells)",
                    where=f"{where}:{number}",
                    fix="give one cell per column",
                )
            result.append(parse_row(row, f"{where}:{number}", meaning or _by_wording))
    except csv.Error as error:
        raise SitusError(
            f"is not a CSV table ({error})", where=where, fix="save it as a plain CSV"
        ) from error
    return result


_SHOWN = 20
"""Characters of a bad cell that an error repeats."""


def parse_row(row: Mapping[str, str | None], where: str, meaning: Callable[[str], Term]) -> Row:
    """One structure from the cells of its row."""
    cell = {column: (row.get(column) or "").strip() for column in COLUMNS}
    if not re.fullmatch(r"[\w][\w .()+-]{0,80}", cell["name"]):
        raise SitusError(
            f"bad row (name {cell['name']!r})",
            where=where,
            fix="give one label and one name per row",
        )
    if cell["label"] and not re.fullmatch(r"\d{1,9}", cell["label"]):
        label_text = cell["label"] if len(cell["label"]) <= _SHOWN else f"{cell['label'][:_SHOWN]}…"
        problem = f"label {label_text!r} is not a whole number of up to nine digits"
        raise SitusError(problem, where=where, fix="give the voxel value")
    base = meaning(cell["name"])
    fields: dict[str, Any] = {"known": True}
    try:
        for column, convert in _CELLS.items():
            if cell[column]:
                fields[column] = convert(cell[column])
    except ValueError as error:
        fix = (
            "side is left or right, naming positional or morphological, ask_size and exhaustive"
            f" yes or no, kind one of {', '.join(KINDS)}"
        )
        raise SitusError(str(error), where=where, fix=fix) from error
    if fields.get("naming", base.naming) is not base.naming:
        fields.setdefault("partner", None)
    return Row(
        int(cell["label"]) if cell["label"] else None,
        cell["pattern"],
        msgspec.structs.replace(base, **fields),
        frozenset(column for column, text in cell.items() if text),
    )


def _yes(text: str) -> bool:
    if text.lower() not in ("yes", "no", "true", "false"):
        raise ValueError(f"{text!r} is neither yes nor no")
    return text.lower() in ("yes", "true")


def _list(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(";") if word.strip())


def _kind(text: str) -> str:
    if text.lower() not in KINDS:
        raise ValueError(f"unknown kind {text!r}")
    return text.lower()


_CELLS: dict[str, Callable[[str], Any]] = {
    "plain": str,
    "formal": str,
    "synonyms": _list,
    "side": Side,
    "partner": str,
    "naming": Naming,
    "system": str,
    "kind": _kind,
    "part_of": str,
    "expected_side": Side,
    "neighbours": _list,
    "exhaustive": _yes,
    "ask_size": _yes,
}


@functools.cache
def shipped_terms() -> dict[str, Term]:
    """The master table: every structure that Situs knows, by canonical name."""
    text = files("situs.anatomy").joinpath("data", "structures.csv").read_text("utf-8")
    terms = [row.term for row in parse_terms(text, where="structures.csv")]
    return {entry.name: msgspec.structs.replace(entry, canonical=entry.name) for entry in terms}


@functools.cache
def _spellings() -> dict[Key, str]:
    """Every way a shipped structure is spelt → its canonical name;
    spellings of two structures are left out."""
    owners: dict[Key, set[str]] = {}
    for entry in shipped_terms().values():
        for spelling in (entry.name, entry.plain, entry.formal, *entry.synonyms):
            for key in keys_of(spelling):
                owners.setdefault(key, set()).add(entry.name)
    return {key: next(iter(names)) for key, names in owners.items() if len(names) == 1}


@functools.lru_cache(maxsize=4096)
def canonical_name(name: str) -> str | None:
    """The shipped name of the same structure (`kidney_left` for `Left Kidney`); None if unknown or
    ambiguous.

    Case, separators, the place of the side word (`L`, `lt` and `left` alike) and -our/-or are
    ignored.
    """
    if name in shipped_terms():
        return name
    return next((shipped for key in keys_of(name) if (shipped := _spellings().get(key))), None)


_NUMBER = re.compile(
    # Signs between two words are looked at once, from the first of them, however many there are.
    r"(?<=[^\W_])[\W_]++(?P<number>\d{1,3})"
    # What kind of file it is may stand behind the number, as in `liver_lesion_1_mask`.
    r"(?:[\W_]++(?:mask|seg|segmentation))?\Z",
    re.IGNORECASE,
)


def _family_and_number(name: str) -> tuple[str, str] | None:
    """(`liver_lesion`, `2`) of `liver_lesion_2`; None of a name that ends otherwise."""
    match = _NUMBER.search(name)
    return (name[: match.start()], match["number"]) if match else None


def without_number(name: str) -> str:
    """`liver_lesion` for `liver_lesion_2`; a name that ends otherwise stays as it is."""
    numbered = _family_and_number(name)
    return numbered[0] if numbered else name


def lesion_family(name: str, own_terms: Mapping[str, Term] | None = None) -> str | None:
    """`liver_lesion` for `liver_lesion`, `liver_lesion_1`, `Liver lesion 2` …; None if it is not a
    lesion.

    `own_terms` come before the shipped ones: those of a study, or of the user's name map.
    """
    entry = term(name, own_terms)
    return (entry.canonical or without_number(name)) if entry.kind == "lesion" else None


def family_term(family: str, members: Iterable[Term]) -> Term:
    """The term of a lesion family, from those of its members:
    `liver lesion` for `liver lesion 1` and `2`."""
    for entry in members:
        return msgspec.structs.replace(entry, name=family, plain=without_number(entry.plain))
    return term(family)


_MORPHOLOGICAL_WORDS = {"lobe", "atrium", "ventricle", "appendage", "segment", "trunk", "auricle"}


def _by_wording(name: str) -> Term:
    """What the words of an unlisted name tell: a whole word `left` or `right` gives the side."""
    words = [word for word in re.split(r"[\W_]+", name) if word]
    lower = [word.lower() for word in words]
    sides = [word for word in lower if word in ("left", "right")]
    if len(sides) != 1:
        return Term(name=name, plain=" ".join(words), known=False)
    naming = Naming.MORPHOLOGICAL if _MORPHOLOGICAL_WORDS & set(lower) else Naming.POSITIONAL
    partner = swap_side(name) if naming is Naming.POSITIONAL else None
    # "the right patella", wherever the name has its side.
    plain = " ".join([sides[0], *(word for word in words if word.lower() != sides[0])])
    return Term(
        name=name, plain=plain, side=Side(sides[0]), partner=partner, naming=naming, known=False
    )


def term(name: str, own_terms: Mapping[str, Term] | None = None) -> Term:
    """The term of a structure name: the own one,
    shipped (under any spelling), a numbered lesion, or by its wording."""
    if own_terms and name in own_terms:
        return own_terms[name]
    family, number = _family_and_number(name) or ("", "")
    if own_terms and family in own_terms and own_terms[family].kind == "lesion":
        return _numbered(own_terms[family], name, number)
    shipped = shipped_terms()
    if name in shipped:
        return shipped[name]
    canonical = canonical_name(name)
    if canonical is not None:
        return _spelt(name, shipped[canonical])
    shipped_family = canonical_name(family) if family else None
    if shipped_family is not None and shipped[shipped_family].kind == "lesion":
        return _numbered(shipped[shipped_family], name, number)
    return _by_wording(name)


def _numbered(family: Term, name: str, number: str) -> Term:
    return msgspec.structs.replace(family, name=name, plain=f"{family.plain} {number}")


def _spelt(name: str, shipped: Term) -> Term:
    """A shipped meaning under another spelling;
    its partner is spelt likewise, or left out if it cannot be."""
    swapped = swap_side(name) if shipped.partner is not None else None
    partner = (
        swapped if swapped is not None and canonical_name(swapped) == shipped.partner else None
    )
    return msgspec.structs.replace(shipped, name=name, partner=partner)
