"""Problems of training data: each kind is counted, a few of each are shown."""

from __future__ import annotations

from collections import Counter

import msgspec

from situs.errors import Problem, Severity

__all__ = ["Checked", "Problems"]

_SHOWN = 20
"""Of each kind."""


class Checked(msgspec.Struct, frozen=True):
    """What a check found."""

    examples: int
    problems: tuple[Problem, ...]
    """At most twenty of each code."""
    errors: int
    by_code: dict[str, int]
    proved: tuple[str, ...]
    """What was proved of every example that was looked at."""
    not_proved: dict[str, str]
    """What could not be looked at → why."""
    longest: int = 0
    """Tokens of the longest example, counted by the model's processor; 0 without a model."""


class Problems:
    """Gathers problems."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []
        self.counts: Counter[str] = Counter()
        self.errors = 0

    def add(
        self,
        code: str,
        where: str,
        problem: str,
        fix: str = "build the data again",
        *,
        severity: Severity = Severity.ERROR,
    ) -> None:
        """Count a problem."""
        self.counts[code] += 1
        self.errors += severity is Severity.ERROR
        if self.counts[code] <= _SHOWN:
            self._problems.append(Problem(severity, code, where, problem, fix))

    def shown(self) -> tuple[Problem, ...]:
        """The problems that are shown."""
        return tuple(self._problems)
