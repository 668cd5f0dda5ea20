"""Every column of every table edited by hand, every row planted, removed or exchanged: `verify`
finds it, or a reason is written here why it says nothing of the record."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Boolean, Float, Integer, Table, delete, func, insert, select, text, update
from sqlalchemy.orm import Session
from test_station_record import problems

from conftest import Running, ok

FREE = {
    # Unfinished work, and the number by which a stale page is refused: neither is a result.
    "assignments.draft",
    "assignments.version",
    # Of a case that nobody began: what was handed out is told by its random id.
    "assignments.id",
    # A browser that is asked for the password again, or is not: its own session at most.
    "sessions.seen",
    "sessions.locked",
    # What a repeated submit was answered; without its row it is refused as stale.
    "request_keys.user_id",
    "request_keys.key",
    "request_keys.request_hash",
    "request_keys.answer",
    "request_keys.at",
}
MAY_GO = {"sessions", "invites", "request_keys"}
"""Without a row of these somebody has to sign in or be invited again."""


@pytest.fixture
def whole(reading: Running) -> Running:
    """A station with something in every table: readings, a correction, a signed block, a decision,
    a reader who left, open invitations."""
    done = {}
    for code, score, flags in (("R1", 2, ()), ("R2", 0, ("key wrong",))):
        person = reading.person(code)
        while (view := person.case()) is not None:
            done[code] = person.read(view, score, flags if view["kind"] == "item" else ())
    first, view = reading.person("R1"), done["R1"]
    body = {"score": 1, "reason": "second look"}
    ok(first.send(f"/assignments/{view['id']}/amend", body, version=view["version"]))
    for block in ok(first.get("/blocks"))["blocks"]:
        if block["block"] and block["done"] == block["cases"]:
            ok(first.send(f"/blocks/{block['project']}/{block['block']}/sign"))
    judge = reading.person("J1")
    view = judge.case()
    shown = ok(judge.answer(view))
    said = {"decision": "fix", "key_wrong": False, "reason": "why"}
    ok(judge.send(f"/assignments/{view['id']}/decision", said, version=shown["version"]))
    ok(reading.person("C1").send(f"/projects/{reading.project()}/release", {"reader": "R2"}))
    assert problems(reading) == []
    return reading


class Hand:
    """Somebody with the database's file and the right to drop its guards, and to put them back."""

    def __init__(self, running: Running) -> None:
        self.running = running
        self.sqlite = running.database.engine.dialect.name == "sqlite"

    def found(self, *statements: Any) -> list[str] | None:
        """What `verify` finds after some edits, which are then undone; None if none took hold."""
        from situs.review.station.store.verify import verify

        with self.running.database.engine.connect() as connection:
            guards = self._lift(connection)
            touched = [connection.execute(statement).rowcount for statement in statements]
            for guard in guards:
                connection.execute(text(guard))
            if not self.sqlite:
                connection.execute(text("SET LOCAL session_replication_role = DEFAULT"))
            with Session(connection) as db:
                result = verify(db, self.running.folder).problems
            connection.rollback()
        return result if all(touched) else None

    def _lift(self, connection: Any) -> list[str]:
        if not self.sqlite:
            connection.execute(text("SET LOCAL session_replication_role = replica"))
            return []
        connection.execute(text("PRAGMA defer_foreign_keys = ON"))
        query = text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        guards = connection.execute(query).all()
        for name, _ in guards:
            connection.execute(text(f"DROP TRIGGER {name}"))
        return [sql for _, sql in guards]


def tables() -> list[Table]:
    from situs.review.station.store.tables import Base

    return list(Base.metadata.sorted_tables)


def rows_of(running: Running, table: Table) -> list[Any]:
    """Its first, middle and last row; of the assignments one of each purpose and state."""
    with running.database.engine.connect() as connection:
        rows = connection.execute(select(table).order_by(*table.primary_key)).all()
        connection.rollback()
    if table.name == "assignments":
        return list({(row.purpose, row.state): row for row in rows}.values())
    return [rows[n] for n in sorted({0, len(rows) // 2, len(rows) - 1})]


def this_row(table: Table, row: Any) -> Any:
    conditions = [column == getattr(row, column.name) for column in table.primary_key]
    result = conditions[0]
    for condition in conditions[1:]:
        result &= condition
    return result


def another(column: Any, value: Any) -> Any:
    """Another value that the column takes."""
    if isinstance(value, dict):
        return {**value, "more": 1}
    if isinstance(value, list):
        return [*value, "auditor2"]
    if isinstance(column.type, Boolean):
        return not value
    if isinstance(column.type, Integer):
        return (value or 0) + 100_003
    if isinstance(column.type, Float):
        return value + 10_000.0
    if column.type.length == len(value):
        return ("0" if value[0] != "0" else "1") + value[1:]
    return value + "x"


def edits(running: Running) -> Iterator[tuple[str, Any]]:
    for table in tables():
        for row in rows_of(running, table):
            for column in table.columns:
                value = another(column, getattr(row, column.name))
                statement = update(table).where(this_row(table, row)).values({column.name: value})
                yield f"{table.name}.{column.name}", statement


def test_every_column_edited_by_hand_is_found(whole: Running) -> None:
    hand = Hand(whole)
    seen, missed = set(), set()
    for name, statement in edits(whole):
        seen.add(name)
        if hand.found(statement) == []:
            missed.add(name)
    assert seen == {f"{table.name}.{column.name}" for table in tables() for column in table.columns}
    assert missed == FREE
    assert problems(whole) == []


def test_a_row_removed_by_hand_is_found(whole: Running) -> None:
    hand = Hand(whole)
    for table in tables():
        for row in rows_of(whole, table):
            found = hand.found(delete(table).where(this_row(table, row)))
            assert found is not None
            assert bool(found) != (table.name in MAY_GO), (table.name, found)


def test_a_row_planted_by_hand_is_found(whole: Running) -> None:
    """Also what opens a door: an invitation or a session of somebody else's account."""
    hand = Hand(whole)
    for table in tables():
        if table.name == "request_keys":
            continue
        row = dict(rows_of(whole, table)[-1]._mapping)
        for column in table.columns:
            if column.primary_key or column.unique:
                row[column.name] = another(column, row[column.name])
            elif column.name == "version" and table.name in ("readings", "adjudications"):
                row["version"] += 1
        if table.name == "assignments":
            row["purpose"] = "judge"  # each person has a unit once for a purpose
        found = hand.found(insert(table).values(row))
        assert found, table.name


def test_rows_exchanged_by_hand_are_found(whole: Running) -> None:
    """Whole rows in another order: every row is one that the station wrote."""
    hand = Hand(whole)
    for table in tables():
        if table.name in MAY_GO or len(rows_of(whole, table)) < 2:
            continue
        first, *_, last = rows_of(whole, table)
        keys = {column.name for column in table.primary_key}
        unique = {column.name for column in table.columns if column.unique}
        rest = [c.name for c in table.columns if c.name not in keys | unique]
        if table.name == "assignments":
            rest = ["block", "position", "state"]
        if table.name == "readings":
            rest = ["body", "active_ms", "at"]
        pairs = ((first, last), (last, first))
        statements = [
            update(table).where(this_row(table, one)).values({n: getattr(other, n) for n in rest})
            for one, other in pairs
        ]
        assert hand.found(*statements), table.name


def test_an_event_that_says_nothing_is_found(whole: Running) -> None:
    """No kind of event is believed to have the form that the station gives it."""
    hand, events = Hand(whole), next(table for table in tables() if table.name == "events")
    with whole.database.engine.connect() as connection:
        first_of_kind = select(func.min(events.c.sequence)).group_by(events.c.kind)
        sequences = connection.execute(first_of_kind).scalars().all()
        connection.rollback()
    assert len(sequences) > 8
    for sequence, body in itertools.product(sequences, ({}, {"project": 1, "user": []})):
        edit = update(events).where(events.c.sequence == sequence).values(body=body)
        assert f"event {sequence} was changed" in (hand.found(edit) or [])


def test_heads_cut_by_hand_are_found(whole: Running) -> None:
    """The record could be rewritten from the last head on."""
    log = whole.folder.heads
    lines = log.read_bytes().splitlines(keepends=True)
    # An event has two lines: one before it is kept, one after.
    shorter: tuple[list[bytes], ...] = (lines[:-2], lines[: len(lines) // 2], [])
    for left in shorter:
        log.write_bytes(b"".join(left))
        assert any("does not hold the newest event" in one for one in problems(whole))
    log.write_bytes(b"".join(lines))
    assert problems(whole) == []


def test_the_record_is_checked_while_people_write(
    reading: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is written in the middle of a check is no damage."""
    from situs.review.station.store import verify as module

    reader = reading.person("R1")
    written: list[int] = []
    real = module._rows

    def slow(*args: Any) -> list[str]:
        reader.read(reader.case())
        written.append(1)
        return real(*args)

    monkeypatch.setattr(module, "_rows", slow)
    with reading.database.read() as db:
        assert module.verify(db, reading.folder).problems == []
    assert written == [1]


def test_lists_of_a_later_reader_belong_to_the_record(whole: Running) -> None:
    """After a reader left, the cases that others took over are told of as well."""
    from situs.review.station.store.tables import Assignment

    with whole.database.read() as db:
        most = db.scalar(select(func.max(Assignment.position)))
    moved = update(Assignment).where(Assignment.position == most).values(position=most + 1)
    assert any("handed out" in one for one in Hand(whole).found(moved) or [])
