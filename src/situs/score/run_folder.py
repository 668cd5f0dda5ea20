"""Scoring what a run left on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import msgspec

from situs.bench import Bench, open_bench
from situs.errors import SitusError
from situs.items import Item
from situs.profiles import Profile
from situs.run import NATIVE, AnswerRow, RunInfo, items_of, open_run, read_hidden, read_journal
from situs.score.free_text import Verdicts, open_scores, with_open
from situs.score.headline import HEADLINE
from situs.score.published.sgmri_tables import SgmriRates, sgmri_bertscores, sgmri_tables
from situs.score.read import known_language
from situs.score.table import NotComputed, Scores, score_rows

__all__ = ["open_answers", "score_run"]


Answers = tuple[Bench, Callable[[], Iterable[Item]], dict[str, AnswerRow], RunInfo | None]


def open_answers(bench: Path, answers: Path) -> Answers:
    """A bench, the items that were asked, the answers, and the run they are of, if they are of one."""
    if not answers.is_dir():
        opened = open_bench(bench)
        return opened, opened.items, read_journal(answers), None
    if not (answers / "run.json").is_file():
        raise SitusError(
            "is not a run: run.json is missing", where=answers, fix="give the --out of situs run"
        )
    info, opened = open_run(answers, bench)
    items = partial(items_of, opened, info)
    return opened, items, read_journal(answers / "answers.jsonl"), info


def score_run(
    bench: Path,
    answers: Path,
    *,
    profile: Profile | None = None,
    metrics: Sequence[str] | None = None,
    seed: int = 0,
    verdicts: Verdicts | None = None,
    rates: SgmriRates | None = None,
    reply_language: str | None = None,
    stratum: str = HEADLINE,
) -> Scores:
    """Score a run folder, or a file of answers by another tool, against a bench.

    `profile` says what another tool showed and how frames and boxes are spoken of; a run knows its own.
    `reply_language` is that of the replies, where it is not the profile's. `stratum` is what the headline is about.
    """
    given = verdicts or Verdicts()
    hidden: dict[str, tuple[str, ...]] = {}
    opened, items, rows, info = open_answers(bench, answers)
    if info is not None:
        profile = info.profile
        hidden = read_hidden(answers / "hidden.jsonl")
        given = msgspec.structs.replace(given, contestant=info.client)
    if reply_language is not None:
        profile = msgspec.structs.replace(
            profile or NATIVE, reply_language=known_language(reply_language)
        )
    texts = open_scores(opened, items(), rows, given, metrics=metrics, seed=seed)
    scores = score_rows(
        opened,
        items,
        rows,
        gives=None if profile is None else profile.gives,
        profile=profile,
        hidden=hidden,
        metrics=metrics,
        seed=seed,
        judged=texts.outcomes if texts is not None else {},
        stratum=stratum,
    )
    if given.protocol == "sgmri-vqa":
        lacking, bertscores = scores.not_computed, None
        try:
            bertscores = sgmri_bertscores(items(), rows)
        except SitusError as error:
            lacking = [
                *lacking,
                NotComputed("bertscore", f"{error.problem}; AR goes without it", error.fix),
            ]
        tables = sgmri_tables(opened, items, rows, profile, rates, bertscores)
        scores = msgspec.structs.replace(scores, sgmri=tables, not_computed=lacking)
    return scores if texts is None else with_open(scores, texts)
