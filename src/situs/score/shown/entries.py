"""Looking up what was computed."""

from __future__ import annotations

from collections.abc import Sequence

from situs.score.table_entries import Entry

__all__ = ["entry_of"]


def entry_of(entries: Sequence[Entry] | None, metric: str) -> Entry | None:
    """The entry of a metric, if it was computed."""
    return next((entry for entry in entries or () if entry.metric == metric), None)
