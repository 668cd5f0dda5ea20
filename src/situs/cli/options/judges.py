"""Asking judges on the way to scores, and what they and other roles cost."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from situs.cli.output.printing import print_table, warn
from situs.cli.output.progress import run_progress

if TYPE_CHECKING:
    from situs.clients import Asking
    from situs.judges import AskedByID
    from situs.score import SgmriRates

__all__ = ["AskedJudges", "ask_judges", "leave_if_stopped", "print_asked"]


class AskedJudges(NamedTuple):
    """What the judges said, and how it went."""

    files: tuple[tuple[str, Path], ...] = ()
    rates: SgmriRates | None = None
    asked: tuple[AskedByID, ...] = ()
    models: tuple[tuple[str, str], ...] = ()
    """Judge and the model it is."""


def ask_judges(
    bench: Path,
    answers: Path,
    specs: Sequence[str],
    taken: Sequence[str],
    protocol: str | None,
    asking: Asking,
) -> AskedJudges:
    """Have free-text answers judged, and for SGMRI-VQA's AR-Score rated by the first judge.

    Where that stops early, the program ends.
    """
    if not specs:
        return AskedJudges()
    import msgspec

    from situs.errors import SitusError
    from situs.items import Text
    from situs.judges import asker_of, judge_answers, rate_reasoning
    from situs.score import SgmriRates, open_replies

    replies = open_replies(answers, bench)
    opened, items, rows = replies.bench, replies.items, replies.rows
    rated = protocol == "sgmri-vqa"
    if not rated and not any(isinstance(item.answer, Text) for item in items()):
        raise SitusError(
            "the bench has no free-text answers to judge", where=bench, fix="drop --judge"
        )
    folder = answers / "verdicts" if answers.is_dir() else answers.with_suffix(".verdicts")
    restricted = opened.info.restricted
    names, files, asked, rates = [*taken], [], [], None
    with asking.cache(warn) as cache:
        askers = []
        for spec in specs:
            askers.append(asker_of(spec, "--judge", asking, cache, taken=names, say=warn))
            names.append(askers[-1].name)
        for number, asker in enumerate(askers):
            with run_progress(asker.name) as progress:
                judge = msgspec.structs.replace(asker, progress=progress)
                path, done = judge_answers(judge, items(), rows, folder, restricted=restricted)
                leave_if_stopped(done)
                files.append((asker.name, path))
                asked.append(done)
            if rated and number == 0:
                with run_progress(asker.name) as progress:
                    judge = msgspec.structs.replace(asker, progress=progress)
                    parts, done = rate_reasoning(
                        judge, items(), rows, folder, restricted=restricted
                    )
                    leave_if_stopped(done)
                    rates = SgmriRates(asker.name, parts)
                    asked.append(done)
    models = tuple((asker.name, asker.spec.name) for asker in askers)
    return AskedJudges(tuple(files), rates, tuple(asked), models)


def leave_if_stopped(done: AskedByID) -> None:
    """End the program where a session of asking ended early; the same command goes on."""
    if done.interrupted:
        warn(f"{done.name}: interrupted; {done.left:,} are left: the same command resumes")
        sys.exit(130)
    if done.stopped:
        warn(
            f"{done.name}: stopped early: {done.stopped}; {done.left:,} are left: the same command resumes with them"
        )
        sys.exit(1)


def print_asked(asked: Sequence[AskedByID]) -> None:
    """What asking gave and cost."""
    rows = [
        [
            done.name,
            f"{done.answered:,} of {done.subjects:,}",
            f"{done.given_up + done.failed:,}",
            f"{done.requests:,}",
            f"{done.cached:,}",
            f"{done.tokens['prompt']:,} + {done.tokens['completion']:,}",
            "unknown" if done.cost is None else f"${done.cost:.2f}",
        ]
        for done in asked
    ]
    if rows:
        columns = ["asked", "told", "not told", "calls now", "from the cache", "tokens", "cost"]
        print_table("asked models", columns, rows)
