"""Servers that give shorter answers than they are asked for:
the limit they name is kept from then on, and recorded."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

import wire
from asking import QUICK, question
from situs.clients import Settings

ONE = msgspec.structs.replace(QUICK, concurrency=1)
ASKED = Settings().max_tokens
SAID = {
    "openai": {"choices": [{"message": {"content": "B"}, "finish_reason": "stop"}]},
    "anthropic": {"content": [{"type": "text", "text": "B"}], "stop_reason": "end_turn"},
    "gemini": {"candidates": [{"content": {"parts": [{"text": "B"}]}, "finishReason": "STOP"}]},
}

OF_MODEL = {
    # How each service words it, with 512 in place of its own limit.
    "openai": (
        "openai",
        f"max_tokens is too large: {ASKED}. This model supports at most 512 completion tokens,"
        f" whereas you provided {ASKED}.",
    ),
    "anthropic": (
        "anthropic",
        f"max_tokens: {ASKED} > 512, which is the maximum allowed number of output tokens for m",
    ),
    "gemini": (
        "gemini",
        f"Unable to submit request because it has a maxOutputTokens value of {ASKED} but the"
        " supported range is from 1 (inclusive) to 513 (exclusive). Update the value.",
    ),
    "groq": ("openai", "`max_completion_tokens` must be less than or equal to `512`, the maximum"),
    "dashscope": ("openai", "Range of max_tokens should be [1, 512]"),
    "deepseek": ("openai", "Invalid max_tokens value, the valid range of max_tokens is [1, 512]"),
    "openai of 2025": (
        "openai",
        "Invalid 'max_tokens': integer above maximum value. Expected a value <= 512, but got"
        f" {ASKED} instead.",
    ),
    "perplexity": (
        "openai",
        '["At body -> max_tokens: Input should be less than or equal to 512"]',
    ),
    "bedrock": (
        "openai",
        "The maximum tokens you requested exceeds the model limit of 512. Try again with a maximum"
        " tokens value that is lower than 512.",
    ),
}
OF_REQUEST = {
    "vllm": (
        f"'max_tokens' or 'max_completion_tokens' is too large: {ASKED}. This model's maximum"
        " context length is 4096 tokens and your request has 3584 input tokens"
        f" ({ASKED} > 4096 - 3584)."
    ),
    "vllm of 2024": (
        "This model's maximum context length is 4096 tokens. However, you requested 4608 tokens"
        " (3584 in the messages, 1024 in the completion). Please reduce the length."
    ),
    "vllm of 2026": (
        f"This model's maximum context length is 4096 tokens. However, you requested {ASKED} output"
        " tokens and your prompt contains 3584 input tokens, for a total of 4608 tokens."
    ),
    "vllm of 2026, that counted no further": (
        f"This model's maximum context length is 4096 tokens. However, you requested {ASKED} output"
        " tokens and your prompt contains at least 3073 input tokens, for a total of at least 4097"
        " tokens."
    ),
    "sglang": (
        "Requested token count exceeds the model's maximum context length of 4096 tokens. You"
        " requested a total of 4608 tokens: 3584 tokens from the input messages and 1024 tokens for"
        " the completion."
    ),
    "openrouter": (
        "This endpoint's maximum context length is 4096 tokens. However, you requested about 4608"
        " tokens (3584 of text input, 1024 in the output). Please reduce the length of either one"
    ),
    "cerebras": (
        "Please reduce the length of the messages or completion. Current length is 4608 while limit"
        " is 4096"
    ),
    "gateway of anthropic": (
        "input length and `max_tokens` exceed context limit: 3584 + 1024 > 4096, decrease either"
    ),
    "tgi": (
        "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 3584 `inputs` tokens and 1024"
        " `max_new_tokens`"
    ),
}


def tokens_of(body: dict[str, Any]) -> int:
    """The longest reply that a request allows, by the protocol's own name."""
    generation = body.get("generationConfig", {})
    return int(body.get("max_tokens") or generation["maxOutputTokens"])


def limited(kind: str, message: str, limit: int = 512) -> wire.Server:
    """A server that refuses longer answers, in these words."""

    def behave(number: int, body: dict[str, Any]) -> wire.Behaviour:
        if tokens_of(body) > limit:
            return wire.raw(json.dumps({"error": {"message": message}}).encode(), code=400)
        return wire.raw(json.dumps(SAID[kind]).encode())

    return wire.Server(behave)


def spec_of(kind: str, server: wire.Server) -> str:
    return server.spec if kind == "openai" else f"{kind}:m@http://127.0.0.1:{server.port}"


@pytest.mark.parametrize("name", OF_MODEL)
def test_a_model_that_gives_shorter_answers_is_asked_for_those(asked: Any, name: str) -> None:
    kind, message = OF_MODEL[name]
    with limited(kind, message) as server:
        told, book = asked(spec_of(kind, server), [question(n) for n in range(3)], limits=ONE)
    assert [(reply.state, reply.text) for reply in book.values()] == [("answered", "B")] * 3
    assert [tokens_of(body) for body in server.bodies] == [ASKED, 512, 512, 512]
    assert [note for note in told.notices if "at most 512 tokens an answer" in note]


@pytest.mark.parametrize("name", OF_REQUEST)
def test_a_long_question_gets_the_room_that_is_left(asked: Any, name: str) -> None:
    """4096 − 3584 = 512; what one question leaves says nothing of the next."""
    with limited("openai", OF_REQUEST[name]) as server:
        told, book = asked(server.spec, [question(n) for n in range(2)], limits=ONE)
    assert [reply.state for reply in book.values()] == ["answered"] * 2
    assert [tokens_of(body) for body in server.bodies] == [ASKED, 512, ASKED, 512]
    assert len([note for note in told.notices if "room in the context" in note]) == 1


def test_a_length_that_the_user_asked_for_is_kept(asked: Any) -> None:
    with limited("openai", OF_MODEL["openai"][1]) as server:
        _, book = asked(f"{server.spec}?max_tokens=900", [question(1)], limits=ONE)
    (reply,) = book.values()
    assert (reply.state, len(server.bodies)) == ("failed", 1)
    assert "allow a shorter answer" in reply.error


@pytest.mark.parametrize("left", [0, 20])
def test_no_request_is_sent_again_where_no_answer_fits(asked: Any, left: int) -> None:
    message = OF_REQUEST["vllm"].replace("3584", str(4096 - left))
    with limited("openai", message, left) as server:
        _, book = asked(server.spec, [question(1)], limits=ONE)
    assert [reply.state for reply in book.values()] == ["failed"]
    assert len(server.bodies) == 1


def test_a_limit_on_pictures_is_none_on_answers(asked: Any) -> None:
    error = "max_tokens is fine. At most 512 image(s) may be provided in one prompt."
    with limited("openai", error, 0) as server:
        _, book = asked(server.spec, [question(1)], limits=ONE)
    assert [reply.state for reply in book.values()] == ["failed"]
    assert len(server.bodies) == 1


def test_a_server_that_does_not_keep_its_word_is_not_asked_for_ever(asked: Any) -> None:
    with limited("openai", OF_MODEL["openai"][1], 100) as server:
        _, book = asked(server.spec, [question(1)], limits=ONE)
    assert [reply.state for reply in book.values()] == ["failed"]
    assert len(server.bodies) == 2
