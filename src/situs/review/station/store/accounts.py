"""Accounts and sessions: invitations, passwords, and who is signed in."""

from __future__ import annotations

import hashlib
import re
import secrets
import threading
import time
from base64 import b64encode
from collections.abc import Sequence
from contextlib import suppress

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import ARGON2_VERSION
from sqlalchemy import delete, select
from sqlalchemy.orm import Session as Connection

from situs.errors import SitusError
from situs.review.station.store.chain import append_event
from situs.review.station.store.leaving import hand_out_disputes
from situs.review.station.store.tables import Invite, Session, User

__all__ = [
    "ABSOLUTE_SECONDS",
    "IDLE_SECONDS",
    "INVITE_SECONDS",
    "ROLES",
    "accept_invite",
    "add_user",
    "change_user",
    "check_password",
    "find_session",
    "invite",
    "is_code",
    "password_digest",
    "start_session",
    "token_hash",
]

ROLES = ("reader", "adjudicator", "coordinator", "auditor")
IDLE_SECONDS = 20 * 60
ABSOLUTE_SECONDS = 12 * 3600
INVITE_SECONDS = 7 * 24 * 3600
_SHORTEST = 12
_LONGEST = 200
_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,39}")

# 64 MiB for each hash at work: a semaphore bounds what many sign-ins at once can take.
_HASHER = PasswordHasher(time_cost=2, memory_cost=64 * 1024, parallelism=1)
_AT_WORK = threading.BoundedSemaphore(2)
_SALT_BYTES, _HASH_BYTES = 16, 32


def token_hash(token: str) -> str:
    """Tokens are stored hashed, so that a stolen database opens no session."""
    return hashlib.sha256(token.encode()).hexdigest()


def password_digest(stored: str) -> str:
    """What the chain keeps of a password: a hash of its salted hash, of no use to whoever guesses
    without the salt."""
    return hashlib.sha256(stored.encode()).hexdigest()


def is_code(text: str) -> bool:
    """Whether an account may be called so."""
    return _CODE.fullmatch(text) is not None


def add_user(db: Connection, code: str, roles: Sequence[str], actor: str) -> str:
    """A new account; returns the one-time token by which its owner sets a password."""
    if not is_code(code):
        raise SitusError(
            f"{code!r} is not a reader code",
            where="situs review user",
            fix="letters, digits, dots and dashes; a code, not a name",
        )
    unknown = sorted(set(roles) - set(ROLES))
    if unknown or not roles:
        raise SitusError(
            f"unknown role {unknown[0]!r}" if unknown else "no role given",
            where="--role",
            fix=f"one of {', '.join(ROLES)}",
        )
    if db.scalar(select(User).where(User.code == code)) is not None:
        raise SitusError(f"{code} exists", where="situs review user", fix="choose another code")
    user = User(code=code, roles=sorted(set(roles)), password="", active=True)
    db.add(user)
    db.flush()
    append_event(db, actor, "user added", user=code, roles=user.roles)
    _give_work(db, user)
    return invite(db, user, actor)


def invite(db: Connection, user: User, actor: str) -> str:
    """A fresh one-time token; earlier ones of the same user end."""
    db.execute(delete(Invite).where(Invite.user_id == user.id))
    token = secrets.token_urlsafe(24)
    db.add(
        Invite(token_hash=token_hash(token), user_id=user.id, expires=time.time() + INVITE_SECONDS)
    )
    append_event(db, actor, "user invited", user=user.code, token_digest=token_hash(token))
    return token


def accept_invite(db: Connection, token: str, password: str) -> User:
    """Set the first or a new password; the token is used up and every open session ends."""
    invite = db.get(Invite, token_hash(token))
    if invite is None or invite.expires < time.time():
        raise SitusError("the invitation is unknown, used or expired", fix="ask for a new one")
    check_strength(password)
    user = db.get_one(User, invite.user_id)
    if not user.active:
        raise SitusError("the account is closed", fix="ask the coordinator")
    with _AT_WORK:
        user.password = _HASHER.hash(password)
    db.execute(delete(Invite).where(Invite.user_id == user.id))
    db.execute(delete(Session).where(Session.user_id == user.id))
    append_event(db, user.code, "password set", password_digest=password_digest(user.password))
    return user


def check_strength(password: str) -> None:
    """Long enough to resist guessing;
    no rules about signs, which make passwords worse (NIST SP 800-63B)."""
    if not _SHORTEST <= len(password) <= _LONGEST:
        raise SitusError(
            f"a password has {_SHORTEST} to {_LONGEST} characters", fix="a few words will do"
        )


def change_user(
    db: Connection, code: str, actor: str, *, roles: Sequence[str] = (), active: bool | None = None
) -> User:
    """New roles, or an account closed or opened again; every open session of it ends."""
    user = db.scalar(select(User).where(User.code == code))
    if user is None:
        raise SitusError(
            f"no user {code}", where="situs review user", fix="see situs review user DIR list"
        )
    if roles:
        unknown = sorted(set(roles) - set(ROLES))
        if unknown:
            raise SitusError(f"unknown role {unknown[0]!r}", fix=f"one of {', '.join(ROLES)}")
        user.roles = sorted(set(roles))
    if active is not None:
        user.active = active
    db.execute(delete(Session).where(Session.user_id == user.id))
    append_event(db, actor, "user changed", user=code, roles=user.roles, active=user.active)
    _give_work(db, user)
    return user


def _give_work(db: Connection, user: User) -> None:
    """Disputes may have been waiting for somebody who settles them."""
    if user.active and "adjudicator" in user.roles:
        db.flush()
        hand_out_disputes(db)


def check_password(user: User | None, password: str) -> bool:
    """Whether the password fits; an unknown user costs the same time as a known one."""
    stored = user.password if user is not None and user.active and user.password else _nobody()
    fits = False
    with _AT_WORK, suppress(VerificationError, InvalidHashError):
        fits = bool(_HASHER.verify(stored, password))
    return fits and user is not None and stored == user.password


def _nobody() -> str:
    """A hash of no known password, as costly to check as any.

    Drawn rather than computed: else the first unknown code after a start would cost twice the time.
    """
    salt, digest = (
        b64encode(secrets.token_bytes(count)).rstrip(b"=").decode()
        for count in (_SALT_BYTES, _HASH_BYTES)
    )
    costs = f"m={_HASHER.memory_cost},t={_HASHER.time_cost},p={_HASHER.parallelism}"
    return f"$argon2id$v={ARGON2_VERSION}${costs}${salt}${digest}"


def start_session(db: Connection, user: User) -> str:
    """Sign in: a fresh token each time, so that none planted before can be used."""
    token = secrets.token_urlsafe(32)
    now = time.time()
    db.add(Session(token_hash=token_hash(token), user_id=user.id, started=now, seen=now))
    append_event(db, user.code, "signed in", token_digest=token_hash(token))
    return token


def find_session(db: Connection, token: str) -> tuple[Session, User] | None:
    """The session of a token and its user; None if there is none, or it has run out."""
    query = select(Session, User).join(User, User.id == Session.user_id)
    row = db.execute(query.where(Session.token_hash == token_hash(token))).first()
    if row is None or time.time() - row[0].started > ABSOLUTE_SECONDS or not row[1].active:
        return None
    return row[0], row[1]
