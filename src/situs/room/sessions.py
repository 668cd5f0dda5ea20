"""Many sessions at once: each waits for its reply while others act,
and every turn is journalled."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from situs.base.files import digest
from situs.clients import Reply, Request
from situs.errors import SitusError
from situs.items import Item
from situs.room.journal import Opened, Outcome, ReplyRow, SessionRows, TurnJournal
from situs.room.session import Session, SessionSettings
from situs.room.source import RoomSource
from situs.room.tools.segmentation import SegmentationTool
from situs.room.view.opened import OpenScans
from situs.run.hidden import HiddenItems
from situs.run.journal import AnswerRow, Journal

__all__ = ["Sessions"]

_WAIT_SECONDS = 0.05
"""How long the maker of requests waits for a reply before it looks whether it is still wanted."""


@dataclass
class _Open:
    """A session that goes on, and what it has used."""

    session: Session
    shown: Item
    usage: dict[str, float]
    seconds: float = 0.0
    cached: bool = True


class Sessions:
    """Opens sessions as there is room, and turns replies into requests.

    `requests` runs in the thread that makes requests, `record` in the event loop; what passes
    between them is a queue.
    """

    def __init__(
        self,
        items: Iterator[Item],
        source: RoomSource,
        scans: OpenScans,
        tool: SegmentationTool,
        how: SessionSettings,
        journals: tuple[TurnJournal, Journal, HiddenItems],
        *,
        at_once: int,
        skip_hidden: bool = False,
    ) -> None:
        self._items = items
        self._source = source
        self._scans = scans
        self._tool = tool
        self._how = how
        self._turns, self._answers, self._hidden = journals
        self._at_once = at_once
        self._skip_hidden = skip_hidden
        self._waiting: Item | None = None
        self._open: dict[str, _Open] = {}
        self._replies: deque[tuple[str, Reply, float]] = deque()
        self._arrived = threading.Condition()
        self.ended = 0
        self.looks = 0

    def record(self, request: Request, reply: Reply, seconds: float) -> None:
        """A reply came: it is on disk before anything is made of it."""
        item_id, _, turn = request.key.rpartition("#")
        self._turns.add(ReplyRow.of(item_id, int(turn), reply, seconds))
        with self._arrived:
            self._replies.append((item_id, reply, seconds))
            self._arrived.notify()

    def requests(self) -> Iterator[Request | None]:
        """The next request of any session; None where all of them wait for replies."""
        while True:
            if self._replies:
                request = self._continue(*self._replies.popleft())
                if request is not None:
                    yield request
                continue
            item = self._next_item()
            if item is not None:
                request = self._begin(item)
                if request is not None:
                    yield request
                continue
            if not self._open:
                return
            with self._arrived:
                if not self._replies:
                    self._arrived.wait(_WAIT_SECONDS)
            if not self._replies:
                yield None

    def _next_item(self) -> Item | None:
        """An item whose session may begin now: few are open, on few scans."""
        if len(self._open) >= self._at_once:
            return None
        if self._waiting is None:
            self._waiting = next(self._items, None)
        item = self._waiting
        if item is None:
            return None
        shown_item = self._source.shown_item(item)
        if not self._scans.has_room_for((shown_item.study_id, shown_item.series)):
            return None
        self._waiting = None
        return item

    def begin(self, item: Item) -> Session | None:
        """Open the session of an item, or take it up where its journal ends;
        None if it is not asked or over."""
        shown_item = self._source.shown_item(item)
        record = self._scans.record((shown_item.study_id, shown_item.series))
        if record is None or not record.image_hash:
            self._hidden.add(item.item_id, ("its study has no image to look at",))
            return None
        opened = self._scans.take(shown_item)
        try:
            rows = self._turns.session(item.item_id)
            reasons = self._source.hidden(item, opened)
            self._hidden.add(item.item_id, reasons)
            if reasons and self._skip_hidden:
                self._scans.give_back(shown_item)
                return None
            same = shown_item is item
            if rows.opened is None:
                rows.opened = Opened(
                    item.item_id,
                    opened.targets(item) if same else (),
                    self._tool.lie,
                    self._tool.lied_answer(item, opened) if same else None,
                    {plane: opened.scan.count(plane) for plane in opened.scan.planes},
                    self._how.native,
                    None if same else shown_item,
                )
                self._turns.add(rows.opened)
            session = Session(
                item,
                opened,
                # A session goes on as it began, whatever was proved of the server since.
                msgspec.structs.replace(self._how, native=rows.opened.native),
                targets=rows.opened.targets,
                shown=shown_item,
                segmentation=self._tool.for_item(item, opened),
            )
            going = _Open(session, shown_item, {})
            self._open[item.item_id] = going
            self._replay(going, rows)
        except BaseException:
            self._open.pop(item.item_id, None)
            raise
        return session if item.item_id in self._open else None

    def _begin(self, item: Item) -> Request | None:
        session = self.begin(item)
        return None if session is None else session.request()

    def _replay(self, going: _Open, rows: SessionRows) -> None:
        """Take the journalled replies again; what came of them must be the same."""
        for row in rows.replies:
            outcome = going.session.step(row.reply())
            self._count(going, row.reply(), row.seconds)
            stored = rows.outcomes[row.turn - 1] if row.turn <= len(rows.outcomes) else None
            if stored is None:
                self._turns.add(outcome)
            elif stored.digest != outcome.digest or stored.words != outcome.words:
                problem = (
                    f"turn {row.turn} of {row.item_id} does not replay: the scan or Situs has"
                    " changed"
                )
                raise SitusError(problem, fix="choose another --out and run again")
            if outcome.end:
                self._finish(going, outcome)
                return

    def advance(self, item_id: str, reply: Reply, seconds: float) -> Outcome:
        """Take a reply that is in the journal; the session may end by it."""
        going = self._open[item_id]
        outcome = going.session.step(reply)
        self._turns.add(outcome)
        self.looks += outcome.picture > 0
        self._count(going, reply, seconds)
        if outcome.end:
            self._finish(going, outcome)
        return outcome

    def _continue(self, item_id: str, reply: Reply, seconds: float) -> Request | None:
        going = self._open[item_id]
        if reply.state == "failed":
            self._count(going, reply, seconds)
            self._close(going, AnswerRow(item_id, "failed", error=reply.error))
            return None
        outcome = self.advance(item_id, reply, seconds)
        return None if outcome.end else going.session.request()

    def _count(self, going: _Open, reply: Reply, seconds: float) -> None:
        for name, value in reply.usage.items():
            going.usage[name] = going.usage.get(name, 0) + value
        going.seconds += seconds
        going.cached = going.cached and reply.cached

    def _finish(self, going: _Open, outcome: Outcome) -> None:
        self._close(
            going,
            AnswerRow(
                outcome.item_id,
                "refused" if outcome.end == "refused" else "answered",
                outcome.response,
                going.usage,
                round(going.seconds, 3),
                finish_reason=outcome.end,
                cached=going.cached,
            ),
        )

    def _close(self, going: _Open, row: AnswerRow) -> None:
        self._answers.add(row)
        self._scans.give_back(going.shown)
        del self._open[row.item_id]
        self.ended += 1


def session_seed(item_id: str) -> int:
    """A seed of its own for whatever is drawn in an item's session."""
    return int(digest("session", item_id, size=4), 16)
