"""Files that lie elsewhere, fetched when they are opened.

Until then a file of the cache is a stand-in: it has the name, the size and the time of the original
and no content, and its owner may not read it. Copies take no more room than the user allows: the
longest unused become stand-ins again.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from situs.base.locks import try_lock
from situs.base.remote.gate import STAND_IN, arrive, is_stand_in
from situs.base.remote.index import Index, cache_limit
from situs.base.remote.store import NOTHING_THERE, Entry, entry_of, everything_below, patiently
from situs.base.remote.urls import is_plain_part, root_of, url_of
from situs.errors import SitusError

__all__ = ["fetch", "index_of", "make_private", "place", "place_all", "place_from"]

_PIECE = 16 << 20
"""Bytes asked for at once; what came stays when the connection breaks."""
_COPY = 0o600


def fetch(path: Path, *, is_table: bool = False) -> None:
    """Make sure that the content of a file of the cache is here;
    what is not there is left to whoever opens it."""
    try:
        arrive(path)
    except SitusError as error:
        if error.problem != NOTHING_THERE:
            raise
        return
    if path.is_dir():
        return
    if is_stand_in(path):
        _copy(path, is_table)
    else:
        index_of(root_of(path)).touch(path)


def place_from(path: Path) -> None:
    """Put stand-ins for the file or folder that a path stands for."""
    url = url_of(path)
    assert url is not None
    entry = entry_of(url)
    if entry is None:
        place_all(path, everything_below(url))
    else:
        place(path, entry)


def place(path: Path, entry: Entry) -> None:
    """Put a stand-in, unless a copy of the same version is here."""
    with suppress(FileNotFoundError):
        status = path.stat()
        if (status.st_size, status.st_mtime_ns) == (entry.size or 0, entry.stamp):
            return
    make_private(root_of(path))
    _put_stand_in(path, entry.size or 0, entry.stamp)


def place_all(folder: Path, entries: Iterable[tuple[str, Entry]]) -> set[Path]:
    """Put stand-ins for the files of a folder.

    Names that cannot be files of this machine are passed over.
    """
    placed = set()
    for name, entry in entries:
        parts = PurePosixPath(name).parts
        if name.endswith("/") or not all(map(is_plain_part, name.split("/"))):
            continue
        path = folder.joinpath(*parts)
        with suppress(FileExistsError, NotADirectoryError, IsADirectoryError):
            place(path, entry)
            placed.add(path)
    return placed


def _put_stand_in(path: Path, size: int, stamp: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    scratch = _scratch(path)
    try:
        with os.fdopen(
            os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, STAND_IN), "wb"
        ) as it:
            it.truncate(size)  # a hole: it takes no room
        os.utime(scratch, ns=(stamp, stamp))
        scratch.replace(path)
    except OSError:
        scratch.unlink(missing_ok=True)
        raise


def make_private(root: Path) -> None:
    """Make the folder of copies, which nobody else may read."""
    try:
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        fix = "set SITUS_CACHE to a folder that you can write to, the same on every node"
        raise SitusError(f"cannot be made ({error.strerror})", where=root, fix=fix) from error


@lru_cache(maxsize=4)
def index_of(root: Path) -> Index:
    """The list of copies of a cache."""
    return Index(root)


def _copy(path: Path, is_table: bool) -> None:
    url = url_of(path)
    assert url is not None
    status = path.stat()
    size, stamp = status.st_size, status.st_mtime_ns
    _make_room(root_of(path), size)
    part = path.with_name(f".{path.name}.{stamp:x}.part")
    try:
        with part.open("ab") as stream:
            part.chmod(_COPY)
            try:
                try_lock(stream.fileno())
            except BlockingIOError:  # another process fetches it: each its own
                part = _scratch(path)
            _download(url, part, size)
        if part.stat().st_size != size and size:
            part.unlink()
            fix = "wait until the upload is complete, then run the same command again"
            raise SitusError("changed while it was being read", where=url, fix=fix)
        os.utime(part, ns=(stamp, stamp))
        part.replace(path)
    except OSError as error:
        reason = "the disk is full" if error.errno == errno.ENOSPC else error.strerror
        fix = "free some space, or set SITUS_REMOTE_CACHE_GB or SITUS_CACHE"
        raise SitusError(f"cannot be copied here ({reason})", where=url, fix=fix) from error
    index_of(root_of(path)).add(path, path.stat().st_size, is_table=is_table)


def _download(url: str, part: Path, size: int) -> None:
    """Append what is missing; a part that was begun before is continued."""
    with part.open("ab") as stream:
        part.chmod(_COPY)
        if url.startswith("http"):
            _download_page(url, part, stream, size)
            return
        while (start := stream.seek(0, os.SEEK_END)) < size:
            end = min(start + _PIECE, size)
            stream.write(patiently(url, "cat_file", url, start=start, end=end))


def _download_page(url: str, part: Path, stream: BinaryIO, size: int) -> None:
    """From a web server, which may not give parts: then all of it, from the beginning."""
    entry = entry_of(url)
    while entry is not None and entry.ranges and (start := stream.seek(0, os.SEEK_END)) < size:
        end = min(start + _PIECE, size)
        piece = patiently(url, "cat_file", url, start=start, end=end)
        if len(piece) != end - start:
            break
        stream.write(piece)
    stream.flush()
    if part.stat().st_size != size or not size:
        patiently(url, "get_file", url, str(part))


def _make_room(root: Path, more: int) -> None:
    index = index_of(root)
    leaving = index.to_remove(more, cache_limit())
    for path in leaving:
        with suppress(OSError):
            status = path.stat()
            if not is_stand_in(path):
                _put_stand_in(path, status.st_size, status.st_mtime_ns)
    if leaving:
        index.drop(leaving)


def _scratch(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
