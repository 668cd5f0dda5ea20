"""Signing in by a provider: a small one of our own, with real keys, that also lies on request."""

from __future__ import annotations

import hmac
import json
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from joserfc import jwt
from joserfc.jwk import RSAKey

from conftest import ADDRESS, Running
from situs.review.station.folder import OpenId
from situs.review.station.web.openid import Provider

ISSUER = "https://provider.test"


def forged(claims: dict[str, Any], algorithm: str, secret: bytes) -> str:
    """A token that is not signed at all, or by a secret that others know too."""

    def coded(content: bytes) -> str:
        return urlsafe_b64encode(content).rstrip(b"=").decode()

    header = {"alg": algorithm, "kid": "1"}
    start = ".".join(coded(json.dumps(part).encode()) for part in (header, claims))
    signature = hmac.digest(secret, start.encode(), "sha256") if secret else b""
    return f"{start}.{coded(signature)}"


class Fake:
    """A provider behind a transport:
    it checks PKCE as the standard asks, and signs what it is told to."""

    def __init__(self) -> None:
        self.key = RSAKey.generate_key(
            2048, {"kid": "1", "use": "sig", "alg": "RS256"}, private=True
        )
        self.asked: dict[str, str] = {}
        self.lies: dict[str, Any] = {}
        self.signed_by = self.key
        self.forged_with: tuple[str, bytes] | None = None

    def handle(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/.well-known/openid-configuration":
            names = ("authorization", "token")
            found = {f"{name}_endpoint": f"{ISSUER}/{name}" for name in names}
            return httpx.Response(
                200, json=found | {"issuer": ISSUER, "jwks_uri": f"{ISSUER}/keys"}
            )
        if request.url.path == "/keys":
            return httpx.Response(200, json={"keys": [self.key.as_dict(private=False)]})
        sent = {name: values[0] for name, values in parse_qs(request.content.decode()).items()}
        if create_s256_code_challenge(sent["code_verifier"]) != self.asked["code_challenge"]:
            return httpx.Response(400, json={"error": "invalid_grant"})
        claims = {
            "iss": ISSUER,
            "aud": "station",
            "nonce": self.asked["nonce"],
            "exp": int(time.time()) + 60,
            "preferred_username": "R1",
        }
        token = jwt.encode({"alg": "RS256", "kid": "1"}, claims | self.lies, self.signed_by)
        if self.forged_with is not None:
            token = forged(claims, *self.forged_with)
        return httpx.Response(
            200, json={"id_token": token, "access_token": "x", "token_type": "bearer"}
        )


@pytest.fixture
def provided(new_station: Callable[..., Running]) -> tuple[Running, Fake]:
    running, fake = new_station(), Fake()
    back = f"{ADDRESS}/api/v1/auth/openid/back"
    settings = OpenId(ISSUER, "station")
    running.app.state.station.openid = Provider(settings, back, httpx.MockTransport(fake.handle))
    return running, fake


def begin(running: Running, fake: Fake) -> Any:
    """Go to the provider and come back with its code."""
    person = running.stranger()
    sent = person.client.get("/api/v1/auth/openid/start", follow_redirects=False)
    assert sent.status_code == 303
    where = urlsplit(sent.headers["location"])
    assert f"{where.scheme}://{where.netloc}" == ISSUER
    fake.asked = {name: values[0] for name, values in parse_qs(where.query).items()}
    assert fake.asked["code_challenge_method"] == "S256"
    return person


def back(person: Any, state: str) -> Any:
    path = f"/api/v1/auth/openid/back?state={state}&code=abc"
    return person.client.get(path, follow_redirects=False)


def test_a_registered_person_signs_in(provided: tuple[Running, Fake]) -> None:
    running, fake = provided
    person = begin(running, fake)
    assert back(person, fake.asked["state"]).status_code == 303
    assert person.get("/me").json()["code"] == "R1"
    # A state is used once.
    assert back(person, fake.asked["state"]).status_code == 401


def test_another_browser_cannot_finish_the_sign_in(provided: tuple[Running, Fake]) -> None:
    running, fake = provided
    begin(running, fake)
    assert back(running.stranger(), fake.asked["state"]).status_code == 401


@pytest.mark.parametrize(
    "lie",
    [
        {"iss": "https://evil.test"},
        {"aud": "another"},
        {"nonce": "replayed"},
        {"exp": 1},
        {"preferred_username": "nobody"},
        {"preferred_username": ""},
    ],
)
def test_lies_are_not_believed(provided: tuple[Running, Fake], lie: dict[str, Any]) -> None:
    running, fake = provided
    person = begin(running, fake)
    fake.lies = lie
    assert back(person, fake.asked["state"]).status_code in (401, 403)
    assert person.get("/me").status_code == 401


def test_a_foreign_signature_is_not_believed(provided: tuple[Running, Fake]) -> None:
    running, fake = provided
    person = begin(running, fake)
    fake.signed_by = RSAKey.generate_key(2048, {"kid": "1"}, private=True)
    assert back(person, fake.asked["state"]).status_code == 401


@pytest.mark.parametrize("algorithm", ["none", "HS256"])
def test_no_signature_and_no_shared_secret_is_believed(
    provided: tuple[Running, Fake], algorithm: str
) -> None:
    """Also not the public key taken for a secret (algorithm confusion)."""
    running, fake = provided
    secrets = (b"",) if algorithm == "none" else (b"the client's", fake.key.as_pem(private=False))
    for secret in secrets:
        person = begin(running, fake)
        fake.forged_with = algorithm, secret
        assert back(person, fake.asked["state"]).status_code == 401
        assert person.get("/me").status_code == 401
