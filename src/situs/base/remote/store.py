"""The one place that talks to file systems elsewhere:
through fsspec, patiently, with errors of one line."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec

from situs.errors import SitusError

__all__ = [
    "NOTHING_THERE",
    "Entry",
    "children",
    "entry_of",
    "everything_below",
    "is_file_name",
    "patiently",
]

NOTHING_THERE = "no such file or folder"
_TRIES = 5
_FIRST_PAUSE = 0.4
_EXTRAS = {"s3": "s3fs", "gs": "gcsfs", "az": "adlfs", "abfs": "adlfs", "hf": "huggingface_hub"}
_NOT_ALLOWED = ("NoCredentialsError", "PartialCredentialsError", "DefaultCredentialsError")
"""Names of the errors by which the libraries say that there are no credentials."""


class Entry(msgspec.Struct, frozen=True):
    """A file elsewhere."""

    size: int | None
    stamp: int
    """When it was changed, in ns;
    where that is not told, a number that changes with its content."""
    ranges: bool = True
    """Whether a part of it can be asked for."""


@lru_cache(maxsize=8)
def store_of(scheme: str) -> Any:
    """The file system of a scheme. Credentials and endpoints come from the environment alone."""
    try:
        import fsspec
    except ImportError as error:
        raise _missing("fsspec", scheme) from error
    try:
        return fsspec.filesystem(scheme, use_listings_cache=False, skip_instance_cache=True)
    except ImportError as error:
        raise _missing(_EXTRAS.get(scheme, "fsspec"), scheme) from error


def _missing(package: str, scheme: str) -> SitusError:
    fix = (
        "pip install 'situs[remote]'" if package in ("fsspec", "s3fs") else f"pip install {package}"
    )
    return SitusError(f"{scheme}:// needs {package}, which is not installed", fix=fix)


def patiently(url: str, method: str, *args: object, **options: object) -> Any:
    """Call a method of the store of an address;
    a broken connection is tried again, with longer pauses."""
    store = store_of(url.partition("://")[0])
    for attempt in range(_TRIES):
        try:
            return getattr(store, method)(*args, **options)
        except SitusError:
            raise
        except Exception as error:
            refusal = _refusal(url, error)
            if refusal is not None or attempt == _TRIES - 1:
                raise (refusal or _unreachable(url, error)) from error
        time.sleep(_FIRST_PAUSE * 2**attempt)
    raise AssertionError("unreachable")


def _refusal(url: str, error: Exception) -> SitusError | None:
    """What trying again does not mend."""
    if isinstance(error, FileNotFoundError):
        return SitusError(NOTHING_THERE, where=url, fix="check the address")
    if isinstance(error, PermissionError) or type(error).__name__ in _NOT_ALLOWED:
        fix = "set credentials in the environment, see docs/remote.md"
        return SitusError("access is refused", where=url, fix=fix)
    if isinstance(error, NotImplementedError):
        return SitusError("cannot be written to", where=url, fix="choose another --out")
    return None


def _unreachable(url: str, error: Exception) -> SitusError:
    words = (str(error).splitlines() or [""])[0][:160]
    reason = f"cannot be reached ({type(error).__name__}{': ' if words else ''}{words})"
    return SitusError(reason, where=url, fix="check the network; the same command resumes")


def entry_of(url: str) -> Entry | None:
    """The file at an address; None if it is a folder."""
    if url.startswith("http") and not is_file_name(url):
        return None  # a web server does not tell pages from folders; a file has a suffix
    info = patiently(url, "info", url)
    return None if info["type"] == "directory" else _entry(info)


def is_file_name(url: str) -> bool:
    """Whether the last part of an address looks like a file's name."""
    return "." in url.rstrip("/").rpartition("/")[2]


def everything_below(url: str) -> Iterator[tuple[str, Entry]]:
    """Every file below a folder: its address relative to the folder, and what is known of it."""
    folder = f"{url.rstrip('/')}/"
    infos = patiently(url, "find", folder, detail=True)
    if not infos:
        raise SitusError(NOTHING_THERE, where=url, fix="check the address")
    yield from _relative(folder, infos.values())


def children(url: str) -> Iterator[tuple[str, Entry]]:
    """The files right in a folder."""
    folder = f"{url.rstrip('/')}/"
    infos = patiently(url, "ls", folder, detail=True)
    yield from _relative(folder, infos)


def _relative(folder: str, infos: Any) -> Iterator[tuple[str, Entry]]:
    for info in infos:
        name = str(info["name"])
        # Object stores name files without the scheme, web servers with it.
        known = name if "://" in name else f"{folder.partition('://')[0]}://{name}"
        if info["type"] == "directory" or not known.startswith(folder) or known == folder:
            continue
        if folder.startswith("http"):
            info = patiently(known, "info", known)
        yield known.removeprefix(folder), _entry(info)


def _entry(info: dict[str, Any]) -> Entry:
    changed = next(
        (
            info[key]
            for key in ("LastModified", "mtime", "last_modified", "updated")
            if info.get(key)
        ),
        None,
    )
    ranges = bool(info.get("partial", "http" not in str(info["name"])[:4]))
    return Entry(info.get("size"), _stamp(changed, info), ranges)


def _stamp(changed: Any, info: dict[str, Any]) -> int:
    if isinstance(changed, str):
        try:
            changed = datetime.fromisoformat(changed)
        except ValueError:
            changed = None
    if isinstance(changed, datetime):
        return int(changed.timestamp() * 1e6) * 1000
    if isinstance(changed, int | float):
        return int(changed) * 1_000_000_000
    tag = str(info.get("ETag") or info.get("etag") or info.get("blob_id") or info.get("size"))
    return zlib.crc32(tag.encode()) * 1_000_000_000
