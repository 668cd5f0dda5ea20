"""Projects: a sample of a bench taken in, planned, frozen and locked."""

from __future__ import annotations

import hashlib
import math
import secrets
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session as Connection

from situs.base.files import canonical_json, digest
from situs.bench import Bench
from situs.errors import SitusError, did_you_mean
from situs.items import Boxes, Item, parts_of
from situs.review.station.folder import StationFolder
from situs.review.station.plan import Plan, PlannedUnit, draw_sample, plan_reads, replan
from situs.review.station.protocol import ReadingProtocol
from situs.review.station.snapshot import ItemSnapshot, take_snapshots, wrong_key
from situs.review.station.store.chain import append_event, snapshot_hash
from situs.review.station.store.tables import (
    Assignment,
    Project,
    Protocol,
    Snapshot,
    Unit,
    User,
)

__all__ = [
    "ImportedProject",
    "Sample",
    "find_project",
    "freeze_plan",
    "import_bench",
    "lock_project",
    "preview_plan",
    "protocol_of",
    "release_reader",
]


_OUTSIDE = 1_000_000


class Sample(msgspec.Struct, frozen=True):
    """What is taken of a bench."""

    items: int
    seed: int = 0
    disputes: tuple[str, ...] = ()
    """Items that must be read, whatever is drawn: a stratum of their own, outside the key-error rate."""
    training: int = 0
    wordings: bool = False


class ImportedProject(msgspec.Struct, frozen=True):
    """What came of an import."""

    project: str
    units: dict[str, int]
    strata: dict[str, dict[str, float]]
    """Stratum → drawn, weight."""
    left_out: dict[str, int]


def find_project(db: Connection, name: str) -> Project:
    """A project by name or public id."""
    held = db.scalar(select(Project).where((Project.name == name) | (Project.public_id == name)))
    if held is None:
        known = list(db.scalars(select(Project.name)))
        fix = did_you_mean(name, known) if known else "import a bench first"
        raise SitusError(f"no project {name!r}", where="--project", fix=fix)
    return held


def protocol_of(db: Connection, project: Project) -> ReadingProtocol:
    """The protocol a project was frozen with."""
    return msgspec.convert(db.get_one(Protocol, project.protocol_hash).body, ReadingProtocol)


def import_bench(
    db: Connection,
    folder: StationFolder,
    bench: Bench,
    name: str,
    protocol: ReadingProtocol,
    sample: Sample,
    *,
    data: Path | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> ImportedProject:
    """Take a sample into a new project; its items are copied and never follow the bench."""
    if db.scalar(select(Project).where(Project.name == name)) is not None:
        raise SitusError(f"project {name!r} exists", where="--project", fix="choose another name")
    every = list(bench.items())
    readable = [item for item in every if _readable(item)]
    left_out = {"asks for boxes, which the quiz draws": len(every) - len(readable)}
    known = {item.item_id: item for item in readable}
    strangers = [one for one in sample.disputes if one not in known]
    if strangers:
        raise SitusError(
            f"the bench has no item {strangers[0]}", where="--disputes", fix="remove it"
        )
    weights = _drawn(readable, sample)
    training = _training(readable, weights, sample)
    chosen = [known[key] for key in (*weights, *training)]
    project = _project(db, bench, name, protocol, sample.seed)
    units: list[Unit] = []
    catch_ids = _catch_ids([known[key] for key in weights], protocol, sample.seed)
    for taken in take_snapshots(bench, chosen, folder.volumes, data=data, progress=progress):
        key = taken.item.item_id
        stratum, weight = weights.get(key, ("training", 0.0))
        kind = "item" if key in weights else "training"
        units.append(_unit(db, project, taken, taken.hidden, kind, stratum, weight))
        if key in catch_ids:
            wrong = wrong_key(taken, int(digest(key, size=4), 16))
            if wrong is not None:
                units.append(_unit(db, project, taken, wrong, "catch", "catch", 0.0))
    if sample.wordings:
        units += _wordings(db, project, readable, sample.seed)
    db.add_all(units)
    db.flush()
    counts = {kind: sum(u.kind == kind for u in units) for kind in sorted({u.kind for u in units})}
    strata: dict[str, dict[str, float]] = {}
    for stratum, weight in weights.values():
        row = strata.setdefault(stratum, {"drawn": 0, "weight": weight})
        row["drawn"] += 1
    append_event(
        db,
        "command line",
        "project imported",
        project=name,
        bench_hash=bench.info.content_hash,
        protocol=protocol.hash,
        seed=sample.seed,
        units=counts,
        snapshots=sorted({unit.snapshot_hash for unit in units}),
    )
    return ImportedProject(name, counts, strata, {k: n for k, n in left_out.items() if n})


def _readable(item: Item) -> bool:
    return bool(item.series) and not any(
        isinstance(part, Boxes) for part in parts_of(item.answer).values()
    )


def _drawn(items: Sequence[Item], sample: Sample) -> dict[str, tuple[str, float]]:
    """Item → stratum and weight, of all that are read for the record."""
    strata: dict[str, list[str]] = defaultdict(list)
    for item in items:
        if item.item_id not in sample.disputes:
            strata[item.stratum or "all"].append(item.item_id)
    result = {
        key: (name, weight)
        for name, (keys, weight) in draw_sample(strata, sample.items, sample.seed).items()
        for key in keys
    }
    return result | dict.fromkeys(sample.disputes, ("dispute", 0.0))


def _training(
    items: Sequence[Item], taken: dict[str, tuple[str, float]], sample: Sample
) -> list[str]:
    free = [item.item_id for item in items if item.item_id not in taken]
    return sorted(free, key=lambda key: digest("training", str(sample.seed), key))[
        : sample.training
    ]


def _catch_ids(items: Sequence[Item], protocol: ReadingProtocol, seed: int) -> set[str]:
    """Items that also come as catch trials: only where a key can be plainly wrong."""
    count = math.ceil(protocol.catch * len(items))
    able = [item.item_id for item in items if item.form in ("yes_no", "choice")]
    return set(sorted(able, key=lambda key: digest("catch", str(seed), key))[:count])


def _project(
    db: Connection, bench: Bench, name: str, protocol: ReadingProtocol, seed: int
) -> Project:
    if db.get(Protocol, protocol.hash) is None:
        body = msgspec.to_builtins(protocol)
        db.add(Protocol(hash=protocol.hash, name=protocol.name, body=body))
        db.flush()
    project = Project(
        public_id=secrets.token_hex(16),
        name=name,
        protocol_hash=protocol.hash,
        bench=bench.info.name,
        bench_hash=bench.info.content_hash,
        seed=seed,
        state="draft",
    )
    db.add(project)
    db.flush()
    return project


def _unit(
    db: Connection,
    project: Project,
    taken: ItemSnapshot,
    hidden: dict[str, Any],
    kind: str,
    stratum: str,
    weight: float,
) -> Unit:
    item = taken.item
    return Unit(
        project_id=project.id,
        snapshot_hash=_keep(db, taken.shown, hidden),
        kind=kind,
        stratum=stratum,
        weight=weight,
        patient=item.patient_id,
        twin_group=item.twin_group,
    )


def _keep(db: Connection, shown: dict[str, Any], hidden: dict[str, Any]) -> str:
    name = snapshot_hash(shown, hidden)
    if db.get(Snapshot, name) is None:
        db.add(Snapshot(hash=name, shown=shown, hidden=hidden))
        db.flush()
    return name


def _wordings(db: Connection, project: Project, items: Sequence[Item], seed: int) -> list[Unit]:
    """One unit for each way a question is put, with three examples."""
    ways: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        ways[f"{item.task}/{item.form}/{item.parameters.get('ask', '')}"].append(item)
    units = []
    for way, of_way in sorted(ways.items()):
        ranked = sorted(of_way, key=lambda item: digest("wording", str(seed), item.item_id))
        examples = list(dict.fromkeys(item.question for item in ranked))[:3]
        options = [[o.text for o in ranked[0].options]] if ranked[0].options else []
        shown = {"wordings": examples, "options": options, "form": ranked[0].form}
        name = _keep(db, shown, {"wording": way, "items": len(of_way)})
        units.append(
            Unit(
                project_id=project.id,
                snapshot_hash=name,
                kind="wording",
                stratum="wording",
                weight=0.0,
                patient=way,
            )
        )
    return units


def preview_plan(db: Connection, project: Project, readers: Sequence[str]) -> Plan:
    """The plan as it would be frozen, for a coordinator to look at."""
    units = db.scalars(
        select(Unit).where(Unit.project_id == project.id, Unit.kind != "repeat").order_by(Unit.id)
    )
    planned = [PlannedUnit(u.id, u.patient, u.twin_group, u.kind) for u in units]
    return plan_reads(planned, list(readers), protocol_of(db, project), project.seed)


def freeze_plan(db: Connection, project: Project, readers: Sequence[str], actor: str) -> Plan:
    """Hand the lists out; protocol and plan do not change from here on."""
    if project.state != "draft":
        raise SitusError(f"project {project.name!r} is already planned", fix="use --leaves instead")
    users = _readers(db, readers)
    plan = preview_plan(db, project, list(users))
    units = {u.id: u for u in db.scalars(select(Unit).where(Unit.project_id == project.id))}
    rows = []
    for place in plan.places:
        unit = units[place.unit]
        if place.repeat:
            unit = Unit(
                project_id=project.id,
                snapshot_hash=unit.snapshot_hash,
                kind="repeat",
                stratum=unit.stratum,
                weight=0.0,
                patient=unit.patient,
                repeat_of=unit.id,
            )
            db.add(unit)
            db.flush()
        rows.append(_assignment(unit, users[place.reader], "read", place.block, place.position))
    db.add_all(rows)
    project.state = "reading"
    append_event(
        db,
        actor,
        "plan frozen",
        project=project.name,
        readers=sorted(users),
        plan=hashlib.sha256(canonical_json(plan)).hexdigest(),
    )
    return plan


def _assignment(unit: Unit, user: User, purpose: str, block: int, position: int) -> Assignment:
    return Assignment(
        public_id=secrets.token_hex(16),
        unit_id=unit.id,
        user_id=user.id,
        project_id=unit.project_id,
        purpose=purpose,
        block=block,
        position=position,
        state="open",
        version=1,
        draft={},
    )


def _readers(db: Connection, codes: Sequence[str]) -> dict[str, User]:
    users = {user.code: user for user in db.scalars(select(User).where(User.active))}
    bad = [code for code in codes if code not in users or "reader" not in users[code].roles]
    if bad:
        known = [code for code, user in users.items() if "reader" in user.roles]
        raise SitusError(
            f"{bad[0]!r} is no active reader", where="--readers", fix=did_you_mean(bad[0], known)
        )
    return {code: users[code] for code in dict.fromkeys(codes)}


def release_reader(db: Connection, project: Project, code: str, actor: str) -> dict[str, int]:
    """Plan a leaving reader's unbegun units anew; what was read stays as it is."""
    leaving = db.scalar(select(User).where(User.code == code))
    if leaving is None:
        raise SitusError(f"no user {code}", where="--leaves", fix="see situs review user DIR list")
    mine = select(Assignment).where(
        Assignment.project_id == project.id, Assignment.purpose == "read"
    )
    rows = list(db.scalars(mine))
    open_rows = [a for a in rows if a.user_id == leaving.id and a.state == "open"]
    users = {
        user.id: user
        for user in db.scalars(select(User).where(User.active))
        if "reader" in user.roles and user.id != leaving.id
    }
    codes = {uid: user.code for uid, user in users.items()}
    units = {u.id: u for u in db.scalars(select(Unit).where(Unit.project_id == project.id))}
    holders: dict[int, set[str]] = defaultdict(set)
    loads: dict[str, int] = defaultdict(int)
    active = {a.user_id for a in rows if a.state != "withdrawn"}
    for row in rows:
        holders[row.unit_id].add(codes.get(row.user_id, ""))
        if row.state != "withdrawn" and row.user_id in codes:
            loads[codes[row.user_id]] += 1
    wanted = {
        a.unit_id: holders[a.unit_id]
        for a in open_rows
        if units[a.unit_id].kind in ("item", "catch", "wording")
    }
    # Those who read in this project already come first, whatever their load.
    for uid, reader in codes.items():
        loads[reader] += 0 if uid in active else _OUTSIDE
    given = replan(wanted, sorted(codes.values()), loads, project.seed)
    last = db.scalar(
        select(func.max(Assignment.position)).where(Assignment.project_id == project.id)
    )
    ids = {user.code: user for user in users.values()}
    for row in open_rows:
        row.state = "withdrawn"
    for n, (unit, reader) in enumerate(sorted(given.items())):
        block = 1 + (db.scalar(_last_block(project, ids[reader])) or 0)
        db.add(_assignment(units[unit], ids[reader], "read", block, (last or 0) + 1 + n))
    append_event(
        db,
        actor,
        "reader released",
        project=project.name,
        reader=code,
        withdrawn=len(open_rows),
        given=len(given),
    )
    return {"withdrawn": len(open_rows), "given": len(given)}


def _last_block(project: Project, user: User) -> Any:
    mine = (Assignment.project_id == project.id) & (Assignment.user_id == user.id)
    return select(func.max(Assignment.block)).where(mine & (Assignment.state == "signed"))


def lock_project(db: Connection, project: Project, actor: str) -> None:
    """Close the reads; agreement may be looked at from here on."""
    if project.state != "reading":
        raise SitusError(f"project {project.name!r} is {project.state}", fix="assign readers first")
    db.execute(
        update(Assignment)
        .where(Assignment.project_id == project.id, Assignment.state == "open")
        .values(state="withdrawn")
    )
    project.state = "locked"
    append_event(db, actor, "reads locked", project=project.name)
