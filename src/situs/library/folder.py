"""A library on disk: search, read and cite; nothing is ever written or fetched."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import quote as url_quote

import msgspec

from situs.base.files import read_json
from situs.errors import SitusError
from situs.library.record import Article, Citation, Section, normal_text
from situs.library.tantivy_words import TantivyWords

__all__ = ["DATABASE", "FORMAT", "HEAD", "Hit", "Library", "LibraryHead", "open_library"]

FORMAT = 1
HEAD = "library.json"
DATABASE = "library.sqlite"
_SHORTEST_QUOTE = 20
"""Characters. A word or two stands in any abstract and proves nothing."""
_JOINED_BEFORE = re.compile(r"\w[-\u2010\u2011]?\Z")
_JOINED_AFTER = re.compile(r"[-\u2010\u2011]?\w")
_MOST_WORDS = 32
_WORD = re.compile(r'"([^"]+)"|(\w+)')
"""A phrase in quotes, or a word; all else, the search engine's operators among it, is left out."""


_Record = TypeVar("_Record", bound=msgspec.Struct)


class LibraryHead(msgspec.Struct, frozen=True):
    """`library.json`."""

    format: int
    articles: int
    engine: Literal["fts5", "tantivy"] = "fts5"
    """What holds the index of words."""


class Hit(msgspec.Struct, frozen=True):
    """A publication that a search found."""

    pmid: int
    title: str
    year: int | None
    score: float
    """BM25 of title (three times) and abstract, larger is better;
    comparable within one search of one engine."""
    concern: bool


class Library:
    """Abstracts with an index of their words."""

    def __init__(self, folder: Path, head: LibraryHead, database: sqlite3.Connection) -> None:
        self.folder = folder
        self.head = head
        self._database = database
        self._words = TantivyWords(folder) if head.engine == "tantivy" else None

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def search(self, words: str, limit: int = 10) -> list[Hit]:
        """The publications that fit best: those with all the words first, then those with some.

        Words are matched by their stem ("lesions" finds "lesion"), a phrase in double quotes as it
        stands.
        """
        terms = [phrase or word for phrase, word in _WORD.findall(words)][:_MOST_WORDS]
        plain = [" ".join(re.findall(r"\w+", term)) for term in terms]
        plain = [term for term in plain if term]
        if not plain:
            raise SitusError("no word to search for", where=repr(words), fix="give words")
        hits = self._matching(plain, every=True, limit=limit)
        if len(hits) < limit and len(plain) > 1:
            known = {hit.pmid for hit in hits}
            some = self._matching(plain, every=False, limit=limit + len(hits))
            hits += [hit for hit in some if hit.pmid not in known]
        return hits[:limit]

    def _matching(self, terms: list[str], *, every: bool, limit: int) -> list[Hit]:
        if self._words is not None:
            scores = self._words.matching(terms, every=every, limit=limit)
            return [hit for pmid, score in scores for hit in self._hit(pmid, score)]
        query = (" AND " if every else " OR ").join(f'"{term}"' for term in terms)
        rows = self._ask(
            "SELECT pmid, article.title, year, -bm25(words, 3.0, 1.0) AS score, concern"
            " FROM words JOIN article ON pmid = words.rowid"
            " WHERE words MATCH ? ORDER BY score DESC, pmid LIMIT ?",
            (query, limit),
        )
        return [self._checked((*row[:4], bool(row[4])), Hit) for row in rows]

    def _hit(self, pmid: int, score: float) -> list[Hit]:
        """The publication of an id; nothing if the index names one that is not there."""
        rows = self._ask("SELECT pmid, title, year, concern FROM article WHERE pmid = ?", (pmid,))
        return [self._checked((*row[:3], score, bool(row[3])), Hit) for row in rows]

    def read(self, pmid: int) -> Article | None:
        """A publication; None if it is not in the library, as anything retracted is not."""
        columns = "pmid, title, sections, journal, year, concern, version"
        rows = self._ask(f"SELECT {columns} FROM article WHERE pmid = ?", (pmid,))
        if not rows:
            return None
        number, title, sections, journal, year, concern, version = rows[0]
        try:
            parts = msgspec.json.decode(sections, type=tuple[Section, ...])
        except (msgspec.DecodeError, TypeError, RecursionError) as error:
            raise self._damaged(error) from error
        row = (number, title, parts, journal, year, bool(concern), version)
        return self._checked(row, Article)

    def _checked(self, row: tuple[Any, ...], kind: type[_Record]) -> _Record:
        """A row of the database as a record: its file may be damaged, or somebody else's."""
        fields = dict(zip(kind.__struct_fields__, row, strict=True))
        try:
            return msgspec.convert(fields, kind)
        except msgspec.ValidationError as error:
            raise self._damaged(error) from error

    def cite(self, pmid: int, quote: str) -> Citation | None:
        """Where a quote stands in a publication, word for word; None if it stands nowhere in it.

        White space and the composition of accents do not count; every other character does. A quote
        under twenty characters proves nothing and is never found, nor is one that begins or ends
        within a word: "relevant …" is no quote of "irrelevant …".
        """
        article = self.read(pmid)
        words = normal_text(quote)
        if article is None or len(words) < _SHORTEST_QUOTE:
            return None
        texts = [(-1, article.title), *enumerate(section.text for section in article.sections)]
        for section, text in texts:
            for match in re.finditer(re.escape(words), text):
                if _is_whole(text, match.start(), match.end()):
                    return Citation(pmid, section, *match.span(), article.document, words)
        return None

    def verify(self, citation: Citation) -> bool:
        """Whether the quote stands where the citation says,
        in the same text of the same publication."""
        article = self.read(citation.pmid)
        if article is None or article.document != citation.document:
            return False
        parts = [section.text for section in article.sections]
        if not -1 <= citation.section < len(parts) or citation.start < 0:
            return False
        text = article.title if citation.section < 0 else parts[citation.section]
        if len(citation.quote) < _SHORTEST_QUOTE:
            return False
        start, end = citation.start, citation.end
        return text[start:end] == citation.quote and _is_whole(text, start, end)

    def _ask(self, query: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        try:
            return self._database.execute(query, values).fetchall()
        except OverflowError:  # a number that no database holds stands in none of its rows
            return []
        except sqlite3.Error as error:
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> SitusError:
        problem = f"cannot be read ({error})"
        return SitusError(problem, where=self.folder, fix="build the library again")


def open_library(folder: Path) -> Library:
    """Open a library that `situs library build` made."""
    for name in (HEAD, DATABASE):
        if not (folder / name).is_file():
            fix = "give the --out folder of situs library build"
            raise SitusError(f"is not a library: {name} is missing", where=folder, fix=fix)
    head = read_json(folder / HEAD, LibraryHead)
    if head.format != FORMAT:
        fix = "build the library again"
        raise SitusError(f"has format {head.format}, not {FORMAT}", where=folder, fix=fix)
    # Immutable: not even a lock file is written beside a library that others share.
    address = f"file:{url_quote(str((folder / DATABASE).resolve()))}?mode=ro&immutable=1"
    return Library(folder, head, sqlite3.connect(address, uri=True))


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether a part of a text begins and ends with whole words; hyphens join words."""
    before, after = _JOINED_BEFORE.search(text[:start]), _JOINED_AFTER.match(text[end:])
    is_cut = (before and text[start].isalnum()) or (after and text[end - 1].isalnum())
    return not is_cut
