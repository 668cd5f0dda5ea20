"""People come and go: who takes over what a leaving reader or adjudicator had, and what waits for
an adjudicator."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session as Connection

from situs.errors import SitusError
from situs.review.station.plan import PlannedUnit, further_blocks, replan
from situs.review.station.store.adjudicating import NOBODY_FREE, open_adjudication
from situs.review.station.store.chain import append_event, given_words, work_digest
from situs.review.station.store.projects import new_assignment, protocol_of
from situs.review.station.store.tables import Assignment, Event, Project, Unit, User

__all__ = ["hand_out_disputes", "release_reader"]

_OUTSIDE = 1_000_000
"""A load that nobody has: those who read in the project already come before all others."""
_UNFINISHED = ("open", "revealed")


def release_reader(db: Connection, project: Project, code: str, actor: str) -> dict[str, int]:
    """Plan a leaving person's unfinished cases anew; what was finished stays as it is.

    An answer without its rating stays in the record too, and counts nowhere: the case goes to
    somebody else. What nobody can take over is settled by the reads there are.
    """
    leaving = db.scalar(select(User).where(User.code == code))
    if leaving is None:
        raise SitusError(f"no user {code}", where="--leaves", fix="see situs review user DIR list")
    rows = list(db.scalars(select(Assignment).where(Assignment.project_id == project.id)))
    left = [a for a in rows if a.user_id == leaving.id and a.state in _UNFINISHED]
    for row in left:
        row.state = "withdrawn"
    units = {u.id: u for u in db.scalars(select(Unit).where(Unit.project_id == project.id))}
    reads = [a for a in rows if a.purpose == "read"]
    unread = [a.unit_id for a in left if a.purpose == "read"]
    wanted = [units[unit] for unit in unread if units[unit].kind in ("item", "catch", "wording")]
    given, new = _take_over(db, project, wanted, reads, leaving)
    db.flush()
    append_event(
        db,
        actor,
        "reader released",
        project=project.name,
        reader=code,
        withdrawn=len(left),
        given=given,
        given_digest=work_digest(given_words(*pair) for pair in new),
        withdrawn_digest=work_digest(given_words(row, code) for row in left),
    )
    # Also those that had been waiting for this reader alone.
    _settle(db, project, [units[row.unit_id] for row in left])
    return {"withdrawn": len(left), "given": given}


def _take_over(
    db: Connection,
    project: Project,
    wanted: Sequence[Unit],
    reads: Sequence[Assignment],
    leaving: User,
) -> tuple[int, list[tuple[Assignment, str]]]:
    """Give units to the least busy readers who never had them: how many found one, and what each
    reader's list has gained."""
    users = {
        user.code: user
        for user in db.scalars(select(User).where(User.active))
        if "reader" in user.roles and user.id != leaving.id
    }
    codes = {user.id: code for code, user in users.items()}
    holders: dict[int, set[str]] = defaultdict(set)
    lists: dict[str, list[Assignment]] = {code: [] for code in users}
    for row in reads:
        if code := codes.get(row.user_id):
            holders[row.unit_id].add(code)
            if row.state != "withdrawn":
                lists[code].append(row)
    loads = {code: len(rows) if rows else _OUTSIDE for code, rows in lists.items()}
    new_reader_of = replan(
        {u.id: holders[u.id] for u in wanted}, sorted(users), loads, project.seed
    )
    by_reader: dict[str, list[Unit]] = defaultdict(list)
    for unit in wanted:
        if unit.id in new_reader_of:
            by_reader[new_reader_of[unit.id]].append(unit)
    new: list[tuple[Assignment, str]] = []
    for code, units in by_reader.items():
        rows = [] if lists[code] else _training(db, project, users[code])
        rows += _further(db, project, users[code], units, lists[code])
        new += [(row, code) for row in rows]
    db.add_all(row for row, _ in new)
    return len(new_reader_of), new


def _training(db: Connection, project: Project, user: User) -> list[Assignment]:
    """Who is new to a project begins with its training cases, as everybody did."""
    training = select(Unit).where(Unit.project_id == project.id, Unit.kind == "training")
    units = db.scalars(training.order_by(Unit.id))
    return [new_assignment(unit, user, "read", 0, n) for n, unit in enumerate(units)]


def _further(
    db: Connection, project: Project, user: User, units: Iterable[Unit], own: Sequence[Assignment]
) -> list[Assignment]:
    """Units put behind a reader's list, in blocks of their own: no twin of theirs is in them."""
    last = max(own, key=lambda row: (row.block, row.position), default=None)
    after = (0, -1, "")
    if last is not None:
        after = last.block, last.position, db.get_one(Unit, last.unit_id).patient
    by_id = {unit.id: unit for unit in units}
    planned = [PlannedUnit(u.id, u.patient, u.twin_group, u.kind) for u in by_id.values()]
    protocol = protocol_of(db, project)
    places = further_blocks(user.code, planned, protocol, project.seed, after=after)
    return [
        new_assignment(by_id[place.unit], user, "read", place.block, place.position)
        for place in places
    ]


def _settle(db: Connection, project: Project, units: Iterable[Unit]) -> None:
    """Open the adjudications that are due now."""
    protocol = protocol_of(db, project)
    for unit in units:
        if unit.kind == "item":
            open_adjudication(db, unit, project, protocol)


def hand_out_disputes(db: Connection) -> None:
    """Give the disputes for which nobody was free to whoever may settle them now."""
    waiting = select(Event.body["unit"].as_integer()).where(Event.kind == NOBODY_FREE)
    found = select(Unit).where(Unit.id.in_(waiting), Unit.kind == "item").order_by(Unit.id)
    by_project: Mapping[int, list[Unit]] = defaultdict(list)
    for unit in db.scalars(found):
        by_project[unit.project_id].append(unit)
    for number, units in by_project.items():
        project = db.get_one(Project, number)
        if project.state == "reading":
            _settle(db, project, units)
