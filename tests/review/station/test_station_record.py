"""The record: nothing can be rewritten unseen,
exports are complete, and schemas move with their data."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from conftest import Running, ok
from situs.errors import SitusError


@pytest.fixture
def read(reading: Running) -> Running:
    """A station with a few readings."""
    for code in ("R1", "R2"):
        person = reading.person(code)
        for score in (2, 0):
            person.read(person.case(), score)
    return reading


def problems(running: Running) -> list[str]:
    from situs.review.station.store.verify import verify

    with running.database.read() as db:
        return verify(db, running.folder).problems


def by_hand(running: Running, *statements: str) -> None:
    """Edit the database as somebody with its file and the right to drop triggers would."""
    sqlite = running.database.engine.dialect.name == "sqlite"
    with running.database.engine.connect() as connection:
        tables = ("readings", "events", "adjudications", "snapshots")
        guards: list[str] = []
        if sqlite:
            found = connection.execute(
                text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
            )
            for name, sql in found.all():
                guards.append(sql)
                connection.execute(text(f"DROP TRIGGER {name}"))
            connection.execute(text("PRAGMA foreign_keys = OFF"))
        else:
            connection.execute(text("SET session_replication_role = replica"))
        for statement in statements:
            connection.execute(text(statement))
        for guard in guards:
            connection.execute(text(guard))
        if not sqlite:
            connection.execute(text("SET session_replication_role = DEFAULT"))
        connection.commit()
        assert tables


def test_the_guards_refuse(read: Running) -> None:
    assert problems(read) == []
    for statement in (
        "UPDATE readings SET active_ms = 1", "DELETE FROM readings",
        "UPDATE events SET actor = 'x'",
        "DELETE FROM events", "UPDATE snapshots SET shown = '{}'", "DELETE FROM protocols",
    ):  # fmt: skip
        with pytest.raises(SQLAlchemyError), read.database.write() as db:
            db.execute(text(statement))
    assert problems(read) == []


LAST = "(SELECT max(sequence) FROM events)"


@pytest.mark.parametrize(
    ("statements", "finding"),
    [
        (["UPDATE readings SET active_ms = active_ms + 1 WHERE id = 2"], "readings 2 was changed"),
        (["DELETE FROM readings WHERE id = 1"], "readings 1 was removed"),
        (["UPDATE events SET actor = 'R9' WHERE sequence = 4"], "event 4 was changed"),
        (["DELETE FROM events WHERE sequence = 5"], "event 5 is missing"),
        (["UPDATE snapshots SET shown = '{}'"], "snapshot"),
        (["UPDATE protocols SET body = '{}'"], "protocol"),
        ([f"DELETE FROM events WHERE sequence >= {LAST}"], "were removed"),
        (
            [
                "INSERT INTO readings (assignment_id, stage, version, body, reason, active_ms,"
                " slices_seen, at) SELECT assignment_id, stage, 9, body, '', 0, 0, at FROM readings"
                " WHERE id = 1"
            ],
            "added outside the station",
        ),
    ],
)
def test_edits_by_hand_are_found(read: Running, statements: list[str], finding: str) -> None:
    by_hand(read, *statements)
    assert any(finding in one for one in problems(read)), problems(read)


READ = "(SELECT min(assignment_id) FROM readings WHERE stage = 2)"
OPEN = "(SELECT max(id) FROM assignments WHERE state = 'open')"


EDITS = [
    # What leaves a reading out of the results, or puts it under another name or question.
    (f"UPDATE assignments SET state = 'withdrawn' WHERE id = {READ}", "readings say otherwise"),
    (f"UPDATE assignments SET state = 'revealed' WHERE id = {READ}", "readings say otherwise"),
    (f"UPDATE assignments SET state = 'done' WHERE id = {OPEN}", "readings say otherwise"),
    (f"UPDATE assignments SET state = 'signed' WHERE id = {READ}", "its block says otherwise"),
    (
        "UPDATE assignments SET unit_id = (SELECT max(id) FROM units WHERE id NOT IN"
        " (SELECT unit_id FROM assignments AS others WHERE others.user_id ="
        f" assignments.user_id)) WHERE id = {READ}",
        "about another unit",
    ),
    (
        "UPDATE assignments SET user_id = (SELECT id FROM users WHERE code = 'R3')"
        f" WHERE id = {READ}",
        "was read by R1, and stands under R3",
    ),
    ("UPDATE users SET code = 'R8' WHERE code = 'R2'", "account R2 was removed"),
    ("""UPDATE users SET roles = '["coordinator"]' WHERE code = 'R2'""", "account R2 was changed"),
    (
        "INSERT INTO users (id, code, roles, password, active)"
        " SELECT 99, 'X1', roles, '', active FROM users WHERE code = 'R1'",
        "account X1 was added outside the station",
    ),
    ("UPDATE units SET weight = weight * 2 WHERE kind = 'item'", "units of project pilot"),
    ("UPDATE units SET stratum = 'other' WHERE id = 2", "units of project pilot"),
    ("UPDATE units SET kind = 'training' WHERE id = 2", "units of project pilot"),
    ("UPDATE units SET patient = 'p' WHERE id = 3", "units of project pilot"),
    (
        "UPDATE units SET repeat_of = repeat_of + 1 WHERE kind = 'repeat'",
        "hidden repeats of project pilot",
    ),
    ("UPDATE projects SET state = 'locked'", "state of project pilot was changed"),
    ("UPDATE projects SET seed = seed + 1", "seed of project pilot was changed"),
]


def test_work_edited_by_hand_is_found(read: Running) -> None:
    """Readings that are whole say nothing if what stands around them was changed."""
    from sqlalchemy.orm import Session

    from situs.review.station.store.verify import verify

    assert problems(read) == []
    for statement, finding in EDITS:
        with read.database.engine.connect() as connection:
            assert connection.execute(text(statement)).rowcount > 0, statement
            with Session(connection) as db:
                found = verify(db, read.folder).problems
            connection.rollback()
        assert any(finding in one for one in found), (statement, found)


def test_a_whole_study_leaves_no_doubt(read: Running) -> None:
    """Corrections, signatures, a reader who leaves in the middle of a case, decisions, the lock:
    nothing that people do is taken for an edit by hand."""
    first, second, head = read.person("R1"), read.person("R2"), read.person("C1")
    done = first.read(first.case(), 1)
    body = {"score": 2, "reason": "second look"}
    ok(first.send(f"/assignments/{done['id']}/amend", body, version=done["version"]))
    ok(second.answer(second.case()))
    ok(head.send(f"/projects/{read.project()}/release", {"reader": "R2"}))
    for code in ("R1", "R3"):
        person = read.person(code)
        while (view := person.case()) is not None:
            person.read(view, 0 if code == "R3" else 2)
    blocks = ok(first.get("/blocks"))["blocks"]
    for block in (b for b in blocks if b["done"] == b["cases"] and b["block"]):
        ok(first.send(f"/blocks/{block['project']}/{block['block']}/sign"))
    judge = read.person("J1")
    view = judge.case()
    shown = ok(judge.answer(view))
    said = {"decision": "fix", "key_wrong": False, "reason": "why"}
    ok(judge.send(f"/assignments/{view['id']}/decision", said, version=shown["version"]))
    ok(judge.answer(judge.case()))
    ok(head.send("/users/invite", {"code": "R3"}))
    ok(head.send(f"/projects/{read.project()}/lock"))
    assert problems(read) == []


def test_a_chain_computed_anew_is_found(read: Running) -> None:
    """Whoever rewrites an event and every hash after
    it is betrayed by the heads outside the database."""
    from sqlalchemy import select

    from situs.review.station.store.chain import FIRST, event_hash
    from situs.review.station.store.tables import Event

    with read.database.read() as db:
        events = list(db.scalars(select(Event).order_by(Event.sequence)))
    statements, previous = [], FIRST
    for event in events:
        event.actor = "R9" if event.sequence == 4 else event.actor
        event.previous = previous
        event.hash = previous = event_hash(event)
        statements.append(
            f"UPDATE events SET actor = '{event.actor}', previous = '{event.previous}', "
            f"hash = '{event.hash}' WHERE sequence = {event.sequence}"
        )
    by_hand(read, *statements)
    found = problems(read)
    assert any("is not the one that was written" in one for one in found)
    whole = read.folder.heads.read_bytes()
    read.folder.heads.write_bytes(whole.replace(whole.split()[2], b"\xff\xfe"))
    assert "heads.log:1 was changed" in problems(read)
    read.folder.heads.unlink()
    assert problems(read) == ["heads.log is missing"]


def test_a_log_of_heads_takes_no_memory_however_long_it_is(read: Running) -> None:
    log = read.folder.heads
    whole, lines = log.read_bytes(), 1_000_000
    log.write_bytes(whole + b"1 of nobody\n" * lines)
    tracemalloc.start()
    try:
        found = problems(read)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    first = whole.count(b"\n") + 1
    assert found[0] == f"heads.log:{first} was changed"
    assert (len(found), found[-1]) == (51, f"and {lines - 50} more")
    assert peak < log.stat().st_size / 2


def test_a_dropped_guard_is_found(new_station: Callable[..., Running]) -> None:
    running = new_station()
    with running.database.engine.connect() as connection:
        connection.execute(text("DROP TRIGGER readings_no_update"))
        connection.commit()
    assert problems(running) == ["the trigger that protects table readings is missing"]


@pytest.mark.parametrize("when", ["", "WHEN OLD.id < 0 "])
def test_a_guard_that_refuses_nothing_is_found(station: Running, when: str) -> None:
    """One of the same name stands in its place; on PostgreSQL, also one that is asleep."""
    assert problems(station) == []
    sqlite = station.database.engine.dialect.name == "sqlite"
    refuses = "SELECT RAISE(ABORT, 'no')" if when else "SELECT 1"
    statements = (
        [
            "DROP TRIGGER readings_no_update",
            "CREATE TRIGGER readings_no_update BEFORE UPDATE ON readings "
            f"{when}BEGIN {refuses}; END",
        ]
        if sqlite
        else ["ALTER TABLE readings ENABLE REPLICA TRIGGER readings_no_change"]
        if when
        else [
            "CREATE OR REPLACE FUNCTION readings_refuse() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RETURN NEW; END $$"
        ]
    )
    with station.database.engine.connect() as connection:
        for statement in statements:
            connection.execute(text(statement))
        connection.commit()
    assert problems(station) == ["the trigger that protects table readings is missing"]


def exported(running: Running, out: Path, **options: Any) -> Any:
    from situs.review.station.exported import export_station
    from situs.review.station.store.projects import find_project

    with running.database.read() as db:
        project = find_project(db, "pilot")
    return export_station(running.database, project, out, **options)


def fresh_database(address: str) -> str:
    """Another empty database on the same PostgreSQL server."""
    import uuid

    import psycopg

    plain = address.replace("postgresql+psycopg://", "postgresql://")
    name = f"situs_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return plain.rpartition("/")[0] + f"/{name}"


def test_an_export_is_taken_in_again_whole(read: Running, tmp_path: Path) -> None:
    from situs.review.station.exported import restore_station
    from situs.review.station.folder import create_folder
    from situs.review.station.store.database import open_database
    from situs.review.station.store.projects import find_project
    from situs.review.station.store.rows import read_rows
    from situs.review.station.store.verify import verify

    result = exported(read, tmp_path / "out", volumes=True)
    assert set(result.agreement["score"]) >= {"raw", "ac1", "alpha", "kappa", "n"}
    address = (
        "" if read.folder.settings.database == "" else fresh_database(read.folder.settings.database)
    )
    folder = create_folder(tmp_path / "again", address)
    database = open_database(folder)
    restore_station(database, tmp_path / "out")
    with database.read() as db, read.database.read() as before:
        checked = verify(db, folder)
        assert (checked.problems, checked.head) == ([], result.head)
        found, expected = (read_rows(s, find_project(s, "pilot")) for s in (db, before))
        assert found == expected
    assert sorted(p.name for p in folder.volumes.iterdir()) == sorted(
        p.name for p in read.folder.volumes.iterdir()
    )
    with pytest.raises(SitusError, match="has projects already"):
        restore_station(database, tmp_path / "out")
    # Work goes on in the restored station.
    from situs.review.station.store.accounts import add_user

    with database.write() as db:
        add_user(db, "R7", ["reader"], "test")
    with database.read() as db:
        assert verify(db, folder).problems == []
    database.close()


def test_a_changed_export_is_refused(read: Running, tmp_path: Path) -> None:
    from situs.review.station.exported import restore_station
    from situs.review.station.folder import create_folder
    from situs.review.station.store.database import open_database

    exported(read, tmp_path / "out")
    path = next((tmp_path / "out" / "tables").glob("*readings.jsonl"))
    path.write_text(path.read_text().replace('"score":2', '"score":1', 1))
    database = open_database(create_folder(tmp_path / "again"))
    with pytest.raises(SitusError, match="was changed or is missing"):
        restore_station(database, tmp_path / "out")
    database.close()


def test_an_exported_volume_that_was_changed_is_refused(read: Running, tmp_path: Path) -> None:
    from situs.review.station.exported import restore_station
    from situs.review.station.folder import create_folder
    from situs.review.station.store.database import open_database

    exported(read, tmp_path / "out", volumes=True)
    plane = next((tmp_path / "out" / "volumes").glob("*/axial.z"))
    content = bytearray(plane.read_bytes())
    content[len(content) // 2] ^= 1
    plane.write_bytes(content)
    folder = create_folder(tmp_path / "again")
    database = open_database(folder)
    with pytest.raises(SitusError, match="was changed or is missing"):
        restore_station(database, tmp_path / "out")
    assert not folder.volumes.exists()
    database.close()


def _sealed(export: Path) -> None:
    """The hashes of an export as whoever changed it would write them."""
    manifest = json.loads((export / "station-export.json").read_bytes())
    for name in manifest["files"]:
        content = (export / name).read_bytes()
        manifest["files"][name] = hashlib.sha256(content).hexdigest()
    (export / "station-export.json").write_text(json.dumps(manifest))


def test_an_export_of_somebody_elses_making_is_refused(read: Running, tmp_path: Path) -> None:
    from situs.review.station.exported import restore_station
    from situs.review.station.folder import create_folder
    from situs.review.station.store.database import open_database

    exported(read, tmp_path / "out")
    folder = create_folder(tmp_path / "again")
    database = open_database(folder)
    path = next((tmp_path / "out" / "tables").glob("*readings.jsonl"))
    whole = path.read_bytes()
    for odd in (b"{", b"[1]\n", b'{"nobody": 1}\n', b"[" * 100_000, b'"\xff"', b'{"id": {}}\n'):
        path.write_bytes(odd)
        _sealed(tmp_path / "out")
        with pytest.raises(SitusError, match="rows of a station"):
            restore_station(database, tmp_path / "out")
    path.write_bytes(whole)
    _sealed(tmp_path / "out")
    (path.parent / "99-secrets.jsonl").touch()
    with pytest.raises(SitusError, match="is not a table of a reading station"):
        restore_station(database, tmp_path / "out")
    (path.parent / "99-secrets.jsonl").unlink()
    (tmp_path / "out" / "volumes").mkdir(exist_ok=True)
    (tmp_path / "out" / "volumes" / "x").symlink_to("/etc")
    with pytest.raises(SitusError, match="is a link"):
        restore_station(database, tmp_path / "out")
    assert not any(folder.volumes.iterdir() if folder.volumes.exists() else ())
    database.close()


def test_unaided_answers_become_runs_that_are_scored(
    new_station: Callable[..., Running], tmp_path: Path, bench: Path, situs: Callable[..., Any]
) -> None:
    """Two readers who always choose the key's letter, or never: their human rows score 1 and 0."""
    from sqlalchemy import select

    from situs.bench import open_bench
    from situs.review.station.store.tables import Assignment, Snapshot, Unit

    running = new_station(items=20, training=0)
    running.freeze("R1", "R2")
    # Of what is not answered by a letter, yes, no or a number, both say nonsense.
    known = {"R1": 0, "R2": 0}
    total = {"R1": 0, "R2": 0}
    for code, knows in (("R1", True), ("R2", False)):
        person = running.person(code)
        while (view := person.case()) is not None:
            with running.database.read() as db:
                held = db.scalar(select(Assignment).where(Assignment.public_id == view["id"]))
                assert held is not None
                unit = db.get_one(Unit, held.unit_id)
                hidden = db.get_one(Snapshot, unit.snapshot_hash).hidden
            right, number = hidden["right"], hidden["detail"].get("number")
            letters = ["yes", "no"] if view["form"] == "yes_no" else [o[0] for o in view["options"]]
            said = None
            if right and unit.kind != "catch":
                said = right[0] if knows else next(x for x in letters if x not in right)
            elif number:
                said = str(number[0]) if knows else "0.001"
            total[code] += unit.kind == "item"
            known[code] += unit.kind == "item" and said is not None and knows
            person.read(view, said=said)
    copy = tmp_path / "bench"
    shutil.copytree(bench, copy)
    exported(running, tmp_path / "out", bench=open_bench(copy))
    # The run knows where its bench lies, although the export was made elsewhere and moved.
    assert json.loads((tmp_path / "out" / "runs" / "R1" / "run.json").read_text())["bench"] == (
        "../../../bench"
    )
    assert known["R1"] >= 10
    for code in ("R1", "R2"):
        ran = situs("score", bench, tmp_path / "out" / "runs" / code, "--json")
        assert ran.code == 0, ran.err
        found = ran.json["overall"]
        accuracy = next(e for e in found if e["metric"].startswith(("choice", "accuracy")))
        assert accuracy["value"] == pytest.approx(known[code] / total[code])
    rows = (tmp_path / "out" / "imrmc.csv").read_text().splitlines()
    assert rows[0] == "readerID,caseID,modalityID,score"
    truth = {line.split(",")[1]: line.split(",")[3] for line in rows[1:] if line.startswith("-1,")}
    for line in rows[1:]:
        reader, case, _, score = line.split(",")
        if reader == "R1":
            assert (int(score) > 0) == (truth[case] == "1")
    rows = (tmp_path / "out" / "imrmc_options.csv").read_text().splitlines()[1:]
    lines = [line.split(",") for line in rows]
    holds = {case: value == "1" for reader, case, _, value in lines if reader == "-1"}
    assert {True, False} <= set(holds.values())
    for reader, case, _, score in lines:
        if reader == "R1":  # who always chooses the right option
            assert (int(score) > 0) == holds[case]
        if reader == "R2":  # who never does
            assert not (int(score) > 0 and holds[case])
    requests = json.loads((tmp_path / "out" / "requests.json").read_text())
    assert {"item", "decision", "reason", "verified_by"} <= set(requests[0])


def test_results_go_back_to_the_bench_and_the_builder(
    reading: Running, tmp_path: Path, small: Path, situs: Callable[..., Any]
) -> None:
    """Both readers call every key wrong:
    the card says so, and a bench built anew asks none of these items."""
    for code in ("R1", "R2"):
        person = reading.person(code)
        while (view := person.case()) is not None:
            person.read(view, 0, ("key wrong",))
    judge = reading.person("J1")
    while (view := judge.case()) is not None:
        shown = ok(judge.answer(view))
        decision = {"decision": "drop", "key_wrong": True, "reason": "plainly wrong"}
        ok(judge.send(f"/assignments/{view['id']}/decision", decision, version=shown["version"]))
    exported(reading, tmp_path / "out")
    copy = tmp_path / "bench"
    shutil.copytree(small / "bench", copy)
    ran = situs("audit", "import", copy, tmp_path / "out", "--json")
    assert ran.code == 0, ran.err
    items = ran.json["items"]
    assert ran.json["shares"]["correct"][:2] == [0, items]
    card = (copy / "README.md").read_text("utf-8")
    assert "key-error rate 100.0 %" in card
    assert f"Items read by: R1 ({items}), R2 ({items}). Disputes settled by: J1 ({items})." in card
    assert "by 2 readers" in card
    verified = json.loads((copy / "readings.json").read_text())
    assert [reading["reader"] for reading in verified] == ["R1", "R2", "J1"]
    args = ("--annotation", "exact", "--licence", "CC0-1.0", "--recipe", small / "recipe.toml")
    built = situs(
        "build",
        "masks",
        small / "data",
        *args,
        "--out",
        tmp_path / "anew",
        "--review",
        tmp_path / "out",
        "--json",
    )
    assert built.code == 0, built.err
    assert built.json["not_asked"]["dropped by readers"] == items
    from situs.bench import open_bench

    dropped = {
        request["item"] for request in json.loads((tmp_path / "out" / "requests.json").read_text())
    }
    assert len(dropped) == items
    assert not dropped & {item.item_id for item in open_bench(tmp_path / "anew").items()}
    authored = situs(
        "author", small / "bench", "--out", tmp_path / "authored", "--review", tmp_path / "out"
    )
    assert authored.code == 0, authored.err
    assert not dropped & {item.item_id for item in open_bench(tmp_path / "authored").items()}


def test_the_schema_is_that_of_the_tables(station: Running) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    from situs.review.station.store.tables import Base

    with station.database.engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, Base.metadata) == []


LATER = '''
"""A later schema."""
import sqlalchemy as sa
from alembic import op
revision, down_revision = "v3", "v2"
def upgrade():
    op.add_column("assignments", sa.Column("note", sa.Text(), nullable=False, server_default="moved"))
    op.execute("UPDATE assignments SET note = purpose")
'''


def test_a_migration_keeps_the_data(read: Running, tmp_path: Path) -> None:
    """A later revision changes a table that holds work;
    every reading is still there and the record whole."""
    from situs.review.station.store.database import open_database, schema_version, upgrade

    (tmp_path / "v3.py").write_text(LATER)
    with read.database.engine.connect() as connection:
        before = connection.execute(text("SELECT id, body, at FROM readings ORDER BY id")).all()
        upgrade(connection, more=(tmp_path,))
        connection.commit()
        assert schema_version(connection) == "v3"
        after = connection.execute(text("SELECT id, body, at FROM readings ORDER BY id")).all()
        notes = connection.execute(text("SELECT DISTINCT note FROM assignments")).scalars().all()
    assert list(map(tuple, before)) == list(map(tuple, after))
    assert notes == ["read"]
    assert problems(read) == []
    # A version that does not know the revision says so instead of guessing.
    with pytest.raises(SitusError, match="later version"):
        open_database(read.folder)


def test_the_command_line_from_init_to_verify(
    tmp_path: Path, bench: Path, situs: Callable[..., Any]
) -> None:
    root = tmp_path / "s"
    assert situs("review", "init", root, "--json").json["token"]
    assert situs("review", "init", root).code == 2
    for code in ("R1", "R2"):
        assert situs("review", "user", root, "add", code, "--role", "reader", "--json").json[
            "token"
        ]
    assert situs("review", "user", root, "add", "R3", "--role", "king").code == 2
    assert not list(root.glob("*.sqlite-*")), "the database is closed however a command ends"
    taken = situs("review", "import", root, bench, "--project", "p", "--items", 8, "--json")
    assert taken.json["units"]["item"] >= 6
    assert situs("review", "import", root, bench, "--project", "p", "--items", 8).code == 2
    plan = situs("review", "assign", root, "--project", "p", "--readers", "R1,R2", "--json").json
    assert (plan["frozen"], sorted(plan["loads"])) == (False, ["R1", "R2"])
    assert (
        situs("review", "assign", root, "--project", "p", "--readers", "R1,R2", "--freeze").code
        == 0
    )
    out = situs(
        "review", "export", root, "--project", "p", "--out", tmp_path / "out", "--json"
    ).json
    assert {"readings", "agreement", "key_errors"} <= set(out)
    shown = situs("review", "export", root, "--project", "p", "--out", tmp_path / "night").out
    assert "0 readings so far" in shown, "a backup while people read tells nobody how they agree"
    assert "AC1" not in shown
    found = situs("review", "verify", root, "--json").json
    assert {"events", "ok", "head", "problems"} <= set(found)
    assert found["ok"] is True
    assert found["head"] != out["head"] or found["events"] > 0
    assert situs("review", "verify", tmp_path).code == 2
    log = root / "heads.log"
    log.write_text(log.read_text().replace(" ", " 0", 1))
    assert situs("review", "verify", root).code == 1
    ran = situs("review", "export", root, "--project", "p", "--out", tmp_path / "whole", "--json")
    assert (ran.code, len(ran.json["problems"]) > 0) == (1, True), "exported, and not intact"
    assert (tmp_path / "whole" / "readings.csv").exists()
    assert ok is not None


def test_a_log_of_heads_that_is_a_pipe_is_not_waited_for(situs, bench, tmp_path) -> None:
    root = tmp_path / "s"
    assert situs("review", "init", root).code == 0
    (root / "heads.log").unlink(missing_ok=True)
    os.mkfifo(root / "heads.log")
    ran = situs("review", "import", root, bench, "--project", "p", "--items", 2)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "heads.log: is a pipe" in ran.err


def test_a_damaged_database_is_one_line(situs: Callable[..., Any], tmp_path: Path) -> None:
    root = tmp_path / "s"
    assert situs("review", "init", root).code == 0
    file = root / "station.sqlite"
    raw = file.read_bytes()
    # Its first page says where everything is; the others no longer hold it.
    file.write_bytes(raw[:4096] + b"\xff" * (len(raw) - 4096))
    for words in (("verify", root), ("user", root, "list"), ("assign", root, "--project", "p")):
        ran = situs("review", *words)
        assert (ran.code, ran.err.count("\n")) == (2, 1), ran.err
        assert "the database cannot be used" in ran.err


def test_an_odd_row_of_a_database_is_one_line(situs: Callable[..., Any], tmp_path: Path) -> None:
    root = tmp_path / "s"
    assert situs("review", "init", root).code == 0
    with sqlite3.connect(root / "station.sqlite") as connection:
        connection.execute("UPDATE users SET roles = '[nobody'")
    connection.close()
    ran = situs("review", "user", root, "list")
    assert (ran.code, ran.err.count("\n")) == (2, 1), ran.err


@pytest.mark.parametrize("made", [False, True])
def test_a_station_without_its_first_account_is_not_left_behind(situs, tmp_path, made) -> None:
    folder = tmp_path / "station"
    if made:
        folder.mkdir()
    assert situs("review", "init", folder, "--coordinator", "-1").code == 2
    assert folder.exists() == made
    assert not made or not list(folder.iterdir())
    assert situs("review", "init", folder).code == 0


@pytest.mark.parametrize("noted", [False, True])
@pytest.mark.parametrize("call", [1, 2])
@pytest.mark.parametrize("what", ["add", "restore"])
def test_a_kill_in_the_middle_of_a_write_leaves_a_whole_record(
    tmp_path: Path,
    bench: Path,
    situs: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    what: str,
    call: int,
    noted: bool,
) -> None:
    """Before or after a head is noted, which is before and after its event is kept."""
    from situs.review.station.folder import StationFolder

    root = tmp_path / "station"
    assert situs("review", "init", root).code == 0
    words: tuple[object, ...] = ("review", "user", root, "add", "R1", "--role", "reader")
    if what == "restore":
        other = tmp_path / "other"
        situs("review", "init", other)
        situs("review", "import", other, bench, "--project", "p", "--items", 4)
        export = ("review", "export", other, "--project", "p", "--volumes")
        assert situs(*export, "--out", tmp_path / "kept").code == 0
        words = ("review", "import", root, tmp_path / "kept")
    note = StationFolder.add_head
    calls: list[int] = []

    def note_and_die(*args: Any, **more: Any) -> None:
        calls.append(1)
        if len(calls) == call and not noted:
            raise KeyboardInterrupt
        note(*args, **more)
        if len(calls) == call:
            raise KeyboardInterrupt

    monkeypatch.setattr(StationFolder, "add_head", note_and_die)
    assert situs(*words).code == 130
    monkeypatch.undo()
    checked = situs("review", "verify", root, "--json")
    assert (checked.code, checked.json["problems"]) == (0, [])
    assert situs(*words).code == (2 if call == 2 else 0)
    situs("review", "user", root, "add", "R9", "--role", "reader")
    checked = situs("review", "verify", root, "--json")
    assert (checked.code, checked.json["problems"]) == (0, [])
