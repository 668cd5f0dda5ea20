"""Scoring what a run left on disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from situs.bench import open_bench
from situs.errors import SitusError
from situs.profiles import Profile
from situs.run import open_run, read_hidden, read_journal, selected_items
from situs.score._scores import Scores, score_rows

__all__ = ["score_run"]


def score_run(
    bench: Path,
    answers: Path,
    *,
    profile: Profile | None = None,
    metrics: Sequence[str] | None = None,
    seed: int = 0,
) -> Scores:
    """Score a run folder, or a file of answers by another tool, against a bench.

    `profile` says what another tool showed and how frames and boxes are spoken of; a run knows its own.
    """
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
            profile=info.profile,
            hidden=read_hidden(answers / "hidden.jsonl"),
            metrics=metrics,
            seed=seed,
        )
    opened = open_bench(bench)
    gives = None if profile is None else profile.gives
    rows = read_journal(answers)
    return score_rows(opened, opened.items, rows, gives=gives, profile=profile, metrics=metrics, seed=seed)
