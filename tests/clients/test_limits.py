"""Concurrency, rates, budget and memory of the one loop."""

from __future__ import annotations

import time

import msgspec
import pytest

import wire
from asking import QUICK, Book, question
from situs.clients import Price, Request, Spent, Terms, ask, make_client, parse_spec
from situs.errors import SitusError


def limits(**more):
    return msgspec.structs.replace(QUICK, **more)


@pytest.mark.parametrize("count", [1, 3, 9])
def test_no_more_calls_are_in_flight_than_allowed(asked, count) -> None:
    with wire.Server(lambda number, body: wire.silent(0.02)) as server:
        _, book = asked(server.spec, (question(n) for n in range(30)), limits(concurrency=count))
    assert len(book) == 30
    assert server.most_at_once == count


def test_requests_are_made_only_as_they_are_needed(asked) -> None:
    """At most those in flight and a few ahead exist at once."""
    made, book_size = 0, []

    def requests():
        nonlocal made
        for n in range(200):
            made += 1
            yield question(n)

    done = []

    def record(request, reply, seconds):
        done.append(request.key)
        book_size.append(made - len(done))

    with wire.Server() as server:
        ask(make_client(parse_spec(server.spec)), requests(), record, Terms(True, limits=QUICK))
    assert len(done) == 200
    assert max(book_size) <= QUICK.concurrency + max(8, QUICK.concurrency) + 1


def test_requests_per_minute_are_kept(asked) -> None:
    with wire.Server() as server:
        begun = time.monotonic()
        asked(server.spec, [question(n) for n in range(6)], limits(requests_per_minute=60 / 0.1))
    # From the beginning, not from call to call: on a busy machine one may arrive late and the next
    # in time.
    for place, arrival in enumerate(server.times):
        assert arrival - begun >= place * 0.1 * 0.9


def test_tokens_per_minute_are_kept(asked) -> None:
    with wire.Server(
        lambda number, body: wire.raw(msgspec.json.encode(wire.completion("B", 1000)))
    ) as server:
        chosen = limits(tokens_per_minute=60 * 20_060, concurrency=1)
        begun = time.monotonic()
        asked(server.spec, [question(n) for n in range(130)], chosen)
    # 130 calls of 1,003 tokens are 130,390; six seconds of burst are 120,360; the rest takes half a
    # second.
    assert server.times[-1] - begun >= 0.4


PRICE = Price(1.0, 10.0)
"""Dollars per million: a call of 20 + 3 tokens costs 50 millionths."""


def test_cost_is_reckoned_from_usage(asked) -> None:
    with wire.Server(
        lambda number, body: wire.raw(msgspec.json.encode(wire.completion("B", 20)))
    ) as server:
        result, _ = asked(server.spec, [question(n) for n in range(10)], price=PRICE)
    assert result.tally.cost == pytest.approx(10 * 50e-6)


@pytest.mark.parametrize("concurrency", [1, 8])
def test_the_money_is_not_exceeded(asked, concurrency) -> None:
    """However many calls are in flight, and however long their answers may get."""
    requests = (
        question(n, settings=msgspec.structs.replace(question(0).settings, max_tokens=10))
        for n in range(500)
    )
    with wire.Server(
        lambda number, body: wire.raw(msgspec.json.encode(wire.completion("B", 20)))
    ) as server:
        chosen = limits(max_cost=0.002, concurrency=concurrency)
        result, book = asked(server.spec, requests, chosen, price=PRICE)
    assert "--max-cost" in result.stopped
    assert result.tally.cost is not None
    # The last call let out may cost 20 + 10 × 10 = 120 millionths and did cost 50.
    assert 0.002 - 120e-6 <= result.tally.cost <= 0.002
    assert result.tally.cost == pytest.approx(len(book) * 50e-6)


def test_tokens_of_earlier_sessions_count(asked) -> None:
    settings = msgspec.structs.replace(question(0).settings, max_tokens=3)
    with wire.Server(
        lambda number, body: wire.raw(msgspec.json.encode(wire.completion("B", 20)))
    ) as server:
        requests = [question(n, settings=settings) for n in range(100)]
        result, book = asked(server.spec, requests, limits(max_tokens=1000), spent=Spent(500, 40))
    assert "--max-tokens-total" in result.stopped
    assert len(book) == (1000 - 540) // 23


@pytest.mark.parametrize("price", [None, Price(0.0, 0.0)])
def test_a_cost_nobody_knows_cannot_be_watched(asked, price) -> None:
    with pytest.raises(SitusError, match="--prices"):
        asked("openai:m@http://127.0.0.1:9/v1", [question(1)], limits(max_cost=1.0), price=price)


def test_what_the_requests_raise_ends_the_session_and_keeps_what_came(asked) -> None:
    def requests():
        for n in range(5):
            yield question(n)
        raise SitusError("the volume is gone")

    book = Book()
    with (
        wire.Server(lambda number, body: wire.silent(0.05)) as server,
        pytest.raises(SitusError, match="is gone"),
    ):
        ask(
            make_client(parse_spec(server.spec)),
            requests(),
            book.record,
            Terms(True, limits=QUICK),
        )
    assert sorted(book) == [f"key{n}" for n in range(5)]
    assert {reply.state for reply in book.values()} == {"answered"}


def test_what_the_journal_raises_ends_the_session_at_once(asked) -> None:
    def record(request: Request, reply, seconds) -> None:
        raise SitusError("no space left")

    requests = (question(n) for n in range(1000))
    with wire.Server() as server, pytest.raises(SitusError, match="no space left"):
        ask(make_client(parse_spec(server.spec)), requests, record, Terms(True, limits=QUICK))
    assert len(server.seen) <= 2 * QUICK.concurrency
