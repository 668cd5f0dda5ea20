"""Every threat of the station, each with a test that fails on the naive way."""

from __future__ import annotations

import json
import re
import stat
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
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


LEADS, LOOKS = {"coordinator"}, {"coordinator", "auditor"}
ROLES = {
    "GET /projects": LOOKS,
    "POST /projects": LEADS,
    "GET /readers": LEADS,
    "GET /projects/{project}/progress": LOOKS,
    "POST /projects/{project}/preview": LEADS,
    "POST /projects/{project}/freeze": LEADS,
    "POST /projects/{project}/release": LEADS,
    "POST /projects/{project}/lock": LEADS,
    "GET /projects/{project}/agreement": LOOKS,
    "POST /projects/{project}/export": LOOKS,
    "GET /events": LOOKS,
    "GET /verify": LOOKS,
    "GET /benches": LEADS,
    "POST /users": LEADS,
    "POST /users/invite": LEADS,
    "POST /assignments/{case}/decision": {"adjudicator"},
}
"""Who may use what is not of a case of one's own."""
OWN = {
    "GET /me", "POST /auth/logout", "POST /auth/lock", "POST /auth/unlock", "GET /blocks",
    "GET /next", "POST /blocks/{project}/{block}/sign",
}  # fmt: skip
"""Of oneself, for everybody who signed in."""
BODIES = {
    "/projects": {"project": "more", "bench": "bench"},
    "/projects/{project}/preview": {"readers": ["R1", "R2"]},
    "/projects/{project}/freeze": {"readers": ["R1", "R2"]},
    "/projects/{project}/release": {"reader": "R1"},
    "/users": {"code": "R9", "roles": ["reader"]},
    "/users/invite": {"code": "R1"},
    "/auth/unlock": {"password": PASSWORD},
    "/assignments/{case}/draft": {"draft": {"comment": "mine now"}},
    "/assignments/{case}/answer": {"answers": {"": "A"}, "confidence": 2},
    "/assignments/{case}/rating": {"score": 0},
    "/assignments/{case}/amend": {"score": 0, "reason": "because"},
    "/assignments/{case}/decision": {"decision": "drop", "key_wrong": True, "reason": "because"},
}
"""What somebody who is allowed could send: a request that is refused for its form alone would
prove nothing."""


def walk(running: Running) -> list[tuple[str, str, str]]:
    """Every guarded method and address, as `ROLES` and `OWN` call it."""
    guarded = [(v, p) for v, p in addresses(running) if p not in OPEN_TO_ALL and "openid" not in p]
    return [
        (f"{verb} {path.removeprefix('/api/v1')}", verb, path.removeprefix("/api/v1"))
        for verb, path in guarded
    ]


def user_of(running: Running) -> dict[str, Any]:
    from situs.review.station.store.tables import User

    with running.database.read() as db:
        return {user.code: user for user in db.scalars(select(User))}


def kinds_of_cases(running: Running) -> dict[str, str]:
    """What each case is, by its random id."""
    from situs.review.station.store.tables import Assignment, Unit

    query = select(Assignment.public_id, Unit.kind).join(Unit, Unit.id == Assignment.unit_id)
    with running.database.read() as db:
        return {row[0]: row[1] for row in db.execute(query)}


def test_nobody_and_another_reader_get_nothing(reading: Running) -> None:
    """A walk over all addresses: without an account, and with another's case in hand."""
    owner, other, nobody = reading.person("R1"), reading.person("R2"), reading.stranger()
    view = owner.case()
    case, token = view["id"], view["series"]["token"]
    assert owner.get(f"/series/{token}/axial/3").status_code == 200
    of_a_case = 0
    for name, verb, path in walk(reading):
        where = filled(path, reading, case, token)
        body = BODIES.get(path)
        refused = nobody.send(where, body, version=1, method=verb)
        assert refused.status_code == 401, (name, refused.status_code, refused.text)
        assert set(refused.json()) <= {"type", "status", "title"}
        if "{case}" in path or "{token}" in path:
            of_a_case += 1
            taken = other.send(where, body, version=1, method=verb)
            assert taken.status_code == (403 if name in ROLES else 404), (name, taken.text)
            assert view["question"] not in taken.text
        else:
            assert name in ROLES or name in OWN, f"{name}: who may use it?"
    assert of_a_case >= 8
    assert owner.case() == view


def test_each_address_is_for_its_roles_alone(reading: Running) -> None:
    """With bodies that would be heard: refused for the role, and nothing has changed."""
    from situs.review.station.store import accounts

    with reading.database.write() as db:
        for role in accounts.ROLES:
            reading.invitations[role] = accounts.add_user(db, f"only-{role}", [role], "test")
    view = reading.person("R1").case()
    before = ok(reading.person("C1").get("/projects"))
    tried = 0
    for role in accounts.ROLES:
        person = reading.person(role)
        for name, verb, path in walk(reading):
            if name in ROLES and role not in ROLES[name]:
                tried += 1
                where = filled(path, reading, view["id"], view["series"]["token"])
                answer = person.send(where, BODIES.get(path), version=1, method=verb)
                assert answer.status_code == 403, (role, name, answer.text)
            elif name in ROLES and verb == "GET" and "agreement" not in path:
                ok(person.get(filled(path, reading, view["id"], "")))
    assert tried > 30
    assert ok(reading.person("C1").get("/projects")) == before


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
    reader, users = reading.person("R1"), user_of(reading)
    words, kinds = hidden_words(reading)["any"], kinds_of_cases(reading)
    seen = set()
    while (view := reader.case()) is not None:
        # A planted error looks like any other item.
        kind = kinds[view["id"]]
        seen.add(kind)
        assert view["kind"] == (kind if kind in ("wording", "training") else "item")
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
        # Also if it were signed: the stage counts that the case has reached.
        signed = reading.app.state.station.slice_token(users["R1"], view["id"], 2)
        for later in (re.sub(r"\.1\.", ".2.", token), signed):
            assert reader.get(f"/series/{later}/axial/3").status_code == 404
            assert reader.get(f"/series/{later}/outlines/axial/3").status_code == 404
        assert [window[0] for window in view["series"]["windows"]]
        reader.read(view)
    assert {"item", "catch", "training"} <= seen


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
    odd = "<script>x"
    cookie = {"Cookie": f"__Host-situs={odd}"}
    for reflected in (
        reader.client.get(f"/api/v1/assignments/{script}"),
        reader.client.get(f"/api/v1/assignments/{odd}"),
        reader.client.get(f"/static/{odd}"),
        reader.get(f"/blocks?first={odd}"),
        reader.send(f"/assignments/{view['id']}/answer", {odd: odd}, version=1),
        reader.send(f"/assignments/{view['id']}/rating", {"score": odd}, version=1, key=odd),
        reader.send("/projects", {"project": odd, "bench": odd}),
        reader.client.get("/api/v1/me", headers=cookie),
    ):
        assert reflected.status_code >= 400
        assert odd not in reflected.text
        assert reflected.headers["content-type"] == "application/problem+json"
    assert "<script>" not in reader.client.get("/").text.replace(
        '<script type="module" src="/static/station.js">', ""
    )


def texts_exchanged(body: Any, odd: str) -> Iterator[Any]:
    """A body with one of its texts, or of the names of its fields, exchanged; all others as they
    should be, so that it is heard."""
    if isinstance(body, str):
        yield odd
    elif isinstance(body, list):
        for n, value in enumerate(body):
            yield from ([*body[:n], other, *body[n + 1 :]] for other in texts_exchanged(value, odd))
    elif isinstance(body, dict):
        for name, value in body.items():
            yield from ({**body, name: other} for other in texts_exchanged(value, odd))
        yield {**body, odd: odd}


def test_no_problem_repeats_what_was_sent(reading: Running) -> None:
    """By whoever is allowed to send it: what is refused does not come back."""
    odd = "<script>x"
    reading.app.state.station.benches = Path("/nowhere")
    reader, head = reading.person("R1"), reading.person("C1")
    view = reader.case()
    bodies = BODIES | {
        "/assignments/{case}/rating": {"score": 0, "flags": ["wording"], "comment": "x"},
        "/assignments/{case}/answer": first_answer(view),
        "/auth/login": {"code": "R1", "password": PASSWORD},
        "/auth/invite": {"token": "guessed-and-long-enough", "password": PASSWORD},
    }
    refused = 0
    for path, body in bodies.items():
        of_a_case = "{case}" in path
        person = reader if of_a_case else head
        where = filled(path, reading, view["id"], "")
        for sent in texts_exchanged(body, odd):
            method = "PUT" if path.endswith("draft") else "POST"
            version = reader.get(f"/assignments/{view['id']}").json()["version"]
            answer = person.send(where, sent, version=version, method=method)
            if answer.status_code >= 400:
                refused += 1
                assert odd not in answer.text, (path, sent, answer.text)
        if path.endswith("/rating"):  # refused above as too early: once more where it is heard
            ok(reader.answer(reader.case()))
            view = reader.case()
            for sent in texts_exchanged({**body, "flags": ["wording", odd]}, odd):
                answer = reader.send(where, sent, version=view["version"])
                assert answer.status_code >= 400
                assert odd not in answer.text, (path, sent, answer.text)
    assert refused > 20


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
    known, users = reading.app.state.station.read_slice_token, user_of(reading)
    assert known(users["R1"], token) is not None
    assert known(users["R2"], token) is None


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


class StoodClock:
    """The clock by which guesses wait: it goes on only when it is told to, however slow the
    machine is."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from situs.review.station.web import station

        self.now = 0.0
        monkeypatch.setattr(station, "time", self)

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return time.time()


def test_sign_ins_are_slowed_and_unknown_people_cost_the_same(
    new_station: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from situs.review.station.store import accounts

    StoodClock(monkeypatch)
    running: Running = new_station()
    running.person("R1")
    hashed: list[str] = []
    real = accounts._HASHER.__class__.verify
    monkeypatch.setattr(
        accounts._HASHER.__class__, "verify",
        lambda self, stored, given: hashed.append(stored) or real(self, stored, given),
    )  # fmt: skip
    monkeypatch.setattr(
        accounts._HASHER.__class__, "hash",
        lambda *_: pytest.fail("the first unknown code costs a hash and its check"),
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


class Guesser:
    """Somebody who guesses: from one address or many, at one account or many."""

    def __init__(self, running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
        from situs.review.station.web import signing_in

        StoodClock(monkeypatch)
        monkeypatch.setattr(signing_in, "check_password", lambda *_: False)
        self.person = running.stranger()

    def refusals(self, tries: Iterator[tuple[str, str]]) -> list[int]:
        """What each try, of a code from a forwarded address, is answered."""
        return [
            self.person.send(
                "/auth/login", {"code": code, "password": "x"}, **{"X-Forwarded-For": where}
            ).status_code
            for code, where in tries
        ]


TRIES = [401] * 5 + [429] * 3
"""Five guesses are free."""


def test_guesses_are_slowed_by_account_and_by_address(
    new_station: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many addresses at one account, and one address at many accounts: behind a proxy, which puts
    the address it saw last, whatever the guesser wrote before it."""
    running: Running = new_station()
    running.app.state.station.behind_proxy = True
    guesser = Guesser(running, monkeypatch)
    assert guesser.refusals(("R1", f"192.0.2.{n}") for n in range(8)) == TRIES
    assert guesser.refusals((f"X{n}", f"10.0.0.{n}, 198.51.100.7") for n in range(8)) == TRIES
    # Without a proxy nobody's word for an address counts.
    running.app.state.station.behind_proxy = False
    assert guesser.refusals((f"Y{n}", f"203.0.113.{n}") for n in range(8)) == TRIES


def test_the_server_believes_no_address_that_is_only_said(
    new_station: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As served: a program of this machine, which servers like to trust, is no proxy."""
    import httpx

    from situs.review.station.demo import serve_in_thread

    running: Running = new_station()
    Guesser(running, monkeypatch)
    address, stop = serve_in_thread(running.folder, running.database)
    try:
        answers = [
            httpx.post(
                f"{address}/api/v1/auth/login",
                json={"code": f"X{n}", "password": "x"},
                headers={"Origin": address, "X-Forwarded-For": f"192.0.2.{n}"},
                timeout=120,
            ).status_code
            for n in range(8)
        ]
    finally:
        stop()
    assert answers == TRIES


def test_signing_out_ends_the_session_on_the_server(reading: Running) -> None:
    """A cookie that somebody copied before is worth nothing afterwards."""
    from situs.review.station.web.station import COOKIE

    reader = reading.person("R1")
    copied = {"Cookie": f"{COOKIE}={reader.client.cookies[COOKIE]}"}
    assert reading.stranger().get("/me", **copied).status_code == 200
    ok(reader.send("/auth/logout"))
    assert reading.stranger().get("/me", **copied).status_code == 401


def test_guessed_invitations_and_unlocks_are_slowed_too(
    reading: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    StoodClock(monkeypatch)
    nobody = reading.stranger()
    guess = {"token": "guessed-and-long-enough", "password": PASSWORD}
    tries = [nobody.send("/auth/invite", guess).status_code for _ in range(8)]
    assert tries == [409] * 5 + [429] * 3
    reading.app.state.station.throttle = type(reading.app.state.station.throttle)()
    reader = reading.person("R1")
    ok(reader.send("/auth/lock"))
    Guesser(reading, monkeypatch)
    wrong = {"password": "not the reader's"}
    assert [reader.send("/auth/unlock", wrong).status_code for _ in range(8)] == TRIES


def test_waiting_times_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    from situs.review.station.web import station as module

    clock, waits = StoodClock(monkeypatch), []
    throttle = module.Throttle()
    for _ in range(20):
        waits.append(throttle.begin("code R1"))
        clock.now += waits[-1]
    waits = [wait for wait in waits if wait]
    assert waits == [min(300.0, 2.0**n) for n in range(len(waits))]
    assert waits[-1] > 100


def test_an_invitation_ends(new_station: Any) -> None:
    """After a week, once it was used, and once there is a newer one."""
    from situs.review.station.store import accounts
    from situs.review.station.store.tables import Invite, User

    running: Running = new_station()
    nobody = running.stranger()

    def refused(code: str) -> bool:
        body = {"token": running.invitations[code], "password": PASSWORD}
        return bool(nobody.send("/auth/invite", body).status_code == 409)

    with running.database.write() as db:
        for invite in db.scalars(select(Invite).join(User).where(User.code == "R1")):
            invite.expires -= accounts.INVITE_SECONDS + 1
        second = db.scalar(select(User).where(User.code == "R2"))
        assert second is not None
        newer = accounts.invite(db, second, "test")
    assert refused("R1")
    assert refused("R2")
    ok(nobody.send("/auth/invite", {"token": newer, "password": PASSWORD}))


def test_guesses_sent_at_one_moment_are_not_all_heard(
    new_station: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No check of a password ends before all guesses were sent: five of them are heard, as one by
    one."""
    from situs.review.station.web import signing_in

    running: Running = new_station()
    checked: list[str] = []
    all_sent = threading.Event()

    def checking(_: Any, password: str) -> bool:
        checked.append(password)
        all_sent.wait(60)
        return False

    StoodClock(monkeypatch)
    monkeypatch.setattr(signing_in, "check_password", checking)
    people = [running.stranger() for _ in range(12)]
    with ThreadPoolExecutor(len(people)) as many:
        guess = {"code": "R1", "password": "x"}
        tries = [many.submit(person.send, "/auth/login", guess) for person in people]
        while len(checked) + sum(one.done() for one in tries) < len(people):
            time.sleep(0.01)
        all_sent.set()
        answers = [one.result() for one in tries]
    assert Counter(answer.status_code for answer in answers) == {401: 5, 429: len(people) - 5}


def test_many_sign_ins_at_once_take_little_memory(
    new_station: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each hash takes 64 MiB while it is computed: two at a time, whoever asks."""
    from situs.review.station.store import accounts

    new_station()
    at_work, most, lock = 0, 0, threading.Lock()

    def slow(*_: Any) -> bool:
        nonlocal at_work, most
        with lock:
            at_work += 1
            most = max(most, at_work)
        time.sleep(0.05)
        with lock:
            at_work -= 1
        return False

    monkeypatch.setattr(accounts._HASHER.__class__, "verify", slow)
    with ThreadPoolExecutor(12) as many:
        assert not any(many.map(lambda n: accounts.check_password(None, str(n)), range(12)))
    assert most == 2


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


def test_a_closed_account_is_closed(reading: Running) -> None:
    """Its sessions end, and neither its password, nor an invitation, nor a session that somebody
    kept opens it."""
    from situs.review.station.store import accounts
    from situs.review.station.store.tables import User
    from situs.review.station.web.station import COOKIE

    reader, nobody = reading.person("R1"), reading.stranger()
    with reading.database.write() as db:
        accounts.change_user(db, "R1", "test", active=False)
        user = db.scalar(select(User).where(User.code == "R1"))
        assert user is not None
        invitation = accounts.invite(db, user, "test")
        kept = accounts.start_session(db, user)
    assert reader.get("/me").status_code == 401
    login = {"code": "R1", "password": PASSWORD}
    assert nobody.send("/auth/login", login).status_code == 401
    invited = {"token": invitation, "password": PASSWORD}
    assert nobody.send("/auth/invite", invited).status_code == 409
    assert nobody.get("/me", Cookie=f"{COOKIE}={kept}").status_code == 401
    with reading.database.write() as db:
        accounts.change_user(db, "R1", "test", active=True)
    ok(nobody.send("/auth/login", login))


def test_a_new_password_ends_every_session(reading: Running) -> None:
    """Whoever learnt the old one is out."""
    from situs.review.station.store import accounts
    from situs.review.station.store.tables import User

    before = reading.person("R1")
    with reading.database.write() as db:
        user = db.scalar(select(User).where(User.code == "R1"))
        assert user is not None
        token = accounts.invite(db, user, "test")
    assert before.get("/me").status_code == 200
    body = {"token": token, "password": "other words for a test"}
    ok(reading.stranger().send("/auth/invite", body))
    assert before.get("/me").status_code == 401


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
    inner = "http://169.254.169.254/latest"
    asked: list[Any] = []

    def refuse(_: socket.socket, address: Any) -> None:
        asked.append(address)
        raise OSError("no")

    running.app.state.station.benches = Path("/nowhere")
    monkeypatch.setattr(socket.socket, "connect", refuse)
    for _, verb, path in walk(running):
        where = filled(path, running, view["id"], view["series"]["token"])
        whole = BODIES.get(path, {})
        # One text at a time: all others are as they should be, so that the request is heard.
        named = [{**whole, name: inner} for name, said in whole.items() if isinstance(said, str)]
        if path in ("/auth/logout", "/auth/lock"):
            continue
        for body in [*named, {**whole, "protocol": inner}, whole or None]:
            answer = head.send(where, body, version=1, method=verb)
            assert answer.status_code < 500, (path, answer.text)
    for query in (f"/events?by={inner}", f"/auth/openid/back?state={inner}&code={inner}"):
        assert head.get(query).status_code < 500
    assert asked == []


def test_exports_hold_codes_and_no_secret(reading: Running, tmp_path: Path, bench: Path) -> None:
    from situs.bench import open_bench
    from situs.review.station.exported import export_station
    from situs.review.station.store.projects import find_project

    reader = reading.person("R1")
    for _ in range(3):
        reader.read(reader.case())
    with reading.database.read() as db:
        project = find_project(db, "pilot")
    export_station(reading.database, project, tmp_path / "out", bench=open_bench(bench))
    assert (tmp_path / "out" / "runs" / "R1" / "run.json").is_file()
    text = "".join(
        p.read_text("utf-8", "replace") for p in (tmp_path / "out").rglob("*") if p.is_file()
    )
    assert "$argon2" not in text
    written = {path.stem.partition("-")[2] for path in (tmp_path / "out" / "tables").iterdir()}
    assert "readings" in written
    assert not written & {"sessions", "invites", "request_keys"}
    assert reading.folder.settings.secret not in text
    assert str(tmp_path) not in text
    assert str(bench) not in text
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
