"""Numbers on the command line, and how scores read in a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from situs.score import Entry, Headline

__all__ = ["STRATUM_HELP", "FiniteRange", "entry_of", "interval_text", "value_text"]

STRATUM_HELP = (
    "What the headline is about: headline (questions that need sight), textbook, untwinned or all."
)
"""Of `--stratum`, wherever a headline is shown."""


class FiniteRange(click.FloatRange):
    """A number between two limits, and a number: `nan` is below no limit and above none."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number, or click's refusal."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number


def entry_of(entries: Sequence[Entry] | None, metric: str) -> Entry | None:
    """The entry of a metric, if it was computed."""
    return next((entry for entry in entries or () if entry.metric == metric), None)


def value_text(entry: Entry | Headline | None) -> str:
    """Three decimals, or a dash."""
    return "–" if entry is None or entry.value is None else f"{entry.value:.3f}"


def interval_text(entry: Entry | Headline | None) -> str:
    """Low – high, or a dash."""
    return (
        "–" if entry is None or entry.ci95 is None else f"{entry.ci95[0]:.3f} – {entry.ci95[1]:.3f}"
    )
