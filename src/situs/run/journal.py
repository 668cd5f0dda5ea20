"""The journal of a run: append-only, flushed per answer,
so that a crash loses at most the answer in flight."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from io import BufferedReader
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import msgspec

from situs.base.files import bounded_lines, check_regular
from situs.clients import Spent
from situs.errors import SitusError
from situs.run.append_file import AppendFile

__all__ = ["AnswerRow", "Journal", "StoredRows", "read_journal"]

State = Literal["answered", "refused", "failed"]


class AnswerRow(msgspec.Struct, frozen=True, gc=False):
    """One line of `answers.jsonl`: plain values, of which half a million may be in memory."""

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
    thinking: str = ""
    """What the model thought aloud, where the server hands it over; not scored."""


def read_journal(
    path: Path, each: Callable[[AnswerRow], None] = lambda row: None
) -> dict[str, AnswerRow]:
    """The last row of every item; a line that is cut off at the end (a crash) is left out.

    Failed calls may be followed by others; two different answers to one item are refused. `each` is
    called with every row as it stands in the file.
    """
    result: dict[str, AnswerRow] = {}
    for row, _, _ in _rows(path):
        each(row)
        if _replaces(row, result.get(row.item_id), path):
            result[row.item_id] = row
    return result


def _replaces(row: AnswerRow, before: AnswerRow | None, path: Path) -> bool:
    """Whether a row counts instead of the one before it,
    which is of the same item; another answer is refused."""
    if before is None or before.state == "failed":
        return True
    if (before.state, before.response) != (row.state, row.response):
        problem = f"item {row.item_id} has two answers"
        raise SitusError(problem, where=path, fix="keep one row per item")
    return False


class StoredRows(Mapping[str, AnswerRow]):
    """`read_journal`, with the rows left in the file: only where each stands is kept, and a row is
    read when asked for.

    Half a million answers of a thousand characters take a few dozen megabytes so, instead of a
    gigabyte.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._decoder = msgspec.json.Decoder(AnswerRow)
        self._spans: dict[str, int] = {}
        self._stream: BufferedReader | None = None
        for row, start, size in _rows(path):
            if self._stream is None:
                # Rows are mostly asked for as they follow each other; a small buffer costs little
                # where they are not.
                self._stream = path.open("rb")
            # A row of an item comes twice only after a failed call.
            before = self.get(row.item_id) if row.item_id in self._spans else None
            if _replaces(row, before, path):
                self._spans[row.item_id] = start << _SIZE_BITS | size

    def __getitem__(self, item_id: str) -> AnswerRow:
        span = self._spans[item_id]
        assert self._stream is not None
        try:
            self._stream.seek(span >> _SIZE_BITS)
            row = self._decoder.decode(self._stream.read(span & (1 << _SIZE_BITS) - 1))
        except (OSError, msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise self._changed() from error
        if row.item_id != item_id:  # another line begins there now
            raise self._changed()
        return row

    def get(self, item_id: str, default: Any = None) -> Any:
        """The row of an item, or `default`."""
        return self[item_id] if item_id in self._spans else default

    def _changed(self) -> SitusError:
        """The file is open while its rows are scored, and somebody cut or rewrote it meanwhile."""
        return SitusError(
            "the answers changed while they were read",
            where=self._path,
            fix="repeat the command when nothing writes there",
        )

    def __contains__(self, item_id: object) -> bool:
        return item_id in self._spans

    def __iter__(self) -> Iterator[str]:
        return iter(self._spans)

    def __len__(self) -> int:
        return len(self._spans)

    def __del__(self) -> None:
        if self._stream is not None:
            self._stream.close()


_SIZE_BITS = 40
"""Of a number that tells where a row begins and, in its last bits, how many bytes it has."""


def _rows(path: Path) -> Iterator[tuple[AnswerRow, int, int]]:
    """Every row, with where its line begins and how many bytes it has."""
    decoder = msgspec.json.Decoder(AnswerRow)
    check_regular(path)
    end = 0
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(bounded_lines(stream, path), start=1):
                start, end = end, end + len(line)
                if not line.strip():
                    continue
                try:
                    yield decoder.decode(line), start, len(line)
                except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
                    if not line.endswith(b"\n"):
                        return
                    fix = 'each line is one JSON object with "item_id" and "response"'
                    raise SitusError(str(error), where=f"{path}:{number}", fix=fix) from error
    except FileNotFoundError as error:
        raise SitusError(
            "no such file", where=path, fix="give a run folder or an answers.jsonl"
        ) from error
    except OSError as error:
        raise SitusError(
            f"cannot be read ({error.strerror})", where=path, fix="check the path"
        ) from error


class Journal:
    """An open journal to which answers are added, by one process at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.states: dict[str, str] = {}
        """The last state of every item."""
        self.spent = Spent()
        """Tokens of all calls so far, those that failed included."""
        self._file = AppendFile(path)
        self._read()

    def _read(self) -> None:
        try:
            read_journal(self._path, self._count)
        except BaseException:
            self._file.close()
            raise

    def is_done(self, item_id: str) -> bool:
        """Whether the item has an answer; a failed call is none."""
        return self.states.get(item_id, "failed") != "failed"

    def add(self, row: AnswerRow) -> None:
        """Append one answer and hand it to the operating system at once."""
        self._file.add(row)
        self._count(row)

    def _count(self, row: AnswerRow) -> None:
        if not self.is_done(row.item_id):
            self.states[row.item_id] = row.state
        if row.usage and not row.cached:
            self.spent = self.spent.plus(row.usage)

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
        if isinstance(error, KeyboardInterrupt):
            error.add_note("finished answers are kept; the same command resumes")
