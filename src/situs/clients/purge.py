"""What the caches hold, and removing it."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

import msgspec

from situs.base.cache import cache_folder
from situs.base.remote import is_stand_in
from situs.clients.response_cache import CACHE_FILE
from situs.profiles import SliceStore

__all__ = ["CachePart", "cache_parts", "purge_caches"]

_SLICES = "slices"
_REMOTE = "situs-remote"
"""Copies of what lies elsewhere. What waits to be published is work, and stays."""


class CachePart(msgspec.Struct, frozen=True):
    """One cache."""

    name: str
    files: int
    bytes: int


def cache_parts() -> list[CachePart]:
    """Every cache with its size."""
    folder = cache_folder(create=False)
    files_of = {
        "responses": _responses(folder),
        _SLICES: _files(folder / _SLICES),
        "remote": [path for path in _files(folder / _REMOTE) if not is_stand_in(path)],
    }
    return [CachePart(name, len(paths), sum(map(_size, paths))) for name, paths in files_of.items()]


def purge_caches() -> list[CachePart]:
    """Remove all that Situs cached, and nothing else that lies there; what is left."""
    folder = cache_folder(create=False)
    for path in _responses(folder):
        with suppress(OSError):
            path.unlink()
    if (folder / _SLICES).is_dir():
        SliceStore(folder / _SLICES).purge()
    shutil.rmtree(folder / _REMOTE, ignore_errors=True)
    for empty in (folder / _SLICES, folder):
        with suppress(OSError):
            empty.rmdir()
    return cache_parts()


def _responses(folder: Path) -> list[Path]:
    return [path for path in folder.glob(f"{CACHE_FILE}*") if path.is_file()]


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def _size(path: Path) -> int:
    with suppress(OSError):
        return path.stat().st_size
    return 0
