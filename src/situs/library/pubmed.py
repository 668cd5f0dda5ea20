"""PubMed's XML files (`pubmed26n0001.xml.gz`), read as a stream.

Nothing outside the file is ever fetched: the document type names a server, which is not asked, and
files that define entities of their own are refused.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from situs.errors import SitusError
from situs.library.record import Article, Section, Withdrawal, normal_text

__all__ = ["check_sum", "read_pubmed"]

_PIECE = 1 << 20
_LARGEST_RECORD = 16 << 20
"""Characters of one record; the longest real ones,
with thousands of authors, stay below one million."""
_ELEMENT = 16
"""Characters that an element without text counts as: it takes memory, too."""
_DEEPEST = 100
_RECORDS = ("PubmedArticle", "PubmedBookArticle", "DeleteCitation")
_RETRACTED = "Retracted Publication"
_NOTICES = ("Retraction of Publication", "Retraction Notice")
"""The publication type was renamed in 2024; files of both kinds are about."""
_MADE_VOID = ("RetractionIn", "RetractedandRepublishedIn")
_CONCERNS = ("ExpressionOfConcernIn", "PartialRetractionIn")


def check_sum(path: Path) -> None:
    """Compare a file with the `.md5` that lies beside it, if one does."""
    beside = path.with_name(path.name + ".md5")
    if not beside.is_file():
        return
    stated = re.search(r"\b[0-9a-fA-F]{32}\b", beside.read_text(encoding="utf-8", errors="replace"))
    if stated is None:
        raise SitusError("holds no MD5 sum", where=beside, fix="download it again, or remove it")
    with path.open("rb") as stream:
        actual = hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False))
    if actual.hexdigest() != stated[0].lower():
        fix = "download the file again"
        raise SitusError(
            f"does not have the MD5 sum that {beside.name} states", where=path, fix=fix
        )


def read_pubmed(path: Path) -> Iterator[Article | Withdrawal]:
    """The records of a file in its order: publications, and those that must not be used."""
    for record in _records(path):
        if record.tag == "DeleteCitation":
            yield from (Withdrawal(_pmid(one, path), "deleted") for one in record.iter("PMID"))
        else:
            yield from _entries(record, path)


def _records(path: Path) -> Iterator[Element]:
    """Each record of the file as a tree of its own; memory holds one."""
    builder = _RecordBuilder(path)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    parser.EntityDeclHandler = builder.refuse_entity
    given = 0
    try:
        with _opened(path) as stream:
            while piece := stream.read(_PIECE):
                parser.Parse(piece, False)
                given += len(piece)
                # A tag or a comment that does not end is held until it does.
                if given - parser.CurrentByteIndex > _LARGEST_RECORD:
                    raise builder.oversized()
                yield from builder.take()
            parser.Parse(b"", True)
            yield from builder.take()
    except expat.ExpatError as error:
        problem = f"is not well-formed XML ({error})"
        raise SitusError(problem, where=path, fix="download it again") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        problem = "is truncated or damaged"
        raise SitusError(problem, where=path, fix="download it again") from error


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    with path.open("rb") as raw:
        if path.suffix == ".gz":
            with gzip.GzipFile(fileobj=raw) as stream:
                yield cast(IO[bytes], stream)
        else:
            yield raw


class _RecordBuilder:
    """Builds a tree for each record and forgets everything else."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._tree: TreeBuilder | None = None
        self._depth = 0
        self._size = 0
        self._done: list[Element] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        if self._tree is None:
            if tag not in _RECORDS:
                return
            self._tree = TreeBuilder()
            self._depth = self._size = 0
        self._depth += 1
        self._grow(len(tag) + sum(map(len, attributes.values())) + _ELEMENT)
        if self._depth > _DEEPEST:
            raise SitusError(
                "nests deeper than any record", where=self._path, fix="is it PubMed's?"
            )
        self._tree.start(tag, attributes)

    def end(self, tag: str) -> None:
        """An element ends."""
        if self._tree is None:
            return
        element = self._tree.end(tag)
        self._depth -= 1
        if not self._depth:
            self._done.append(element)
            self._tree = None

    def text(self, data: str) -> None:
        """Text of the element."""
        if self._tree is not None:
            self._grow(len(data))
            self._tree.data(data)

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > _LARGEST_RECORD:
            raise self.oversized()

    def oversized(self) -> SitusError:
        """Of a record that nobody has written."""
        return SitusError("holds an oversized record", where=self._path, fix="is it PubMed's?")

    def refuse_entity(self, name: str, *_: Any) -> None:
        """No file of PubMed's defines entities; they can blow up a parser, or read other files."""
        raise SitusError(
            f"defines an entity ({name[:40]})", where=self._path, fix="is it PubMed's?"
        )

    def take(self) -> list[Element]:
        """The records that are complete."""
        done, self._done = self._done, []
        return done


def _entries(record: Element, path: Path) -> Iterator[Article | Withdrawal]:
    cited = record.find("MedlineCitation")
    if cited is None:
        cited = record.find("BookDocument")
    if cited is None:
        return
    pmid = _pmid(cited.find("PMID"), path)
    types = {normal_text(_text(one)) for one in cited.iter("PublicationType")}
    links = list(cited.iter("CommentsCorrections"))
    kinds = {link.get("RefType", "") for link in links}
    for link in links:
        other = link.find("PMID")
        if link.get("RefType") == "RetractionOf" and other is not None:
            yield Withdrawal(_pmid(other, path), "retracted")
    if _RETRACTED in types or kinds.intersection(_MADE_VOID):
        yield Withdrawal(pmid, "retracted")
    elif types.intersection(_NOTICES):
        yield Withdrawal(pmid, "notice")
    else:
        yield _article(cited, pmid, concern=bool(kinds.intersection(_CONCERNS)))


def _article(cited: Element, pmid: int, *, concern: bool) -> Article:
    # A record's own abstract; translations stand in <OtherAbstract>.
    abstract = cited.find("Article/Abstract")
    if abstract is None:
        abstract = cited.find("Abstract")
    parts = abstract.findall("AbstractText") if abstract is not None else []
    sections = (
        Section(normal_text(part.get("Label", "")), normal_text(_text(part))) for part in parts
    )
    title = cited.find("Article/ArticleTitle")
    if title is None:
        title = cited.find("ArticleTitle")
    version = cited.find("PMID").get("Version", "1")  # type: ignore[union-attr]
    return Article(
        pmid=pmid,
        title=normal_text(_text(title)),
        sections=tuple(section for section in sections if section.text),
        journal=normal_text(_text(cited.find("Article/Journal/Title"))),
        year=_year(cited),
        concern=concern,
        version=int(version) if re.fullmatch(r"\d{1,4}", version) else 1,
    )


def _text(element: Element | None) -> str:
    """All text below an element: italics, subscripts and formulas (MathML) hold words too."""
    return "" if element is None else "".join(element.itertext())


def _year(cited: Element) -> int | None:
    date = cited.find("Article/Journal/JournalIssue/PubDate")
    if date is None:
        date = cited.find("Book/PubDate")
    # Either <Year>, or <MedlineDate> as in "2019 Nov-Dec".
    stated = re.search(r"\b(1[89]|20)\d\d\b", _text(date))
    return int(stated[0]) if stated else None


def _pmid(element: Element | None, path: Path) -> int:
    text = _text(element).strip()
    if not re.fullmatch(r"[1-9]\d{0,9}", text):
        raise SitusError(
            f"holds a record with the PMID {text[:20]!r}", where=path, fix="is it PubMed's?"
        )
    return int(text)
