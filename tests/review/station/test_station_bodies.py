"""Whatever a signed-in browser sends is refused or stored; nothing of it is a failure of the
server."""

from __future__ import annotations

import itertools
import json
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from test_station_safety import addresses, filled

from conftest import ADDRESS, Person, Running, ok

DEEP = 5_000
TEXTS = [
    "",
    "{",
    "[]",
    "null",
    "NaN",
    '"x"',
    "9" * 5_000,
    "[" * 50_000,
    '{"a":' * DEEP,
    "[" * DEEP + "]" * DEEP,
    '{"draft": ' + "[" * DEEP + "]" * DEEP + "}",
    '{"draft": {"x": ' + "[" * 400 + "]" * 400 + "}}",
]
ODD = [
    "NaN",
    "Infinity",
    "1e400",
    "-1",
    "9" * 400,
    "9" * 4_400,
    "18446744073709551616",
    "true",
    "null",
    "[]",
    "{}",
    '"\\u0000"',
    '"\\ud800"',
    '"\\u001b[2J"',
    '"../../x"',
    '"' + "x" * 5_000 + '"',
    '{"a": {"a": {"a": NaN}}}',
    '["\\u0000"]',
]
BODIES = {
    "draft": {"draft": {"said": "1"}},
    "answer": {"answers": {"": "1"}, "cannot": "", "confidence": 2, "active_ms": 1},
    "rating": {"score": 1, "flags": ["wrong key"], "verdicts": {"a": True}, "comment": "c"},
    "amend": {"score": 1, "flags": [], "comment": "c", "reason": "r"},
    "decision": {"decision": "keep", "key_wrong": False, "reason": "r"},
    "login": {"code": "R1", "password": "p"},
    "invite": {"token": "t", "password": "p"},
    "unlock": {"password": "p"},
    "freeze": {"readers": ["R1"]},
    "preview": {"readers": ["R1"]},
    "release": {"tables": True},
    "projects": {"bench": "b", "project": "p", "items": 2, "seed": 0},
    "users": {"code": "X1", "roles": ["reader"]},
}
"""By the last word of an address: what it takes."""


def spoilt(body: dict[str, Any]) -> Iterator[str]:
    """The body with something odd in each of its places, and with one place more."""
    for key in (*body, "stranger"):
        for odd in ODD:
            other = {name: value for name, value in body.items() if name != key}
            text = json.dumps(other)[:-1]
            yield f"{text}{', ' if other else ''}{json.dumps(key)}: {odd}}}"
            yield f"{text}{', ' if other else ''}{json.dumps(key)}: [{odd}, {odd}]}}"
            yield f"{text}{', ' if other else ''}{json.dumps(key)}: {{{json.dumps(key)}: {odd}}}}}"


def send(person: Person, verb: str, path: str, raw: bytes, version: int, **headers: str) -> Any:
    sent = {
        "Origin": ADDRESS,
        "X-Situs-Token": person.token,
        "Content-Type": "application/json",
        "If-Match": f'"v{version}"',
        "Idempotency-Key": uuid.uuid4().hex,
    }
    coded = {name: value.encode("latin-1") for name, value in {**sent, **headers}.items()}
    return person.client.request(verb, f"/api/v1{path}", content=raw, headers=coded)


@pytest.mark.parametrize("who", ["R1", "C1"])
def test_no_body_is_a_failure_of_the_server(
    reading: Running, who: str, little_of: Callable[..., Any]
) -> None:
    reader = reading.person("R1")
    view = reader.case()
    person = reading.person(who)
    answered = 0
    for verb, path in addresses(reading):
        word = path.rpartition("/")[2]
        if verb == "GET" or word in ("logout", "lock", "sign"):
            continue
        where = filled(path, reading, view["id"], view["series"]["token"])
        bodies = [*TEXTS, *spoilt(BODIES.get(word, {"x": 1}))]
        for text in little_of(bodies, 40):
            raw = text.encode()
            answer = send(person, verb, where, raw, view["version"])
            assert answer.status_code < 500, (verb, path, text[:200], answer.text[:300])
            answered += 1
    assert answered > 100
    assert ok(reader.get(f"/assignments/{view['id']}"))["id"] == view["id"]


ENCODINGS = ("utf-16", "utf-32", "utf-8-sig", "latin-1", "utf-7")
HEADERS = {
    "If-Match": ['"v"', "v99999999999999999999", "*", "", "\xbd", '"v1", "v2"', "v" + "9" * 5_000],
    "Idempotency-Key": ["", "x" * 4_000, "../..", "\xff"],
    "Content-Type": ["", "text/plain", "application/json; charset=utf-7", "application/xml", ";"],
    "X-Situs-Token": ["", "x" * 4_000, "\xff"],
    "Cookie": ["", "=", "x=\xff", "situs=" + "x" * 9_000],
    "Origin": ["", "null", "\xff"],
    "Range": ["bytes=99999999999999999999-"],
}


def test_no_header_is_a_failure_of_the_server(reading: Running) -> None:
    person = reading.person("R1")
    view = person.case()
    where = f"/assignments/{view['id']}/draft"
    good = b'{"draft": {"said": "1"}}'
    for name, values in HEADERS.items():
        for value in values:
            answer = send(person, "PUT", where, good, view["version"], **{name: value})
            assert answer.status_code < 500, (name, value, answer.text)
    for encoding, text in itertools.product(ENCODINGS, (good.decode(), '{"draft": {"é": "ü"}}')):
        raw = text.encode(encoding, errors="replace")
        answer = send(person, "PUT", where, raw, view["version"])
        assert answer.status_code < 500, (encoding, answer.text)


@pytest.mark.parametrize(
    "path",
    [
        "/blocks?first=99999999999999999999999999",
        "/blocks?first=1e3",
        "/events?after=99999999999999999999999999",
        "/events?kind=%00",
        "/events?by=%00",
        "/assignments/%00",
        "/assignments/..%2f..%2fetc",
        "/series/%00/axial/1",
        "/series/x/axial/99999999999999999999999999",
        "/projects/%ff/progress",
        "/" + "x" * 20_000,
        "/blocks?first=%ff",
    ],
)
def test_no_address_is_a_failure_of_the_server(reading: Running, path: str) -> None:
    for who in ("R1", "C1"):
        assert reading.person(who).get(path).status_code < 500


def test_a_draft_that_is_nested_too_deeply_is_refused(reading: Running) -> None:
    """The page that would show it breaks."""
    reader = reading.person("R1")
    view = reader.case()
    deep: Any = "x"
    for _ in range(30):
        deep = [deep]
    path = f"/assignments/{view['id']}/draft"
    body = {"draft": {"comment": deep}}
    answer = reader.send(path, body, version=view["version"], method="PUT")
    assert answer.status_code == 422
    assert reader.case() == view


def test_what_is_no_number_is_not_locked(new_station: Any) -> None:
    """Words for a number would be neither right nor wrong for good: refused, in plain words."""
    running = new_station(items=60, training=0)
    running.freeze("R1", "R2")
    reader, (name, unit), view = running.person("R1"), ("", ""), None
    while not unit:
        view = reader.case()
        assert view is not None, "the sample asks for a number with a unit"
        parts = view["parts"] if view["kind"] == "item" else []
        name, unit = next(
            ((p["name"], p["unit"]) for p in parts if p["form"] == "number"), ("", "")
        )
        if not unit:
            reader.read(view)

    def answered(said: str) -> Any:
        body = {"answers": {name: said}, "confidence": 2}
        path = f"/assignments/{view['id']}/answer"
        return reader.send(path, body, version=view["version"])

    for said in ("purple", "12 kg", "10-12", "12;5", "?", "nan", "1e999"):
        refused = answered(said)
        assert refused.status_code == 409, said
        assert "the answer is one number in " in refused.text
        assert said not in refused.text
    assert ok(reader.get(f"/assignments/{view['id']}"))["stage"] == 1
    assert ok(answered(f"12,5 {unit}"))["stage"] == 2


@pytest.mark.parametrize(
    ("form", "said", "is_taken"),
    [
        ("number", "12,5", True),
        ("number", "1,2 cm", True),
        ("number", "-3.5", True),
        ("number", "purple", False),
        ("choices", "A, C", True),
        ("choices", "purple", False),
        ("choices", "A, Z", False),
        ("grades", '{"a": 1}', True),
        ("grades", '{"a": "purple"}', False),
        ("frames", "2-3", True),
        ("frames", "purple", False),
        ("boxes", "purple", False),
        ("text", "purple", True),
    ],
)
def test_every_form_refuses_what_cannot_be_read(form: str, said: str, is_taken: bool) -> None:
    from situs.errors import SitusError
    from situs.review.station.given import check_answer

    part = {"name": "", "form": form, "unit": "mm" if form == "number" else "", "grades": ["a"]}
    options = [["A", "liver"], ["B", "spleen"], ["C", "left kidney"]]
    shown = {"parts": [part], "options": options, "size": [9, 9, 9]}
    body = {"answers": {"": said}, "cannot": "", "confidence": 1}
    if is_taken:
        check_answer(body, shown)
        return
    with pytest.raises(SitusError):
        check_answer(body, shown)
    check_answer(body | {"answers": {}, "cannot": "cut off"}, shown)
