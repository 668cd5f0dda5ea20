"""What commands print: a table for people, or one JSON object for programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import msgspec

__all__ = ["json_option", "out_option", "print_json", "print_table", "progress_bar", "warn"]

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")


def out_option(what: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`--out` for a folder or file that the command makes."""
    return click.option("--out", required=True, type=click.Path(path_type=Path), help=f"Where to write {what}.")


def print_json(value: object) -> None:
    """One JSON object on standard output."""
    click.echo(msgspec.json.format(msgspec.json.encode(value, enc_hook=str), indent=1).decode())


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> None:
    """A table on standard output; numbers are right-aligned from the second column on."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console = Console(highlight=False, markup=False, width=max(120, console.width))
    console.print(title, style="bold")
    console.print(table)
    if caption:
        console.print(caption, style="dim")
        console.print()


def warn(text: str) -> None:
    """A line on standard error."""
    click.echo(f"situs: {text}", err=True)


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
