"""Rendered slices on disk: made once, shared by all runs of a user, bounded in size.

An entry is named by what it was made from and carries a checksum, so a torn or damaged one is found
and made again. Entries appear by rename and nothing is locked: two processes that miss the same
entry both make it, with the same bytes. The folder is the user's alone. What cannot be written (a
full disk) is only not remembered.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from situs.base.cache import cache_folder
from situs.errors import SitusError

__all__ = ["Freed", "SliceStore"]

_MAGIC = b"situs-slice-1\n"
_CHECK_SHARE = 32
"""The size is counted each time a process has written this part of the limit."""
_KEEP = 0.85
"""Where the store exceeds its limit less one such part,
the longest unused entries go until this much is left."""


class Freed(msgspec.Struct, frozen=True):
    """What was removed."""

    entries: int
    bytes: int


class SliceStore:
    """Bytes by the digest of what they were made from, the longest unused removed first."""

    def __init__(self, folder: Path | None = None, max_bytes: int = 4 << 30) -> None:
        if max_bytes < 1:
            raise SitusError("a slice store needs room", fix="give it at least some MB")
        self.folder = folder if folder is not None else cache_folder() / "slices"
        self.max_bytes = max_bytes
        self._written = 0
        self._make_private()

    def _make_private(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            status = self.folder.stat()
            if hasattr(os, "getuid") and status.st_uid != os.getuid():
                raise SitusError(
                    "belongs to another user",
                    where=self.folder,
                    fix="set SITUS_CACHE to your own folder",
                )
            if stat.S_IMODE(status.st_mode) & 0o077:
                self.folder.chmod(0o700)
        except OSError as error:
            problem = f"the slice store cannot be made ({error.strerror})"
            raise SitusError(
                problem, where=self.folder, fix="set SITUS_CACHE to a folder you can write to"
            ) from error

    def get(self, key: str) -> bytes | None:
        """What was stored under a key, whole;
        None if nothing is, or it was damaged (and is now removed)."""
        path = self._path(key)
        try:
            raw = path.read_bytes()
        except OSError:
            return None
        start = len(_MAGIC) + 16
        if not raw.startswith(_MAGIC) or _checksum(key, raw[start:]) != raw[len(_MAGIC) : start]:
            with suppress(OSError):
                path.unlink()
            return None
        with suppress(OSError):
            os.utime(path)
        return raw[start:]

    def put(self, key: str, content: bytes) -> None:
        """Keep content under a key."""
        raw = _MAGIC + _checksum(key, content) + content
        if len(raw) > self.max_bytes // _CHECK_SHARE:
            return
        path = self._path(key)
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
        try:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(raw)
            temporary.replace(path)
        except OSError:
            with suppress(OSError):
                temporary.unlink()
            return
        self._written += len(raw)
        if self._written >= self.max_bytes // _CHECK_SHARE:
            self._written = 0
            self.trim()

    def trim(self) -> Freed:
        """Remove the longest unused entries if the store is near its limit."""
        entries = sorted(self._entries())
        total = sum(size for _, size, _ in entries)
        if total <= self.max_bytes - self.max_bytes // _CHECK_SHARE:
            return Freed(0, 0)
        gone = freed = 0
        for _, size, path in entries:
            if total - freed <= _KEEP * self.max_bytes:
                break
            with suppress(OSError):
                path.unlink()
                gone, freed = gone + 1, freed + size
        return Freed(gone, freed)

    def purge(self) -> Freed:
        """Remove every entry; nothing else in the folder is touched."""
        gone = freed = 0
        for _, size, path in self._entries():
            with suppress(OSError):
                path.unlink()
                gone, freed = gone + 1, freed + size
        for shelf in self._shelves():
            with suppress(OSError):
                shelf.rmdir()
        return Freed(gone, freed)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / key[2:]

    def _shelves(self) -> Iterator[Path]:
        try:
            shelves = list(self.folder.iterdir())
        except OSError:
            return
        for shelf in shelves:
            if (
                len(shelf.name) == 2
                and _is_hex(shelf.name)
                and shelf.is_dir()
                and not shelf.is_symlink()
            ):
                yield shelf

    def _entries(self) -> Iterator[tuple[float, int, Path]]:
        """When each entry was last used, how large it is, and where;
        leavings of killed writers too."""
        for shelf in self._shelves():
            try:
                entries = list(os.scandir(shelf))
            except OSError:
                continue
            for entry in entries:
                if not (_is_hex(entry.name) or entry.name.endswith(".part")):
                    continue
                with suppress(OSError):
                    known = entry.stat(follow_symlinks=False)
                    yield known.st_mtime, known.st_size, Path(entry.path)


def _is_hex(name: str) -> bool:
    return bool(name) and all(c in "0123456789abcdef" for c in name)


def _checksum(key: str, content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16, key=key.encode()[:64]).digest()
