"""Anthropic's and Google's own protocols: what goes out, how replies are read, and what faults end
in.

Forms are those of the providers' public references: Messages (2023-06-01) and generateContent
(v1beta).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from aiohttp import web

import wire
from asking import QUICK, SHORT, picture, question
from situs.clients import (
    Message,
    Price,
    Request,
    Settings,
    ToolCall,
    make_client,
    parse_spec,
    settings_for,
)
from situs.errors import SitusError

ONE = msgspec.structs.replace(QUICK, concurrency=1)
KEY = "planted-key-of-nobody-0123456789"
TOOL = {
    "type": "function",
    "function": {"name": "look", "description": "See a slice.", "parameters": {"type": "object"}},
}
SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}}


def anthropic(text: str = "yes", **more: Any) -> dict[str, Any]:
    usage = {
        "input_tokens": 10,
        "cache_creation_input_tokens": 200,
        "cache_read_input_tokens": 3000,
        "output_tokens": 5,
    }
    content = [{"type": "thinking", "thinking": "hm, no"}, {"type": "text", "text": text}]
    return {"type": "message", "content": content, "stop_reason": "end_turn", "usage": usage} | more


def gemini(text: str = "yes", reason: str = "STOP", **more: Any) -> dict[str, Any]:
    parts = [{"text": "hm, no", "thought": True}, {"text": text}]
    usage = {
        "promptTokenCount": 100,
        "candidatesTokenCount": 5,
        "thoughtsTokenCount": 7,
        "cachedContentTokenCount": 60,
    }
    candidate = {"content": {"parts": parts, "role": "model"}, "finishReason": reason}
    return {"candidates": [candidate], "usageMetadata": usage} | more


PROVIDERS: dict[str, tuple[str, Callable[..., dict[str, Any]]]] = {
    "anthropic": ("ANTHROPIC_API_KEY", anthropic),
    "gemini": ("GEMINI_API_KEY", gemini),
}


def spec_of(kind: str, server: wire.Server) -> str:
    return f"{kind}:some-model@http://127.0.0.1:{server.port}"


def serving(payload: Any, code: int = 200) -> wire.Server:
    return wire.Server(lambda number, body: wire.raw(json.dumps(payload).encode(), code=code))


@pytest.fixture(params=PROVIDERS)
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each provider, its key in the environment."""
    for variable, _ in PROVIDERS.values():
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    monkeypatch.setenv(PROVIDERS[request.param][0], KEY)
    return str(request.param)


def encoded(number: int) -> str:
    return base64.b64encode(picture(number).data).decode()


def test_what_goes_out_to_anthropic(asked, monkeypatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    parts = (picture(1), "first", picture(2), "last")
    messages = (Message("system", ("be brief",)), Message("user", parts))
    with serving(anthropic()) as server:
        asked(
            spec_of("anthropic", server),
            [Request("k", messages, Settings(max_tokens=7), tools=(TOOL,))],
        )
    assert b"POST /v1/messages\n" in server.seen[0]
    assert f"x-api-key: {KEY}".encode() in server.seen[0]
    assert b"anthropic-version: 2023-06-01" in server.seen[0]

    def shown(number: int) -> dict[str, Any]:
        source = {"type": "base64", "media_type": "image/png", "data": encoded(number)}
        return {"type": "image", "source": source}

    assert server.bodies[0] == {
        "model": "some-model",
        "max_tokens": 7,
        "temperature": 0.0,
        "system": "be brief",
        "tools": [
            {"name": "look", "description": "See a slice.", "input_schema": {"type": "object"}}
        ],
        "messages": [
            {
                "role": "user",
                "content": [
                    shown(1),
                    {"type": "text", "text": "first"},
                    shown(2) | {"cache_control": {"type": "ephemeral"}},
                    {"type": "text", "text": "last"},
                ],
            }
        ],
    }


def test_what_goes_out_to_gemini(asked, monkeypatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    parts = (picture(1), "first", picture(2), "last")
    messages = (Message("system", ("be brief",)), Message("user", parts))
    with serving(gemini()) as server:
        spec = spec_of("gemini", server) + "?top_k=3&thinking_budget=0&seed=4"
        settings = settings_for(make_client(parse_spec(spec)), parse_spec(spec))
        asked(spec, [Request("k", messages, settings, schema=SCHEMA, tools=(TOOL,))])
    assert b"POST /v1beta/models/some-model:generateContent\n" in server.seen[0]
    assert f"x-goog-api-key: {KEY}".encode() in server.seen[0]

    def shown(number: int) -> dict[str, Any]:
        return {"inlineData": {"mimeType": "image/png", "data": encoded(number)}}

    said = [shown(1), {"text": "first"}, shown(2), {"text": "last"}]
    assert server.bodies[0] == {
        "contents": [{"role": "user", "parts": said}],
        "systemInstruction": {"parts": [{"text": "be brief"}]},
        "generationConfig": {
            "temperature": 0.0,
            "maxOutputTokens": 1024,
            "topK": 3,
            "seed": 4,
            "thinkingConfig": {"thinkingBudget": 0},
            "responseMimeType": "application/json",
            "responseJsonSchema": SCHEMA,
        },
        "tools": [
            {
                "functionDeclarations": [
                    {
                        "name": "look",
                        "description": "See a slice.",
                        "parametersJsonSchema": {"type": "object"},
                    }
                ]
            }
        ],
    }


def test_answers_leave_thoughts_out_and_are_counted_as_others_count(asked, kind) -> None:
    with serving(PROVIDERS[kind][1]("no")) as server:
        told, book = asked(spec_of(kind, server), [question(1)])
    (reply,) = book.values()
    assert (reply.state, reply.text) == ("answered", "no")
    expected = {
        "anthropic": {
            "prompt_tokens": 3210,
            "completion_tokens": 5,
            "prompt_tokens.cached_tokens": 3000,
            "prompt_tokens.cache_written_tokens": 200,
        },
        "gemini": {
            "prompt_tokens": 100,
            "completion_tokens": 12,
            "prompt_tokens.cached_tokens": 60,
            "completion_tokens.reasoning_tokens": 7,
        },
    }
    assert reply.usage == expected[kind]
    assert (told.tally.prompt_tokens, told.tally.completion_tokens) == (
        expected[kind]["prompt_tokens"],
        expected[kind]["completion_tokens"],
    )


@pytest.mark.parametrize(
    ("kind", "payload", "state", "reason"),
    [
        ("anthropic", anthropic("no", stop_reason="refusal"), "refused", "content_filter"),
        ("anthropic", anthropic("no", stop_reason="max_tokens"), "answered", "length"),
        ("gemini", gemini("no", "SAFETY"), "refused", "content_filter"),
        ("gemini", gemini("no", "MAX_TOKENS"), "answered", "length"),
        ("gemini", {"promptFeedback": {"blockReason": "OTHER"}}, "refused", "content_filter"),
        ("gemini", {"candidates": [{"finishReason": "PROHIBITED_CONTENT"}]}, "refused", "content_filter"),
        ("gemini", {"candidates": []}, "failed", ""),
        ("gemini", {"candidates": [{"finishReason": "OTHER"}]}, "failed", ""),
        ("anthropic", {"type": "error", "error": {"message": "odd"}}, "failed", ""),
        ("gemini", {"error": {"message": "odd"}}, "failed", ""),
        ("anthropic", [1, 2], "failed", ""),
        ("gemini", "text", "failed", ""),
        ("anthropic", anthropic("ok", usage={"input_tokens": "many", "output_tokens": -1}), "answered", "end_turn"),
    ],
)  # fmt: skip
def test_how_a_reply_ends(asked, kind, payload, state, reason) -> None:
    with serving(payload) as server:
        _, book = asked(spec_of(kind, server), [question(1)], limits=ONE)
    (reply,) = book.values()
    assert (reply.state, reply.finish_reason) == (state, reason)


def test_tools_of_either_provider(asked) -> None:
    use = {"type": "tool_use", "id": "t1", "name": "look", "input": {"slice": 3}}
    call = {"functionCall": {"name": "look", "args": {"slice": 3}, "id": "t1"}}
    replies = {
        "anthropic": anthropic(content=[use], stop_reason="tool_use"),
        "gemini": {"candidates": [{"content": {"parts": [call]}, "finishReason": "STOP"}]},
    }
    history = (
        Message("user", ("go",)),
        Message("assistant", (), (ToolCall("t1", "look", '{"slice": 3}'),)),
        Message("tool", ("seen",), tool_call_id="t1"),
    )
    sent: dict[str, Any] = {}
    for kind, payload in replies.items():
        with serving(payload) as server:
            _, book = asked(spec_of(kind, server), [Request("k", history, tools=(TOOL,))])
        (reply,) = book.values()
        assert [(c.name, json.loads(c.arguments)) for c in reply.tool_calls] == [
            ("look", {"slice": 3})
        ]
        sent[kind] = server.bodies[0]
    assert sent["anthropic"]["messages"][1:] == [
        {"role": "assistant", "content": [use]},
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "content": [{"type": "text", "text": "seen"}],
                }
            ],
        },
    ]
    assert sent["gemini"]["contents"][1:] == [
        {"role": "model", "parts": [call]},
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "look", "response": {"result": "seen"}, "id": "t1"}}
            ],
        },
    ]


@pytest.mark.parametrize("code", [429, 500, 503, 529])
def test_a_busy_server_is_asked_again(asked, kind, code) -> None:
    good = json.dumps(PROVIDERS[kind][1]()).encode()
    with wire.Server(lambda n, body: wire.status(code) if n < 2 else wire.raw(good)) as server:
        _, book = asked(spec_of(kind, server), [question(1)], limits=ONE)
    (reply,) = book.values()
    assert (reply.state, len(server.bodies)) == ("answered", 3)


@pytest.mark.parametrize(
    "fault", [wire.reset, wire.truncated, wire.stalled(30), wire.raw(b"<html>")]
)
def test_faults_on_the_way(asked, kind, fault) -> None:
    good = json.dumps(PROVIDERS[kind][1]()).encode()
    with wire.Server(lambda n, body: fault if n == 0 else wire.raw(good)) as server:
        _, book = asked(spec_of(kind, server), [question(1)], limits=ONE, reach=SHORT)
    (reply,) = book.values()
    assert reply.state == "answered"


def test_every_item_is_answered_once_by_a_server_that_fails_often(asked, kind) -> None:
    def behave(number: int, body: dict[str, Any]) -> wire.Behaviour:
        text = json.dumps(PROVIDERS[kind][1](wire.words_of(body))).encode()
        return [wire.raw(text), wire.status(503), wire.reset, wire.raw(text)][number % 4]

    with wire.Server(behave) as server:
        _, book = asked(
            spec_of(kind, server),
            [question(n) for n in range(40)],
            limits=msgspec.structs.replace(QUICK, tries=30),
        )
    assert {key: reply.text for key, reply in book.items()} == {
        f"key{n}": f"question {n}" for n in range(40)
    }


def test_cached_tokens_have_their_own_price(asked) -> None:
    price = Price(1.0, 10.0, cached=0.1, cache_written=1.25)
    with serving(anthropic()) as server:
        told, _ = asked(spec_of("anthropic", server), [question(1)], price=price)
    # 10 tokens as they are, 3,000 from the cache, 200 into it, 5 of the answer.
    expected = (10 * 1.0 + 3000 * 0.1 + 200 * 1.25 + 5 * 10.0) / 1e6
    assert told.tally.cost == pytest.approx(expected)


def test_a_wrong_key_ends_the_session_and_is_not_repeated(asked, kind) -> None:
    async def echo(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        error = {"type": "authentication_error", "message": f"bad key {KEY}"}
        return web.json_response({"error": error}, status=401)

    with wire.Server(lambda n, body: echo) as server:
        told, book = asked(spec_of(kind, server), [question(n) for n in range(5)], limits=ONE)
    assert told.stopped
    assert KEY not in told.stopped + str(book)


def test_settings(kind) -> None:
    with pytest.raises(SitusError, match="did you mean"):
        make_client(parse_spec(f"{kind}:m?top_q=3"))
    with pytest.raises(SitusError, match="names no model"):
        make_client(parse_spec(kind))
    client = make_client(parse_spec(f"{kind}:m"))
    assert client.remote
    if kind == "anthropic":
        with pytest.raises(SitusError, match="seed"):
            make_client(parse_spec("anthropic:m?seed=1"))


def test_thinking_goes_without_a_temperature(asked, monkeypatch) -> None:
    thinking = '?thinking={"type":"enabled","budget_tokens":2048}&max_tokens=4000'
    with serving(anthropic()) as server:
        spec = spec_of("anthropic", server) + thinking
        settings = settings_for(make_client(parse_spec(spec)), parse_spec(spec))
        _, book = asked(spec, [question(1, settings=settings)])
    assert [reply.sampled for reply in book.values()] == [True], "such a reply is not cached"
    assert server.bodies[0]["thinking"] == {"type": "enabled", "budget_tokens": 2048}
    assert "temperature" not in server.bodies[0]


def test_a_key_is_not_sent_in_the_open(kind) -> None:
    client = make_client(parse_spec(f"{kind}:m@http://192.0.2.1:9"))
    assert KEY not in str(vars(client)) + str(vars(client._transport))  # type: ignore[attr-defined]
