"""Signing: a block is closed once nothing in it can be read now."""

from __future__ import annotations

import time

from sqlalchemy import select
from sqlalchemy.orm import Session as Connection

from situs.errors import SitusError
from situs.review.station.store.chain import append_event
from situs.review.station.store.lists import is_waiting
from situs.review.station.store.tables import Assignment, Project, User

__all__ = ["sign_block"]


def sign_block(
    db: Connection, user: User, project: Project, block: int, now: float | None = None
) -> int:
    """Sign what was read of a block of a project: nothing of it is amended any more.

    Hidden repeats that are not due yet do not hold it up; read later, they are signed then.
    """
    rows = db.scalars(
        select(Assignment).where(
            Assignment.project_id == project.id,
            Assignment.user_id == user.id,
            Assignment.block == block,
            Assignment.purpose == "read",
            Assignment.state != "withdrawn",
        )
    ).all()
    moment = time.time() if now is None else now
    states = {row.state for row in rows}
    unfinished = "revealed" in states or (
        "open" in states and not is_waiting(db, user, project.id, block, moment)
    )
    if unfinished or not states & {"done", "signed"}:
        raise SitusError("the block is not finished", fix="read its open cases first")
    unsigned = [row for row in rows if row.state == "done"]
    for row in unsigned:
        row.state = "signed"
        row.version += 1
    if unsigned:
        append_event(
            db,
            user.code,
            "block signed",
            project=project.name,
            block=block,
            cases=len(unsigned),
        )
    return len(unsigned)
