"""Versions, memory and space."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from situs import __version__
from situs.base.cache import cache_folder
from situs.doctor.record import Check

__all__ = ["machine_checks"]

_NEEDED_GIB = 4
_OLDEST = (3, 11)


def machine_checks() -> Iterator[Check]:
    """What can be told without a trial."""
    yield Check("situs", True, __version__)
    ok = sys.version_info >= _OLDEST
    yield Check(
        "python", ok, platform.python_version(), "" if ok else "install Python 3.11 or later"
    )
    yield from (_package(name) for name in _required())
    yield _memory()
    yield _space("free space for temporary files", Path(tempfile.gettempdir()), "set TMPDIR")
    yield _space("free space for the cache", cache_folder(), "set SITUS_CACHE")


def _required() -> list[str]:
    """What the core needs, as the installed package says."""
    entries = importlib.metadata.requires("situs") or []
    names = (re.match(r"[\w.-]+", entry) for entry in entries if "extra ==" not in entry)
    return [match[0] for match in names if match]


def _package(name: str) -> Check:
    try:
        return Check(name, True, importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        return Check(name, False, "not installed", f"pip install {name}")


def _memory() -> Check:
    try:
        gib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    except (AttributeError, OSError, ValueError):
        return Check("memory", True, "unknown")
    ok = gib >= _NEEDED_GIB
    fix = "" if ok else f"{_NEEDED_GIB} GiB or more for whole-body scans"
    return Check("memory", ok, f"{gib:.0f} GiB", fix)


def _space(what: str, folder: Path, cure: str) -> Check:
    free = shutil.disk_usage(folder).free / 2**30
    ok = free >= 1
    return Check(what, ok, f"{free:.0f} GiB", "" if ok else f"free some space, or {cure}")
