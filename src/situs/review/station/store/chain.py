"""The chain of events: each is bound to the one before by a hash,
and every immutable row to its event."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session as Connection

from situs.base.files import canonical_json
from situs.review.station.store.tables import Adjudication, Assignment, Event, Reading, Unit

__all__ = [
    "FIRST",
    "NO_WORK",
    "add_digests",
    "append_event",
    "event_hash",
    "given_words",
    "row_digest",
    "snapshot_hash",
    "units_digest",
    "work_digest",
]

FIRST = "0" * 64
"""What the first event follows."""
_WORK_BYTES = 256
_WORK_MODULUS = 1 << 8 * _WORK_BYTES
NO_WORK = f"{0:0{2 * _WORK_BYTES}x}"
"""The digest of no assignment at all."""


def row_digest(row: Reading | Adjudication) -> str:
    """A hash of all a row says."""
    if isinstance(row, Reading):
        words = [row.assignment_id, row.stage, row.version, row.body, row.reason]
        words += [row.active_ms, row.slices_seen, row.at]
    else:
        words = [row.unit_id, row.assignment_id, row.version, row.decision]
        words += [row.key_wrong, row.reason, row.at]
    return hashlib.sha256(canonical_json([row.__tablename__, *words])).hexdigest()


def snapshot_hash(visible: dict[str, Any], hidden: dict[str, Any]) -> str:
    """The name a snapshot is kept under: a hash of all of it."""
    return hashlib.sha256(canonical_json([visible, hidden])).hexdigest()


def units_digest(units: Iterable[Unit]) -> str:
    """A hash of what units are of, stand for and weigh, whatever order they come in."""
    words = [
        [u.id, u.snapshot_hash, u.kind, u.stratum, u.weight, u.patient, u.twin_group, u.repeat_of]
        for u in sorted(units, key=lambda unit: unit.id)
    ]
    return hashlib.sha256(canonical_json(words)).hexdigest()


def given_words(row: Assignment, reader: str) -> tuple[object, ...]:
    """What never changes of a case that was given to somebody, known by a code."""
    return row.public_id, row.unit_id, reader, row.purpose, row.block, row.position


def work_digest(given: Iterable[tuple[object, ...]]) -> str:
    """A hash of who was given which case of what, where on the list (`given_words` of each).

    A sum of hashes, so that what is handed out later is added without reading 200,000 rows again
    (AdHash, Bellare and Micciancio 1997). So wide a modulus leaves no other set with the same sum
    within reach of a generalised birthday search.
    """
    total = 0
    for words in given:
        total += int.from_bytes(hashlib.shake_256(canonical_json(words)).digest(_WORK_BYTES))
    return f"{total % _WORK_MODULUS:0{2 * _WORK_BYTES}x}"


def add_digests(first: str, second: str) -> str:
    """The digest of two sets of assignments together."""
    total = (int(first, 16) + int(second, 16)) % _WORK_MODULUS
    return f"{total:0{2 * _WORK_BYTES}x}"


def event_hash(event: Event) -> str:
    """The hash of one link, made from all of it and the link before."""
    words = [event.sequence, event.at, event.actor, event.kind, event.body, event.previous]
    return hashlib.sha256(canonical_json(words)).hexdigest()


def append_event(db: Connection, actor: str, kind: str, **body: Any) -> Event:
    """Add a link, in the transaction that makes the change it tells of."""
    db.flush()
    last = db.scalars(select(Event).order_by(Event.sequence.desc()).limit(1)).first()
    event = Event(
        sequence=1 if last is None else last.sequence + 1,
        at=round(time.time(), 3),
        actor=actor,
        kind=kind,
        body=body,
        previous=FIRST if last is None else last.hash,
        hash="",
    )
    event.hash = event_hash(event)
    db.add(event)
    db.flush()
    db.info["head"] = (event.sequence, event.hash)
    return event
