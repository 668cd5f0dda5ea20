"""The journal of a run: append-only, flushed per answer, so that a crash loses at most the answer in flight."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Literal

import msgspec

from situs.clients import Spent
from situs.errors import SitusError

__all__ = ["AnswerRow", "Journal", "read_journal"]

State = Literal["answered", "refused", "failed"]


class AnswerRow(msgspec.Struct, frozen=True):
    """One line of `answers.jsonl`."""

    item_id: str
    state: State = "answered"
    """`answered`, `refused` (the provider's signal) or `failed` (transport)."""
    response: str = ""
    """What the model said, verbatim."""
    usage: dict[str, float] = {}
    seconds: float | None = None
    error: str = ""
    finish_reason: str = ""
    """Why the model ended; `length` is an answer cut off at `max_tokens`."""
    cached: bool = False
    """It came from the response cache: nothing was sent, and `usage` was paid before."""


def read_journal(path: Path, each: Callable[[AnswerRow], None] = lambda row: None) -> dict[str, AnswerRow]:
    """The last row of every item; a line that is cut off at the end (a crash) is left out.

    Failed calls may be followed by others; two different answers to one item are refused. `each` is called with every
    row as it stands in the file.
    """
    result: dict[str, AnswerRow] = {}
    for row in _rows(path):
        each(row)
        before = result.get(row.item_id)
        if before is not None and before.state != "failed":
            if (before.state, before.response) != (row.state, row.response):
                raise SitusError(f"item {row.item_id} has two answers", where=path, fix="keep one row per item")
            continue
        result[row.item_id] = row
    return result


def _rows(path: Path) -> Iterator[AnswerRow]:
    decoder = msgspec.json.Decoder(AnswerRow)
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                if not line.strip():
                    continue
                try:
                    yield decoder.decode(line)
                except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
                    if not line.endswith(b"\n"):
                        return
                    fix = 'each line is one JSON object with "item_id" and "response"'
                    raise SitusError(str(error), where=f"{path}:{number}", fix=fix) from error
    except FileNotFoundError as error:
        raise SitusError("no such file", where=path, fix="give a run folder or an answers.jsonl") from error
    except OSError as error:
        raise SitusError(f"cannot be read ({error.strerror})", where=path, fix="check the path") from error


class Journal:
    """An open journal to which answers are added, by one process at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.states: dict[str, str] = {}
        """The last state of every item."""
        self.spent = Spent()
        """Tokens of all calls so far, those that failed included."""
        self._encoder = msgspec.json.Encoder()
        try:
            # Unbuffered: after a failed write nothing is left over that closing would try to write again.
            self._stream = path.open("ab", buffering=0)
            _lock(self._stream.fileno())
            _cut_torn_line(path)
        except BlockingIOError as error:
            self._stream.close()
            fix = "wait for it, stop it, or choose another --out"
            raise SitusError("another situs run is writing here", where=path, fix=fix) from error
        except OSError as error:
            raise SitusError(f"cannot be written ({error.strerror})", where=path, fix="choose another --out") from error
        self._read()

    def _read(self) -> None:
        try:
            read_journal(self._path, self._count)
        except BaseException:
            self._stream.close()
            raise

    def is_done(self, item_id: str) -> bool:
        """Whether the item has an answer; a failed call is none."""
        return self.states.get(item_id, "failed") != "failed"

    def add(self, row: AnswerRow) -> None:
        """Append one answer and hand it to the operating system at once."""
        line = memoryview(self._encoder.encode(row) + b"\n")
        try:
            while line:
                line = line[self._stream.write(line) :]
        except OSError as error:
            fix = "free some space and run the same command again: finished answers are kept"
            raise SitusError(f"cannot write ({error.strerror})", where=self._path, fix=fix) from error
        self._count(row)

    def _count(self, row: AnswerRow) -> None:
        if not self.is_done(row.item_id):
            self.states[row.item_id] = row.state
        if row.usage and not row.cached:
            self.spent = self.spent.plus(row.usage)

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()


def _lock(descriptor: int) -> None:
    """Keep other processes out; file systems that know no locks do without."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
            raise


def _cut_torn_line(path: Path) -> None:
    """Drop what a crash left after the last whole line."""
    with path.open("rb+") as stream:
        size = stream.seek(0, os.SEEK_END)
        position = size
        while position > 0:
            step = min(65536, position)
            position -= step
            stream.seek(position)
            last = stream.read(step).rfind(b"\n")
            if last >= 0:
                if position + last + 1 < size:
                    stream.truncate(position + last + 1)
                return
        stream.truncate(0)
