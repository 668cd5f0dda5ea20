"""What can go wrong, said in one line: what, where, and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from enum import StrEnum

import msgspec

from situs.base.text import printable

__all__ = ["Problem", "Severity", "SitusError", "did_you_mean"]


class SitusError(Exception):
    """A user's mistake or unusable input.

    The command line prints it as one line and exits with 2.
    """

    def __init__(self, problem: str, *, where: object = None, fix: str = "") -> None:
        self.problem = problem
        self.where = None if where is None else str(where)
        self.fix = fix
        super().__init__(self.one_line())

    def one_line(self) -> str:
        """`where: problem; fix`, with every control
        character and line break made visible as a space."""
        text = self.problem if self.where is None else f"{self.where}: {self.problem}"
        if self.fix:
            text = f"{text}; {self.fix}"
        return " ".join(printable(text).split())


class Severity(StrEnum):
    """How bad a problem is. `check` fails on errors only."""

    ERROR = "error"
    WARNING = "warning"


class Problem(msgspec.Struct, frozen=True):
    """One finding of a check or a build: how bad, what kind, where, what, and the remedy."""

    severity: Severity
    code: str
    where: str
    problem: str
    fix: str


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A remedy for an unknown name: the nearest known names, else all of them if they are few."""
    names = sorted(known)
    near = difflib.get_close_matches(word, names, n=3, cutoff=0.6)
    if near:
        return f"did you mean {' or '.join(near)}?"
    first_names = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return f"available: {first_names}"
