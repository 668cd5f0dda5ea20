"""Requests and replies of Google's generateContent protocol."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import msgspec

from situs.clients.protocol import Image, Message, Reply, Request, Settings, ToolCall
from situs.clients.wire.errors import words_of_error
from situs.clients.wire.pictures import EncodedPictures
from situs.clients.wire.values import count_of, parsed_arguments

__all__ = ["GeminiDialect"]

_REFUSALS = {"SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "IMAGE_SAFETY", "RECITATION"}
_BROKEN = {"MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "OTHER", "UNEXPECTED_TOOL_CALL"}


class _Call(msgspec.Struct):
    name: str = ""
    args: Any = None
    id: str = ""


class _Part(msgspec.Struct, rename="camel"):
    text: str = ""
    thought: bool = False
    thought_signature: str = ""
    function_call: _Call | None = None


class _Content(msgspec.Struct):
    parts: list[_Part] = []


class _Candidate(msgspec.Struct, rename="camel"):
    content: _Content | None = None
    finish_reason: str | None = None


class _Feedback(msgspec.Struct, rename="camel"):
    block_reason: str | None = None


class _Generated(msgspec.Struct, rename="camel"):
    candidates: list[_Candidate] = []
    prompt_feedback: _Feedback | None = None
    usage_metadata: dict[str, Any] | None = None


_DECODER = msgspec.json.Decoder(_Generated)


class GeminiDialect:
    """How a model is asked."""

    fields: tuple[str, ...] = (
        "response_modalities",
        "safety_settings",
        "stop",
        "thinking_budget",
        "thinking_level",
        "top_k",
    )

    def __init__(self) -> None:
        self._pictures = EncodedPictures(b'{"inlineData":{"mimeType":"', b'","data":"', b'"}}')

    def pieces(self, request: Request) -> list[bytes]:
        """The body."""
        system = "\n".join(m.text() for m in request.messages if m.role == "system")
        turns = [message for message in request.messages if message.role != "system"]
        names = {call.id: call.name for message in turns for call in message.tool_calls}
        contents = [
            b'{"role":"'
            + role
            + b'","parts":['
            + b",".join(part for message in messages for part in self._parts(message, names))
            + b"]}"
            for role, messages in groupby(turns, _role)
        ]
        settings: dict[str, Any] = {"generationConfig": _config(request)}
        if system:
            settings["systemInstruction"] = {"parts": [{"text": system}]}
        if "safety_settings" in request.settings.extra:
            settings["safetySettings"] = request.settings.extra["safety_settings"]
        if request.tools:
            settings["tools"] = [
                {"functionDeclarations": [_declared(tool) for tool in request.tools]}
            ]
        return [b'{"contents":[', b",".join(contents), b"]," + msgspec.json.encode(settings)[1:]]

    def _parts(self, message: Message, names: dict[str, str]) -> list[bytes]:
        if message.role == "tool":
            name = names.get(message.tool_call_id, "")
            result = {"name": name, "response": {"result": message.text()}}
            return [
                msgspec.json.encode({"functionResponse": _with_id(result, message.tool_call_id)})
            ]
        # Parts of blank text are refused, and a model that calls a function often says nothing
        # beside.
        parts = [
            self._part(part)
            for part in message.parts
            if isinstance(part, Image) or (isinstance(part, str) and part.strip())
        ]
        for call in message.tool_calls:
            made = {"name": call.name, "args": parsed_arguments(call.arguments)}
            part: dict[str, Any] = {"functionCall": _with_id(made, call.id)}
            if call.signature:
                part["thoughtSignature"] = call.signature
            parts.append(msgspec.json.encode(part))
        return parts

    def _part(self, part: str | Image) -> bytes:
        return (
            self._pictures.json(part)
            if isinstance(part, Image)
            else msgspec.json.encode({"text": part})
        )

    def samples(self, settings: Settings) -> bool:
        """Never: temperature and seed are sent as they were asked for."""
        return False

    def read(self, content: bytes, secret: str) -> Reply:
        """A generated answer, without the model's thoughts; what is none is `failed`."""
        try:
            generated = _DECODER.decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            generated = None
        if generated is None or b'"error"' in content[:200]:
            server_error = (
                words_of_error(content, secret)[0] if b'"error"' in content[:4096] else ""
            )
            what = server_error or f"{len(content):,} bytes"
            return Reply("failed", error=f"the server's reply is not a generated answer ({what})")
        usage = _usage(generated.usage_metadata or {})
        if not generated.candidates:
            reason = generated.prompt_feedback and generated.prompt_feedback.block_reason
            if reason:
                return Reply("refused", f"blocked: {reason}", usage, "content_filter")
            return Reply("failed", error="the server's reply has no candidates", usage=usage)
        return _reply(generated.candidates[0], usage)


def _role(message: Message) -> bytes:
    return b"model" if message.role == "assistant" else b"user"


def _with_id(fields: dict[str, Any], call_id: str) -> dict[str, Any]:
    """A call or its result with the id the server gave; a call without one goes by its name."""
    return fields if call_id == fields["name"] else fields | {"id": call_id}


def _declared(tool: dict[str, Any]) -> dict[str, Any]:
    """A function whose parameters are JSON schema:
    `parameters` is a smaller language of its own."""
    function = dict(tool.get("function", {}))
    if "parameters" in function:
        function["parametersJsonSchema"] = function.pop("parameters")
    return function


def _reply(candidate: _Candidate, usage: dict[str, float]) -> Reply:
    parts = candidate.content.parts if candidate.content is not None else []
    text = "".join(part.text for part in parts if not part.thought)
    calls = tuple(
        ToolCall(
            call.id or call.name,
            call.name,
            msgspec.json.encode(call.args or {}).decode(),
            part.thought_signature,
        )
        for part in parts
        if (call := part.function_call) is not None
    )
    reason = candidate.finish_reason or ""
    if reason in _REFUSALS:
        return Reply("refused", text, usage, "content_filter")
    if reason in _BROKEN and not text and not calls:
        return Reply("failed", error=f"the server stopped with {reason}", usage=usage)
    known = {"STOP": "stop", "MAX_TOKENS": "length"}
    end = known.get(reason, reason.lower())
    thinking = "".join(part.text for part in parts if part.thought)
    return Reply("answered", text, usage, end, calls, thinking=thinking)


def _config(request: Request) -> dict[str, Any]:
    """Google's names for how to generate."""
    settings: Settings = request.settings
    extra = settings.extra
    thinking = {
        "thinkingBudget": extra.get("thinking_budget"),
        "thinkingLevel": extra.get("thinking_level"),
    }
    stop = extra.get("stop")
    fields: dict[str, Any] = {
        "temperature": settings.temperature,
        "maxOutputTokens": settings.max_tokens,
        "topP": settings.top_p,
        "topK": extra.get("top_k"),
        "seed": settings.seed,
        "stopSequences": [stop] if isinstance(stop, str) else stop,
        "responseModalities": extra.get("response_modalities"),
        "thinkingConfig": {k: v for k, v in thinking.items() if v is not None} or None,
    }
    if request.schema is not None:
        fields |= {"responseMimeType": "application/json", "responseJsonSchema": request.schema}
    return {name: value for name, value in fields.items() if value is not None}


def _usage(counts: dict[str, Any]) -> dict[str, float]:
    """Counted as others count: thoughts are paid as output."""

    thoughts = count_of(counts, "thoughtsTokenCount")
    result = {
        "prompt_tokens": count_of(counts, "promptTokenCount"),
        "completion_tokens": count_of(counts, "candidatesTokenCount") + thoughts,
    }
    details = {
        "prompt_tokens.cached_tokens": count_of(counts, "cachedContentTokenCount"),
        "completion_tokens.reasoning_tokens": thoughts,
    }
    return result | {name: value for name, value in details.items() if value}
