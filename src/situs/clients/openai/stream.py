"""Replies that come as a stream of events: some models are served in no other way."""

from __future__ import annotations

import re
from typing import Any

import msgspec

__all__ = ["STREAMS", "refuses_whole_replies", "whole_of"]

STREAMS = "the server answers in streams only; replies are put together from their pieces"
_ONLY_STREAMS = re.compile(
    r"only supports? (?:the )?stream|non-?stream\w* .{0,30}(?:not|n't|un)"
    r"|for non-?streaming calls|\bstream\b.{0,10}must be"
    r"|must (?:set|enable|use|have) .{0,10}stream",
    re.IGNORECASE,
)


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: str | None = None


class _Call(msgspec.Struct):
    function: _Function
    index: int = 0
    id: str | None = None


class _Delta(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct):
    delta: _Delta
    finish_reason: str | None = None


class _Event(msgspec.Struct):
    choices: list[_Choice] = []
    usage: dict[str, Any] | None = None
    error: Any = None


_DECODER = msgspec.json.Decoder(_Event)
_JOINED = ("content", "refusal", "reasoning_content", "reasoning")


def refuses_whole_replies(status: int, body: bytes) -> bool:
    """Whether an error says that the model is only served as a stream (DashScope, gateways)."""
    text = body[:4096].decode("utf-8", "replace")
    return status in (400, 422) and _ONLY_STREAMS.search(text) is not None


def whole_of(body: bytes) -> bytes:
    """A stream's body as that of a whole reply; anything else, and a stream that was cut off, as
    it is."""
    if not body.lstrip().startswith((b"data:", b":")):
        return body
    deltas: list[_Delta] = []
    usage, reason = None, None
    for event in map(_DECODER.decode, _events(body)):
        if event.error is not None:
            return msgspec.json.encode({"error": event.error})
        usage = event.usage or usage
        for choice in event.choices[:1]:
            deltas.append(choice.delta)
            reason = choice.finish_reason or reason
    if reason is None:
        return body
    message: dict[str, Any] = {
        name: "".join(getattr(delta, name) or "" for delta in deltas) or None for name in _JOINED
    }
    message["tool_calls"] = _calls(deltas)
    choices = [{"message": message, "finish_reason": reason}]
    return msgspec.json.encode({"choices": choices, "usage": usage})


def _events(body: bytes) -> list[bytes]:
    told = [line[5:].strip() for line in body.splitlines() if line.startswith(b"data:")]
    return [event for event in told if event and event != b"[DONE]"]


def _calls(deltas: list[_Delta]) -> list[dict[str, Any]]:
    """Every call whole: its name and arguments come in pieces under its index."""
    pieces: dict[int, list[_Call]] = {}
    for delta in deltas:
        for piece in delta.tool_calls or ():
            pieces.setdefault(piece.index, []).append(piece)
    return [
        {
            "id": next((piece.id for piece in parts if piece.id), None),
            "function": {
                "name": "".join(piece.function.name or "" for piece in parts),
                "arguments": "".join(piece.function.arguments or "" for piece in parts),
            },
        }
        for _, parts in sorted(pieces.items())
    ]
