"""From files of abstracts to a library: later files win, what was withdrawn is left out."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import msgspec

from situs.base.files import canonical_json, write_atomic
from situs.base.publish import new_folder
from situs.errors import SitusError
from situs.library.folder import DATABASE, FORMAT, HEAD, LibraryHead
from situs.library.jsonl import read_jsonl
from situs.library.nbib import read_nbib
from situs.library.pubmed import check_sum, read_pubmed
from situs.library.record import Article, Withdrawal
from situs.library.tantivy_words import write_tantivy

__all__ = ["LibraryCounts", "build_library"]

_READERS: dict[str, Callable[[Path], Iterator[Article | Withdrawal]]] = {
    ".xml.gz": read_pubmed,
    ".xml": read_pubmed,
    ".nbib": read_nbib,
    ".medline": read_nbib,
    ".jsonl": read_jsonl,
}
_TABLES = """
CREATE TABLE article (
  pmid INTEGER PRIMARY KEY, title TEXT NOT NULL, sections BLOB NOT NULL, journal TEXT NOT NULL,
  year INTEGER, concern INTEGER NOT NULL, version INTEGER NOT NULL);
CREATE TABLE withdrawn (pmid INTEGER PRIMARY KEY, reason TEXT NOT NULL);
"""
_WORDS = (
    "CREATE VIRTUAL TABLE words USING fts5(title, body, content='', tokenize='porter unicode61');"
)
_TEXTS = "SELECT pmid, title, sections FROM article ORDER BY pmid"
# A record of an older version never replaces a newer one; among equals the later file is right.
_PUT = """
INSERT INTO article VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (pmid) DO UPDATE SET
  title = excluded.title, sections = excluded.sections, journal = excluded.journal,
  year = excluded.year, concern = excluded.concern, version = excluded.version
WHERE excluded.version >= article.version
"""


class LibraryCounts(msgspec.Struct, frozen=True):
    """What a build found."""

    files: int
    articles: int
    """In the library."""
    without_abstract: int
    concern: int
    replaced: int
    """Records that a later one replaced."""
    withdrawn: dict[str, int]
    """Left out, by reason: deleted, retracted, notice."""


def build_library(
    paths: list[Path],
    out: Path,
    *,
    engine: Literal["fts5", "tantivy"] = "fts5",
    overwrite: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> LibraryCounts:
    """Index the publications of files, or of all such files in folders, into the folder `out`.

    Files of a folder are taken in the order of their names, as PubMed numbers them; of two records
    of one publication the later counts. `engine` holds the index of words: SQLite's own, or tantivy
    (the extra `library`), which is smaller and faster for millions of abstracts. Raises SitusError
    for what cannot be read; nothing is left then.
    """
    files = [file for path in paths for file in _files(path)]
    with new_folder(out, marker=HEAD, overwrite=overwrite) as scratch:
        database = sqlite3.connect(scratch / DATABASE)
        try:
            # The folder is published only when it is whole, so that a journal would guard nothing.
            database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + _TABLES)
            read = 0
            for number, file in enumerate(files, 1):
                read += _add(database, file)
                progress(number, len(files))
            late = _leave_out_withdrawn(database)
            rows = map(_words, database.execute(_TEXTS))
            if engine == "tantivy":
                write_tantivy(scratch, rows)
            else:
                database.executescript(_WORDS)
                database.executemany(
                    "INSERT INTO words (rowid, title, body) VALUES (?, ?, ?)", rows
                )
            counts = _counts(database, len(files), read - late)
            database.commit()
        except sqlite3.Error as error:
            raise SitusError(f"cannot write ({error})", where=out, fix="check the disk") from error
        finally:
            database.close()
        if not counts.articles:
            raise SitusError(
                "no publication is left", where=paths[0], fix="see which were withdrawn"
            )
        write_atomic(scratch / HEAD, canonical_json(LibraryHead(FORMAT, counts.articles, engine)))
    return counts


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        inside = sorted(file for file in path.iterdir() if file.is_file() and _reader(file))
        if not inside:
            fix = f"a library is made of {', '.join(_READERS)}"
            raise SitusError("holds no file of abstracts", where=path, fix=fix)
        return inside
    if not path.is_file():
        raise SitusError("no such file", where=path, fix="check the path")
    if _reader(path) is None:
        fix = f"known endings: {', '.join(_READERS)}"
        raise SitusError("is not a known format of abstracts", where=path, fix=fix)
    return [path]


def _reader(path: Path) -> Callable[[Path], Iterator[Article | Withdrawal]] | None:
    name = path.name.lower()
    return next((reader for ending, reader in _READERS.items() if name.endswith(ending)), None)


def _add(database: sqlite3.Connection, file: Path) -> int:
    """Add a file's records; how many publications it holds, less those that it withdraws."""
    check_sum(file)
    reader = _reader(file)
    assert reader is not None
    articles = 0
    for entry in reader(file):
        if isinstance(entry, Withdrawal):
            # A retraction is for ever; what was only deleted may be added again.
            put = "INSERT OR REPLACE" if entry.reason == "retracted" else "INSERT OR IGNORE"
            database.execute(f"{put} INTO withdrawn VALUES (?, ?)", (entry.pmid, entry.reason))
            gone = database.execute("DELETE FROM article WHERE pmid = ?", (entry.pmid,))
            articles -= max(0, gone.rowcount)
            continue
        articles += 1
        database.execute(
            "DELETE FROM withdrawn WHERE pmid = ? AND reason = 'deleted'", (entry.pmid,)
        )
        database.execute(_PUT, _row(entry))
    return articles


def _row(article: Article) -> tuple[object, ...]:
    return (
        article.pmid,
        article.title,
        msgspec.json.encode(article.sections),
        article.journal,
        article.year,
        article.concern,
        article.version,
    )


def _leave_out_withdrawn(database: sqlite3.Connection) -> int:
    """Leave out what was withdrawn after it was read; how many that were."""
    late = database.execute("DELETE FROM article WHERE pmid IN (SELECT pmid FROM withdrawn)")
    return max(late.rowcount, 0)


def _counts(database: sqlite3.Connection, files: int, read: int) -> LibraryCounts:
    """What is in the library; `read` counts the records that were not withdrawn later."""
    articles, concern = database.execute("SELECT count(*), total(concern) FROM article").fetchone()
    empty = database.execute("SELECT count(*) FROM article WHERE sections = ?", (b"[]",)).fetchone()
    withdrawn = dict(database.execute("SELECT reason, count(*) FROM withdrawn GROUP BY reason"))
    return LibraryCounts(
        files=files,
        articles=articles,
        without_abstract=empty[0],
        concern=int(concern),
        replaced=max(0, read - articles),
        withdrawn=withdrawn,
    )


def _words(row: tuple[int, str, bytes]) -> tuple[int, str, str]:
    pmid, title, sections = row
    return pmid, title, " ".join(part["text"] for part in msgspec.json.decode(sections))
