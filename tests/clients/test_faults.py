"""Over real HTTP: whatever a server does,
a request ends answered or plainly failed, and no answer is invented."""

from __future__ import annotations

import json
import random
from typing import Any

import msgspec
import pytest

import wire
from asking import QUICK, SHORT, TIMEOUTS, question
from situs.clients import Reach
from situs.clients.wire.errors import read_error
from situs.clients.wire.transport import Response

FAULTS = {
    "429": wire.status(429),
    "429 with seconds": wire.status(429, Retry_After="0"),
    "429 with a date": wire.status(429, Retry_After=wire.http_date(-5)),
    "429 with nonsense": wire.status(429, Retry_After="soon"),
    "500": wire.status(500),
    "502 in HTML": wire.raw(b"<html><h1>Bad Gateway</h1></html>", "text/html", 502),
    "503": wire.status(503),
    "reset": wire.reset,
    "truncated": wire.truncated,
    "stalled": wire.stalled(30.0),
    "silent": wire.silent(30.0),
    "invalid JSON": wire.raw(b'{"choices": [{"message": {"content": "half'),
    "not UTF-8": wire.raw(b'{"choices": [{"message": {"content": "\xff\xfe"}}]}'),
    "not a completion": wire.raw(b'{"answer": "B"}'),
    "a list": wire.raw(b"[]"),
    "wrong types": wire.raw(b'{"choices": [{"message": {"content": 7}}]}'),
    "nested": wire.raw(b"[" * 100_000),
    "empty": wire.raw(b""),
    "empty choices": wire.raw(json.dumps(wire.completion("x") | {"choices": []}).encode()),
    "a page with status 200": wire.raw(b"<html>sign in</html>", "text/html"),
    "200 with an error": wire.raw(b'{"error": {"message": "upstream is busy"}}'),
    "an event stream": wire.raw(b'data: {"choices": []}\n\n', "text/event-stream"),
}


def timeouts_for(fault: str) -> Reach:
    """Short ones where a server says nothing; else none that a busy machine could reach."""
    return SHORT if fault in ("stalled", "silent") else TIMEOUTS


@pytest.mark.sampled
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_passes_is_tried_again(asked, fault) -> None:
    with wire.Server(lambda number, body: FAULTS[fault] if number == 0 else wire.good) as server:
        result, book = asked(server.spec, [question(7)], reach=timeouts_for(fault))
    assert (result.stopped, result.tally.requests, len(server.seen)) == ("", 2, 2)
    assert book["key7"].state == "answered"
    assert book["key7"].text == "you said question 7"


@pytest.mark.sampled
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_stays_is_plainly_failed(asked, fault) -> None:
    limits = msgspec.structs.replace(QUICK, tries=2)
    with wire.Server(lambda number, body: FAULTS[fault]) as server:
        result, book = asked(server.spec, [question(7)], limits, timeouts_for(fault))
        assert len(server.seen) == 2
    assert dict(result.tally.states) == {"failed": 1}
    assert (book["key7"].text, book["key7"].state) == ("", "failed")
    assert book["key7"].error
    assert book["key7"].error.isprintable()


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "text/html", "nonsense"])
def test_a_completion_under_a_wrong_content_type_is_read(asked, kind) -> None:
    with wire.Server(
        lambda number, body: wire.raw(json.dumps(wire.completion("B")).encode(), kind)
    ) as server:
        assert asked(server.spec, [question(1)])[1]["key1"].text == "B"


def test_a_slow_body_that_keeps_coming_is_waited_for(asked) -> None:
    """Each gap is shorter than the stall limit, all of them together are longer."""
    expected = (1, "you said question 3")
    # On a busy machine a gap may last longer than it should: then all is tried at a slower pace.
    for pace in (1, 4, 16):
        patient = msgspec.structs.replace(TIMEOUTS, stall=1.5 * pace, total=60.0 * pace)
        with wire.Server(lambda number, body, gap=0.35 * pace: wire.trickling(gap)) as server:
            result, book = asked(server.spec, [question(3)], reach=patient)
        outcome = result.tally.requests, book["key3"].text
        if outcome == expected:
            break
    assert outcome == expected


def test_answers_that_come_out_of_order_stay_with_their_questions(asked) -> None:
    def late_first(number: int, body: dict[str, Any]) -> wire.Behaviour:
        return wire.silent(1.0 - 0.3 * wire.number_in(wire.words_of(body)))

    with wire.Server(late_first) as server:
        _, book = asked(server.spec, [question(n) for n in range(4)])
    assert book.order == ["key3", "key2", "key1", "key0"]
    assert all(book[f"key{n}"].text == f"you said question {n}" for n in range(4))


def test_one_call_in_five_fails_in_every_way_and_all_are_answered_or_failed(asked) -> None:
    rng = random.Random(1)
    faults = [FAULTS[name] for name in FAULTS if name not in ("stalled", "silent")]

    def faulty(number: int, body: dict[str, Any]) -> wire.Behaviour:
        return rng.choice(faults) if rng.random() < 0.2 else wire.good

    limits = msgspec.structs.replace(QUICK, tries=3, concurrency=16)
    with wire.Server(faulty) as server:
        result, book = asked(server.spec, (question(n) for n in range(300)), limits)
        assert set(book) == {f"key{n}" for n in range(300)}
        assert result.tally.requests == len(server.seen)
    assert result.stopped == ""
    for n in range(300):
        reply = book[f"key{n}"]
        assert (reply.state, reply.text) in (("answered", f"you said question {n}"), ("failed", ""))
    # Three tries fail with probability 0.2 ** 3: 2.4 of 300 are expected, and 10 is beyond a 99.9 %
    # interval.
    assert result.tally.states["failed"] < 10


def test_a_connection_nobody_takes_stops_the_session_with_a_clear_word(asked) -> None:
    with wire.Server() as server:
        gone = server.spec
    result, book = asked(gone, (question(n) for n in range(1000)))
    assert "cannot be reached" in result.stopped
    assert not book


def test_a_server_that_dies_half_way_leaves_the_rest_unasked(asked) -> None:
    server = wire.Server()
    server.__enter__()
    made = []

    def requests():
        for n in range(500):
            if n == 40:
                server.__exit__(None, None, None)
            made.append(n)
            yield question(n)

    result, book = asked(server.spec, requests())
    assert "cannot be reached" in result.stopped
    assert len(made) < 100
    assert all(reply.state == "answered" for reply in book.values())


@pytest.mark.parametrize("code", [401, 402, 403, 404])
def test_a_server_that_denies_access_is_asked_no_further(asked, code) -> None:
    with wire.Server(lambda number, body: wire.status(code)) as server:
        result, book = asked(server.spec, (question(n) for n in range(500)))
        assert len(server.seen) <= QUICK.concurrency
    assert str(code) in result.stopped
    assert {reply.state for reply in book.values()} == {"failed"}


def test_a_server_that_fails_all_is_given_up(asked) -> None:
    limits = msgspec.structs.replace(QUICK, tries=1, hopeless=10)
    with wire.Server(lambda number, body: wire.status(400)) as server:
        result, _ = asked(server.spec, (question(n) for n in range(500)), limits)
        assert 10 <= len(server.seen) <= 10 + limits.concurrency
    assert "in a row failed" in result.stopped


def test_a_request_the_server_cannot_take_does_not_stop_the_others(asked) -> None:
    def picky(number: int, body: dict[str, Any]) -> wire.Behaviour:
        return wire.status(400) if wire.number_in(wire.words_of(body)) >= 10 else wire.good

    limits = msgspec.structs.replace(QUICK, hopeless=5)
    with wire.Server(picky) as server:
        result, book = asked(server.spec, (question(n) for n in range(60)), limits)
        assert len(server.seen) == 60
    assert (result.stopped, len(book)) == ("", 60)
    assert result.tally.states == {"answered": 10, "failed": 50}


def test_a_long_pause_is_not_sat_through(asked) -> None:
    with wire.Server(lambda number, body: wire.status(429, Retry_After="86400")) as server:
        result, book = asked(server.spec, [question(n) for n in range(9)])
    assert "pause of 86,400 s" in result.stopped
    assert not book


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("Limit 200. Please try again in 7m12s. Visit", 432),
        ("have exceeded call rate limit. Please retry after 26 seconds.", 26),
        ("Please try again in 6m0s", 360),
    ],
)
def test_a_pause_may_stand_in_the_words_of_an_error(asked, words, seconds) -> None:
    """As OpenAI and Azure say it; these are longer than this session waits."""
    with wire.Server(lambda number, body: wire.status(429, {"message": words})) as server:
        result, _ = asked(server.spec, [question(1)])
    assert f"pause of {seconds} s" in result.stopped


@pytest.mark.parametrize(
    ("headers", "words", "seconds"),
    [
        ({"retry-after-ms": "1500", "Retry-After": "2"}, "", 1.5),
        ({}, "Please try again in 350ms.", 0.35),
        ({}, "Please try again in 4.5s.", 4.5),
        ({}, "Please try again in a moment, or after 9 calls.", None),
    ],
)
def test_short_pauses_are_read(headers, words, seconds) -> None:
    error = json.dumps({"error": {"message": words}}).encode()
    assert read_error(Response(429, headers, error), "").retry_after == (
        seconds and pytest.approx(seconds)
    )


@pytest.mark.parametrize(
    "header", [lambda: "1", lambda: wire.http_date(2.0)], ids=["seconds", "date"]
)
def test_retry_after_is_honoured_by_all(asked, header) -> None:
    """After the first refusal nobody calls before the server is ready; a date has whole seconds."""

    def refuses_once(number: int, body: dict[str, Any]) -> wire.Behaviour:
        return wire.status(429, Retry_After=header()) if number == 0 else wire.good

    with wire.Server(refuses_once) as server:
        limits = msgspec.structs.replace(QUICK, concurrency=1)
        _, book = asked(server.spec, [question(n) for n in range(3)], limits)
    assert [book[f"key{n}"].state for n in range(3)] == ["answered"] * 3
    assert min(server.times[1:]) - server.times[0] >= 0.95
