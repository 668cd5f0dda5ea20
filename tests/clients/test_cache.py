"""A second identical run sends nothing; what differs in any way is asked."""

from __future__ import annotations

import multiprocessing
import stat

import msgspec
import pytest

import wire
from asking import QUICK, question
from situs.clients import CACHE_FILE, Message, Reply, Request, ResponseCache, Settings, ToolCall
from situs.clients.response_cache import request_key

SAMPLED = Settings(temperature=0.7)


def test_a_second_identical_run_is_free(asked, tmp_path) -> None:
    with wire.Server() as server:
        books = []
        for sent in (20, 0):
            before = len(server.seen)
            cache = ResponseCache(tmp_path)
            result, book = asked(server.spec, [question(n) for n in range(20)], cache=cache)
            cache.close()
            assert len(server.seen) - before == result.tally.requests == sent
            books.append(
                {
                    key: (reply.state, reply.text, reply.usage, reply.cached)
                    for key, reply in book.items()
                }
            )
    assert {key: (*row[:3], True) for key, row in books[0].items()} == books[1]
    assert result.tally.cached == 20
    assert (result.tally.prompt_tokens, result.tally.cost) == (0, None)


def test_failed_calls_are_never_kept(asked, tmp_path) -> None:
    chosen = msgspec.structs.replace(QUICK, tries=1)
    cache = ResponseCache(tmp_path)
    with wire.Server(lambda number, body: wire.status(500) if number < 3 else wire.good) as server:
        assert asked(server.spec, [question(n) for n in range(3)], chosen, cache=cache)[
            0
        ].tally.states == {"failed": 3}
        assert asked(server.spec, [question(n) for n in range(3)], chosen, cache=cache)[
            0
        ].tally.states == {"answered": 3}
    cache.close()


def variants() -> dict[str, bytes]:
    """Requests that must not share an answer; the key, which is never sent, is the same or not."""
    base = question(1, pictures=2)
    swapped = Request("k", (Message("user", tuple(reversed(base.messages[0].parts))),))
    requests = {
        "base": base,
        "no pictures": base.words_only(),
        "one picture": question(1, pictures=1),
        "other order": swapped,
        "other words": question(2, pictures=2),
        "other role": Request("k", (Message("system", base.messages[0].parts),)),
        "two turns": Request("k", base.messages * 2),
        "joined words": Request("k", (Message("user", ("ab",)),)),
        "split words": Request("k", (Message("user", ("a", "b")),)),
        "max_tokens": question(1, 2, settings=Settings(max_tokens=9)),
        "extra": question(1, 2, settings=Settings(extra={"top_k": 1})),
        "seed 1": question(1, 2, settings=Settings(seed=1)),
        "seed 2": question(1, 2, settings=Settings(seed=2)),
        "schema": question(1, 2, schema={"type": "object"}),
        "tools": question(1, 2, tools=({"type": "function"},)),
        "call": Request(
            "k", (Message("assistant", ("ab",), tool_calls=(ToolCall("1", "f", "{}"),)),)
        ),
    }
    keys = {name: request_key("client", request) for name, request in requests.items()}
    return keys | {"other client": request_key("client2", base)}


def test_whatever_differs_has_a_key_of_its_own() -> None:
    keys = variants()
    assert len(set(keys.values())) == len(keys)
    assert variants() == keys
    assert request_key("client", msgspec.structs.replace(question(1, 2), key="x")) == keys["base"]


@pytest.mark.parametrize(
    ("settings", "samples", "sent"),
    [
        (Settings(), False, 1),
        (SAMPLED, False, 2),
        (SAMPLED, True, 1),
        (msgspec.structs.replace(SAMPLED, seed=5), False, 1),
        (Settings(temperature=None), False, 2),
    ],
)
def test_sampled_answers_are_kept_only_with_a_seed_or_on_request(
    asked, tmp_path, settings, samples, sent
) -> None:
    cache = ResponseCache(tmp_path, samples=samples)
    with wire.Server() as server:
        for _ in range(2):
            asked(server.spec, [question(1, settings=settings)], cache=cache)
        assert len(server.seen) == sent
    cache.close()


def test_the_cache_is_private(tmp_path) -> None:
    cache = ResponseCache(tmp_path)
    cache.put(b"k", Reply("answered", "x"))
    cache.flush()
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert CACHE_FILE in modes
    assert set(modes.values()) == {0o600}
    cache.close()


def test_a_broken_cache_is_said_once_and_left_aside(asked, tmp_path) -> None:
    (tmp_path / CACHE_FILE).write_bytes(b"not a database" * 1000)
    said: list[str] = []
    cache = ResponseCache(tmp_path, say=said.append)
    with wire.Server() as server:
        assert asked(server.spec, [question(n) for n in range(5)], cache=cache)[0].tally.states == {
            "answered": 5
        }
    cache.close()
    assert len(said) == 1
    assert "situs purge" in said[0]


def fill(folder, start: int) -> None:
    cache = ResponseCache(folder)
    for n in range(start, start + 300):
        cache.put(n.to_bytes(4, "big"), Reply("answered", f"{n}"))
    cache.close()


def test_several_processes_write_to_one_cache(tmp_path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=fill, args=(tmp_path, 200 * n)) for n in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    cache = ResponseCache(tmp_path)
    found = [cache.get(n.to_bytes(4, "big")) for n in range(700)]
    assert [reply.text if reply else None for reply in found] == [f"{n}" for n in range(700)]
    cache.close()
