"""What commands print: a table for people, or one JSON object for programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import msgspec

from situs.base.text import json_safe, printable
from situs.errors import SitusError

__all__ = [
    "echo",
    "json_option",
    "out_option",
    "print_json",
    "print_table",
    "progress_bar",
    "to_standard_output",
    "warn",
]

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object instead of a table."
)


def out_option(what: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`--out` for a folder or file that the command makes."""
    return click.option(
        "--out", required=True, type=click.Path(path_type=Path), help=f"Where to write {what}."
    )


@contextmanager
def to_standard_output() -> Iterator[None]:
    """Say of standard output that it cannot be written, where that is what fails."""
    try:
        yield
    except BrokenPipeError:
        raise  # whoever read it has seen enough
    except OSError as error:
        # What waits in the buffer cannot be written either, and Python would try again as it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        reason = f"cannot be written ({error.strerror}); the work itself is done"
        raise SitusError(reason, where="standard output", fix="write to another place") from error


def print_json(value: object) -> None:
    """One JSON object on standard output."""
    text = msgspec.json.format(msgspec.json.encode(value, enc_hook=str), indent=1).decode()
    with to_standard_output():
        click.echo(json_safe(text))


def print_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], caption: str = ""
) -> None:
    """A table on standard output; numbers are right-aligned from the second column on."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(printable, row))
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console = Console(highlight=False, markup=False, width=max(120, console.width))
    with to_standard_output():
        console.print(printable(title), style="bold")
        console.print(table)
        if caption:
            console.print(printable(caption, lines=True), style="dim")
            console.print()


def warn(text: str) -> None:
    """A line on standard error."""
    click.echo(f"situs: {printable(text)}", err=True)


def echo(text: str) -> None:
    """Words on standard output. All that a command says passes here or by a table: data hold escape codes."""
    with to_standard_output():
        click.echo(printable(text, lines=True))


@contextmanager
def progress_bar(what: str, *, shown: bool = True) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error, on a terminal only; called with (done, total)."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if not console.is_terminal or not shown:
        yield lambda done, total: None
        return
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
