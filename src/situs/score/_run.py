"""Scoring what a run left on disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from situs.bench import open_bench
from situs.errors import SitusError
from situs.run import open_run, read_journal, selected_items
from situs.score._scores import Scores, score_rows

__all__ = ["score_run"]


def score_run(bench: Path, answers: Path, *, metrics: Sequence[str] | None = None, seed: int = 0) -> Scores:
    """Score a run folder, or a file of answers by another tool, against a bench."""
    if answers.is_dir():
        if not (answers / "run.json").is_file():
            raise SitusError("is not a run: run.json is missing", where=answers, fix="give the --out of situs run")
        info, opened = open_run(answers, bench)
        rows = read_journal(answers / "answers.jsonl")
        return score_rows(
            opened,
            lambda: selected_items(opened, info.split, info.limit),
            rows,
            gives=info.profile.gives,
            metrics=metrics,
            seed=seed,
        )
    opened = open_bench(bench)
    return score_rows(opened, opened.items, read_journal(answers), gives=None, metrics=metrics, seed=seed)
