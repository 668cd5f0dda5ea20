"""Asking a model and telling what came of it: run, score, compare, probe."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, Unpack

import msgspec

from situs.api.benches import opened
from situs.api.leaving import writes
from situs.api.results import (
    PathLike,
    Result,
    at_address,
    bars,
    counted,
    maybe_out,
    maybe_path,
    out_path,
    path_of,
    paths_of,
    run_bars,
)
from situs.api.settings import AskSettings, asking_of
from situs.base.engines import engine_of
from situs.base.shard import Shard
from situs.errors import SitusError
from situs.judges import AskedJudges, JudgesStopped, ask_judges
from situs.probe import (
    ProbeOptions,
    ProbeResult,
    Stopped,
    all_probes_table,
    choose_probes,
    findings_table,
    probe_tables,
)
from situs.probe import probe as run_probes
from situs.profiles import Presenter, Profile, SliceStore, load_profile
from situs.room import THROUGH_ROOMS, enter_room, room_scores, room_tables
from situs.run import Respondent, RunResult, Ways, respondent_of
from situs.score import (
    Comparison,
    ScoredRun,
    Scores,
    Verdicts,
    choose_metrics,
    compare_runs,
    comparison_tables,
    open_replies,
    score_tables,
    tables_of_run,
)
from situs.score.columns import Columns
from situs.score.on_request import extra_tables, extras_of, paper_of
from situs.score.stored_columns import plain_columns
from situs.tables import Table, check_tables_folder, write_tables

__all__ = ["ask", "compare", "probe", "score"]

_Made = TypeVar("_Made")


@writes(at_address, resumes=True)
def ask(
    bench: PathLike,
    model: str | object,
    out: PathLike,
    *,
    profile: PathLike | Profile | None = None,
    room: PathLike | None = None,
    tools: str | None = None,
    turns: str = "auto",
    split: str | None = None,
    limit: int | None = None,
    shard: str | None = None,
    batch: bool = False,
    data: PathLike | None = None,
    skip_hidden: bool = False,
    progress: bool = False,
    **settings: Unpack[AskSettings],
) -> Result[RunResult]:
    """Ask a model or baseline the questions of a bench; an unfinished run resumes.

    `model` is a spec (`prior`, `openai:MODEL@URL`, …) or an object with `answer(request)` that
    returns text; an object that sends nothing off this machine says so by `remote = False`. Failed
    calls are asked again by the same call.

    `profile` is what the model is shown (`default` if not given). In a `room` it asks for its
    pictures itself, with `tools`, its `turns` as JSON (`schema`) or native calls (`tools`). `shard`
    (`"1/4"`) asks one part of the questions, `batch` hands them over as batch jobs at half price.

    >>> run = situs.run("bench", "prior", out="runs/prior")
    """
    entered, ways = enter_room(None if room is None else str(room), tools, turns)
    if entered is not None and profile is not None:
        raise SitusError(
            "a room brings its own profile", where="profile", fix="give a profile or a room"
        )
    ways = msgspec.structs.replace(ways, batch=batch, shard=Shard.parse(shard) if shard else None)
    target, folder = opened(bench), out_path(out)
    shown_profile = _profile(profile or "default") if entered is None else entered.profile()
    presenter = Presenter(target, shown_profile, store=SliceStore(), data=maybe_path(data))

    def once(respondent: Respondent) -> RunResult:
        return respondent(
            target,
            presenter,
            shown_profile,
            folder,
            split=split,
            limit=limit,
            skip_hidden=skip_hidden,
        )

    result = _with(model, settings, progress, once, ways)
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
    beside: Sequence[PathLike] = (),
    truthful: PathLike | None = None,
    seed: int = 0,
    progress: bool = False,
    **settings: Unpack[AskSettings],
) -> Result[Scores]:
    """Score a run, or a file of answers by another tool, beside what needs no image.

    `verdicts` maps a judge's name to its file; `judges` are models to ask for verdicts on free
    text, which are kept beside the answers. The first table is the headline: the one number of the
    run; `to_pandas("answers")` has a row for every answer. `breakdowns`, `signatures` and
    `published` (a paper, or an empty text for the one that asks what the bench asks) add tables;
    `tables` is a folder to write all of them to. A run in a room has tables of what it saw;
    `beside` are other runs to show with them, `truthful` the same room with tools that tell the
    truth.

    >>> situs.score("bench", "runs/model", judges=["openai:MODEL@http://localhost:8000/v1"])
    """
    folder, source, written = path_of(bench), path_of(answers), maybe_out(tables)
    check_tables_folder(written)
    chosen = metrics if metrics is None or isinstance(metrics, str) else ",".join(metrics)
    files = tuple((name, path_of(path)) for name, path in (verdicts or {}).items())
    paper = paper_of(folder, published)
    asked = _judged(folder, source, judges, [*(verdicts or {})], protocol, settings, progress)
    all_verdicts = Verdicts(
        (*files, *asked.files), protocol, maybe_path(human), models=dict(asked.models)
    )
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
        verdicts=all_verdicts,
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
    shown_tables = [*score_tables(scores), *extra_tables(extras), *_room(run, beside, truthful)]
    if written is not None:
        write_tables(written, shown_tables)
    return _Scored(scores, shown_tables, run.final)


class _Scored(Result[Scores]):
    """Scores beside the answers they are of."""

    def __init__(self, scores: Scores, tables: Sequence[Table], columns: Columns) -> None:
        super().__init__(scores, tables)
        self._columns = columns

    def table_names(self) -> list[str]:
        """The tables that are shown, and `answers`."""
        return [*super().table_names(), "answers"]

    def to_arrow(self, table: str = "") -> Any:
        """The headline, a table of a name, or `answers`: a row an answer."""
        return plain_columns(self._columns) if table == "answers" else super().to_arrow(table)


def _room(run: ScoredRun, beside: Sequence[PathLike], truthful: PathLike | None) -> Sequence[Table]:
    """What a run in a room saw; nothing for any other."""
    scores = room_scores(run, paths_of(beside), maybe_path(truthful))
    return [] if scores is None else room_tables(scores)


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
    """Tell which of several runs of one bench is better,
    paired and by patient, and which cannot be told apart."""
    result = compare_runs(
        paths_of(runs), maybe_path(bench), metric=metric, stratum=stratum, blind=paths_of(blind)
    )
    return Result(result, comparison_tables(result, metric))


@writes(at_address, resumes=True)
def probe(
    bench: PathLike,
    model: str | object,
    out: PathLike,
    *,
    probes: str | Sequence[str] = "blind,swap",
    profile: PathLike | Profile | None = None,
    room: PathLike | None = None,
    tools: str | None = None,
    turns: str = "auto",
    split: str | None = None,
    limit: int | None = None,
    data: PathLike | None = None,
    stratum: str = "headline",
    seed: int = 0,
    jobs: int = 1,
    engine: str = "local",
    progress: bool = False,
    **settings: Unpack[AskSettings],
) -> Result[ProbeResult]:
    """Tell whether a model looks: ask it again with the picture withheld, changed or exchanged.

    Every run is an ordinary run folder under `out`. A run that stops early raises; the same call
    resumes. `jobs` processes, or the `engine` (`ray`, `ray://HOST:PORT`), make the changed
    patients.
    """
    asked = probes if isinstance(probes, str) else ",".join(probes)
    names = choose_probes(asked)
    entered, ways = enter_room(None if room is None else str(room), tools, turns)
    if entered is not None:
        if profile is not None:
            raise SitusError(
                "a room brings its own profile", where="profile", fix="give a profile or a room"
            )
        names = [name for name in names if name in THROUGH_ROOMS]
    target, folder = opened(bench), out_path(out)
    shown_profile = _profile(profile or "default") if entered is None else entered.profile()

    def suite(respondent: Respondent) -> ProbeResult:
        return run_probes(
            target,
            shown_profile,
            names,
            folder,
            respondent,
            ProbeOptions(
                split=split,
                limit=limit,
                data=maybe_path(data),
                seed=seed,
                stratum=stratum,
                engine=engine_of(engine, jobs),
            ),
        )

    try:
        result = _with(model, settings, progress, suite, ways)
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
    model: str | object,
    settings: AskSettings,
    progress: bool,
    use: Callable[[Respondent], _Made],
    ways: Ways = Ways(),  # noqa: B008 - frozen
) -> _Made:
    respondent = respondent_of(
        model,
        asking_of(settings),
        where="model",
        ways=ways,
        run_progress=run_bars(progress),
        item_progress=bars(progress),
    )
    try:
        return use(respondent)
    finally:
        respondent.close()


def _profile(chosen: PathLike | Profile) -> Profile:
    if isinstance(chosen, Profile):
        return chosen
    return load_profile(str(chosen) if isinstance(chosen, str | Path) else str(path_of(chosen)))
