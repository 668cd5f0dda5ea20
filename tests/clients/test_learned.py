"""Servers that refuse a field by name:
what Situs sends of itself is changed, noted, and never asked twice."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from aiohttp import web

import wire
from asking import QUICK, question
from situs.clients import ResponseCache, Settings

ONE = msgspec.structs.replace(QUICK, concurrency=1)

OPENAI = {
    "max_tokens": {
        "error": {
            "message": (
                "Unsupported parameter: 'max_tokens' is not supported with this model."
                " Use 'max_completion_tokens' instead."
            ),
            "type": "invalid_request_error",
            "param": "max_tokens",
            "code": "unsupported_parameter",
        }
    },
    "temperature": {
        "error": {
            "message": (
                "Unsupported value: 'temperature' does not support 0 with this model."
                " Only the default (1) value is supported."
            ),
            "type": "invalid_request_error",
            "param": "temperature",
            "code": "unsupported_value",
        }
    },
}
GROQ = {
    "error": {"message": "property 'temperature' is unsupported", "type": "invalid_request_error"}
}
GEMINI = [
    {
        "error": {
            "code": 400,
            "message": (
                'Invalid JSON payload received. Unknown name "temperature": Cannot find field.'
            ),
            "status": "INVALID_ARGUMENT",
        }
    }
]
MISTRAL = {
    "object": "error",
    "message": {
        "detail": [
            {
                "type": "extra_forbidden",
                "loc": ["body", "temperature"],
                "msg": "Extra inputs are not permitted",
            }
        ]
    },
}
OPENROUTER = {
    "error": {
        "message": "Provider returned error",
        "code": 400,
        "metadata": {"raw": json.dumps(OPENAI["temperature"]), "provider_name": "OpenAI"},
    }
}


def refusing(errors: dict[str, Any], code: int = 400) -> wire.Server:
    """A server that refuses fields, each with its error, and answers once all of them are gone."""

    def behave(number: int, body: dict[str, Any]) -> wire.Behaviour:
        refused = next((error for field, error in errors.items() if field in body), None)
        if refused is None:
            return wire.good

        async def refuse(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
            return web.json_response(refused, status=code)

        return refuse

    return wire.Server(behave)


def test_a_model_of_the_gpt_5_class_answers_without_flags(asked) -> None:
    with refusing(OPENAI) as server:
        told, book = asked(server.spec, [question(n) for n in range(4)], limits=ONE)
    assert [reply.state for reply in book.values()] == ["answered"] * 4
    assert len(server.bodies) == 2 + 4, "learned once, then sent right"
    last = server.bodies[-1]
    assert last["max_completion_tokens"] == server.bodies[0]["max_tokens"]
    assert not {"max_tokens", "temperature"} & set(last)
    assert len(told.notices) == 2
    assert "max_completion_tokens instead of max_tokens" in " ".join(told.notices)


@pytest.mark.parametrize(
    "error", [GROQ, GEMINI, MISTRAL, OPENROUTER], ids=["groq", "gemini", "mistral", "openrouter"]
)
@pytest.mark.parametrize("code", [400, 422])
def test_every_servers_way_of_naming_a_field(asked, error, code) -> None:
    with refusing({"temperature": error}, code) as server:
        _, book = asked(server.spec, [question(1)], limits=ONE)
    assert [reply.state for reply in book.values()] == ["answered"]
    assert "temperature" not in server.bodies[-1]


@pytest.mark.parametrize("samples", [False, True])
def test_a_reply_that_the_server_drew_at_random_is_not_stored_as_the_likeliest(
    asked, tmp_path, samples
) -> None:
    """Asked for temperature 0, it samples:
    only who wants samples stored gets the first one again."""
    with refusing({"temperature": GROQ}) as server:
        for _ in range(2):
            cache = ResponseCache(tmp_path, samples=samples)
            _, book = asked(server.spec, [question(1)], limits=ONE, cache=cache)
            cache.close()
    (reply,) = book.values()
    assert reply.cached is samples
    assert reply.sampled
    assert len([body for body in server.bodies if "temperature" not in body]) == 2 - samples


def test_a_seed_that_is_sent_makes_the_reply_repeatable(asked, tmp_path) -> None:
    seeded = Settings(seed=3)
    with refusing({"temperature": GROQ}) as server:
        for _ in range(2):
            cache = ResponseCache(tmp_path)
            _, book = asked(server.spec, [question(1, settings=seeded)], limits=ONE, cache=cache)
            cache.close()
    (reply,) = book.values()
    assert reply.cached


def test_many_calls_in_flight_learn_it_once(asked) -> None:
    with refusing(OPENAI) as server:
        told, book = asked(server.spec, [question(n) for n in range(30)])
    assert {reply.state for reply in book.values()} == {"answered"}
    assert len(told.notices) == 2


def test_what_the_user_asked_for_is_never_changed(asked) -> None:
    with refusing({"temperature": OPENAI["temperature"], "seed": GROQ}) as server:
        _, book = asked(server.spec + "?temperature=0.7", [question(1)], limits=ONE)
    (reply,) = book.values()
    assert reply.state == "failed"
    assert "leave temperature out of --model" in reply.error
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    "error",
    [
        {"error": {"message": "max_tokens is too large: 1024. This model takes at most 512."}},
        {"error": {"message": "This model's maximum context length is 8192 tokens."}},
        {"error": {"message": "Unsupported image type"}},
    ],
)
def test_other_errors_teach_nothing(asked, error) -> None:
    with wire.Server(lambda number, body: wire.raw(json.dumps(error).encode(), code=400)) as server:
        told, book = asked(server.spec, [question(1)], limits=ONE)
    (reply,) = book.values()
    assert (reply.state, len(server.bodies), told.notices) == ("failed", 1, ())


def test_a_server_that_refuses_everything_is_not_asked_for_ever(asked) -> None:
    def behave(number: int, body: dict[str, Any]) -> wire.Behaviour:
        fields = ", ".join(body)
        return wire.raw(
            json.dumps({"error": {"message": f"unsupported: {fields}"}}).encode(), code=400
        )

    with wire.Server(behave) as server:
        _, book = asked(server.spec, [question(1)], limits=ONE)
    (reply,) = book.values()
    assert reply.state == "failed"
    assert len(server.bodies) <= 6
