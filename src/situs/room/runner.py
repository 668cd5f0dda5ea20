"""A run in a room: a model or a scripted reader, session by session, resumable at any turn."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from situs.base.files import canonical_json, read_json, write_atomic
from situs.bench import Bench
from situs.clients import (
    Client,
    Spec,
    Tally,
    Terms,
    ask,
)
from situs.clients.turns import is_proved
from situs.errors import SitusError
from situs.items import Item
from situs.profiles import Profile
from situs.room.journal import FILE, ReplyRow, TurnJournal
from situs.room.readers import Reader, make_reader
from situs.room.schema import Room
from situs.room.session import SessionSettings
from situs.room.sessions import Sessions
from situs.room.source import RoomSource
from situs.room.tools.ladder import parse_tools
from situs.room.tools.segmentation import SegmentationTool
from situs.room.view.opened import OpenScans
from situs.run import Journal, Presents, RunResult, start_run
from situs.run.balance import set_aside
from situs.run.folder import Conditions, Covered, FolderBefore, add_notes
from situs.run.hidden import SET_ASIDE, HiddenItems
from situs.run.options import RunOptions
from situs.run.plan import Plan, plan_run
from situs.run.result import result_of
from situs.run.runner import begin_asking

__all__ = ["RoomResult", "run_reader", "run_sessions"]


class RoomResult(RunResult, frozen=True, kw_only=True):
    """As of any run; `requests` are turns asked now, `turns` and `looks` those of the whole run."""

    turns: int = 0
    looks: int = 0
    ends: dict[str, int] = msgspec.field(default_factory=dict)
    """How sessions ended: `answered`, `refused`, `over_budget`, `no_progress`, `invalid`, `cut`."""


def run_sessions(
    bench: Bench,
    client: Client,
    spec: Spec,
    presenter: Presents,
    profile: Profile,
    out: Path,
    *,
    room: Room,
    turns: str = "auto",
    **run_options: Any,
) -> RoomResult:
    """Let a model read every item that has no answer yet; as `run_client`, with a session in place
    of a request.

    `turns` is how actions are given: `schema` (a JSON object), `tools` (native calls), or `auto`:
    native calls where `situs adapter-check --room` proved them. `run_options` are fields of
    `RunOptions`.
    """
    options = RunOptions(**run_options)
    if options.batch:
        problem = "each turn of a session depends on the one before, so there are no batch jobs"
        raise SitusError(problem, where="--batch", fix="leave it out, or leave --room out")
    limits, price = options.limits, options.price
    named = room.name, room.hash, room.tools
    folder = FolderBefore(out)
    plan, settings, info = begin_asking(bench, client, spec, profile, out, options, room=named)
    native = turns == "tools" or (turns == "auto" and is_proved(client))
    how = SessionSettings(settings, native, options.withhold)
    _keep_room(out, room)
    with folder.unless_it_ends(paid=True), _Books(out) as books:
        left = books.left(plan, skip_hidden=options.skip_hidden)
        before = len(plan.item_ids) - len(left)
        sessions = books.sessions(
            bench,
            plan.items(left.__contains__) if left else iter(()),
            RoomSource(presenter),
            (room, profile, how),
            at_once=limits.concurrency,
            skip_hidden=options.skip_hidden,
        )

        def show(tally: Tally) -> None:
            tally.items, tally.looks = sessions.ended, sessions.looks
            options.progress(tally, before, len(plan.item_ids))

        asked = ask(
            client,
            sessions.requests(),
            sessions.record,
            Terms(bench.info.restricted, options.allow_remote, limits, price, books.turns.spent),
            cache=options.cache,
            progress=show,
            say=options.say,
        )
        info = add_notes(out, info, asked.notices)
        hidden = books.hidden_now(plan)
        plain = result_of(plan, books.answers, asked, hidden, info.notes)
        return books.result(plain)


def run_reader(
    bench: Bench,
    spec: Spec,
    profile: Profile,
    out: Path,
    *,
    room: Room,
    presenter: Presents,
    progress: Callable[[int, int], None] = lambda done, total: None,
    **run_options: Any,
) -> RoomResult:
    """Let a scripted reader, or a baseline that never looks, read every item;
    through the same sessions."""
    options = RunOptions(**run_options)
    split, limit, withhold = options.split, options.limit, options.withhold
    reader = make_reader(bench, spec, profile, room)
    plan = plan_run(bench, split, limit, options.shard)
    if not (out / "answers.jsonl").exists():
        plan.read_through()
    folder = FolderBefore(out)
    start_run(
        out,
        bench,
        spec,
        profile,
        Covered(split, limit),
        Conditions(withheld=withhold, room=(room.name, room.hash, room.tools)),
    )
    _keep_room(out, room)
    begin = time.monotonic()
    with folder.unless_it_ends(paid=False), _Books(out) as books:
        left = books.left(plan)
        how = SessionSettings(withheld=withhold)
        sessions = books.sessions(
            bench, iter(()), RoomSource(presenter), (room, profile, how), at_once=1
        )
        done = len(plan.item_ids) - len(left)
        turns = 0
        for item in plan.items(left.__contains__) if left else iter(()):
            turns += _read(reader, item, sessions, books.turns)
            done += 1
            progress(done, len(plan.item_ids))
        hidden = books.hidden_now(plan)
        states = Counter(
            books.answers.states[one] for one in plan.item_ids if one in books.answers.states
        )
        return books.result(
            RunResult(
                len(plan.item_ids),
                dict(sorted(states.items())),
                turns,
                time.monotonic() - begin,
                0.0,
                hidden=sum(one in hidden for one in plan.item_ids),
                unasked=len(plan.item_ids) - sum(states.values()),
            )
        )


def _read(reader: Reader, item: Item, sessions: Sessions, journal: TurnJournal) -> int:
    """One session of a scripted reader; how many turns it took."""
    session = sessions.begin(item)
    if session is None:
        return 0
    reader.begin(item, session)
    turns = 0
    while not session.end:
        reply = reader.reply(session)
        journal.add(ReplyRow.of(item.item_id, session.turn + 1, reply, 0.0))
        reader.learn(sessions.advance(item.item_id, reply, 0.0))
        turns += 1
    return turns


class _Books:
    """The files of a run in a room, open together."""

    def __init__(self, out: Path) -> None:
        self._stack = ExitStack()
        with ExitStack() as stack:
            self.answers = stack.enter_context(Journal(out / "answers.jsonl"))
            self.hidden = stack.enter_context(HiddenItems(out / "hidden.jsonl"))
            self.turns = stack.enter_context(TurnJournal(out / FILE, self.answers.is_done))
            self._stack = stack.pop_all()
        self._path = out / "answers.jsonl"

    def __enter__(self) -> _Books:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def left(self, plan: Plan, *, skip_hidden: bool = False) -> set[str]:
        """The items to ask that have no answer yet."""
        left = {item_id for item_id in plan.part() if not self.answers.is_done(item_id)}
        return left - self.hidden.reasons.keys() if skip_hidden else left

    def sessions(
        self,
        bench: Bench,
        items: Iterator[Item],
        source: RoomSource,
        what: tuple[Room, Profile, SessionSettings],
        *,
        at_once: int,
        skip_hidden: bool = False,
    ) -> Sessions:
        """The sessions of these items."""
        room, profile, how = what
        scans = OpenScans(bench, room, profile, source.volumes)
        tool = SegmentationTool(parse_tools(room.tools), bench, scans)
        return Sessions(
            items,
            source,
            scans,
            tool,
            how,
            (self.turns, self.answers, self.hidden),
            at_once=at_once,
            skip_hidden=skip_hidden,
        )

    def hidden_now(self, plan: Plan) -> set[str]:
        """The items that nobody can answer;
        with all items done, twins are set aside as in any run."""
        reasons = self.hidden.reasons
        unseen = {item_id for item_id, why in reasons.items() if SET_ASIDE not in why}
        done = self.answers.is_done
        if unseen and all(done(item_id) or item_id in unseen for item_id in plan.item_ids):
            for item_id in set_aside(plan.items(lambda _: True), unseen):
                self.hidden.add(item_id, (SET_ASIDE,))
        return unseen

    def result(self, plain: RunResult) -> RoomResult:
        """With what rooms count beside."""
        ends: Counter[str] = Counter()
        for row in _answer_rows(self._path):
            ends[row] += 1
        return RoomResult(
            **msgspec.structs.asdict(plain),
            turns=self.turns.turns,
            looks=self.turns.looks,
            ends=dict(sorted(ends.items())),
        )


def _answer_rows(path: Path) -> Iterator[str]:
    """How each session ended; one that failed has not."""
    from situs.run import read_journal

    for row in read_journal(path).values():
        if row.state != "failed":
            yield row.finish_reason


def _keep_room(out: Path, room: Room) -> None:
    path = out / "room.json"
    if not path.is_file():
        # Windows keep their order: the first is the one that is open, and all are told in it.
        write_atomic(path, msgspec.json.format(msgspec.json.encode(room), indent=2) + b"\n")
    elif canonical_json(read_json(path, Room)) != canonical_json(room):
        raise SitusError(
            "was run in another room", where=out, fix="choose another --out, or the same room"
        )
