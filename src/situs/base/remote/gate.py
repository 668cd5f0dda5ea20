"""What readers call before they open a file:
nothing for paths of this machine, and then nothing is loaded either."""

from __future__ import annotations

import stat
from pathlib import Path

from situs.base.remote.urls import is_url, url_of

__all__ = ["STAND_IN", "arrive", "is_stand_in", "local_input", "named_file", "present"]

STAND_IN = 0o200
"""Mode of a file of the cache whose content is still elsewhere: its owner may not read it."""


def present(path: Path) -> None:
    """Make sure that the content of a file is here; paths outside the cache are left alone."""
    if url_of(path) is not None:
        from situs.base.remote.fetch import fetch

        fetch(path)


def arrive(path: Path) -> None:
    """Make sure that the name of a file or folder is here,
    with stand-ins for content that is not."""
    if url_of(path) is not None and not path.exists():
        from situs.base.remote.fetch import place_from

        place_from(path)


def is_stand_in(path: Path) -> bool:
    """Whether the content of a file is still elsewhere."""
    if url_of(path) is None:
        return False
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    return stat.S_ISREG(mode) and stat.S_IMODE(mode) == STAND_IN


def local_input(url: str) -> Path:
    """The path of what lies at an address: names come now, content when it is opened."""
    from situs.base.remote.inputs import mirrored

    return mirrored(url)


def named_file(text: str) -> Path:
    """The path of a file that may be named by its address, where a shipped name could stand as
    well."""
    return local_input(text) if is_url(text) else Path(text)
