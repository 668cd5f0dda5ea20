"""A user's own name map: which structures there are, what they mean, and what files call them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from situs.anatomy.patterns import NamePattern
from situs.anatomy.spelling import swap_side
from situs.anatomy.terms import (
    COLUMNS,
    Naming,
    Row,
    Term,
    canonical_name,
    family_term,
    lesion_family,
    parse_row,
    parse_terms,
    term,
)
from situs.base.files import read_text
from situs.errors import SitusError

__all__ = ["NameMap", "read_name_map"]

_SIZED = ("organ", "lesion", "lesion_part")
"""Kinds whose size is worth asking for unless the map says no."""


class NameMap(NamedTuple):
    """What a user says about names."""

    labels: dict[int, str]
    terms: dict[str, Term]
    patterns: tuple[NamePattern, ...]


def read_name_map(path: Path) -> NameMap:
    """A CSV with a row per label or pattern,
    or JSON `{"1": "liver", "GTV-*": {"name": "lung_tumour", …}}`."""
    text, is_json = read_text(path), path.suffix.lower() == ".json"
    rows = _json_rows(text, path) if is_json else parse_terms(text, where=path, meaning=term)
    if not rows:
        raise SitusError(
            "holds no rows", where=path, fix="one row per structure: label,name or pattern,name"
        )
    labels: dict[int, str] = {}
    declared: dict[str, tuple[frozenset[str], Term]] = {}
    patterns: list[NamePattern] = []
    for number, row in enumerate(rows, start=2):
        name, where = row.term.name, str(path) if is_json else f"{path}:{number}"
        if row.label is not None and row.label in labels:
            raise SitusError(
                f"label {row.label} occurs twice", where=where, fix="one row per label"
            )
        _check_again(row, declared.get(name), where)
        declared.setdefault(name, (row.given, row.term))
        if row.label is not None:
            labels[row.label] = name
        if row.pattern:
            patterns.append(NamePattern.checked(row.pattern, name, where=where))
    terms = {
        name: _completed(entry, columns, declared) for name, (columns, entry) in declared.items()
    }
    return NameMap(labels, terms | _wholes_of(terms.values()) | _families(terms), tuple(patterns))


def _check_again(row: Row, before: tuple[frozenset[str], Term] | None, where: str) -> None:
    """A name may stand in several rows with patterns, if they do not contradict each other."""
    if before is None:
        return
    means = row.given - {"label", "pattern", "name"}
    if not row.pattern or (means and row.term != before[1]):
        problem = f"name {row.term.name!r} occurs twice"
        raise SitusError(
            problem, where=where, fix="one row per name; more rows only to give more patterns"
        )


def _completed(
    entry: Term, columns: frozenset[str], declared: dict[str, tuple[frozenset[str], Term]]
) -> Term:
    """The term with what follows from what the user says:
    an unknown name without a kind is an organ."""
    more: dict[str, Any] = {}
    is_own = not entry.canonical
    kind = "organ" if is_own and "kind" not in columns else entry.kind
    if "part_of" in columns and entry.part_of is not None:
        more["part_of"] = (
            entry.part_of
            if entry.part_of in declared
            else canonical_name(entry.part_of) or entry.part_of
        )
        if kind == "lesion" and _is_lesion(more["part_of"], declared):
            kind = "lesion_part"
    if is_own and kind in _SIZED and "ask_size" not in columns:
        more["ask_size"] = True
    if "side" in columns and entry.naming is Naming.UNSIDED:
        more["naming"] = Naming.POSITIONAL
        other = swap_side(entry.name)
        if "partner" not in columns and other in declared:
            more["partner"] = other
    return msgspec.structs.replace(entry, kind=kind, **more)


def _is_lesion(name: str, declared: dict[str, tuple[frozenset[str], Term]]) -> bool:
    own_terms = {other: entry for other, (_, entry) in declared.items()}
    return term(name, own_terms).kind == "lesion"


def _wholes_of(terms: Iterable[Term]) -> dict[str, Term]:
    """Lesions that the map only speaks of as the whole of their parts."""
    entries = list(terms)
    named = {entry.name for entry in entries}
    wholes = {entry.part_of for entry in entries if entry.kind == "lesion_part" and entry.part_of}
    return {
        whole: msgspec.structs.replace(term(whole), kind="lesion", known=True, ask_size=True)
        for whole in sorted(wholes - named)
        if canonical_name(whole) is None
    }


def _families(terms: dict[str, Term]) -> dict[str, Term]:
    """The family of numbered lesions that the map names one by one (`met_1`, `met_2`)."""
    result: dict[str, Term] = {}
    for name, entry in terms.items():
        family = lesion_family(name, terms)
        if family is not None and family not in terms and not entry.canonical:
            result.setdefault(family, family_term(family, [entry]))
    return result


_LABEL = re.compile(r"\s*(-?[0-9]+)\s*")
"""A key that is a voxel's value rather than a pattern."""

_JsonEntry = str | dict[str, str | bool | list[str]]


def _json_rows(text: str, path: Path) -> list[Row]:
    form = '{"1": "liver", "GTV-*": {"name": "lung_tumour", "kind": "lesion"}}'
    try:
        table = msgspec.json.decode(text, type=dict[str, _JsonEntry])
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise SitusError(f"is not a name map ({error})", where=path, fix=f"write {form}") from error
    rows = []
    labels = []
    for key, entry in table.items():
        cells = _cells({"name": entry} if isinstance(entry, str) else entry, path)
        number = _LABEL.fullmatch(key)
        cells["label" if number else "pattern"] = (number[1].lstrip("0") or "0") if number else key
        rows.append(parse_row(cells, str(path), term))
        labels.append(cells.get("label"))
    names = [row.term.name for row, label in zip(rows, labels) if label]
    numbers = [label for label in labels if label]
    if not rows or len(set(names)) < len(names) or len(set(numbers)) < len(numbers):
        problem = "is empty, gives one name to two labels, or two names to one"
        raise SitusError(problem, where=path, fix="one name per label")
    return rows


def _cells(entry: dict[str, str | bool | list[str]], path: Path) -> dict[str, str]:
    unknown = sorted(set(entry) - set(COLUMNS))
    if unknown:
        raise SitusError(f"unknown key {unknown[0]!r}", where=path, fix=f"use {', '.join(COLUMNS)}")
    plain: dict[str, str] = {}
    for key, value in entry.items():
        if isinstance(value, bool):
            plain[key] = "yes" if value else "no"
        else:
            plain[key] = value if isinstance(value, str) else ";".join(value)
    return plain
