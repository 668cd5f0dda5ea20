"""Every threat of the station, each with a test that fails on the naive way."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from conftest import ADDRESS, PASSWORD, Person, Running, first_answer, ok
from situs.errors import SitusError

OPEN_TO_ALL = {"/api/v1/auth/login", "/api/v1/auth/invite", "/api/v1/auth/ways"}


def addresses(running: Running) -> list[tuple[str, str]]:
    """Every method and address of the interface."""
    schema = ok(running.stranger().client.get("/api/v1/openapi.json"))
    return [(verb.upper(), path) for path, verbs in schema["paths"].items() for verb in verbs]


def filled(path: str, running: Running, case: str, token: str) -> str:
    values = {
        "case": case, "token": token, "plane": "axial", "index": "3", "block": "1",
        "project": running.project(),
    }  # fmt: skip
    return re.sub(r"\{(\w+)\}", lambda m: values[m[1]], path.removeprefix("/api/v1"))


def hidden_words(running: Running) -> dict[str, set[str]]:
    """Of every unit what no reader may see before the reveal:
    ids, keys' derivations, structures' volumes, hashes."""
    from situs.review.station.store.tables import Snapshot, Unit

    with running.database.read() as db:
        found: dict[str, set[str]] = {"any": set()}
        for unit, held in db.execute(
            select(Unit, Snapshot).join(Snapshot, Snapshot.hash == Unit.snapshot_hash)
        ):
            hidden = held.hidden
            words = {held.hash, unit.patient}
            if "item_id" in hidden:
                words |= {hidden["item_id"], hidden["study_id"], hidden["volume"]}
                words |= {
                    step["text"]
                    for step in hidden["detail"].get("steps", ())
                    if "measur" in step["kind"]
                }
            found["any"] |= {word for word in words if len(word) > 6}
    return found


def test_nobody_and_another_reader_get_nothing(reading: Running) -> None:
    """A walk over all addresses: without an account, and with another's case in hand."""
    owner, other, nobody = reading.person("R1"), reading.person("R2"), reading.stranger()
    view = owner.case()
    case, token = view["id"], view["series"]["token"]
    assert owner.get(f"/series/{token}/axial/3").status_code == 200
    visited = 0
    for verb, path in addresses(reading):
        if path in OPEN_TO_ALL or "openid" in path:
            continue
        where = filled(path, reading, case, token)
        visited += 1
        refused = nobody.send(where, {}, version=1, method=verb)
        assert refused.status_code in (401, 403, 422), (verb, path, refused.status_code)
        if (
            refused.status_code == 422
        ):  # the form of the body is checked first; nothing is told of it
            assert set(refused.json()) <= {"type", "status", "title", "where"}
        if "{case}" in path or "{token}" in path:
            taken = other.send(where, {}, version=1, method=verb)
            assert taken.status_code in (403, 404, 422), (verb, path)
            assert view["question"] not in taken.text
        if path.startswith("/api/v1/projects") or path in (
            "/api/v1/events",
            "/api/v1/verify",
            "/api/v1/readers",
            "/api/v1/benches",
            "/api/v1/users",
            "/api/v1/users/invite",
        ):
            assert other.send(
                where, {"readers": [], "reader": ""}, version=1, method=verb
            ).status_code in (403, 422)
    assert visited >= 20


def test_another_reader_writes_nothing_into_a_case(reading: Running) -> None:
    """With bodies that its owner could have sent: each is refused as if the case were not there."""
    owner, other = reading.person("R1"), reading.person("R2")
    view = owner.case()
    bodies = {
        "draft": ("PUT", {"draft": {"comment": "mine now"}}),
        "answer": ("POST", first_answer(view)),
        "rating": ("POST", {"score": 0}),
        "amend": ("POST", {"score": 0, "reason": "because"}),
    }
    for path, (method, body) in bodies.items():
        where = f"/assignments/{view['id']}/{path}"
        answer = other.send(where, body, version=view["version"], method=method)
        assert answer.status_code == 404, path
    decision = {"decision": "drop", "key_wrong": True, "reason": "because"}
    where = f"/assignments/{view['id']}/decision"
    assert reading.person("J1").send(where, decision, version=1).status_code == 404
    assert owner.case() == view


def test_before_the_reveal_no_byte_tells_the_key(reading: Running) -> None:
    """Everything a reader can fetch before answering,
    searched for what only the reveal may tell."""
    reader = reading.person("R1")
    words = hidden_words(reading)["any"]
    while (view := reader.case()) is not None:
        if view["kind"] == "wording":
            ok(reader.rate(view))
            continue
        text = reader.get(f"/assignments/{view['id']}").text
        text += reader.get("/blocks").text + reader.get("/next").text + reader.get("/me").text
        assert not [word for word in words if word in text]
        for name in (
            "stratum",
            "weight",
            "catch",
            "repeat",
            "item_id",
            "twin",
            "overlay",
            "fact",
            "structure",
        ):
            assert name not in json.dumps(
                {
                    k: v
                    for k, v in view.items()
                    if k not in ("question", "options", "flags", "reveal", "readings")
                }
            )
        token = view["series"]["token"]
        assert reader.get(f"/series/{token}/outlines/axial/3").status_code == 404
        later = re.sub(r"\.1\.", ".2.", token)
        assert reader.get(f"/series/{later}/axial/3").status_code == 404
        assert [window[0] for window in view["series"]["windows"]]
        reader.read(view)


def test_two_benches_that_differ_only_in_hidden_fields_answer_alike(
    new_station: Any, bench: Path, tmp_path: Path
) -> None:
    """Keys, strata and derivations exchanged:
    a reader before the reveal cannot tell the two apart."""
    import shutil

    import msgspec

    from situs.bench import TableWriter, content_hash, encode_info, open_bench
    from situs.items import Choice, Item, YesNo

    changed = tmp_path / "changed"
    shutil.copytree(bench, changed)
    opened = open_bench(bench)

    def other(item: Item) -> Item:
        answer = item.answer
        if isinstance(answer, YesNo):
            answer = YesNo(not answer.value)
        elif isinstance(answer, Choice):
            answer = Choice(next(o.value for o in item.options if o.value != answer.value))
        return msgspec.structs.replace(item, answer=answer, steps=(), difficulty=0.5)

    with TableWriter(changed / "items.parquet", Item) as table:
        table.write(other(item) for item in opened.items())
    info = msgspec.structs.replace(opened.info, content_hash=content_hash(changed))
    (changed / "bench.json").write_bytes(encode_info(info))

    def seen(running: Running) -> list[str]:
        running.freeze("R1", "R2")
        reader, told = running.person("R1"), []
        for _ in range(8):
            view = reader.case()
            text = reader.get(f"/assignments/{view['id']}").text
            told.append(re.sub(r"[0-9a-f]{32}(\.\d\.[0-9a-f]{40})?", "ID", text))
            path = f"/series/{view['series']['token']}/axial/3"
            told.append(reader.get(path).content.hex())
            reader.read(view)
        return told

    assert seen(new_station("one")) == seen(new_station("two", bench=changed))


def test_a_write_from_another_page_is_refused(reading: Running) -> None:
    """CSRF: the cookie alone writes nothing; nor does a wrong origin, a wrong host, or a form."""
    reader = reading.person("R1")
    view = reader.case()
    path, body = f"/api/v1/assignments/{view['id']}/draft", {"draft": {"comment": "x"}}
    good = {"Origin": ADDRESS, "X-Situs-Token": reader.token, "If-Match": f'"v{view["version"]}"'}
    for broken in (
        good | {"X-Situs-Token": ""},
        good | {"X-Situs-Token": reading.person("R2").token},
        good | {"Origin": "https://evil.test"},
        {name: value for name, value in good.items() if name != "Origin"},
    ):
        assert reader.client.put(path, json=body, headers=broken).status_code == 403
    assert (
        reader.client.put(path, json=body, headers=good | {"Host": "rebound.test"}).status_code
        == 421
    )
    form = reader.client.put(path, content="draft=1", headers=good | {"Content-Type": "text/plain"})
    assert form.status_code == 415
    assert reader.client.put(path, json=body, headers=good).status_code == 200


def test_what_is_said_comes_back_as_text_under_a_strict_policy(reading: Running) -> None:
    """Stored and reflected XSS: JSON with its own type,
    no sniffing, and a policy without inline script."""
    reader = reading.person("R1")
    view = reader.case()
    script = "<script>alert(1)</script>"
    body = {"draft": {"comment": script}}
    ok(reader.send(f"/assignments/{view['id']}/draft", body, version=view["version"], method="PUT"))
    answer = reader.get(f"/assignments/{view['id']}")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    for path in ("/", "/static/station.js", "/api/v1/me", "/nowhere"):
        policy = reader.client.get(path).headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'")
        assert "unsafe" not in policy
    reflected = reader.client.get(f"/api/v1/assignments/{script}")
    assert script not in reflected.text
    assert "<script>" not in reader.client.get("/").text.replace(
        '<script type="module" src="/static/station.js">', ""
    )


def test_no_path_leads_out(reading: Running) -> None:
    """Path traversal: files are a closed set, parameters closed patterns."""
    reader = reading.person("R1")
    token = reader.case()["series"]["token"]
    for path in (
        "/static/../station.json", "/static/%2e%2e%2fstation.json", "/static/..%5cstation.json",
        f"/api/v1/series/{token}/..%2f..%2fstation.json/0", f"/api/v1/series/{token}/axial/-1",
        f"/api/v1/series/{token}/axial/99999", f"/api/v1/series/{token}/axial/0x3",
        "/api/v1/series/../../station.json/axial/0",
    ):  # fmt: skip
        answer = reader.client.get(path)
        assert answer.status_code in (404, 422), path
        assert reading.folder.settings.secret not in answer.text


def test_a_leaked_slice_address_is_worthless(reading: Running) -> None:
    """Token leak by URL: without the owner's session it opens nothing; nor does a guessed one."""
    token = reading.person("R1").case()["series"]["token"]
    path = f"/series/{token}/axial/3"
    assert reading.person("R1").get(path).status_code == 200
    assert reading.person("R2").get(path).status_code == 404
    assert reading.stranger().get(path).status_code == 401
    forged = token[:-1] + ("0" if token[-1] != "0" else "1")
    assert reading.person("R1").get(f"/series/{forged}/axial/3").status_code == 404
    assert reading.person("R1").get(path).headers["cache-control"] == "no-store"


def test_nothing_is_open_by_default(new_station: Any, tmp_path: Path) -> None:
    """No account without an invitation, no sign-up,
    no default password, private files, loopback only."""
    from situs.review.station.web.server import Binding

    running: Running = new_station()
    nobody = running.stranger()
    for code, password in (("admin", "admin"), ("C1", ""), ("C1", PASSWORD), ("C1", "C1")):
        answer = nobody.send("/auth/login", {"code": code, "password": password})
        assert answer.status_code == 401
    assert nobody.send("/auth/invite", {"token": "guess", "password": PASSWORD}).status_code == 409
    token = running.invitations["R1"]
    short = nobody.send("/auth/invite", {"token": token, "password": "short"})
    assert short.status_code == 409
    running.person("R1")
    used = nobody.send("/auth/invite", {"token": token, "password": "another long password"})
    assert used.status_code == 409
    root = running.folder.root
    assert stat.S_IMODE(root.stat().st_mode) == 0o700
    assert stat.S_IMODE((root / "station.json").stat().st_mode) == 0o600
    for bad in (
        Binding("0.0.0.0"), Binding("192.0.2.1"), Binding(behind_proxy=True),
        Binding("0.0.0.0", certificate=tmp_path / "c"),
    ):  # fmt: skip
        with pytest.raises(SitusError):
            bad.check()
    Binding("0.0.0.0", address="https://reading.test", behind_proxy=True).check()


def test_sign_ins_are_slowed_and_unknown_people_cost_the_same(
    new_station: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from situs.review.station.store import accounts

    running: Running = new_station()
    running.person("R1")
    hashed: list[str] = []
    real = accounts._HASHER.__class__.verify
    monkeypatch.setattr(
        accounts._HASHER.__class__, "verify",
        lambda self, stored, given: hashed.append(stored) or real(self, stored, given),
    )  # fmt: skip
    nobody = running.stranger()
    nobody.send("/auth/login", {"code": "stranger", "password": "x"})
    nobody.send("/auth/login", {"code": "R1", "password": "x"})
    assert [stored.partition("m=65536")[1] for stored in hashed] == ["m=65536"] * 2
    for _ in range(3):
        nobody.send("/auth/login", {"code": "R1", "password": "x"})
    slowed = nobody.send("/auth/login", {"code": "R1", "password": PASSWORD})
    assert slowed.status_code == 429
    assert int(slowed.headers["retry-after"]) >= 1


def test_sessions_rotate_lock_and_end(reading: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    from situs.review.station.store import accounts
    from situs.review.station.store.tables import Session
    from situs.review.station.web import station as module

    reader: Person = reading.person("R1")
    cookie = module.COOKIE
    before = reader.client.cookies[cookie]
    login = reader.send("/auth/login", {"code": "R1", "password": PASSWORD})
    set_cookie = login.headers["set-cookie"]
    assert set_cookie.startswith("__Host-")
    for word in ("Secure", "HttpOnly", "SameSite=strict", "Path=/"):
        assert word in set_cookie
    assert "Domain" not in set_cookie
    reader.token = ok(login)["token"]
    assert reader.client.cookies[cookie] != before
    with reading.database.read() as db:
        stored = {session.token_hash for session in db.scalars(select(Session))}
    assert accounts.token_hash(before) not in stored, "the old session lives on"
    assert reader.client.cookies[cookie] not in stored, "tokens are stored in the clear"
    ok(reader.send("/auth/lock"))
    assert reader.get("/me").status_code == 423
    assert reader.send("/auth/unlock", {"password": "wrong one here"}).status_code == 401
    ok(reader.send("/auth/unlock", {"password": PASSWORD}))
    assert reader.get("/me").status_code == 200
    # Idle for too long: locked. Too old: gone.
    with reading.database.write() as db:
        for session in db.scalars(select(Session)):
            session.seen -= accounts.IDLE_SECONDS + 5
    assert reader.get("/me").status_code == 423
    with reading.database.write() as db:
        for session in db.scalars(select(Session)):
            session.started -= accounts.ABSOLUTE_SECONDS + 5
    assert reader.get("/me").status_code == 401


def test_an_invitation_ends_the_session_the_browser_had(reading: Running) -> None:
    """Session fixation: whoever sets a password on a shared machine leaves no session of the one
    before, also not on the server."""
    from situs.review.station.store.accounts import token_hash
    from situs.review.station.store.tables import Session
    from situs.review.station.web.station import COOKIE

    first = reading.person("R1")
    before = first.client.cookies[COOKIE]
    ok(first.send("/auth/invite", {"token": reading.invitations["R2"], "password": PASSWORD}))
    assert first.client.cookies[COOKIE] != before
    with reading.database.read() as db:
        assert db.get(Session, token_hash(before)) is None


def test_a_change_of_role_ends_sessions(reading: Running) -> None:
    from situs.review.station.store.accounts import change_user

    reader = reading.person("R1")
    with reading.database.write() as db:
        change_user(db, "R1", "test", roles=["adjudicator"])
    assert reader.get("/me").status_code == 401


def test_large_requests_are_not_read(reading: Running) -> None:
    """Denial by size: bodies and texts are bounded.
    (Headers: `serve` gives h11 a limit, tested below.)"""
    reader = reading.person("R1")
    view = reader.case()
    path = f"/assignments/{view['id']}/draft"
    huge = {"draft": {"comment": "x" * 300_000}}
    assert reader.send(path, huge, version=view["version"], method="PUT").status_code == 413
    body = {"answers": {}, "cannot": "x" * 5000, "confidence": 1}
    assert (
        reader.send(f"/assignments/{view['id']}/answer", body, version=view["version"]).status_code
        == 422
    )


@pytest.mark.parametrize("odd", ["a\0b", "half \ud83d"])
def test_what_a_database_cannot_store_is_refused(reading: Running, odd: str) -> None:
    """Also deep in a draft, whose form is free: no failure of the server on either database."""
    reader = reading.person("R1")
    view = reader.case()
    bodies = {
        "draft": ("PUT", {"draft": {"verdicts": {"spatial": [odd]}}}),
        "answer": ("POST", {"answers": {}, "cannot": odd, "confidence": 2}),
    }
    for path, (method, body) in bodies.items():
        answer = reader.client.request(
            method,
            f"/api/v1/assignments/{view['id']}/{path}",
            content=json.dumps(body),
            headers={
                "Content-Type": "application/json",
                "Origin": ADDRESS,
                "X-Situs-Token": reader.token,
                "If-Match": f'"v{view["version"]}"',
                "Idempotency-Key": f"odd-{path}",
            },
        )
        assert answer.status_code == 422, answer.text
    assert reader.case()["version"] == view["version"]


def test_a_huge_header_is_refused_by_the_server(new_station: Any) -> None:
    import httpx

    from situs.review.station.demo import serve_in_thread

    running: Running = new_station()
    address, stop = serve_in_thread(running.folder, running.database)
    try:
        assert httpx.get(address).status_code == 200
        refused = False
        try:
            answer = httpx.get(address, headers={"X-Long": "x" * 2_000_000})
            refused = answer.status_code in (400, 431)
        except httpx.TransportError:
            refused = True  # the connection was closed in the middle of the header
        assert refused
        assert httpx.get(address).status_code == 200
    finally:
        stop()


def test_the_station_asks_no_address_that_a_request_names(reading: Running) -> None:
    """SSRF: no body or query of the interface is an address;
    without a provider there is no sign-in by one."""
    schema = reading.stranger().client.get("/api/v1/openapi.json").text
    assert not re.search(r'"(?:url|uri|href|callback|webhook|path|file)"\s*:\s*\{', schema.lower())
    assert reading.stranger().get("/auth/openid/start").status_code == 404


def test_no_request_makes_the_station_connect(
    new_station: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SSRF: every text of every body is an address of an inner machine;
    nothing is ever connected to."""
    import socket

    running: Running = new_station()
    running.freeze("R1", "R2")
    head, view = running.person("C1"), running.person("R1").case()
    schema = ok(head.client.get("/api/v1/openapi.json"))
    models, inner = schema["components"]["schemas"], "http://169.254.169.254/latest"
    asked: list[Any] = []

    def refuse(_: socket.socket, address: Any) -> None:
        asked.append(address)
        raise OSError("no")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    kinds = {"integer": 1, "number": 1.0, "boolean": True, "object": {"x": inner}}
    signed_in = {path: verbs for path, verbs in schema["paths"].items() if "/auth/lo" not in path}
    for path, verbs in signed_in.items():
        for verb, about in verbs.items():
            body = None
            if "requestBody" in about:
                form = about["requestBody"]["content"]["application/json"]["schema"]
                fields = models[form["$ref"].rpartition("/")[2]]["properties"]
                body = {
                    name: [inner]
                    if field.get("type") == "array"
                    else kinds.get(field.get("type"), inner)
                    for name, field in fields.items()
                }
            where = filled(path, running, view["id"], view["series"]["token"])
            answer = head.send(where, body, version=1, method=verb.upper())
            assert answer.status_code < 500, (path, answer.text)
    assert asked == []


def test_exports_hold_codes_and_no_secret(reading: Running, tmp_path: Path) -> None:
    from situs.review.station.exported import export_station
    from situs.review.station.store.projects import find_project

    reader = reading.person("R1")
    reader.read(reader.case())
    with reading.database.read() as db:
        project = find_project(db, "pilot")
    export_station(reading.database, project, tmp_path / "out")
    text = "".join(
        p.read_text("utf-8", "replace") for p in (tmp_path / "out").rglob("*") if p.is_file()
    )
    assert "$argon2" not in text
    assert reading.folder.settings.secret not in text
    assert str(tmp_path) not in text
    assert reader.client.cookies["__Host-situs"] not in text


@pytest.mark.parametrize("length", ["\xb2", "9" * 5000, "-1", "1_0", "abc", "+5"])
def test_a_length_that_is_no_number_is_refused(reading: Running, length: str) -> None:
    headers = [
        (b"Origin", ADDRESS.encode()),
        (b"Content-Type", b"application/json"),
        (b"Content-Length", length.encode("latin-1")),
    ]
    client = reading.stranger().client
    assert client.post("/api/v1/auth/login", content=b"{}", headers=headers).status_code == 413
