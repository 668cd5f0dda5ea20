"""Name maps: which label value is which structure."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import msgspec

from situs._files import read_text
from situs.anatomy._terms import Term, parse_terms
from situs.anatomy._terms import term as shipped_term
from situs.errors import SitusError, did_you_mean

__all__ = ["Vocabulary", "load_vocabulary", "shipped_vocabularies"]


class Vocabulary:
    """Label values, the names they stand for, and what those names mean."""

    def __init__(self, name: str, labels: dict[int, str], own_terms: dict[str, Term] | None = None) -> None:
        self.name = name
        self.labels = labels
        self.ids = {structure: label for label, structure in labels.items()}
        self.own_terms = own_terms or {}

    def term(self, name: str) -> Term:
        """The user's own term if this vocabulary defines one, else the shipped meaning of the name."""
        return self.own_terms.get(name) or shipped_term(name)


def shipped_vocabularies() -> list[str]:
    """Names that `--names` knows."""
    folder = files("situs.anatomy").joinpath("data")
    return sorted(e.name.removesuffix(".csv") for e in folder.iterdir() if e.name == "totalsegmentator.csv")


def load_vocabulary(spec: str | None) -> Vocabulary:
    """A shipped vocabulary by name, or the user's own file: CSV `label,name[,…]` or JSON `{"1": "liver"}`."""
    if spec is None:
        return Vocabulary("none", {})
    if spec in shipped_vocabularies():
        text = files("situs.anatomy").joinpath("data", f"{spec}.csv").read_text("utf-8")
        return Vocabulary(spec, {label: t.name for label, t in parse_terms(text, where=spec) if label is not None})
    path = Path(spec)
    if not path.exists():
        known = shipped_vocabularies()
        raise SitusError("no such vocabulary or file", where=spec, fix=did_you_mean(spec, known))
    return _from_json(path) if path.suffix.lower() == ".json" else _from_csv(path)


def _from_csv(path: Path) -> Vocabulary:
    labels: dict[int, str] = {}
    own: dict[str, Term] = {}
    for number, (label, entry) in enumerate(parse_terms(read_text(path), where=path), start=2):
        known = shipped_term(entry.name)
        if label is not None and label in labels:
            raise SitusError(f"label {label} occurs twice", where=f"{path}:{number}", fix="one row per label")
        if entry.name in own:
            raise SitusError(f"name {entry.name!r} occurs twice", where=f"{path}:{number}", fix="one row per name")
        own[entry.name] = known if known.known and entry.kind == "structure" else entry
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
    if len(set(labels.values())) != len(labels) or not labels:
        raise SitusError("is empty or gives one name to two labels", where=path, fix="one name per label")
    rows = "label,name\n" + "".join(f'{label},"{name}"\n' for label, name in labels.items())
    parsed = {t.name: t for _, t in parse_terms(rows, where=path)}
    own = {n: shipped_term(n) if shipped_term(n).known else t for n, t in parsed.items()}
    return Vocabulary(path.stem, labels, own)
