"""constraints.txt names everything that comes along: the same file makes the same environment."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from packaging.requirements import Requirement

_FILE = Path(__file__).parents[2] / "constraints.txt"


def plain(name: str) -> str:
    """A package's name as indexes spell it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(name: str, extras: frozenset[str], known: set[tuple[str, str]]) -> None:
    """Add to `known` all that this package brings along here, by name and extra."""
    try:
        wanted = [Requirement(line) for line in requires(name) or ()]
    except PackageNotFoundError:  # of an extra that this environment leaves out
        return
    for one in wanted:
        for extra in extras | {""}:
            if one.marker is None or one.marker.evaluate({"extra": extra}):
                brought = {(plain(one.name), e) for e in one.extras | {""}} - known
                known |= brought
                if brought:
                    needed(one.name, frozenset(one.extras), known)


def test_all_that_comes_along_has_one_version() -> None:
    pins = [line.partition("==") for line in _FILE.read_text("utf-8").split()]
    assert all(version for _, _, version in pins)
    names = [plain(name) for name, _, _ in pins]
    assert len(set(names)) == len(names)
    known: set[tuple[str, str]] = set()
    needed("situs", frozenset({"dev"}), known)
    assert {"numpy", "twine", "pytest"} <= {name for name, _ in known}
    missing = {name for name, _ in known} - {*names, "situs"}
    assert not missing, f"make constraints: {', '.join(sorted(missing))}"
