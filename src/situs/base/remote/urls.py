"""Addresses of data elsewhere, and the path of this machine at which each is found once it is here.

The path tells the address: `s3://bucket/scans/a.nii.gz` lies at
`CACHE/situs-remote/s3/bucket/scans/a.nii.gz`. So a path can be handed to any worker, which fetches
the file itself when it opens it.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from situs.base.cache import cache_folder
from situs.errors import SitusError

__all__ = [
    "FOLDER",
    "OUT_FOLDER",
    "in_urls",
    "is_url",
    "local_path",
    "located",
    "root_of",
    "url_of",
]

FOLDER = "situs-remote"
"""Of the cache: copies of what lies elsewhere."""
OUT_FOLDER = "situs-remote-out"
"""Of the cache: what is being written, until it is published."""

_SCHEMES = ("s3", "gs", "az", "abfs", "hf", "https", "http")
_ANY = "|".join(_SCHEMES)
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_INSIDE = re.compile(rf"(?P<root>.*[/\\]{FOLDER})[/\\](?P<scheme>{_ANY})[/\\](?P<rest>.+)")
_IN_TEXT = re.compile(rf"[^\s'\"(]*[/\\]{FOLDER}(?:-out)?[/\\](?P<scheme>{_ANY})[/\\]")


def is_url(text: str) -> bool:
    """Whether this is an address and not a path."""
    return _URL.match(text) is not None


def url_of(path: Path) -> str | None:
    """The address of what a path of the cache stands for; None for every other path."""
    text = str(path)
    inside = _INSIDE.fullmatch(text) if FOLDER in text else None
    if inside is None:
        return None
    return f"{inside['scheme']}://{inside['rest']}".replace("\\", "/")


def root_of(path: Path) -> Path:
    """The folder of the cache that a path belongs to;
    on another machine it may not be there yet."""
    inside = _INSIDE.fullmatch(str(path))
    assert inside is not None
    return Path(inside["root"])


def in_urls(text: str) -> str:
    """Text for people, with addresses in place of paths of the cache."""
    if FOLDER not in text:
        return text
    return _IN_TEXT.sub(lambda inside: f"{inside['scheme']}://", text)


def located(text: str) -> Path:
    """A path or address as files store them, as a path; nothing is looked up."""
    return local_path(text, FOLDER) if is_url(text) else Path(text)


def local_path(url: str, folder: str) -> Path:
    """Where an address is found on this machine; `file://` addresses are paths already."""
    scheme, _, address = url.partition("://")
    scheme = scheme.lower()
    if scheme == "file":
        return Path(unquote(urlsplit(url).path))
    if scheme not in _SCHEMES:
        known = ", ".join(f"{name}://" for name in (*_SCHEMES, "file"))
        raise SitusError(f"{scheme}:// is not known", where=url, fix=f"available: {known}")
    if "@" in address.partition("/")[0]:
        fix = "set credentials in the environment instead"
        raise SitusError("contains a user name or password", where=f"{scheme}://…", fix=fix)
    if "?" in address or "#" in address:
        fix = "give the plain address; credentials come from the environment"
        raise SitusError(
            "contains a query string, which may be a signature", where=f"{scheme}://…", fix=fix
        )
    parts = address.rstrip("/").split("/")
    if not all(is_plain_part(part) for part in parts):
        raise SitusError("is not a plain address", where=url, fix="write it without // and ..")
    return cache_folder() / folder / scheme / Path(*parts)


def is_plain_part(part: str) -> bool:
    """Whether a part of an address can be the name of a file:
    names come from strangers and lead nowhere else."""
    return part not in ("", ".", "..") and "\\" not in part and "\0" not in part
