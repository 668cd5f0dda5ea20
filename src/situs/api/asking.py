"""Asking a model and telling what came of it: run, score, compare, probe."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar, Unpack

from situs.api.benches import opened
from situs.api.results import (
    PathLike,
    Result,
    bars,
    counted,
    maybe_path,
    path_of,
    paths_of,
    run_bars,
)
from situs.api.settings import AskSettings, asking_of
from situs.errors import SitusError
from situs.judges import AskedJudges, JudgesStopped, ask_judges
from situs.probe import (
    ProbeResult,
    Stopped,
    all_probes_table,
    choose_probes,
    findings_table,
    probe_tables,
)
from situs.probe import probe as run_probes
from situs.profiles import Presenter, Profile, SliceStore, load_profile
from situs.run import Respondent, RunResult, respondent_of
from situs.score import (
    Comparison,
    Scores,
    Verdicts,
    choose_metrics,
    compare_runs,
    comparison_tables,
    open_replies,
    score_tables,
    tables_of_run,
)
from situs.score.on_request import extra_tables, extras_of, paper_of
from situs.tables import check_tables_folder, write_tables

__all__ = ["ask", "compare", "probe", "score"]

_Made = TypeVar("_Made")


def ask(
    bench: PathLike,
    model: str | object,
    out: PathLike,
    *,
    profile: PathLike | Profile = "default",
    split: str | None = None,
    limit: int | None = None,
    data: PathLike | None = None,
    skip_hidden: bool = False,
    progress: bool = False,
    **settings: Unpack[AskSettings],
) -> Result[RunResult]:
    """Put the questions of a bench to a model or baseline; an unfinished run resumes.

    `model` is a spec (`prior`, `openai:MODEL@URL`, …) or an object with `answer(request)` that returns text; an object
    that sends nothing off this machine says so by `remote = False`. Failed calls are asked again by the same call.

    >>> run = situs.run("bench", "prior", out="runs/prior")
    """
    target, shown = opened(bench), _profile(profile)
    folder = path_of(out)
    presenter = Presenter(target, shown, store=SliceStore(), data=maybe_path(data))

    def once(respondent: Respondent) -> RunResult:
        return respondent(
            target, presenter, shown, folder, split=split, limit=limit, skip_hidden=skip_hidden
        )

    result = _with(model, settings, progress, once)
    title = f"{folder.name}: {result.items:,} items"
    if result.stopped:
        title += f", stopped early ({result.stopped}); the same call resumes"
    return Result(result, [counted("state", result.states, title)], folder)


def score(
    bench: PathLike,
    answers: PathLike,
    *,
    metrics: str | Sequence[str] | None = None,
    profile: PathLike | Profile | None = None,
    verdicts: Mapping[str, PathLike] | None = None,
    judges: str | Sequence[str] = (),
    protocol: str | None = None,
    human: PathLike | None = None,
    reply_language: str | None = None,
    stratum: str = "headline",
    breakdowns: bool = False,
    signatures: bool = False,
    published: str | None = None,
    tables: PathLike | None = None,
    seed: int = 0,
    progress: bool = False,
    **settings: Unpack[AskSettings],
) -> Result[Scores]:
    """Score a run, or a file of answers by another tool, beside what one gets without looking.

    `verdicts` maps a judge's name to its file; `judges` are models to ask for verdicts on free text,
    which are kept beside the answers. The first table is the headline: the one number of the run.
    `breakdowns`, `signatures` and `published` (a paper, or an empty text for the one that asks what the
    bench asks) add tables; `tables` is a folder to write all of them to.

    >>> situs.score("bench", "runs/model", judges=["openai:MODEL@http://localhost:8000/v1"])
    """
    folder, source, written = path_of(bench), path_of(answers), maybe_path(tables)
    check_tables_folder(written)
    chosen = metrics if metrics is None or isinstance(metrics, str) else ",".join(metrics)
    files = tuple((name, path_of(path)) for name, path in (verdicts or {}).items())
    paper = paper_of(folder, published)
    asked = _judged(folder, source, judges, [*(verdicts or {})], protocol, settings, progress)
    given = Verdicts((*files, *asked.files), protocol, maybe_path(human), models=dict(asked.models))
    replies = open_replies(
        source,
        folder,
        profile=None if profile is None else _profile(profile),
        reply_language=reply_language,
    )
    run, scores = tables_of_run(
        replies,
        metrics=choose_metrics(chosen),
        seed=seed,
        verdicts=given,
        rates=asked.rates,
        stratum=stratum,
    )
    extras = extras_of(
        run,
        scores,
        source.name,
        seed=seed,
        break_down=breakdowns or written is not None,
        explain=signatures,
        paper=paper,
    )
    shown = [*score_tables(scores), *extra_tables(extras)]
    if written is not None:
        write_tables(written, shown)
    return Result(scores, shown)


def _judged(
    bench: Path,
    answers: Path,
    judges: str | Sequence[str],
    taken: Sequence[str],
    protocol: str | None,
    settings: AskSettings,
    progress: bool,
) -> AskedJudges:
    """What the judges say; a session that stops early raises."""
    try:
        return ask_judges(
            bench,
            answers,
            [judges] if isinstance(judges, str) else judges,
            asking_of(settings),
            taken=taken,
            protocol=protocol,
            say=lambda text: warnings.warn(text, stacklevel=4),
            progress=run_bars(progress),
        )
    except JudgesStopped as stop:
        if stop.done.interrupted:
            raise KeyboardInterrupt from stop
        problem = f"stopped early: {stop.done.stopped}; {stop.done.left:,} answers are left"
        raise SitusError(problem, where=stop.done.name, fix="the same call resumes") from stop


def compare(
    *runs: PathLike,
    bench: PathLike | None = None,
    metric: str = "accuracy",
    blind: Sequence[PathLike] = (),
    stratum: str = "headline",
) -> Result[Comparison]:
    """Tell which of several runs of one bench is better, paired and by patient, and which cannot be told apart."""
    result = compare_runs(
        paths_of(runs), maybe_path(bench), metric=metric, stratum=stratum, blind=paths_of(blind)
    )
    return Result(result, comparison_tables(result, metric))


def probe(
    bench: PathLike,
    model: str | object,
    out: PathLike,
    *,
    probes: str | Sequence[str] = "blind,swap",
    profile: PathLike | Profile = "default",
    split: str | None = None,
    limit: int | None = None,
    data: PathLike | None = None,
    stratum: str = "headline",
    seed: int = 0,
    progress: bool = False,
    **settings: Unpack[AskSettings],
) -> Result[ProbeResult]:
    """Tell whether a model looks: ask it again with the picture withheld, changed or exchanged.

    Every run is an ordinary run folder under `out`. A run that stops early raises; the same call resumes.
    """
    names = choose_probes(probes if isinstance(probes, str) else ",".join(probes))
    target, shown, folder = opened(bench), _profile(profile), path_of(out)

    def suite(respondent: Respondent) -> ProbeResult:
        return run_probes(
            target,
            shown,
            names,
            folder,
            respondent,
            split=split,
            limit=limit,
            data=maybe_path(data),
            seed=seed,
            stratum=stratum,
        )

    try:
        result = _with(model, settings, progress, suite)
    except Stopped as stop:
        if stop.result.interrupted:
            raise KeyboardInterrupt from stop
        problem = f"stopped early: {stop.result.stopped}; {stop.result.unasked:,} items are left"
        raise SitusError(problem, where=stop.name, fix="the same call resumes") from stop
    tables = [
        all_probes_table(result),
        findings_table(result.diagnosis),
        *probe_tables(result),
    ]
    return Result(result, tables, folder)


def _with(
    model: str | object, settings: AskSettings, progress: bool, use: Callable[[Respondent], _Made]
) -> _Made:
    respondent = respondent_of(
        model,
        asking_of(settings),
        where="model",
        run_progress=run_bars(progress),
        item_progress=bars(progress),
    )
    try:
        return use(respondent)
    finally:
        respondent.close()


def _profile(given: PathLike | Profile) -> Profile:
    if isinstance(given, Profile):
        return given
    return load_profile(str(given) if isinstance(given, str | Path) else str(path_of(given)))
