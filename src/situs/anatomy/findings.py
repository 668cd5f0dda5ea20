"""Labels of findings as annotators spell them, cleaned up:
one name each, how it is said, what it is mistaken for."""

from __future__ import annotations

import csv
import functools
import io
import re
from importlib.resources import files

import msgspec

__all__ = [
    "NORMAL",
    "Finding",
    "finding_name",
    "finding_of",
    "known_findings",
    "organ_of_volume",
    "protocol_of_volume",
]

NORMAL = "normal_for_age"
"""The study label that says a volume was read as normal."""

_VOLUMES = (
    ("brain", re.compile(r"file_brain_AX[A-Z0-9]+_\d{3}_\d+")),
    ("knee", re.compile(r"file1\d{6}")),
)


class Finding(msgspec.Struct, frozen=True):
    """One kind of finding."""

    name: str
    organ: str
    """`knee`, `brain`, or empty for a label of the user's own."""
    phrase: str
    """As it stands in a sentence: `a meniscus tear`, `joint effusion`."""
    plural: str
    """As it is counted: `meniscus tears`, `areas of joint effusion`."""
    families: tuple[str, ...]
    """What it may be mistaken for:
    findings that share a family are no proof of each other's absence."""
    counted: bool = True
    """Whether anyone counts it: tears and lesions,
    but not the effusion of a joint or the sprain of a ligament."""

    asked: bool = True
    """Whether it is asked for by name:
    nobody looks for `a normal variant` or `a possible artifact`."""
    includes: tuple[str, ...] = ()
    """Findings that are kinds of it, so that both names are right:
    a resection cavity is post-treatment change."""

    @property
    def bare(self) -> str:
        """The phrase without its article, as it stands in an option or beside a box."""
        return self.phrase.removeprefix("an ").removeprefix("a ")

    @property
    def is_plural(self) -> bool:
        """Whether a sentence says `are` of it: `enlarged ventricles`."""
        return self.bare == self.phrase and re.search(r"[^siu]s$", self.phrase) is not None

    def overlaps(self, other: Finding) -> bool:
        """Whether one is a kind of the other, so that who sees one may rightly name both."""
        return other.name in self.includes or self.name in other.includes

    def confusable_with(self, other: Finding) -> bool:
        """Whether the two share a family, or are the same."""
        return self.name == other.name or bool(set(self.families) & set(other.families))


def _spelling(raw: str) -> str:
    return " ".join(re.sub(r"[^a-z0-9]+", " ", raw.lower()).split())


@functools.cache
def _table() -> tuple[dict[str, Finding], dict[str, tuple[str, str]]]:
    """Findings by name; and by a label's letters and digits,
    the name it stands for and how the table spells it."""
    text = (
        files("situs.anatomy").joinpath("data", "findings", "fastmri_plus.csv").read_text("utf-8")
    )
    by_name: dict[str, Finding] = {}
    by_label: dict[str, tuple[str, str]] = {}
    for row in csv.DictReader(io.StringIO(text)):
        by_name[row["name"]] = Finding(
            row["name"],
            row["organ"],
            row["phrase"],
            row["plural"],
            tuple(row["families"].split(";")),
            counted=row["counted"] == "yes",
            asked=row["asked"] == "yes",
            includes=tuple(name for name in row["includes"].split(";") if name),
        )
        by_label[_spelling(row["raw"])] = (row["name"], row["raw"])
    return by_name, by_label


def known_findings(organ: str | None = None) -> tuple[Finding, ...]:
    """Every finding of the shipped table, in its order; of one organ if named."""
    return tuple(entry for entry in _table()[0].values() if organ in (None, entry.organ))


def finding_name(raw: str) -> tuple[str, bool]:
    """The name a label stands for, however it is spelt,
    and whether it is spelt as in the table (or is unknown)."""
    spelling = _spelling(raw)
    if spelling in _table()[1]:
        name, exact = _table()[1][spelling]
        return name, raw == exact
    return spelling.replace(" ", "_"), raw == raw.strip()


def finding_of(name: str) -> Finding:
    """What a name means; a name the table does not hold
    is said as it is and confused with itself only."""
    known = _table()[0].get(name)
    if known is not None:
        return known
    words = name.replace("_", " ")
    return Finding(name, "", words, f"areas of {words}", (f"own:{name}",))


def organ_of_volume(volume: str) -> str:
    """The organ that a public fastMRI volume id tells, else empty."""
    return next((organ for organ, pattern in _VOLUMES if pattern.fullmatch(volume)), "")


def protocol_of_volume(volume: str) -> str:
    """The sequence and scanner that a public fastMRI brain id tells (`AXFLAIR_201`), else empty."""
    return "_".join(volume.split("_")[2:4]) if organ_of_volume(volume) == "brain" else ""
