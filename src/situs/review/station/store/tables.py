"""The tables, the same on SQLite and PostgreSQL."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Float,
    ForeignKey,
    Index,
    Integer,
    String,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

__all__ = [
    "IMMUTABLE",
    "Adjudication",
    "Assignment",
    "Base",
    "Event",
    "Invite",
    "Project",
    "Protocol",
    "Reading",
    "RequestKey",
    "Session",
    "Snapshot",
    "Unit",
    "User",
]

IMMUTABLE = ("protocols", "snapshots", "readings", "adjudications", "events")
"""Tables whose rows are never changed or removed; triggers refuse it."""

Json = dict[str, Any]


class Base(DeclarativeBase):
    """All tables."""

    type_annotation_map = {Json: JSON, list[str]: JSON, str: Text, int: BigInteger}  # noqa: RUF012


class User(Base):
    """A person, known by a code; names stay outside."""

    __tablename__ = "users"
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    code: Mapped[str] = mapped_column(String(40), unique=True)
    roles: Mapped[list[str]]
    password: Mapped[str] = mapped_column(default="")
    """An argon2id hash; empty until the invitation is used."""
    active: Mapped[bool] = mapped_column(Boolean, default=True)


class Invite(Base):
    """A one-time token by which an account gets its password; stored hashed."""

    __tablename__ = "invites"
    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    expires: Mapped[float] = mapped_column(Float)


class Session(Base):
    """A browser that signed in; stored hashed."""

    __tablename__ = "sessions"
    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    started: Mapped[float] = mapped_column(Float)
    seen: Mapped[float] = mapped_column(Float)
    locked: Mapped[bool] = mapped_column(Boolean, default=False)


class Protocol(Base):
    """How a project reads, frozen."""

    __tablename__ = "protocols"
    hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    name: Mapped[str]
    body: Mapped[Json]


class Project(Base):
    """A sample of a bench under one protocol."""

    __tablename__ = "projects"
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(32), unique=True)
    name: Mapped[str] = mapped_column(String(80), unique=True)
    protocol_hash: Mapped[str] = mapped_column(ForeignKey("protocols.hash"))
    bench: Mapped[str]
    bench_hash: Mapped[str]
    seed: Mapped[int]
    state: Mapped[str] = mapped_column(String(10), default="draft")
    """`draft`, `reading` (the plan is frozen) or `locked` (no more reads)."""


class Snapshot(Base):
    """An item as it was when it was imported."""

    __tablename__ = "snapshots"
    hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    shown: Mapped[Json]
    """What a reader sees before the reveal."""
    hidden: Mapped[Json]
    """What the reveal adds, and what no reader ever sees (ids, stratum)."""


class Unit(Base):
    """One thing to be read: an item, a wording, a catch trial or a training case."""

    __tablename__ = "units"
    __table_args__ = (Index("units_by_project", "project_id", "kind"),)
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"))
    snapshot_hash: Mapped[str] = mapped_column(ForeignKey("snapshots.hash"))
    kind: Mapped[str] = mapped_column(String(10))
    """`item`, `wording`, `catch`, `repeat` or `training`."""
    stratum: Mapped[str] = mapped_column(String(60))
    weight: Mapped[float] = mapped_column(Float)
    patient: Mapped[str]
    twin_group: Mapped[str] = mapped_column(default="")
    repeat_of: Mapped[int | None] = mapped_column(Integer, nullable=True)


class Assignment(Base):
    """A unit given to a person. `public_id` is random: nothing of the item can be told from it."""

    __tablename__ = "assignments"
    __table_args__ = (
        UniqueConstraint("unit_id", "user_id", "purpose"),
        Index(
            "assignments_by_user", "user_id", "purpose", "state", "block", "position", "project_id"
        ),
        Index("assignments_by_project", "project_id", "user_id", "purpose", "state"),
    )
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(32), unique=True)
    unit_id: Mapped[int] = mapped_column(ForeignKey("units.id"), index=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"))
    purpose: Mapped[str] = mapped_column(String(12))
    """`read` or `adjudicate`."""
    block: Mapped[int] = mapped_column(Integer)
    position: Mapped[int] = mapped_column(Integer)
    state: Mapped[str] = mapped_column(String(10), default="open")
    """`open`, `revealed` (stage 1 is locked), `done`, `signed` or `withdrawn`."""
    version: Mapped[int] = mapped_column(Integer, default=1)
    draft: Mapped[Json] = mapped_column(JSON, default=dict)


class Reading(Base):
    """What was said at one stage; a correction is a further version with a reason."""

    __tablename__ = "readings"
    __table_args__ = (UniqueConstraint("assignment_id", "stage", "version"),)
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id"), index=True)
    stage: Mapped[int] = mapped_column(Integer)
    version: Mapped[int] = mapped_column(Integer)
    body: Mapped[Json]
    """answer and confidence, or score, flags, verdicts and comment."""
    reason: Mapped[str] = mapped_column(default="")
    active_ms: Mapped[int] = mapped_column(default=0)
    slices_seen: Mapped[int] = mapped_column(Integer, default=0)
    at: Mapped[float] = mapped_column(Float)


class Adjudication(Base):
    """A decision on a unit that readers did not settle."""

    __tablename__ = "adjudications"
    __table_args__ = (UniqueConstraint("unit_id", "version"),)
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    unit_id: Mapped[int] = mapped_column(ForeignKey("units.id"), index=True)
    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id"))
    version: Mapped[int] = mapped_column(Integer)
    decision: Mapped[str] = mapped_column(String(10))
    """`keep`, `fix` or `drop`."""
    key_wrong: Mapped[bool] = mapped_column(Boolean)
    reason: Mapped[str]
    at: Mapped[float] = mapped_column(Float)


class Event(Base):
    """One link of the chain: everything that was written, by whom, bound to the link before."""

    __tablename__ = "events"
    sequence: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    at: Mapped[float] = mapped_column(Float)
    actor: Mapped[str] = mapped_column(String(40), index=True)
    kind: Mapped[str] = mapped_column(String(40), index=True)
    body: Mapped[Json]
    previous: Mapped[str] = mapped_column(String(64))
    hash: Mapped[str] = mapped_column(String(64))


class RequestKey(Base):
    """What a submit was answered, so that the same submit
    again gives the same answer and no second reading."""

    __tablename__ = "request_keys"
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True)
    key: Mapped[str] = mapped_column(String(80), primary_key=True)
    request_hash: Mapped[str] = mapped_column(String(64))
    answer: Mapped[Json]
    at: Mapped[float] = mapped_column(Float)
