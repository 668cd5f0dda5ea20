"""What installed packages offer to Situs: entry points of `situs.tasks`, `situs.readers`, ….

A package declares them in its pyproject.toml:

    [project.entry-points."situs.tasks"]
    angle = "my_package.angle"
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from situs.errors import SitusError, did_you_mean

__all__ = ["load_offered", "offered", "offered_names"]


def offered(group: str) -> Mapping[str, EntryPoint]:
    """Name → entry point of one group.

    An error where two packages offer different things under one name.
    """
    return _offered(group, tuple(sys.path))


@lru_cache(maxsize=64)
def _offered(group: str, path: tuple[str, ...]) -> Mapping[str, EntryPoint]:
    # Looking through all installed packages takes milliseconds; the path is given so that a longer
    # one is looked at.
    result: dict[str, EntryPoint] = {}
    for entry in entry_points(group=group):
        known = result.setdefault(entry.name, entry)
        if known.value != entry.value:
            packages = _origins(known, entry)
            problem = f"two packages offer {entry.name!r} in the group {group} ({packages})"
            raise SitusError(problem, fix="uninstall one of them")
    return result


def offered_names(group: str) -> Iterator[str]:
    """The names that installed packages offer in a group; nothing is imported."""
    return iter(sorted(offered(group)))


def load_offered(group: str, name: str, *, where: str = "") -> Any:
    """Import what an installed package offers under a name. `where` says who asked for it."""
    known = offered(group)
    asked_by = where or f"{group} {name}"
    if name not in known:
        fix = did_you_mean(name, known) if known else "install the package that offers it"
        raise SitusError(f"no installed package offers {name!r}", where=asked_by, fix=fix)
    entry = known[name]
    try:
        return entry.load()
    except SitusError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        problem = f"{entry.value} of {_origin(entry)} cannot be imported ({reason})"
        raise SitusError(problem, where=asked_by, fix="reinstall or remove that package") from error


def _origins(*entries: EntryPoint) -> str:
    return " and ".join(_origin(entry) for entry in entries)


def _origin(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else "an unnamed package"
