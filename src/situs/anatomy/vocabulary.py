"""Name maps: which label value is which structure."""

from __future__ import annotations

import csv
import functools
import io
from collections.abc import Mapping
from importlib.resources import files

from situs.anatomy.name_map import read_name_map
from situs.anatomy.patterns import NamePattern, NameRules
from situs.anatomy.terms import Term, parse_terms
from situs.anatomy.terms import term as shipped_term
from situs.base.remote import named_file
from situs.errors import SitusError, did_you_mean

__all__ = ["Vocabulary", "load_vocabulary", "shipped_vocabularies"]

_MASTER = "structures.csv"
"""What every shipped name means; the other tables only say which label it has."""
_TOGETHER = {"aal": ("aal116", "aal116_codes")}
"""Tables whose label values do not meet, so that one name serves for both."""


class Vocabulary:
    """Label values, the names they stand for, and what those names mean."""

    def __init__(
        self,
        name: str,
        labels: dict[int, str],
        own_terms: dict[str, Term] | None = None,
        aliases: dict[str, str] | None = None,
        patterns: tuple[NamePattern, ...] = (),
    ) -> None:
        self.name = name
        self.labels = labels
        self.ids = {structure: label for label, structure in labels.items()}
        self.own_terms = own_terms or {}
        """Terms that this vocabulary knows better than the shipped table:
        the user's own, or exhaustive classes."""
        self.aliases = aliases or {}
        """What the dataset itself calls a class (`postcava`, `cancer`) → its name here."""
        self.rules = NameRules(patterns, self.own_terms)
        """What files call structures → their names here."""

    def term(self, name: str) -> Term:
        """This vocabulary's own term if it has one, else the shipped meaning of the name."""
        name = self.aliases.get(name, name) if name not in self.ids else name
        return shipped_term(name, self.own_terms)

    def of_known(self) -> Vocabulary:
        """Without the labels whose names nobody declared:
        what a dataset calls them is not for a bench."""
        labels = {label: name for label, name in self.labels.items() if self.term(name).known}
        return Vocabulary(self.name, labels, self.own_terms, self.aliases, self.rules.patterns)

    def over(self, base: Mapping[int, str]) -> Vocabulary:
        """This map laid over the names that a dataset gives its labels,
        where it names no label itself."""
        if self.labels:
            return self
        renamed = self.rules.renamed(base)
        labels = {label: renamed.get(label, name) for label, name in base.items()}
        return Vocabulary(self.name, labels, self.own_terms, self.aliases, self.rules.patterns)


@functools.cache
def _shipped_tables() -> tuple[str, ...]:
    folder = files("situs.anatomy").joinpath("data")
    return tuple(
        sorted(e.name for e in folder.iterdir() if e.name.endswith(".csv") and e.name != _MASTER)
    )


def shipped_vocabularies() -> list[str]:
    """Names that `--names` knows."""
    return sorted([*_TOGETHER, *(table.removesuffix(".csv") for table in _shipped_tables())])


@functools.cache
def _shipped_table(name: str) -> str:
    return files("situs.anatomy").joinpath("data", f"{name}.csv").read_text("utf-8")


def load_vocabulary(spec: str | None) -> Vocabulary:
    """A shipped vocabulary by name, or the user's own name map: a CSV or JSON file."""
    if spec is None:
        return Vocabulary("none", {})
    if spec in shipped_vocabularies():
        return _shipped(spec)
    path = named_file(spec)
    if not path.exists():
        known = shipped_vocabularies()
        raise SitusError("no such vocabulary or file", where=spec, fix=did_you_mean(spec, known))
    name_map = read_name_map(path)
    return Vocabulary(path.stem, name_map.labels, name_map.terms, patterns=name_map.patterns)


def _shipped(name: str) -> Vocabulary:
    if name in _TOGETHER:
        first, *others = (_shipped(part) for part in _TOGETHER[name])
        labels = {label: structure for other in others for label, structure in other.labels.items()}
        return Vocabulary(name, labels | first.labels, first.own_terms, first.aliases)
    labels, better, aliases = _shipped_parts(name)
    return Vocabulary(name, labels.copy(), better.copy(), aliases.copy())


@functools.cache
def _shipped_parts(name: str) -> tuple[dict[int, str], dict[str, Term], dict[str, str]]:
    """Labels, better terms and aliases of a table, read once: every study of a cohort asks."""
    text = _shipped_table(name)
    rows = parse_terms(text, where=name, meaning=shipped_term)
    aliases = {
        row["alias"]: row["name"] for row in csv.DictReader(io.StringIO(text)) if row.get("alias")
    }
    labels = {row.label: row.term.name for row in rows if row.label is not None}
    better = {row.term.name: row.term for row in rows if row.term != shipped_term(row.term.name)}
    return labels, better, aliases
