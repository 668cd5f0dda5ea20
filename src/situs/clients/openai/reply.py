"""What a chat-completions server sent back, read with distrust."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from situs.clients.openai.stream import whole_of
from situs.clients.protocol import Reply, ToolCall
from situs.clients.wire.errors import words_of_error
from situs.clients.wire.values import is_count

__all__ = ["read_reply"]


class _Function(msgspec.Struct):
    name: str = ""
    arguments: Any = ""


class _Call(msgspec.Struct):
    function: _Function
    id: str | None = None


class _Message(msgspec.Struct):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None
    reasoning_content: Any = None
    """Thoughts, as DeepSeek, vLLM and SGLang hand them over."""
    reasoning: Any = None
    """Thoughts, as OpenRouter, Ollama and LM Studio do."""


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    usage: dict[str, Any] | None = None


_DECODER = msgspec.json.Decoder(_Completion)


def read_reply(body: bytes, content_type: str, secret: str) -> Reply:
    """A successful response's body; what is not a completion is `failed`."""
    try:
        completion = _DECODER.decode(whole_of(body))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        kind = content_type.partition(";")[0].strip()[:60] or "no type"
        what = "an empty body" if not body.strip() else f"{len(body):,} bytes of {kind}"
        # Some gateways answer 200 with an error in the body.
        server_error = words_of_error(body, secret)[0] if b'"error"' in body[:4096] else ""
        return Reply(
            "failed", error=f"the server's reply is not a chat completion ({server_error or what})"
        )
    if not completion.choices:
        return Reply(
            "failed", error="the server's reply has no choices", usage=_usage(completion.usage)
        )
    choice = completion.choices[0]
    usage, reason = _usage(completion.usage), choice.finish_reason or ""
    text = _text(choice.message.content)
    calls = tuple(
        ToolCall(call.id or "", call.function.name, _arguments(call.function.arguments))
        for call in choice.message.tool_calls or ()
    )
    if reason == "error":
        return Reply("failed", error="the server stopped with an error", usage=usage)
    if reason == "content_filter" or (choice.message.refusal and not text):
        return Reply("refused", text or choice.message.refusal or "", usage, reason)
    return Reply("answered", text, usage, reason, calls, thinking=_thoughts(choice.message))


def _text(content: str | list[dict[str, Any]] | None) -> str:
    if isinstance(content, list):
        return "".join(
            str(part.get("text", "")) for part in content if part.get("type", "text") == "text"
        )
    return content or ""


def _thoughts(message: _Message) -> str:
    """What the model thought, in a field of its own or, as Mistral has it, in parts beside the
    answer."""
    thoughts = message.reasoning_content or message.reasoning
    if isinstance(thoughts, str):
        return thoughts
    parts = message.content if isinstance(message.content, list) else []
    inner = (part.get("thinking") for part in parts if part.get("type") == "thinking")
    return "".join(
        _text([piece for piece in thought if isinstance(piece, dict)])
        if isinstance(thought, list)
        else str(thought or "")
        for thought in inner
    )


def _arguments(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _usage(counts: Mapping[str, Any] | None) -> dict[str, float]:
    """The counts that are numbers; those in `…_details` under their own names."""
    result: dict[str, float] = {}
    for name, value in (counts or {}).items():
        if isinstance(value, dict) and name.endswith("_details"):
            result |= {f"{name[:-8]}.{k}": v for k, v in value.items() if is_count(v) and v}
        elif is_count(value):
            result[name] = value
    return result
