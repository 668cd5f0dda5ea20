"""How scores read in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from situs.score import Entry, Headline

__all__ = ["STRATUM_HELP", "entry_of", "interval_text", "value_text"]

STRATUM_HELP = "What the headline is about: headline (questions that need sight), textbook, untwinned or all."
"""Of `--stratum`, wherever a headline is shown."""


def entry_of(entries: Sequence[Entry] | None, metric: str) -> Entry | None:
    """The entry of a metric, if it was computed."""
    return next((entry for entry in entries or () if entry.metric == metric), None)


def value_text(entry: Entry | Headline | None) -> str:
    """Three decimals, or a dash."""
    return "–" if entry is None or entry.value is None else f"{entry.value:.3f}"


def interval_text(entry: Entry | Headline | None) -> str:
    """Low – high, or a dash."""
    return "–" if entry is None or entry.ci95 is None else f"{entry.ci95[0]:.3f} – {entry.ci95[1]:.3f}"
