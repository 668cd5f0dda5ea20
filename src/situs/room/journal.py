"""`turns.jsonl`: every reply and what came of it, append-only,
so that a crash loses at most the turn in flight."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import msgspec

from situs.base.files import bounded_lines, check_regular
from situs.clients import Reply, Spent, ToolCall
from situs.errors import SitusError
from situs.items import Answer, Item
from situs.room.tools.measures import ToolWord
from situs.room.view.evidence import Sighting, Target
from situs.room.view.scan import Look
from situs.run import AppendFile

__all__ = ["FILE", "Opened", "Outcome", "ReplyRow", "SessionRows", "TurnJournal", "read_turns"]

FILE = "turns.jsonl"


class Opened(msgspec.Struct, frozen=True, tag="opened", tag_field="row"):
    """A session begins: what decides its item, and what a lying tool would have it answer.

    Never sent.
    """

    item_id: str
    targets: tuple[Target, ...] = ()
    """Empty where nobody knows what has to be seen."""
    lie: str = ""
    lied_answer: Answer | None = None
    """None where the lie changes nothing about the item."""
    slices: dict[str, int] = {}
    """Plane → how many slices there are to see."""
    native: bool = False
    """Whether actions were asked for as native tool calls."""
    shown: Item | None = None
    """The item on the scan that was shown, where a probe shows another patient's."""


class ReplyRow(msgspec.Struct, frozen=True, tag="reply", tag_field="row"):
    """What the model said in a turn, verbatim; written before anything is made of it."""

    item_id: str
    turn: int
    """From 1."""
    state: Literal["answered", "refused", "failed"] = "answered"
    text: str = ""
    usage: dict[str, float] = {}
    seconds: float = 0.0
    finish_reason: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    error: str = ""
    cached: bool = False

    @classmethod
    def of(cls, item_id: str, turn: int, reply: Reply, seconds: float) -> ReplyRow:
        """From what a client returned."""
        return cls(
            item_id,
            turn,
            reply.state,
            reply.text,
            reply.usage,
            round(seconds, 3),
            reply.finish_reason,
            reply.tool_calls,
            reply.error,
            reply.cached,
        )

    def reply(self) -> Reply:
        """As the client returned it."""
        return Reply(
            self.state,
            self.text,
            self.usage,
            self.finish_reason,
            self.tool_calls,
            self.error,
            cached=self.cached,
        )


class Outcome(msgspec.Struct, frozen=True, tag="outcome", tag_field="row"):
    """What a reply came to; it follows from the replies and the scan, and replays to the same."""

    item_id: str
    turn: int
    state: Literal["done", "invalid", "cut", "refused"]
    action: str = ""
    arguments: dict[str, Any] = {}
    words: str = ""
    """What was sent back beside a picture."""
    look: Look | None = None
    picture: int = 0
    """Its number in the session, from 1; 0 without one."""
    digest: str = ""
    """Of the encoded picture."""
    size: tuple[int, int] = (0, 0)
    sightings: tuple[Sighting, ...] = ()
    points: tuple[tuple[float, ...], ...] = ()
    length_mm: float | None = None
    tool: ToolWord | None = None
    must_answer: str = ""
    """Why only an answer is accepted from now on: `looks`, `turns`, `pixels`, `tokens`, `repeats`,
    `invalid` or `cut`."""
    end: str = ""
    """How the session ended: `answered`, `refused`,
    `over_budget`, `no_progress`, `invalid` or `cut`."""
    response: str = ""


Row = Opened | ReplyRow | Outcome


class SessionRows(msgspec.Struct):
    """The rows of one item's session, failed calls left out."""

    opened: Opened | None = None
    replies: list[ReplyRow] = []
    outcomes: list[Outcome] = []

    def add(self, row: Row) -> None:
        """One more row; a turn that stands there already is left as it was."""
        if isinstance(row, Opened):
            self.opened = self.opened or row
        elif isinstance(row, Outcome):
            if row.turn == len(self.outcomes) + 1:
                self.outcomes.append(row)
        elif row.state != "failed" and row.turn == len(self.replies) + 1:
            self.replies.append(row)

    @property
    def end(self) -> str:
        """How it ended; empty while it goes on."""
        return self.outcomes[-1].end if self.outcomes else ""


def read_turns(path: Path) -> Iterator[Row]:
    """Every row of the journal; a line that is cut off at the end (a crash) is left out."""
    decoder = msgspec.json.Decoder(Row)
    check_regular(path)
    if not path.is_file():
        return
    with path.open("rb") as stream:
        for number, line in enumerate(bounded_lines(stream, path), start=1):
            try:
                yield decoder.decode(line)
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
                if not line.endswith(b"\n"):
                    return
                raise SitusError(
                    str(error), where=f"{path}:{number}", fix="restore the file, or run again"
                ) from error


class TurnJournal:
    """The journal while a run goes on. Sessions that have ended are not kept in memory."""

    def __init__(self, path: Path, is_done: Callable[[str], bool] = lambda item_id: False) -> None:
        """Of items that are done nothing is kept in memory."""
        self._file = AppendFile(path)
        self._lock = threading.Lock()
        self._sessions: dict[str, SessionRows] = {}
        self.spent = Spent()
        """Tokens of all calls so far, failed ones included."""
        self.turns = 0
        self.looks = 0
        try:
            for row in read_turns(path):
                self._count(row)
                if not is_done(row.item_id):
                    self._sessions.setdefault(row.item_id, SessionRows()).add(row)
        except BaseException:
            self._file.close()
            raise

    def session(self, item_id: str) -> SessionRows:
        """What stands there of an item's session."""
        return self._sessions.pop(item_id, None) or SessionRows()

    def add(self, row: Row) -> None:
        """Append a row and hand it to the operating system at once; from any thread."""
        with self._lock:
            self._file.add(row)
            self._count(row)

    def _count(self, row: Row) -> None:
        if isinstance(row, ReplyRow):
            self.turns += row.state != "failed"
            if row.usage and not row.cached:
                self.spent = self.spent.plus(row.usage)
        elif isinstance(row, Outcome):
            self.looks += row.picture > 0

    def __enter__(self) -> TurnJournal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
