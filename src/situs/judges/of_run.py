"""Having the free-text answers of a run judged on the way to its scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import reduce
from pathlib import Path
from typing import NamedTuple

import msgspec

from situs.clients import Asking, Forecast, ResponseCache, Tally
from situs.errors import SitusError
from situs.items import Text
from situs.judges.asker import Asker, asker_of
from situs.judges.by_id import AskedByID
from situs.judges.rates import forecast_rates, rate_reasoning
from situs.judges.verdict import forecast_verdicts, judge_answers
from situs.score import Replies, SgmriRates, open_replies

__all__ = ["AskedJudges", "JudgesStopped", "ask_judges", "forecast_judges"]

_RATED = "sgmri-vqa"
"""The protocol whose replies are rated as well."""

Progress = Callable[[str], AbstractContextManager[Callable[[Tally, int, int], None]]]


class AskedJudges(NamedTuple):
    """What the judges said, and how it went."""

    files: tuple[tuple[str, Path], ...] = ()
    rates: SgmriRates | None = None
    asked: tuple[AskedByID, ...] = ()
    models: tuple[tuple[str, str], ...] = ()
    """Judge and the model it is."""


class JudgesStopped(Exception):
    """A judge was not asked to the end; the same call resumes."""

    def __init__(self, done: AskedByID) -> None:
        super().__init__(done.stopped)
        self.done = done


def ask_judges(
    bench: Path,
    answers: Path,
    specs: Sequence[str],
    asking: Asking,
    *,
    taken: Sequence[str] = (),
    protocol: str | None = None,
    say: Callable[[str], None],
    progress: Progress,
) -> AskedJudges:
    """Have free-text answers judged, and for SGMRI-VQA's AR-Score rated by the first judge.

    `taken` are names that other judges have. Verdicts are kept beside the answers: a second call
    asks only what is left. Raises `JudgesStopped` where a session of asking ended early.
    """
    if not specs:
        return AskedJudges()
    rated = protocol == _RATED
    replies, folder = _to_judge(bench, answers, rated=rated)
    with asking.cache(say) as cache:
        askers = _askers(specs, asking, cache, taken, say)
        files, asked = [], []
        for asker in askers:
            path, done = _judged(asker, replies, folder, progress)
            files.append((asker.name, path))
            asked.append(done)
        rates = None
        if rated:
            rates, done = _rated(askers[0], replies, folder, progress)
            asked.append(done)
    models = tuple((asker.name, asker.spec.name) for asker in askers)
    return AskedJudges(tuple(files), rates, tuple(asked), models)


def forecast_judges(
    bench: Path,
    answers: Path,
    specs: Sequence[str],
    asking: Asking,
    *,
    taken: Sequence[str] = (),
    protocol: str | None = None,
) -> Forecast:
    """What `ask_judges` would take; nothing is sent or written."""
    if not specs:
        raise SitusError("there is no judge to ask", where="--dry-run", fix="give --judge SPEC")
    rated = protocol == _RATED
    replies, folder = _to_judge(bench, answers, rated=rated)
    askers = _askers(specs, asking, None, taken, lambda text: None)
    forecasts = [forecast_verdicts(one, replies.items(), replies.rows, folder) for one in askers]
    if rated:
        forecasts.append(forecast_rates(askers[0], replies.items(), replies.rows, folder))
    return reduce(Forecast.plus, forecasts)


def _to_judge(bench: Path, answers: Path, *, rated: bool) -> tuple[Replies, Path]:
    """The answers, and the folder of their verdicts."""
    replies = open_replies(answers, bench)
    if not rated and not any(isinstance(item.answer, Text) for item in replies.items()):
        raise SitusError(
            "the bench has no free-text answers to judge", where=bench, fix="drop the judges"
        )
    folder = answers / "verdicts" if answers.is_dir() else answers.with_suffix(".verdicts")
    return replies, folder


def _askers(
    specs: Sequence[str],
    asking: Asking,
    cache: ResponseCache | None,
    taken: Sequence[str],
    say: Callable[[str], None],
) -> list[Asker]:
    names, askers = [*taken], list[Asker]()
    for spec in specs:
        askers.append(asker_of(spec, "--judge", asking, cache, taken=names, say=say))
        names.append(askers[-1].name)
    return askers


def _judged(
    asker: Asker, replies: Replies, folder: Path, progress: Progress
) -> tuple[Path, AskedByID]:
    restricted = replies.bench.info.restricted
    with progress(asker.name) as show_progress:
        judge = msgspec.structs.replace(asker, progress=show_progress)
        path, done = judge_answers(
            judge, replies.items(), replies.rows, folder, restricted=restricted
        )
    return path, _ended(done)


def _rated(
    asker: Asker, replies: Replies, folder: Path, progress: Progress
) -> tuple[SgmriRates, AskedByID]:
    restricted = replies.bench.info.restricted
    with progress(asker.name) as show_progress:
        judge = msgspec.structs.replace(asker, progress=show_progress)
        parts, done = rate_reasoning(
            judge, replies.items(), replies.rows, folder, restricted=restricted
        )
    return SgmriRates(asker.name, parts), _ended(done)


def _ended(done: AskedByID) -> AskedByID:
    if done.interrupted or done.stopped:
        raise JudgesStopped(done)
    return done
