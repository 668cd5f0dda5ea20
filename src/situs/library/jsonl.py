"""Publications as JSON lines:
`{"pmid": 1, "title": …, "abstract": "…" or [{"label": …, "text": …}], …}`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec

from situs.base.files import check_regular
from situs.errors import SitusError
from situs.library.record import Article, Section, Withdrawal, normal_text

__all__ = ["read_jsonl"]

_LONGEST_LINE = 16 << 20


class _Line(msgspec.Struct):
    pmid: int
    title: str
    abstract: str | list[Section] = ""
    journal: str = ""
    year: Annotated[int, msgspec.Meta(ge=1, le=9999)] | None = None
    retracted: bool = False
    concern: bool = False


def read_jsonl(path: Path) -> Iterator[Article | Withdrawal]:
    """The publications of a file in its order; a blank line is skipped, a wrong one is refused."""
    decoder = msgspec.json.Decoder(_Line)
    check_regular(path)
    with path.open("rb") as stream:
        for number, raw in enumerate(iter(lambda: stream.readline(_LONGEST_LINE), b""), 1):
            if raw.strip():
                yield _entry(decoder, raw, f"{path}:{number}")


def _entry(decoder: msgspec.json.Decoder[_Line], raw: bytes, where: str) -> Article | Withdrawal:
    try:
        line = decoder.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        fix = "a line is one JSON object with pmid, title and abstract"
        raise SitusError(str(error), where=where, fix=fix) from error
    if not 0 < line.pmid < 10**10:
        raise SitusError(f"the pmid is {line.pmid}", where=where, fix="give PubMed's number")
    if line.retracted:
        return Withdrawal(line.pmid, "retracted")
    parts = [Section("", line.abstract)] if isinstance(line.abstract, str) else line.abstract
    sections = (Section(normal_text(part.label), normal_text(part.text)) for part in parts)
    return Article(
        pmid=line.pmid,
        title=normal_text(line.title),
        sections=tuple(section for section in sections if section.text),
        journal=normal_text(line.journal),
        year=line.year,
        concern=line.concern,
    )
