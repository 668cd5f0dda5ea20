"""What is authored and how it went: options, the result, and its file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from situs.base.files import canonical_json
from situs.build.authoring.roles import Purse, RoleState
from situs.build.authoring.trivial import PanelReport
from situs.build.frame import Progress
from situs.errors import Problem
from situs.judges import AskedByID

__all__ = ["AuthorOptions", "Authored", "authored_file"]


class AuthorOptions(msgspec.Struct, frozen=True):
    """What is authored, beside who does it."""

    seed: int = 0
    jobs: int = 1
    per_study: int | None = None
    """Questions of a study at most."""
    overwrite: bool = False
    data: Path | None = None
    library: Path | None = None
    wordings: Path | None = None
    """A bank of wordings to begin with."""
    protocol: str = ""
    """`spatialmed`: the published trivial filter, for comparison."""
    withdrawn: dict[str, str] = {}
    """Item → why it is left out: what readers of an earlier bench dropped, or asked to be fixed."""
    purse: Purse | None = None
    """What all roles together may use; None: as much as it takes."""
    quotes: bool = False
    """Keep the cited words in the bench, and not only where they stand."""
    ended: Callable[[AskedByID], None] = lambda asked: None
    progress: Progress = lambda done, total: None
    tell: Callable[[str], None] = lambda text: None
    """Gets the funnel as it fills."""


class Authored(msgspec.Struct, frozen=True):
    """What was authored: the contract of `situs author --json`, and more."""

    proposed: int
    proved: int
    kept: int
    items: int
    funnel: dict[str, int]
    roles: dict[str, RoleState]
    cost: float | None
    by_stratum: dict[str, int]
    wordings: int
    critics: list[Any] = []
    panel: PanelReport | None = None
    protocol: dict[str, float] = {}
    citations: dict[str, Any] = {}
    problems: list[Problem] = []


def authored_file(authored: Authored) -> bytes:
    """`authoring.json`: no seconds and no number of asks,
    so that a resumed call writes the same bytes."""
    plain = msgspec.to_builtins(authored)
    plain.pop("problems")
    plain.pop("cost")
    plain["roles"] = {
        name: {key: state[key] for key in ("state", "why", "model", "invalid", "cut", "failed")}
        for name, state in plain["roles"].items()
    }
    return msgspec.json.format(canonical_json(plain), indent=2) + b"\n"
