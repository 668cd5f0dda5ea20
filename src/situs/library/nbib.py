"""PubMed's citation format (`.nbib`, MEDLINE):
a four-letter tag, a hyphen, text; further lines are indented."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from situs.base.files import read_text
from situs.errors import SitusError
from situs.library.record import Article, Section, Withdrawal, normal_text

__all__ = ["read_nbib"]

_FIELD = re.compile(r"([A-Z]{2,4}) *- (.*)")
_LABEL = re.compile(r"(?:^|(?<=[.?!)] ))([A-Z][A-Z &/,()-]{3,60}): ")
"""The file runs the parts of a structured abstract together: "… apart. METHODS: We measured …"."""
_LARGEST = 1 << 30

Fields = dict[str, list[str]]


def read_nbib(path: Path) -> Iterator[Article | Withdrawal]:
    """The records of a file in its order."""
    for line, fields in _records(read_text(path, limit_bytes=_LARGEST)):
        pmid = " ".join(fields.get("PMID", ["nothing"]))
        if not re.fullmatch(r"[1-9]\d{0,9}", pmid):
            where = f"{path}:{line}"
            raise SitusError(
                f"the PMID is {pmid[:20]!r}", where=where, fix="save it from PubMed again"
            )
        yield from _entries(int(pmid), fields)


def _records(text: str) -> Iterator[tuple[int, Fields]]:
    """The fields of each record, and the line where it begins."""
    # A field's lines are joined once: a text that grows line by line is copied with each.
    fields: dict[str, list[list[str]]] = defaultdict(list)
    begins, tag = 1, ""
    for number, line in enumerate(text.splitlines(), 1):
        field = _FIELD.match(line)
        if field and field[1] == "PMID" and fields:
            yield begins, _joined(fields)
            fields = defaultdict(list)
        if field:
            tag = field[1]
            begins = number if tag == "PMID" else begins
            fields[tag].append([field[2]])
        elif line.startswith("      ") and tag:
            fields[tag][-1].append(line.strip())
    if fields:
        yield begins, _joined(fields)


def _joined(fields: Mapping[str, Sequence[Sequence[str]]]) -> Fields:
    return {tag: [" ".join(lines) for lines in entries] for tag, entries in fields.items()}


def _entries(pmid: int, fields: Fields) -> Iterator[Article | Withdrawal]:
    types = set(fields.get("PT", ()))
    # ROF: this is the notice of a retraction of …; its text names the other record.
    for notice in fields.get("ROF", ()):
        if other := re.search(r"PMID: (\d{1,10})", notice):
            yield Withdrawal(int(other[1]), "retracted")
    if "Retracted Publication" in types or fields.get("RIN") or fields.get("RRI"):
        yield Withdrawal(pmid, "retracted")
    elif types & {"Retraction of Publication", "Retraction Notice"}:
        yield Withdrawal(pmid, "notice")
    else:
        year = re.search(r"\d{4}", " ".join(fields.get("DP", ())))
        yield Article(
            pmid=pmid,
            title=normal_text(" ".join(fields.get("TI", ()))),
            sections=_sections(normal_text(" ".join(fields.get("AB", ())))),
            journal=normal_text(" ".join(fields.get("JT", ()))),
            year=int(year[0]) if year else None,
            concern=bool(fields.get("ECI") or fields.get("PRIN")),
        )


def _sections(abstract: str) -> tuple[Section, ...]:
    if not abstract:
        return ()
    labels = list(_LABEL.finditer(abstract))
    if not labels or labels[0].start():
        return (Section("", abstract),)
    ends = [label.start() for label in labels[1:]] + [len(abstract)]
    parts = ((label[1], abstract[label.end() : end].strip()) for label, end in zip(labels, ends))
    return tuple(Section(label, text) for label, text in parts if text)
