"""How a run gets on: a line on a terminal that renews itself, a line now and then in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from situs.base.text import printable
from situs.cli.output.events import tell_progress, tell_tally

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TextColumn

    from situs.clients import Tally

__all__ = ["progress_bar", "run_progress", "working"]

_LOG_SECONDS = 30.0


def _console() -> Console:
    """Standard error. A bar moves the cursor, which a log has not, whatever colours it takes."""
    from rich.console import Console

    return Console(stderr=True, force_terminal=None if sys.stderr.isatty() else False)


def _description() -> TextColumn:
    """What a bar is of, as it is: the name of a model or a folder may read as markup."""
    from rich.progress import TextColumn

    return TextColumn("{task.description}", style="progress.description", markup=False)


def _left(seconds: float) -> str:
    whole_seconds = int(seconds)
    return f"{whole_seconds // 3600}:{whole_seconds // 60 % 60:02d}:{whole_seconds % 60:02d} left"


def progress_text(tally: Tally, before: int, total: int) -> str:
    """Done, rate, time left, tokens, cost and states in one line."""
    now = tally.done if tally.items is None else tally.items
    done, seconds = before + now, tally.seconds
    rate = now / seconds if seconds > 0 else 0.0
    parts = [f"{done:,}/{total:,}", f"{rate:.1f}/s"]
    if rate > 0 and done < total:
        parts.append(_left((total - done) / rate))
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
    from rich.progress import BarColumn, Progress

    console, name = _console(), printable(name)
    if not console.is_terminal:
        last_line = time.monotonic()

        def log(tally: Tally, before: int, total: int) -> None:
            nonlocal last_line
            tell_tally(name, tally, before, total)
            if time.monotonic() - last_line >= _LOG_SECONDS:
                last_line = time.monotonic()
                click.echo(f"situs: {name}: {progress_text(tally, before, total)}", err=True)

        yield log
        return
    with Progress(_description(), BarColumn(20), console=console, transient=True) as bar:
        task = bar.add_task(name, total=None)

        def show(tally: Tally, before: int, total: int) -> None:
            tell_tally(name, tally, before, total)
            text = progress_text(tally, before, total)
            now = tally.done if tally.items is None else tally.items
            bar.update(task, completed=before + now, total=total, description=f"{name} · {text}")

        yield show


@contextmanager
def progress_bar(what: str, *, shown: bool = True) -> Iterator[Callable[[int, int], None]]:
    """Progress on standard error, called with (done, total):
    a bar on a terminal, a line now and then in a log."""
    from rich.progress import Progress

    if not shown:
        yield lambda done, total: None
        return
    console, what = _console(), printable(what)
    if not console.is_terminal:
        yield _logged(what)
        return
    columns = (_description(), *Progress.get_default_columns()[1:])
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(what, total=None)

        def show(done: int, total: int) -> None:
            tell_progress(what, done, total)
            progress.update(task, completed=done, total=total)

        yield show


def _logged(what: str) -> Callable[[int, int], None]:
    started = last_line = time.monotonic()
    first = 0

    def log(done: int, total: int) -> None:
        nonlocal last_line, first
        tell_progress(what, done, total)
        now = time.monotonic()
        first = first or done
        if now - last_line < _LOG_SECONDS:
            return
        last_line = now
        rate = (done - first) / (now - started)
        parts = [f"{what} {done:,}/{total:,}", f"{rate:.1f}/s"]
        if rate > 0 and done < total:
            parts.append(_left((total - done) / rate))
        click.echo(f"situs: {' · '.join(parts)}", err=True)

    return log


@contextmanager
def working(what: str) -> Iterator[None]:
    """That something is being done, and for how long, on standard error; on a terminal only."""
    from rich.progress import Progress, SpinnerColumn, TimeElapsedColumn

    console = _console()
    if not console.is_terminal:
        yield
        return
    columns = (SpinnerColumn(), _description(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        progress.add_task(printable(what), total=None)
        yield
