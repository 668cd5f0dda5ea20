"""Name maps: which label value is which structure."""

from __future__ import annotations

import csv
import functools
import io
from importlib.resources import files
from pathlib import Path

import msgspec

from situs._files import read_text
from situs.anatomy._terms import Term, parse_terms
from situs.anatomy._terms import term as shipped_term
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
    ) -> None:
        self.name = name
        self.labels = labels
        self.ids = {structure: label for label, structure in labels.items()}
        self.own_terms = own_terms or {}
        """Terms that this vocabulary knows better than the shipped table: the user's own, or exhaustive classes."""
        self.aliases = aliases or {}
        """What the dataset itself calls a class (`postcava`, `cancer`) → its name here."""

    def term(self, name: str) -> Term:
        """This vocabulary's own term if it has one, else the shipped meaning of the name."""
        name = self.aliases.get(name, name) if name not in self.ids else name
        return self.own_terms.get(name) or shipped_term(name)


@functools.cache
def _shipped_tables() -> tuple[str, ...]:
    folder = files("situs.anatomy").joinpath("data")
    return tuple(sorted(e.name for e in folder.iterdir() if e.name.endswith(".csv") and e.name != _MASTER))


def shipped_vocabularies() -> list[str]:
    """Names that `--names` knows."""
    return sorted([*_TOGETHER, *(table.removesuffix(".csv") for table in _shipped_tables())])


@functools.cache
def _shipped_table(name: str) -> str:
    return files("situs.anatomy").joinpath("data", f"{name}.csv").read_text("utf-8")


def load_vocabulary(spec: str | None) -> Vocabulary:
    """A shipped vocabulary by name, or the user's own file: CSV `label,name[,…]` or JSON `{"1": "liver"}`."""
    if spec is None:
        return Vocabulary("none", {})
    if spec in shipped_vocabularies():
        return _shipped(spec)
    path = Path(spec)
    if not path.exists():
        known = shipped_vocabularies()
        raise SitusError("no such vocabulary or file", where=spec, fix=did_you_mean(spec, known))
    return _from_json(path) if path.suffix.lower() == ".json" else _from_csv(path)


def _shipped(name: str) -> Vocabulary:
    if name in _TOGETHER:
        first, *others = (_shipped(part) for part in _TOGETHER[name])
        labels = {label: structure for other in others for label, structure in other.labels.items()}
        return Vocabulary(name, labels | first.labels, first.own_terms, first.aliases)
    text = _shipped_table(name)
    terms = parse_terms(text, where=name, meaning=shipped_term)
    aliases = {row["alias"]: row["name"] for row in csv.DictReader(io.StringIO(text)) if row.get("alias")}
    labels = {label: entry.name for label, entry in terms if label is not None}
    better = {entry.name: entry for _, entry in terms if entry != shipped_term(entry.name)}
    return Vocabulary(name, labels, better, aliases)


def _from_csv(path: Path) -> Vocabulary:
    labels: dict[int, str] = {}
    own: dict[str, Term] = {}
    rows = parse_terms(read_text(path), where=path, meaning=shipped_term)
    for number, (label, entry) in enumerate(rows, start=2):
        if label is not None and label in labels:
            raise SitusError(f"label {label} occurs twice", where=f"{path}:{number}", fix="one row per label")
        if entry.name in own:
            raise SitusError(f"name {entry.name!r} occurs twice", where=f"{path}:{number}", fix="one row per name")
        own[entry.name] = entry
        if label is not None:
            labels[label] = entry.name
    if not own:
        raise SitusError("holds no rows", where=path, fix="one row per structure: label,name")
    return Vocabulary(path.stem, labels, own)


def _from_json(path: Path) -> Vocabulary:
    try:
        table = msgspec.json.decode(read_text(path), type=dict[str, str])
        labels = {int(label): name for label, name in table.items()}
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise SitusError(f"is not a name map ({error})", where=path, fix='write {"1": "liver", …}') from error
    if not len(set(labels.values())) == len(labels) == len(table) or not labels:
        problem = "is empty, gives one name to two labels, or two names to one"
        raise SitusError(problem, where=path, fix="one name per label")
    rows = "label,name\n" + "".join(f'{label},"{name}"\n' for label, name in labels.items())
    own = {entry.name: entry for _, entry in parse_terms(rows, where=path, meaning=shipped_term)}
    return Vocabulary(path.stem, labels, own)
