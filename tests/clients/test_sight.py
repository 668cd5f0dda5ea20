"""A server that answers while ignoring the pictures is caught by its own count of tokens."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import wire
from asking import question
from situs.clients import ResponseCache


def costing(per_picture: int) -> wire.Server:
    """A server whose count grows by so many tokens a picture."""

    def behave(number: int, body: dict[str, Any]) -> wire.Behaviour:
        tokens = 15 + per_picture * wire.pictures_in(body)
        return wire.raw(msgspec.json.encode(wire.completion("B", tokens)))

    return wire.Server(behave)


@pytest.mark.parametrize(
    ("per_picture", "pictures", "blind"),
    [(0, 1, True), (0, 8, True), (3, 8, True), (6, 6, False), (64, 1, False), (256, 8, False)],
)
def test_pictures_that_cost_no_tokens_are_warned_of_once(
    asked, per_picture, pictures, blind
) -> None:
    """15 prompt tokens with or without pictures is the
    mark of one real server that ignores them; 51 is not."""
    said: list[str] = []
    with costing(per_picture) as server:
        result, book = asked(
            server.spec, [question(n, pictures) for n in range(9)], say=said.append
        )
        asked_without = [body for body in server.bodies if not wire.pictures_in(body)]
    assert len(book) == 9
    assert len(asked_without) == 1
    assert asked_without[0]["max_tokens"] == 1
    assert bool(result.notices) == blind
    assert len(said) == (1 if blind else 0)
    assert all("ignore the pictures" in text for text in (*said, *result.notices))


def test_words_alone_need_no_second_question(asked) -> None:
    with costing(0) as server:
        result, _ = asked(server.spec, [question(n) for n in range(5)])
        assert (len(server.seen), result.notices) == (5, ())


def test_a_server_that_does_not_count_is_not_accused(asked) -> None:
    silent = msgspec.json.encode({"choices": wire.completion("B")["choices"]})
    with wire.Server(lambda number, body: wire.raw(silent)) as server:
        result, _ = asked(server.spec, [question(n, 2) for n in range(5)])
        assert (len(server.seen), result.notices) == (5, ())


def test_a_free_second_run_still_warns(asked, tmp_path) -> None:
    with costing(0) as server:
        for sent in (4, 4):
            cache = ResponseCache(tmp_path)
            result, _ = asked(server.spec, [question(n, 2) for n in range(3)], cache=cache)
            cache.close()
            assert len(server.seen) == sent
            assert len(result.notices) == 1
