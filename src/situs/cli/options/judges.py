"""Asking judges on the way to scores, and what they and other roles cost."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from situs.cli.output.printing import print_table, warn
from situs.cli.output.progress import run_progress

if TYPE_CHECKING:
    from situs.clients import Asking
    from situs.judges import AskedByID, AskedJudges

__all__ = ["ask_judges", "leave_if_interrupted", "leave_if_stopped", "print_asked"]


def ask_judges(
    bench: Path,
    answers: Path,
    specs: Sequence[str],
    taken: Sequence[str],
    protocol: str | None,
    asking: Asking,
) -> AskedJudges:
    """Have free-text answers judged. Where that stops early, the program ends."""
    from situs.judges import JudgesStopped
    from situs.judges import ask_judges as ask

    try:
        return ask(
            bench,
            answers,
            specs,
            asking,
            taken=taken,
            protocol=protocol,
            say=warn,
            progress=run_progress,
        )
    except JudgesStopped as stop:
        leave_if_stopped(stop.done)
        raise


def leave_if_interrupted(done: AskedByID) -> None:
    """End the program where the user stopped it; the same command resumes."""
    if done.interrupted:
        warn(f"{done.name}: interrupted; {done.left:,} are left; the same command resumes")
        sys.exit(130)


def leave_if_stopped(done: AskedByID) -> None:
    """End the program where a session of asking ended early; the same command goes on."""
    leave_if_interrupted(done)
    if done.stopped:
        warn(
            f"{done.name}: stopped early: {done.stopped}; {done.left:,} are left; the same command"
            " resumes"
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
