"""A project as files: complete enough to be taken in again,
and in the forms other commands and tools read."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Table, delete, insert, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session as Connection

from situs import __version__
from situs.base.files import (
    bounded_lines,
    canonical_json,
    check_own_folder,
    file_name,
    read_json,
    write_atomic,
)
from situs.base.publish import new_folder
from situs.bench import Bench
from situs.errors import SitusError
from situs.items import Item
from situs.review.imported import spoken_answer
from situs.review.station.folder import StationFolder
from situs.review.station.places import STATION_PROFILE, said_of
from situs.review.station.results import MARKER
from situs.review.station.statistics import (
    ProjectStatistics,
    ReadRow,
    key_readings,
    outcomes,
    project_statistics,
)
from situs.review.station.store.chain import append_event
from situs.review.station.store.database import Database
from situs.review.station.store.projects import protocol_of
from situs.review.station.store.rows import decisions_of, read_rows
from situs.review.station.store.tables import Base, Event, Project, User
from situs.review.station.store.verify import verify
from situs.run import AnswerRow, Covered, Journal, Spec, Viewing, start_run

__all__ = ["ExportResult", "export_station", "restore_station"]

_FORMAT = 1
_NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?")
_PRIVATE = ("sessions", "invites", "request_keys")
"""Tables that are nobody's record: who is signed in, and what was just answered."""


class ExportResult(msgspec.Struct, frozen=True):
    """What was written."""

    readings: int
    agreement: dict[str, dict[str, Any]]
    key_errors: dict[str, Any]
    head: str
    decisions: dict[str, int]
    out: str
    problems: tuple[str, ...] = ()
    """Why the record is not intact, as `situs review verify` says."""


class _Manifest(msgspec.Struct, frozen=True):
    format: int
    situs: str
    project: str
    bench: str
    bench_hash: str
    protocol: dict[str, Any]
    protocol_hash: str
    events: int
    head: str
    files: dict[str, str]
    """File → SHA-256."""


def export_station(
    database: Database,
    project: Project,
    out: Path,
    *,
    bench: Bench | None = None,
    volumes: bool = False,
    overwrite: bool = False,
    actor: str = "command line",
) -> ExportResult:
    """Write a project's results and the station's whole record to a new folder.

    With a `bench`, every reader's unaided answers become a run. With `volumes`, the memory maps are
    copied too.
    """
    with database.write() as db:
        append_event(db, actor, "exported", project=project.name)
    with database.read() as db, new_folder(out, marker=MARKER, overwrite=overwrite) as scratch:
        verified = verify(db, database.folder)
        rows, decisions = read_rows(db, project), decisions_of(db, project)
        protocol = protocol_of(db, project)
        statistics = project_statistics(rows, decisions, protocol, seed=project.seed)
        fates = outcomes(rows, decisions, protocol)
        _write_tables(db, scratch / "tables")
        _json(scratch / "statistics.json", statistics)
        _json(scratch / "requests.json", list(fates.values()))
        _json(scratch / "key_readings.json", key_readings(rows, decisions, project.seed))
        write_atomic(scratch / "readings.csv", _readings_csv(rows))
        write_atomic(scratch / "audit.csv", _audit_csv(rows))
        write_atomic(scratch / "imrmc.csv", _imrmc_csv(rows))
        write_atomic(scratch / "imrmc_options.csv", _imrmc_options_csv(rows))
        if bench is not None:
            _write_runs(bench, project, rows, scratch, out)
        if volumes and database.folder.volumes.is_dir():
            shutil.copytree(database.folder.volumes, scratch / "volumes")
        _json(
            scratch / MARKER,
            _Manifest(
                _FORMAT,
                __version__,
                project.name,
                project.bench,
                project.bench_hash,
                msgspec.to_builtins(protocol),
                project.protocol_hash,
                verified.events,
                verified.head,
                _hashes(scratch),
            ),
        )
    result = _result(statistics, verified.head, fates, out)
    return msgspec.structs.replace(result, problems=tuple(verified.problems))


def _result(
    statistics: ProjectStatistics, head: str, fates: Mapping[int, dict[str, Any]], out: Path
) -> ExportResult:
    kinds = [fate["decision"] for fate in fates.values()]
    decisions = {kind: kinds.count(kind) for kind in ("keep", "fix", "drop")}
    return ExportResult(
        statistics.readings, statistics.agreement, statistics.key_errors, head, decisions, str(out)
    )


def _json(path: Path, value: object) -> None:
    write_atomic(path, msgspec.json.format(canonical_json(value), indent=1) + b"\n")


def _hashes(folder: Path) -> dict[str, str]:
    """Hashes of all files, volumes among them."""
    return {
        str(path.relative_to(folder)): _file_hash(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _file_hash(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _write_tables(db: Connection, folder: Path) -> None:
    """Every table as lines of JSON, in an order in which they can be taken in again;
    no password leaves."""
    folder.mkdir()
    for number, table in enumerate(Base.metadata.sorted_tables):
        if table.name in _PRIVATE:
            continue
        with (folder / f"{number:02d}-{table.name}.jsonl").open("wb") as stream:
            for row in db.execute(select(table).order_by(*table.primary_key)).mappings():
                values = dict(row)
                if table.name == "users":
                    values["password"] = ""
                stream.write(canonical_json(values) + b"\n")


def _readings_csv(rows: Sequence[ReadRow]) -> str:
    names = [
        "item",
        "reader",
        "kind",
        "stratum",
        "weight",
        "task",
        "answer",
        "cannot",
        "confidence",
    ]
    names += ["right", "score", "flags", "verdicts", "comment", "seconds"]
    lines = [
        [
            row.item_id,
            row.reader,
            row.kind,
            row.stratum,
            row.weight,
            row.task,
            "; ".join(row.answers.values()),
            row.cannot,
            row.confidence,
            row.is_right,
            row.score,
            "; ".join(row.flags),
            json.dumps(row.verdicts) if row.verdicts else "",
            row.comment,
            round(row.active_ms / 1000, 1),
        ]
        for row in rows
    ]
    return _csv(names, lines)


def _audit_csv(rows: Sequence[ReadRow]) -> str:
    """The sheet of `situs audit`: what readers say of spatial, relevant and correct."""
    lines = []
    for row in rows:
        if row.kind != "item":
            continue
        correct = row.verdicts.get("correct", not row.says_wrong)
        words = {True: "yes", False: "no", None: ""}
        relevant = row.verdicts.get("relevant", "not useful" not in row.flags)
        spatial = row.verdicts.get("spatial")
        lines.append(
            [row.item_id, row.reader, words[spatial], words[relevant], words[correct], row.comment]
        )
    return _csv(["item", "rater", "spatial", "relevant", "correct", "note"], lines)


def _imrmc_csv(rows: Sequence[ReadRow]) -> str:
    """Yes/no questions for iMRMC.

    Truth rows have reader −1 and modality 0; scores run from −3 (a sure no) to 3 (a sure yes).
    """
    asked = [
        r for r in rows if r.kind == "item" and r.form == "yes_no" and r.choice in ("yes", "no")
    ]
    truth = {row.item_id: int("yes" in row.right) for row in asked}
    lines: list[list[object]] = [[-1, item, 0, value] for item, value in sorted(truth.items())]
    for row in asked:
        sign = 1 if row.choice == "yes" else -1
        lines.append([row.reader, row.item_id, "reading", sign * (row.confidence or 1)])
    return _csv(["readerID", "caseID", "modalityID", "score"], lines)


def _imrmc_options_csv(rows: Sequence[ReadRow]) -> str:
    """Questions with options for iMRMC: every option that was right or chosen is a statement that
    holds or not.

    A reader's score of an option is the confidence with which it was chosen, or minus it if another
    was. Statements of one question depend on each other: take the question (before the slash) as
    the cluster.
    """
    asked = [r for r in rows if r.kind == "item" and r.form == "choice" and not r.cannot]
    letters: dict[str, set[str]] = defaultdict(set)
    right: dict[str, set[str]] = {}
    for row in asked:
        letters[row.item_id].update({*row.right, *row.answers.values()})
        right[row.item_id] = set(row.right)
    lines: list[list[object]] = [
        [-1, f"{item}/{letter}", 0, int(letter in right[item])]
        for item, known in sorted(letters.items())
        for letter in sorted(known)
    ]
    for row in asked:
        sure = row.confidence or 1
        for letter in sorted(letters[row.item_id]):
            score = sure if row.choice == letter else -sure
            lines.append([row.reader, f"{row.item_id}/{letter}", "reading", score])
    return _csv(["readerID", "caseID", "modalityID", "score"], lines)


def _csv(names: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(names)
    for line in lines:
        table.writerow(["" if cell is None else _cell(cell) for cell in line])
    return out.getvalue()


def _cell(cell: object) -> object:
    """A text that begins like a formula is read as one by spreadsheets; a number is none."""
    if not isinstance(cell, str):
        return cell
    text = cell.replace("\r\n", "\n").replace("\r", "\n")  # a lone one would end the line, unquoted
    is_formula = text.startswith(tuple("=+-@\t\n")) and not _NUMBER.fullmatch(text)
    return f"'{text}" if is_formula else text


def _write_runs(
    bench: Bench, project: Project, rows: Sequence[ReadRow], scratch: Path, home: Path
) -> None:
    """Unaided answers as runs like a model's, one for each reader; `scratch` will be `home`."""
    if bench.info.content_hash != project.bench_hash:
        raise SitusError("is another bench", where="--bench", fix="give the one that was imported")
    viewing = Viewing(bench, STATION_PROFILE)
    items = {item.item_id: item for item in bench.items()}
    for reader in sorted({row.reader for row in rows if row.kind == "item"}):
        answered = [row for row in rows if row.reader == reader and row.kind == "item"]
        answered = [row for row in answered if row.answers or row.cannot]
        if not answered:
            continue
        name = Path("runs", file_name(reader))
        sample = tuple(row.item_id for row in answered)
        spec, covered = Spec("human", reader), Covered(sample=sample)
        start_run(scratch / name, bench, spec, STATION_PROFILE, covered, home=home / name)
        # An export names no place of this machine; a bench that lies elsewhere is given again.
        (scratch / name / "locations.json").unlink(missing_ok=True)
        with Journal(scratch / name / "answers.jsonl") as journal:
            for row in answered:
                journal.add(_answer(row, items[row.item_id], viewing))


def _answer(row: ReadRow, item: Item, viewing: Viewing) -> AnswerRow:
    seconds = row.active_ms / 1000
    if row.cannot:
        return AnswerRow(row.item_id, "refused", f"cannot be told: {row.cannot}", seconds=seconds)
    words = spoken_answer(item, said_of(item, row.answers), viewing)
    return AnswerRow(row.item_id, "answered", words, seconds=seconds)


def restore_station(database: Database, export: Path) -> dict[str, int]:
    """Take an export into an empty station;
    refused if a file was changed or the chain does not end in its head."""
    manifest = read_json(export / MARKER, _Manifest)
    if manifest.format != _FORMAT:
        raise SitusError(f"has format {manifest.format}", where=export, fix="update Situs")
    for name, expected in manifest.files.items():
        path = export / name
        if not path.is_file() or _file_hash(path) != expected:
            raise SitusError(f"{name} was changed or is missing", where=export, fix="export again")
    # A link would bring in what lies elsewhere on this machine.
    check_own_folder(export, fix="export again")
    counts: dict[str, int] = {}
    folder: StationFolder = database.folder
    with database.write() as db:
        if db.scalar(select(Project.id).limit(1)) is not None:
            raise SitusError(
                "has projects already", where=folder.root, fix="restore into a new one"
            )
        _forget_first_events(db, folder)
        tables = {f"{n:02d}-{t.name}": t for n, t in enumerate(Base.metadata.sorted_tables)}
        for path in sorted((export / "tables").glob("*.jsonl")):
            table = tables.get(path.stem)
            if table is None:
                fix = "export again with this version of Situs"
                raise SitusError("is not a table of a reading station", where=path, fix=fix)
            counts[table.name] = _restore_table(db, table, path)
        _advance_numbers(db)
        last = db.scalars(select(Event).order_by(Event.sequence.desc()).limit(1)).first()
        if last is None or last.hash != manifest.head:
            raise SitusError("its chain does not end in its head", where=export, fix="export again")
        db.info["head"] = (last.sequence, last.hash)
    if (export / "volumes").is_dir():
        shutil.copytree(export / "volumes", folder.volumes, dirs_exist_ok=True)
    return counts


def _restore_table(db: Connection, table: Table, path: Path) -> int:
    """Put the rows of a file into a table; how many they are."""
    try:
        with path.open("rb") as stream:
            rows = [msgspec.json.decode(line, type=dict) for line in bounded_lines(stream, path)]
        if rows:
            db.execute(insert(table), rows)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError, SQLAlchemyError) as error:
        reason = str(error).partition("\n")[0]
        problem = f"does not hold rows of a station ({reason})"
        raise SitusError(problem, where=path, fix="export again") from error
    return len(rows)


def _advance_numbers(db: Connection) -> None:
    """PostgreSQL counts new rows by itself, and must go on after the restored ones;
    SQLite does so anyhow."""
    if db.get_bind().dialect.name != "postgresql":
        return
    for table in Base.metadata.sorted_tables:
        column = table.autoincrement_column
        if column is not None:
            db.connection().exec_driver_sql(
                f"SELECT setval(pg_get_serial_sequence('{table.name}', '{column.name}'), "
                f"GREATEST((SELECT max({column.name}) FROM {table.name}), 1))"
            )


def _forget_first_events(db: Connection, folder: StationFolder) -> None:
    """A fresh station has told of its own first account; the restored chain takes its place.

    The guards refuse to remove events, so they are lifted for this transaction, on a station
    without projects only.
    """
    if db.get_bind().dialect.name == "sqlite":
        connection = db.connection()
        guard = "SELECT sql FROM sqlite_master WHERE name = 'events_no_delete'"
        words = str(connection.exec_driver_sql(guard).scalar())
        connection.exec_driver_sql("DROP TRIGGER events_no_delete")
        db.execute(delete(Event))
        connection.exec_driver_sql(words)
    else:
        db.connection().exec_driver_sql("ALTER TABLE events DISABLE TRIGGER USER")
        db.execute(delete(Event))
        db.connection().exec_driver_sql("ALTER TABLE events ENABLE TRIGGER USER")
    for table in reversed(Base.metadata.sorted_tables):
        if table.name in (*_PRIVATE, User.__tablename__):
            db.execute(delete(table))
    folder.forget_heads()
