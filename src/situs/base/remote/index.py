"""Which copies are in the cache, how large they are and when each was used last:
what goes when room is needed."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from situs.errors import SitusError

__all__ = ["Index", "cache_limit"]

_VARIABLE = "SITUS_REMOTE_CACHE_GB"
_DEFAULT_GB = 20.0
_AT_WORK_SECONDS = 10.0
"""A copy that was opened so recently is not removed: its reader may not be done."""
_TABLES_SECONDS = 86_400.0
"""The same of tables of benches and runs, which a command reads again and again."""


def cache_limit() -> int:
    """Bytes that copies may take."""
    text = os.environ.get(_VARIABLE, "")
    try:
        limit = float(text or _DEFAULT_GB)
    except ValueError:
        limit = 0.0
    if not 0 < limit < float("inf"):
        raise SitusError(f"{text!r} is not a size", where=_VARIABLE, fix="give gigabytes, e.g. 20")
    return int(limit * 1e9)


class Index:
    """A private SQLite file that several processes share."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._file = root / "index.sqlite"
        self._touched: dict[str, float] = {}

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            if not self._file.exists():
                os.close(os.open(self._file, os.O_CREAT | os.O_RDWR, 0o600))
            with closing(sqlite3.connect(self._file, timeout=60.0)) as base, base:
                # A list that a power cut tears is made anew by `situs purge`; waiting for the disk
                # costs more.
                base.execute("PRAGMA synchronous=OFF")
                base.execute(
                    "CREATE TABLE IF NOT EXISTS copies "
                    "(path TEXT PRIMARY KEY, bytes INTEGER, used REAL, table_ INTEGER)"
                )
                yield base
        except (OSError, sqlite3.Error) as error:
            fix = "check the folder and free space, or set SITUS_CACHE to another"
            problem = f"the cache cannot be used ({error})"
            raise SitusError(problem, where=self._file, fix=fix) from error

    def add(self, path: Path, size: int, *, is_table: bool) -> None:
        """A file was copied here."""
        with self._open() as base:
            row = (self._name(path), size, time.time(), int(is_table))
            base.execute("INSERT OR REPLACE INTO copies VALUES (?, ?, ?, ?)", row)

    def touch(self, path: Path) -> None:
        """A copy is used; written down now and then only."""
        name, now = self._name(path), time.time()
        if now - self._touched.get(name, 0.0) < _AT_WORK_SECONDS / 3:
            return
        self._touched[name] = now
        with self._open() as base:
            base.execute("UPDATE copies SET used = ? WHERE path = ?", (now, name))

    def drop(self, paths: list[Path]) -> None:
        """These are no copies any more."""
        with self._open() as base:
            base.executemany("DELETE FROM copies WHERE path = ?", [(self._name(p),) for p in paths])

    def names(self) -> set[Path]:
        """All copies."""
        with self._open() as base:
            return {self._root / name for (name,) in base.execute("SELECT path FROM copies")}

    def to_remove(self, more: int, limit: int) -> list[Path]:
        """The copies that go so that `more` bytes fit, the longest unused first."""
        now = time.time()
        with self._open() as base:
            (total,) = base.execute("SELECT coalesce(sum(bytes), 0) FROM copies").fetchone()
            excess = total + more - limit
            if excess <= 0:
                return []
            rows = base.execute(
                "SELECT path, bytes FROM copies WHERE used < ? AND (table_ = 0 OR used < ?) "
                "ORDER BY used",
                (now - _AT_WORK_SECONDS, now - _TABLES_SECONDS),
            ).fetchall()
        leaving = []
        for name, size in rows:
            if excess <= 0:
                break
            leaving.append(self._root / name)
            excess -= size
        return leaving

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self._root))
