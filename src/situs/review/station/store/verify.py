"""Whether the record is whole: the chain, the rows it vouches for, the work it tells of,
the triggers, and the heads kept outside."""

from __future__ import annotations

import hmac
import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Self

import msgspec
from sqlalchemy import inspect, select, text
from sqlalchemy.orm import Session as Connection

from situs.review.station.folder import Heads, StationFolder
from situs.review.station.protocol import ReadingProtocol
from situs.review.station.store.chain import FIRST, event_hash, row_digest, snapshot_hash
from situs.review.station.store.tables import (
    IMMUTABLE,
    Adjudication,
    Event,
    Protocol,
    Reading,
    Snapshot,
)
from situs.review.station.store.verify_work import Told, work_problems

__all__ = ["Verified", "verify"]

_MOST = 50


class Verified(msgspec.Struct, frozen=True):
    """What a check of the record found."""

    events: int
    ok: bool
    head: str
    problems: list[str]


class _Problems:
    """The first problems, and how many there are: a file of others may have any number."""

    def __init__(self) -> None:
        self._first: list[str] = []
        self.count = 0

    def __iadd__(self, found: Iterable[str]) -> Self:
        for problem in found:
            self.count += 1
            if self.count <= _MOST:
                self._first.append(problem)
        return self

    def told(self) -> list[str]:
        """The first of them and the number of the others."""
        more = self.count - _MOST
        return [*self._first, f"and {more} more"] if more > 0 else self._first


def verify(db: Connection, folder: StationFolder) -> Verified:
    """Walk the whole chain, also while people write: the heads are read before anything of the
    database is, so that none is of a later link."""
    heads = folder.note_heads()
    problems = _Problems()
    previous, count = FIRST, 0
    vouched: dict[tuple[str, int], str] = {}
    hashes: dict[int, str] = {}
    told = Told()
    for event in db.scalars(
        select(Event).order_by(Event.sequence).execution_options(yield_per=500)
    ):
        count += 1
        if event.sequence != count:
            problems += [f"event {count} is missing"]
            count = event.sequence
        if event.previous != previous:
            problems += [f"event {event.sequence} does not follow the one before"]
        if event.hash != event_hash(event):
            problems += [f"event {event.sequence} was changed"]
        previous = event.hash
        hashes[event.sequence] = event.hash
        try:
            if "table" in event.body:
                vouched[event.body["table"], event.body["row"]] = event.body["digest"]
            told.hear(event)
        except (KeyError, TypeError, ValueError):  # only a body written by somebody else
            problems += [f"event {event.sequence} does not say what it should"]
    problems += _rows(db, vouched)
    problems += _frozen(db, told)
    problems += work_problems(db, told)
    problems += _heads(folder, heads, hashes)
    problems += _last_head(folder, count, previous)
    problems += _triggers(db)
    return Verified(count, not problems.count, previous, problems.told())


def _rows(db: Connection, vouched: dict[tuple[str, int], str]) -> list[str]:
    """Rows that no event vouches for, rows that were changed, and rows that are gone."""
    problems = []
    left = set(vouched)
    rows: Iterator[Reading | Adjudication] = itertools.chain(
        db.scalars(select(Reading).execution_options(yield_per=500)),
        db.scalars(select(Adjudication).execution_options(yield_per=500)),
    )
    for row in rows:
        key = (row.__tablename__, row.id)
        if key not in vouched:
            problems.append(f"{key[0]} {row.id} was added outside the station")
        elif vouched[key] != row_digest(row):
            problems.append(f"{key[0]} {row.id} was changed")
        left.discard(key)
    return problems + [f"{table} {row} was removed" for table, row in sorted(left)]


def _frozen(db: Connection, told: Told) -> Iterator[str]:
    """Items and protocols that are not those that were taken in."""
    snapshots: set[str] = set()
    for snapshot in db.scalars(select(Snapshot).execution_options(yield_per=100)):
        snapshots.add(snapshot.hash)
        if snapshot_hash(snapshot.shown, snapshot.hidden) != snapshot.hash:
            yield f"snapshot {snapshot.hash[:8]} was changed"
    protocols: set[str] = set()
    for protocol in db.scalars(select(Protocol)):
        protocols.add(protocol.hash)
        if not _is_protocol(protocol):
            yield f"protocol {protocol.hash[:8]} was changed"
    for what, present, taken_in in (
        ("snapshot", snapshots, told.snapshots),
        (
            "protocol",
            protocols,
            {about["protocol"] for about in told.projects.values() if "protocol" in about},
        ),
    ):
        yield from (f"{what} {name[:8]} was removed" for name in sorted(taken_in - present))
        yield from (
            f"{what} {name[:8]} was added outside the station"
            for name in sorted(present - taken_in)
        )


def _is_protocol(protocol: Protocol) -> bool:
    """Whether a protocol's body is that of its hash, under its own name."""
    try:
        read = msgspec.convert(protocol.body, ReadingProtocol)
        return (read.hash, read.name) == (protocol.hash, protocol.name)
    except msgspec.ValidationError:
        return False


def _heads(folder: StationFolder, heads: Heads | None, hashes: dict[int, str]) -> Iterator[str]:
    """Heads noted outside the database that the chain no longer has:
    it was cut short or computed anew."""
    if heads is None:
        if hashes:
            yield "heads.log is missing"
        return
    for number, line in enumerate(heads, 1):
        words = line.split(" ")
        is_next = words[3:] == ["next"]
        if len(words) != 3 + is_next or not words[0].isdigit():
            continue  # a line that a crash cut short says nothing
        sequence, head, mac = words[:3]
        wanted = folder.mac("next" if is_next else "head", sequence, head)
        if not hmac.compare_digest(wanted.encode(), mac.encode()):
            yield f"heads.log:{number} was changed"
        elif is_next:
            continue  # its event need not have been kept
        elif int(sequence) not in hashes:
            yield f"event {sequence} and what follows it were removed"
        elif hashes[int(sequence)] != head:
            yield f"event {sequence} is not the one that was written"


def _last_head(folder: StationFolder, sequence: int, head: str) -> list[str]:
    """Whether the newest event is among the heads: without it, those after the last head could
    have been computed anew.

    A head is noted before its event is kept, too, so that it is there whenever a program was
    killed.
    """
    heads = folder.note_heads()
    noted = {folder.head_line(sequence, head, is_next=is_next).strip() for is_next in (True, False)}
    if not sequence or heads is None or any(line in noted for line in heads):
        return []
    return [f"heads.log does not hold the newest event ({sequence}): it was cut"]


def _triggers(db: Connection) -> list[str]:
    """Tables whose guards are gone, switched off, or refuse nothing any more."""
    refused = {"UPDATE", "DELETE"}
    if db.get_bind().dialect.name == "sqlite":
        query = "SELECT tbl_name, sql FROM sqlite_master WHERE type = 'trigger'"
    else:
        refused.add("TRUNCATE")
        # 'O' and 'A' fire on ordinary writes; 'R' on those of a replica only.
        query = (
            "SELECT relname, pg_get_triggerdef(pg_trigger.oid) || ' ' || btrim(prosrc) "
            "FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid "
            "JOIN pg_proc ON pg_proc.oid = tgfoid "
            "WHERE NOT tgisinternal AND tgenabled IN ('O', 'A')"
        )
    kept: dict[str, set[str]] = defaultdict(set)
    for table, words in db.execute(text(query)):
        guard = _GUARD.search(words)
        kept[table] |= set(_VERB.findall(guard[1])) if guard else set()
    present = set(inspect(db.connection()).get_table_names())
    return [
        f"the trigger that protects table {table} is missing"
        for table in IMMUTABLE
        if table in present and not kept[table] >= refused
    ]


_GUARD = re.compile(
    r" BEFORE (.+?) ON [\w.]+ (?:FOR EACH \w+ EXECUTE FUNCTION \S+ )?"
    r"BEGIN (?:SELECT RAISE\(ABORT|RAISE EXCEPTION)"
)
"""A trigger that refuses before all else; one with a condition (WHEN) may not come to that."""
_VERB = re.compile(r"UPDATE|DELETE|TRUNCATE")
