"""How a run gets on: a line on a terminal that renews itself, a line now and then in a log."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from situs.clients import Tally

__all__ = ["run_progress"]

_LOG_SECONDS = 30.0


def progress_text(tally: Tally, before: int, total: int) -> str:
    """Done, rate, time left, tokens, cost and states in one line."""
    now = tally.done if tally.items is None else tally.items
    done, seconds = before + now, tally.seconds
    rate = now / seconds if seconds > 0 else 0.0
    parts = [f"{done:,}/{total:,}", f"{rate:.1f}/s"]
    if rate > 0 and done < total:
        left = int((total - done) / rate)
        parts.append(f"{left // 3600}:{left // 60 % 60:02d}:{left % 60:02d} left")
    if tally.items is not None:
        parts.append(f"{tally.done:,} turns, {tally.looks:,} looks")
    if tally.prompt_tokens or tally.completion_tokens:
        parts.append(f"{tally.prompt_tokens:,.0f} + {tally.completion_tokens:,.0f} tokens")
        parts.append("cost unknown" if tally.cost is None else f"${tally.cost:.2f}")
    parts += [f"{count:,} {state}" for state, count in sorted(tally.states.items())]
    if tally.cached:
        parts.append(f"{tally.cached:,} from the cache")
    return " · ".join(parts)


@contextmanager
def run_progress(name: str) -> Iterator[Callable[[Tally, int, int], None]]:
    """Progress on standard error."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        shown = time.monotonic()

        def log(tally: Tally, before: int, total: int) -> None:
            nonlocal shown
            if time.monotonic() - shown >= _LOG_SECONDS:
                shown = time.monotonic()
                click.echo(f"situs: {progress_text(tally, before, total)}", err=True)

        yield log
        return
    with Progress(
        TextColumn("{task.description}"), BarColumn(20), console=console, transient=True
    ) as bar:
        task = bar.add_task(name, total=None)

        def show(tally: Tally, before: int, total: int) -> None:
            text = progress_text(tally, before, total)
            now = tally.done if tally.items is None else tally.items
            bar.update(task, completed=before + now, total=total, description=text)

        yield show
