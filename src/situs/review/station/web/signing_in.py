"""Signing in and out, the locked screen, and invitations."""

from __future__ import annotations

import math

from fastapi import APIRouter, Request, Response
from sqlalchemy import delete, select

from situs.review.station.store.accounts import (
    ABSOLUTE_SECONDS,
    IDLE_SECONDS,
    accept_invite,
    check_password,
    start_session,
    token_hash,
)
from situs.review.station.store.chain import append_event
from situs.review.station.store.tables import Session, User
from situs.review.station.web.messages import InviteBody, LoginBody, MeView, PasswordBody
from situs.review.station.web.station import (
    COOKIE,
    Actor,
    Asking,
    Problem,
    Station,
    set_locked,
    who_asks,
)

__all__ = ["address_of", "me_view", "router", "sign_in"]

router = APIRouter()


def address_of(request: Request) -> str:
    """Where a request comes from; behind a proxy, as the proxy says."""
    station: Station = request.app.state.station
    if station.behind_proxy:
        forwarded = request.headers.get("x-forwarded-for", "").split(",")[-1].strip()
        if forwarded:
            return forwarded[:64]
    return request.client.host if request.client else ""


def me_view(station: Station, user: User, session_token: str) -> MeView:
    """What the page needs to know of its user."""
    return MeView(
        code=user.code,
        roles=user.roles,
        token=station.csrf_token(session_token),
        idle_seconds=IDLE_SECONDS,
    )


def sign_in(station: Station, user: User, response: Response, before: str = "") -> MeView:
    """Start a session with a fresh token, and end the one the browser had."""
    with station.database.write() as db:
        db.execute(delete(Session).where(Session.token_hash == token_hash(before)))
        token = start_session(db, user)
    response.set_cookie(
        COOKIE,
        token,
        max_age=ABSOLUTE_SECONDS,
        path="/",
        secure=True,
        httponly=True,
        samesite="strict",
    )
    return me_view(station, user, token)


def _begin(station: Station, *keys: str) -> None:
    """Refuse a try that comes too soon after others that failed."""
    wait = station.throttle.begin(*keys)
    if wait > 0:
        raise Problem(429, "too many failed attempts; wait a minute", retry_after=math.ceil(wait))


def _try(station: Station, user: User | None, code: str, password: str, address: str) -> User:
    """Check a password, with waiting times by account and by address."""
    keys = (f"code {code}", f"address {address}")
    _begin(station, *keys)
    if not check_password(user, password) or user is None:
        raise Problem(401, "code or password is wrong")
    station.throttle.succeeded(*keys)
    return user


@router.post("/auth/login")
def login(body: LoginBody, request: Request, response: Response) -> MeView:
    """Sign in by code and password."""
    station: Station = request.app.state.station
    with station.database.read() as db:
        user = db.scalar(select(User).where(User.code == body.code))
    known = _try(station, user, body.code, body.password, address_of(request))
    return sign_in(station, known, response, request.cookies.get(COOKIE, ""))


@router.post("/auth/invite")
def use_invite(body: InviteBody, request: Request, response: Response) -> MeView:
    """Set a password by an invitation, and sign in."""
    station: Station = request.app.state.station
    key = f"invite {address_of(request)}"
    _begin(station, key)
    with station.database.write() as db:
        user = accept_invite(db, body.token, body.password)
    station.throttle.succeeded(key)
    return sign_in(station, user, response, request.cookies.get(COOKIE, ""))


@router.get("/me")
def me(actor: Asking, request: Request) -> MeView:
    """Who is signed in."""
    return me_view(request.app.state.station, actor.user, actor.session_token)


@router.post("/auth/logout")
def logout(request: Request, response: Response) -> dict[str, bool]:
    """Sign out."""
    actor: Actor = who_asks(request)
    station: Station = request.app.state.station
    with station.database.write() as db:
        db.execute(delete(Session).where(Session.token_hash == token_hash(actor.session_token)))
        append_event(db, actor.user.code, "signed out")
    response.delete_cookie(COOKIE, path="/", secure=True, httponly=True, samesite="strict")
    return {"ok": True}


@router.post("/auth/lock")
def lock(actor: Asking, request: Request) -> dict[str, bool]:
    """Lock the screen; drafts stay."""
    set_locked(request.app.state.station, actor.session_token, True)
    return {"ok": True}


@router.post("/auth/unlock")
def unlock(body: PasswordBody, request: Request) -> MeView:
    """Unlock the screen by the password."""
    station: Station = request.app.state.station
    actor = who_asks(request)
    _try(station, actor.user, actor.user.code, body.password, address_of(request))
    set_locked(station, actor.session_token, False)
    return me_view(station, actor.user, actor.session_token)
