"""Blind rows stand beside the runs that could look, on their items, and not a second time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from situs.report.tables.leaderboard import _same_items


def run_of(kind: str, items: str) -> Any:
    return SimpleNamespace(kind=kind, columns=SimpleNamespace(judged_ids=list(items)))


@pytest.mark.parametrize(
    ("runs", "items_with_blind_rows"),
    [
        ([("model", "ab"), ("baseline", "abc")], ["ab"]),
        ([("model", "ab"), ("model", "abc"), ("baseline", "abc")], ["ab", "abc"]),
        ([("model", "ab"), ("text", "a"), ("reader", "b")], ["ab", "a", "b"]),
        # Where nothing could look, a baseline has blind rows beside it like any other run.
        ([("baseline", "ab"), ("baseline", "abc")], ["ab", "abc"]),
    ],
)
def test_a_baseline_run_brings_no_second_set(
    runs: list[tuple[str, str]], items_with_blind_rows: list[str]
) -> None:
    groups = _same_items([run_of(*run) for run in runs])
    assert ["".join(group[0].columns.judged_ids) for group in groups] == items_with_blind_rows
