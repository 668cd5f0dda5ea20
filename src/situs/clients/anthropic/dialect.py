"""Requests and replies of Anthropic's Messages protocol."""

from __future__ import annotations

from typing import Any

import msgspec
import orjson

from situs.clients.protocol import Image, Message, Reply, Request, Settings, ToolCall
from situs.clients.wire.errors import words_of_error
from situs.clients.wire.pictures import EncodedPictures
from situs.clients.wire.values import count_of, parsed_arguments

__all__ = ["AnthropicDialect"]

_CACHED = b',"cache_control":{"type":"ephemeral"}}'
"""Ends a block up to which the server keeps what it has read: the pictures, which many questions share."""


class _Block(msgspec.Struct):
    type: str
    text: str = ""
    id: str = ""
    name: str = ""
    input: Any = None


class _Message(msgspec.Struct):
    content: list[_Block]
    stop_reason: str | None = None
    usage: dict[str, Any] | None = None


_DECODER = msgspec.json.Decoder(_Message)


class AnthropicDialect:
    """How one model is asked."""

    fields: tuple[str, ...] = (
        "output_config",
        "service_tier",
        "stop_sequences",
        "thinking",
        "top_k",
    )

    def __init__(self, model: str) -> None:
        self._model = model
        self._pictures = EncodedPictures(
            b'{"type":"image","source":{"type":"base64","media_type":"', b'","data":"', b'"}}'
        )

    def pieces(self, request: Request) -> list[bytes]:
        """The body. The last picture of the first message that has any is marked as worth keeping."""
        system = "\n".join(m.text() for m in request.messages if m.role == "system")
        turns = [message for message in request.messages if message.role != "system"]
        marked = next((m for m in turns if any(isinstance(p, Image) for p in m.parts)), None)
        pieces = [b'{"model":', orjson.dumps(self._model), b',"messages":[']
        for number, message in enumerate(turns):
            if number:
                pieces.append(b",")
            pieces += self._turn(message, keep=message is marked)
        rest = _settings(request.settings)
        if system:
            rest["system"] = system
        if request.tools:
            rest["tools"] = [_tool(tool) for tool in request.tools]
        return [*pieces, b"]," + orjson.dumps(rest)[1:]]

    def samples(self, settings: Settings) -> bool:
        """Thinking goes with the server's own temperature, and there is no seed."""
        return _thinks(settings)

    def _turn(self, message: Message, *, keep: bool) -> list[bytes]:
        parts = [part for part in message.parts if isinstance(part, str | Image)]
        blocks = [self._block(part) for part in parts]
        if keep:
            last = max(n for n, part in enumerate(parts) if isinstance(part, Image))
            blocks[last] = blocks[last][:-1] + _CACHED
        if message.role == "tool":
            content = b'{"type":"tool_result","tool_use_id":' + orjson.dumps(message.tool_call_id)
            blocks = [content + b',"content":[' + b",".join(blocks) + b"]}"]
        for call in message.tool_calls:
            use = {"type": "tool_use", "id": call.id, "name": call.name}
            blocks.append(orjson.dumps(use | {"input": parsed_arguments(call.arguments)}))
        role = b'{"role":"assistant"' if message.role == "assistant" else b'{"role":"user"'
        return [role + b',"content":[', b",".join(blocks), b"]}"]

    def _block(self, part: str | Image) -> bytes:
        if isinstance(part, Image):
            return self._pictures.json(part)
        return orjson.dumps({"type": "text", "text": part})

    def read(self, content: bytes, secret: str) -> Reply:
        """A message; thinking is not part of the answer, and what is no message is `failed`."""
        try:
            message = _DECODER.decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            said = words_of_error(content, secret)[0] if b'"error"' in content[:4096] else ""
            what = said or f"{len(content):,} bytes"
            return Reply("failed", error=f"the server's reply is not a message ({what})")
        text = "".join(block.text for block in message.content if block.type == "text")
        calls = tuple(
            ToolCall(block.id, block.name, msgspec.json.encode(block.input).decode())
            for block in message.content
            if block.type == "tool_use"
        )
        usage = _usage(message.usage or {})
        match message.stop_reason:
            case "refusal":
                return Reply("refused", text, usage, "content_filter")
            case "max_tokens" | "model_context_window_exceeded":
                return Reply("answered", text, usage, "length", calls)
            case reason:
                return Reply("answered", text, usage, reason or "", calls)


def _settings(settings: Settings) -> dict[str, Any]:
    """Anthropic's names. There is no seed, and thinking goes with the server's own temperature."""
    fields = {
        "max_tokens": settings.max_tokens,
        "temperature": None if _thinks(settings) else settings.temperature,
        "top_p": settings.top_p,
    }
    return {name: value for name, value in fields.items() if value is not None} | settings.extra


def _thinks(settings: Settings) -> bool:
    thinking = settings.extra.get("thinking")
    return isinstance(thinking, dict) and thinking.get("type") != "disabled"


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    """A tool in the form of chat completions, in Anthropic's."""
    function = tool.get("function", {})
    schema = function.get("parameters", {"type": "object"})
    described = {"name": function.get("name", ""), "input_schema": schema}
    return described | ({"description": d} if (d := function.get("description")) else {})


def _usage(counts: dict[str, Any]) -> dict[str, float]:
    """Counted as others count: what was read from or written to the server's cache is part of the prompt."""

    read, written = (
        count_of(counts, "cache_read_input_tokens"),
        count_of(counts, "cache_creation_input_tokens"),
    )
    result = {
        "prompt_tokens": count_of(counts, "input_tokens") + read + written,
        "completion_tokens": count_of(counts, "output_tokens"),
    }
    cached = {"prompt_tokens.cached_tokens": read, "prompt_tokens.cache_written_tokens": written}
    return result | {name: value for name, value in cached.items() if value}
