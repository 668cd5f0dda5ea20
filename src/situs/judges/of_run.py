"""Having the free-text answers of a run judged on the way to its scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

import msgspec

from situs.clients import Asking, Tally
from situs.errors import SitusError
from situs.items import Text
from situs.judges.asker import Asker, asker_of
from situs.judges.by_id import AskedByID
from situs.judges.rates import rate_reasoning
from situs.judges.verdict import judge_answers
from situs.score import Replies, SgmriRates, open_replies

__all__ = ["AskedJudges", "JudgesStopped", "ask_judges"]

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
    replies = open_replies(answers, bench)
    rated = protocol == "sgmri-vqa"
    if not rated and not any(isinstance(item.answer, Text) for item in replies.items()):
        raise SitusError(
            "the bench has no free-text answers to judge", where=bench, fix="drop the judges"
        )
    folder = answers / "verdicts" if answers.is_dir() else answers.with_suffix(".verdicts")
    with asking.cache(say) as cache:
        names, askers = [*taken], []
        for spec in specs:
            askers.append(asker_of(spec, "--judge", asking, cache, taken=names, say=say))
            names.append(askers[-1].name)
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


def _judged(
    asker: Asker, replies: Replies, folder: Path, progress: Progress
) -> tuple[Path, AskedByID]:
    restricted = replies.bench.info.restricted
    with progress(asker.name) as shown:
        judge = msgspec.structs.replace(asker, progress=shown)
        path, done = judge_answers(
            judge, replies.items(), replies.rows, folder, restricted=restricted
        )
    return path, _ended(done)


def _rated(
    asker: Asker, replies: Replies, folder: Path, progress: Progress
) -> tuple[SgmriRates, AskedByID]:
    restricted = replies.bench.info.restricted
    with progress(asker.name) as shown:
        judge = msgspec.structs.replace(asker, progress=shown)
        parts, done = rate_reasoning(
            judge, replies.items(), replies.rows, folder, restricted=restricted
        )
    return SgmriRates(asker.name, parts), _ended(done)


def _ended(done: AskedByID) -> AskedByID:
    if done.interrupted or done.stopped:
        raise JudgesStopped(done)
    return done
