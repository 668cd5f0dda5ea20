"""Scoring what a run left on disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from situs.errors import SitusError
from situs.profiles import Profile
from situs.score.free_text import Verdicts, open_scores, with_open
from situs.score.headline import HEADLINE
from situs.score.published.sgmri_tables import SgmriRates, sgmri_bertscores, sgmri_tables
from situs.score.scored_run import Replies, ScoredRun, keep_run, open_replies, read_run
from situs.score.table import NotComputed, Scores, score_table

__all__ = ["score_run", "tables_of_run"]


def score_run(
    bench: Path,
    answers: Path,
    *,
    profile: Profile | None = None,
    metrics: Sequence[str] | None = None,
    seed: int = 0,
    verdicts: Verdicts | None = None,
    reply_language: str | None = None,
    stratum: str = HEADLINE,
) -> Scores:
    """Score a run folder, or a file of answers by another tool, against a bench.

    `profile` says what another tool showed and how frames and boxes are spoken of; a run knows its
    own. `reply_language` is that of the replies, where it is not the profile's. `stratum` is what
    the headline is about.
    """
    replies = open_replies(answers, bench, profile=profile, reply_language=reply_language)
    return tables_of_run(replies, metrics=metrics, seed=seed, verdicts=verdicts, stratum=stratum)[1]


def tables_of_run(
    answers: Replies,
    *,
    metrics: Sequence[str] | None = None,
    seed: int = 0,
    verdicts: Verdicts | None = None,
    rates: SgmriRates | None = None,
    stratum: str = HEADLINE,
) -> tuple[ScoredRun, Scores]:
    """The scored answers, which are kept in the run, and all tables of them."""
    all_verdicts = verdicts or Verdicts()
    if answers.info is not None:
        all_verdicts = msgspec.structs.replace(all_verdicts, contestant=answers.info.client)
    free = answers.items() if answers.bench.may_ask_for("text") else ()
    texts = open_scores(answers.bench, free, answers.rows, all_verdicts, metrics=metrics, seed=seed)
    run = read_run(answers, beside_blind=True)
    judged = texts.outcomes if texts is not None else {}
    if judged != run.judged:
        run = ScoredRun(answers, run.columns, judged)
        keep_run(run)
    scores = score_table(run, metrics=metrics, seed=seed, stratum=stratum)
    if all_verdicts.protocol == "sgmri-vqa":
        scores = _with_sgmri(scores, answers, rates)
    return run, (scores if texts is None else with_open(scores, texts))


def _with_sgmri(scores: Scores, answers: Replies, rates: SgmriRates | None) -> Scores:
    """With the tables of SGMRI-VQA, as released."""
    lacking, bertscores = scores.not_computed, None
    try:
        bertscores = sgmri_bertscores(answers.items(), answers.rows)
    except SitusError as error:
        reason = f"{error.problem}; AR goes without it"
        lacking = [*lacking, NotComputed("bertscore", reason, error.fix)]
    tables = sgmri_tables(
        answers.bench, answers.items, answers.rows, answers.profile, rates, bertscores
    )
    return msgspec.structs.replace(scores, sgmri=tables, not_computed=lacking)
