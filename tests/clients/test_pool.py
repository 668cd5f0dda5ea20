"""One model behind several servers: who is asked, and what a dead one costs."""

from __future__ import annotations

import socket

import msgspec
import pytest

import wire
from asking import QUICK, question
from situs.clients import make_client, parse_spec
from situs.errors import SitusError


def address(server: wire.Server) -> str:
    return f"http://127.0.0.1:{server.port}/v1"


def model(*addresses: str) -> str:
    return f"openai:test@{','.join(addresses)}"


def nobody() -> str:
    """An address at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


def test_requests_are_shared_and_each_is_asked_once(asked) -> None:
    """Servers that take their time are asked in turn: both work, and no question goes to both."""
    slow = lambda number, body: wire.silent(0.02)  # noqa: E731
    with wire.Server(slow) as one, wire.Server(slow) as other:
        done, book = asked(
            model(address(one), address(other)), [question(number) for number in range(40)]
        )
    assert done.tally.states == {"answered": 40}
    assert {key: reply.text for key, reply in book.items()} == {
        f"key{number}": f"you said question {number}" for number in range(40)
    }
    assert sum(one.keys.values()) + sum(other.keys.values()) == 40
    assert not one.keys.keys() & other.keys.keys()
    assert min(len(one.seen), len(other.seen)) >= 10


def test_a_study_stays_with_the_server_that_knows_its_pictures(asked) -> None:
    """Asked one by one, all questions on one picture go to one server."""
    alone = msgspec.structs.replace(QUICK, concurrency=1)
    with wire.Server() as one, wire.Server() as other:
        asked(
            model(address(one), address(other)),
            [question(number, pictures=1) for number in range(8)],
            limits=alone,
        )
        pictures = [sum(map(wire.pictures_in, server.bodies)) for server in (one, other)]
    assert sorted(pictures) == [0, 8]


@pytest.mark.parametrize("fault", [wire.reset, wire.truncated, wire.status(503)])
def test_a_server_that_dies_half_way_costs_no_answer(asked, fault) -> None:
    with (
        wire.Server(lambda number, body: wire.good if number < 5 else fault) as dying,
        wire.Server() as well,
    ):
        done, book = asked(
            model(address(dying), address(well)), [question(number) for number in range(60)]
        )
    assert done.tally.states == {"answered": 60}
    assert done.stopped == ""
    assert all(book[f"key{number}"].text == f"you said question {number}" for number in range(60))
    # It rests after a failure, so it is not tried with every question.
    assert len(dying.seen) < 40


def test_a_server_that_is_not_there_is_passed_over(asked) -> None:
    with wire.Server() as well:
        done, _ = asked(model(nobody(), address(well)), [question(number) for number in range(20)])
    assert done.tally.states == {"answered": 20}


def test_a_server_that_denies_everything_is_left_out_and_named(asked) -> None:
    denies = wire.status(401, {"message": "wrong key"})
    with wire.Server(lambda number, body: denies) as denying, wire.Server() as well:
        done, _ = asked(
            model(address(denying), address(well)), [question(number) for number in range(30)]
        )
    assert done.tally.states == {"answered": 30}
    assert len(denying.seen) <= QUICK.concurrency
    assert any(f"127.0.0.1:{denying.port}" in notice for notice in done.notices)


def test_where_all_fail_the_session_ends_as_with_one(asked) -> None:
    done, book = asked(model(nobody(), nobody()), [question(number) for number in range(5)])
    assert "cannot be reached" in done.stopped
    assert not book


def test_a_bad_question_is_not_passed_from_server_to_server(asked) -> None:
    refuses = wire.status(400, {"message": "too long"})
    with (
        wire.Server(lambda number, body: refuses) as one,
        wire.Server(lambda number, body: refuses) as other,
    ):
        done, _ = asked(model(address(one), address(other)), [question(0)])
    assert done.tally.states == {"failed": 1}
    assert len(one.seen) + len(other.seen) == 1


def test_one_remote_server_makes_the_model_remote() -> None:
    mixed = make_client(parse_spec(model("http://127.0.0.1:9/v1", "https://example.com/v1")))
    assert mixed.remote
    assert not make_client(
        parse_spec(model("http://127.0.0.1:9/v1", "http://127.0.0.1:10/v1"))
    ).remote


def test_answers_are_cached_whatever_the_order_of_servers() -> None:
    keys = {
        make_client(parse_spec(model(*order))).cache_key
        for order in (
            ("http://127.0.0.1:9/v1", "http://127.0.0.1:10/v1"),
            ("http://127.0.0.1:10/v1", "http://127.0.0.1:9/v1"),
        )
    }
    assert len(keys) == 1


def test_each_address_is_checked() -> None:
    with pytest.raises(SitusError, match="address is not"):
        make_client(parse_spec(model("http://127.0.0.1:9/v1", "nonsense")))
