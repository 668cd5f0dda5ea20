"""What commands print: a table for people, or one JSON object for programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

import click
import msgspec

from situs.base.remote import in_urls
from situs.base.text import json_safe, printable
from situs.errors import SitusError

if TYPE_CHECKING:
    from situs.tables import Cell, Style

__all__ = [
    "ErrorStream",
    "OutputStream",
    "echo",
    "json_option",
    "print_json",
    "print_json_line",
    "print_table",
    "warn",
]

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object instead of a table."
)


class _Stream:
    """A standard stream that knows what to do when it cannot be written."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":  # click would write there where the encoding is ASCII
            raise AttributeError(name)
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write, or say what is to be said about it."""
        if text == "":
            return 0  # click tries whether it may, and keeps what comes of it to itself
        try:
            return self._stream.write(text)
        except OSError as error:
            self._failed(error)
            return len(text)

    def flush(self) -> None:
        """Hand on what was written."""
        try:
            self._stream.flush()
        except OSError as error:
            self._failed(error)

    def _failed(self, error: OSError) -> None:
        # What waits in the buffer cannot be written either, and Python would try again as it ends.
        with suppress(OSError, ValueError):
            number = self._stream.fileno()
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, number)
            os.close(nowhere)


class ErrorStream(_Stream):
    """Standard error, which never ends the program:
    if it cannot be written, there is nobody to tell."""


class OutputStream(_Stream):
    """Standard output, which says of itself that it cannot be written."""

    def _failed(self, error: OSError) -> NoReturn:
        super()._failed(error)
        if isinstance(error, BrokenPipeError):
            sys.exit(0)  # whoever read it has seen enough
        reason = f"cannot be written ({error.strerror}); the work itself is done"
        raise SitusError(reason, where="standard output", fix="write to another place") from error


def print_json(value: object) -> None:
    """One JSON object on standard output."""
    _echo_json(msgspec.json.format(msgspec.json.encode(value, enc_hook=str), indent=1).decode())


def print_json_line(value: object) -> None:
    """One of several JSON objects on standard output, in a line of its own."""
    _echo_json(msgspec.json.encode(value, enc_hook=str).decode())


def _echo_json(text: str) -> None:
    click.echo(json_safe(in_urls(text), sys.stdout.encoding or "utf-8"))


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    caption: str = "",
    styles: Mapping[str, Style] | None = None,
) -> None:
    """A list that only a terminal shows;
    what is written or shown elsewhere too is a `Table` of its package."""
    from situs.tables import Table
    from situs.tables import print_table as print_any

    body = tuple(tuple(row) for row in rows)
    print_any(Table("", in_urls(title), tuple(columns), body, caption, styles or {}))


def warn(text: str) -> None:
    """A line on standard error."""
    click.echo(f"situs: {printable(in_urls(text))}", err=True)


def echo(text: str) -> None:
    """Words on standard output. All that a command says passes here or by a table:
    data hold escape codes."""
    click.echo(printable(in_urls(text), lines=True))
