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
from situs.clients import Message, Request, ResponseCache, Settings

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


@pytest.mark.parametrize(
    "words",
    [
        "invalid temperature: only 1 is allowed for this model",  # Moonshot
        "`temperature` may only be set to 1 when thinking is enabled.",  # gateways of Anthropic
        "gpt-5 models don't support temperature=0. Only temperature=1 is allowed.",  # LiteLLM
        "ValidationException: Malformed input request: #: extraneous key [temperature] is not"
        " permitted, please reformat your input and try again.",  # gateways of Bedrock
        "temperature is not implemented",
        "parameter temperature isn't available for reasoning models",
        "temperature must be set to 1 for this model",
        "temperature is not a supported parameter for this model",
    ],
)
def test_a_refusal_of_a_value_that_nobody_chose_is_learned(asked, words) -> None:
    with refusing({"temperature": {"error": {"message": words}}}) as server:
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
        {"error": {"message": "max_tokens is too large: 1024."}},
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


CLAUDE = {
    "type": "error",
    "error": {
        "type": "invalid_request_error",
        "message": "`temperature` is deprecated for this model.",
    },
}
"""As models of 2026 refuse the temperature that was always taken."""
GOOGLE = {
    "error": {
        "code": 400,
        "message": 'Invalid JSON payload received. Unknown name "temperature" at'
        " 'generation_config': Cannot find field.",
        "status": "INVALID_ARGUMENT",
    }
}
SAID = {
    "anthropic": {"content": [{"type": "text", "text": "B"}], "stop_reason": "end_turn"},
    "gemini": {"candidates": [{"content": {"parts": [{"text": "B"}]}, "finishReason": "STOP"}]},
}


def refusing_temperature(kind: str) -> wire.Server:
    """A server of either provider's own protocol that takes no temperature."""

    def behave(number: int, body: dict[str, Any]) -> wire.Behaviour:
        if "temperature" in body.get("generationConfig", body):
            error = CLAUDE if kind == "anthropic" else GOOGLE
            return wire.raw(json.dumps(error).encode(), code=400)
        return wire.raw(json.dumps(SAID[kind]).encode())

    return wire.Server(behave)


@pytest.mark.parametrize("kind", SAID)
def test_other_protocols_learn_as_well(asked, kind) -> None:
    with refusing_temperature(kind) as server:
        spec = f"{kind}:some-model@http://127.0.0.1:{server.port}"
        told, book = asked(spec, [question(n) for n in range(3)], limits=ONE)
    assert [(reply.state, reply.text, reply.sampled) for reply in book.values()] == [
        ("answered", "B", True)
    ] * 3
    assert len(server.bodies) == 1 + 3, "learned once, then sent right"
    assert [note for note in told.notices if "does not take temperature" in note]


@pytest.mark.parametrize("kind", SAID)
def test_other_protocols_never_change_what_the_user_asked_for(asked, kind) -> None:
    with refusing_temperature(kind) as server:
        spec = f"{kind}:some-model@http://127.0.0.1:{server.port}?temperature=0.5"
        _, book = asked(spec, [question(1)], limits=ONE)
    (reply,) = book.values()
    assert reply.state == "failed"
    assert "leave temperature out of --model" in reply.error
    assert len(server.bodies) == 1


SYSTEM_REFUSALS = {
    "o1-mini": OPENAI["temperature"]["error"]
    | {
        "message": "Unsupported value: 'messages[0].role' does not support 'system' with this model."
    },
    "gemma": {"message": "System role not supported"},
    "mistral": {"message": "Conversation roles must alternate user/assistant/user/assistant/..."},
}


@pytest.mark.parametrize("name", SYSTEM_REFUSALS)
def test_a_server_without_a_system_role_reads_the_rules_first(asked, name) -> None:
    def behave(number: int, body: dict[str, Any]) -> wire.Behaviour:
        has_rules = any(message["role"] == "system" for message in body["messages"])
        return wire.status(400, SYSTEM_REFUSALS[name]) if has_rules else wire.good

    def ruled(number: int) -> Request:
        plain = question(number)
        rules = Message("system", ("be brief",))
        return msgspec.structs.replace(plain, messages=(rules, *plain.messages))

    with wire.Server(behave) as server:
        told, book = asked(server.spec, [ruled(n) for n in range(3)], limits=ONE)
    assert [reply.state for reply in book.values()] == ["answered"] * 3
    assert len(server.bodies) == 1 + 3
    (message,) = server.bodies[-1]["messages"]
    assert message["role"] == "user"
    assert wire.words_of(server.bodies[-1]).startswith("be brief")
    assert "system role" in " ".join(told.notices)
