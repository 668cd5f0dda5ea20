"""Signing in by an OpenID Connect provider:
authorization code with PKCE; users are registered here beforehand."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from typing import Any

import httpx
from authlib.common.urls import add_params_to_uri
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from sqlalchemy import select

from situs.review.station.folder import OpenId
from situs.review.station.store.tables import User
from situs.review.station.web.signing_in import sign_in
from situs.review.station.web.station import COOKIE, Problem, Station

__all__ = ["Provider", "router"]

router = APIRouter()

_STATE_COOKIE = "__Host-situs-openid"
_STATE_SECONDS = 600
_MOST_WAITING = 1000
_TIMEOUT = 10.0
_ALGORITHMS = ["RS256", "ES256", "PS256", "EdDSA"]
"""Signatures by a key pair only: a client secret must never sign a token, nor nothing at all."""


class Provider:
    """The provider of a station; its addresses come from its own configuration,
    never from a request."""

    def __init__(self, settings: OpenId, redirect: str, transport: Any = None) -> None:
        self.settings = settings
        self.redirect = redirect
        self._transport = transport
        self._waiting: dict[str, tuple[str, str, float]] = {}
        self._lock = threading.Lock()
        self._document: dict[str, Any] = {}

    def start(self) -> tuple[str, str]:
        """Where to send the browser, and the state its cookie must bring back."""
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        asked = {
            "response_type": "code",
            "client_id": self.settings.client_id,
            "redirect_uri": self.redirect,
            "scope": "openid profile",
            "state": state,
            "nonce": nonce,
            "code_challenge": create_s256_code_challenge(verifier),
            "code_challenge_method": "S256",
        }
        address = add_params_to_uri(self._endpoint("authorization_endpoint"), list(asked.items()))
        with self._lock:
            now = time.monotonic()
            self._waiting = {s: w for s, w in self._waiting.items() if w[2] > now}
            if len(self._waiting) >= _MOST_WAITING:
                raise Problem(503, "too many sign-ins are waiting; try again in a few minutes")
            self._waiting[state] = (nonce, verifier, now + _STATE_SECONDS)
        return str(address), state

    def finish(self, state: str, code: str) -> str:
        """The name the provider vouches for; a state is used once."""
        with self._lock:
            nonce, verifier, until = self._waiting.pop(state, ("", "", 0.0))
        if not nonce or until < time.monotonic():
            raise Problem(401, "the sign-in has expired; begin again")
        try:
            answer = self._exchange(code, verifier)
            keys = KeySet.import_key_set(self._get(self._endpoint("jwks_uri")))  # type: ignore[arg-type]
            claims = jwt.decode(str(answer["id_token"]), keys, algorithms=_ALGORITHMS).claims
            jwt.JWTClaimsRegistry(
                leeway=60,
                iss={"essential": True, "value": self.settings.issuer},
                aud={"essential": True, "value": self.settings.client_id},
                nonce={"essential": True, "value": nonce},
                exp={"essential": True},
            ).validate(claims)
        except (httpx.HTTPError, JoseError, KeyError, ValueError) as error:
            raise Problem(401, "the provider's answer cannot be trusted") from error
        return str(claims.get(self.settings.claim, ""))

    def _exchange(self, code: str, verifier: str) -> dict[str, Any]:
        sent = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect,
            "client_id": self.settings.client_id,
            "code_verifier": verifier,
        }
        if self.settings.client_secret:
            sent["client_secret"] = self.settings.client_secret
        with httpx.Client(timeout=_TIMEOUT, transport=self._transport) as client:
            answer = client.post(self._endpoint("token_endpoint"), data=sent)
            answer.raise_for_status()
            result: dict[str, Any] = answer.json()
        return result

    def _endpoint(self, name: str) -> str:
        if not self._document:
            issuer = self.settings.issuer.rstrip("/")
            self._document = self._get(f"{issuer}/.well-known/openid-configuration")
            if self._document.get("issuer") != self.settings.issuer:
                raise Problem(502, "the provider names another issuer")
        return str(self._document[name])

    def _get(self, address: str) -> dict[str, Any]:
        with httpx.Client(timeout=_TIMEOUT, transport=self._transport) as client:
            answer = client.get(address, follow_redirects=False)
            answer.raise_for_status()
            result: dict[str, Any] = answer.json()
        return result


def _provider(request: Request) -> Provider:
    station: Station = request.app.state.station
    if station.openid is None:
        raise Problem(404, "no sign-in provider is set up")
    provider: Provider = station.openid
    return provider


def _bound(state: str) -> str:
    return hashlib.sha256(state.encode()).hexdigest()


@router.get("/auth/ways")
def ways(request: Request) -> dict[str, bool]:
    """How one can sign in here, beside a password."""
    station: Station = request.app.state.station
    return {"openid": station.openid is not None}


@router.get("/auth/openid/start", response_class=Response)
def start(request: Request) -> Response:
    """Begin; the state is bound to this browser by a cookie."""
    address, state = _provider(request).start()
    response = RedirectResponse(address, 303)
    response.set_cookie(
        _STATE_COOKIE,
        _bound(state),
        max_age=_STATE_SECONDS,
        path="/",
        secure=True,
        httponly=True,
        samesite="lax",
    )
    return response


@router.get("/auth/openid/back", response_class=Response)
def back(request: Request, state: str = "", code: str = "") -> Response:
    """Come back from the provider."""
    station: Station = request.app.state.station
    if not state or request.cookies.get(_STATE_COOKIE, "") != _bound(state):
        raise Problem(401, "the sign-in was begun in another browser; begin again")
    name = _provider(request).finish(state, code)
    with station.database.read() as db:
        user = db.scalar(select(User).where(User.code == name, User.active))
    if user is None or not name:
        raise Problem(403, "this account is not registered here; ask the coordinator")
    response = RedirectResponse("/", 303)
    sign_in(station, user, response, request.cookies.get(COOKIE, ""))
    response.delete_cookie(_STATE_COOKIE, path="/", secure=True, httponly=True)
    return response
