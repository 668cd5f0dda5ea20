"""Every kind of client reads in a room:
pictures and turns in its own form, native calls where they were proved."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
import scripted
import shaped

from situs.clients import Reply, Request
from situs.clients.hf import client as hf
from situs.clients.hf.prompt import chat_of

SEEN_ALL = {"right_seen": 1.0, "right_unseen": 0.0, "wrong_seen": 0.0, "wrong_unseen": 0.0}


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize(
    ("provider", "native"),
    [
        ("openai", True),
        ("anthropic", False),
        ("anthropic", True),
        ("gemini", False),
        ("gemini", True),
    ],
)
def test_a_looker_is_the_same_over_every_protocol(play, provider: str, native: bool) -> None:
    """The servers refuse what the real ones do:
    blank words, lost signatures, results without their calls."""
    played = play(scripted.looker, limit=2, over=(provider, native))
    wanted = [len(played.known.slices(item)) for item in played.known.items.values()]
    assert played.run["ends"] == {"answered": 2}
    assert played.cells() == SEEN_ALL
    assert played.run["turns"] == sum(wanted) + 2
    count = shaped.pictures_of(provider)
    # Every picture stays in the conversation; once, a request is repeated without its pictures.
    assert sorted(map(count, played.server.bodies)) == sorted(
        [0] + [shown for looks in wanted for shown in range(looks + 1)]
    )
    assert {"tools" in body for body in played.server.bodies} == {native}


def test_a_model_in_memory_reads_too(play_in_memory) -> None:
    played = play_in_memory(scripted.looker, limit=3)
    wanted = [len(played.known.slices(item)) for item in played.known.items.values()]
    assert played.run["ends"] == {"answered": 3}
    assert played.cells() == SEEN_ALL
    assert played.run["turns"] == sum(wanted) + 3


@pytest.fixture
def play_in_memory(situs, bench, tmp_path, own_cache, monkeypatch):
    """As `play`, for `hf:` with all but the weights:
    the chat that its template gets is answered by a script."""
    monkeypatch.setenv("SITUS_CACHE", own_cache(tmp_path / "cache"))
    monkeypatch.setattr(hf, "version", lambda package: "0")

    def played(script: scripted.Script, limit: int):
        known = scripted.Known(bench, "free", None, limit)

        def answer(loaded: object, requests: Sequence[Request]) -> list[Reply]:
            return [reply(request) for request in requests]

        def reply(request: Request) -> Reply:
            chat = chat_of(request)
            places = [p["type"] for m in chat.messages for p in m["content"]].count("image")
            assert places == len(chat.images)
            roles = [message["role"] for message in chat.messages]
            # Templates of many models refuse anything but turns in turn.
            assert roles == (["user", "assistant"] * len(roles))[: len(roles)]
            act = script(scripted.Seen(known, {"messages": chat.messages}))
            return Reply("answered", json.dumps(act), {"prompt_tokens": 20}, "stop")

        monkeypatch.setattr(hf, "answer_batch", answer)
        monkeypatch.setattr(hf, "make_hf", lambda spec, reach: hf.HfClient("hf:m#0", None, 2))
        out = tmp_path / "run"
        ran = situs(
            "run", bench, "--model", "hf:m", "--room", "free", "--limit", limit, "--out", out,
            "--json",
        )  # fmt: skip
        assert ran.code == 0, ran.err
        scores = situs("score", bench, out, "--stratum", "all", "--json")
        assert scores.code == 0, scores.err
        return scripted.Played(ran.json, scores.json, out, None, known)

    return played
