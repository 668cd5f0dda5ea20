"""Requests and replies of Anthropic's Messages protocol."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import msgspec

from situs.clients.protocol import Image, Message, Reply, Request, Settings, ToolCall
from situs.clients.wire.errors import words_of_error
from situs.clients.wire.pictures import EncodedPictures
from situs.clients.wire.values import count_of, parsed_arguments

__all__ = ["AnthropicDialect"]

_CACHED = b',"cache_control":{"type":"ephemeral"}}'
"""Ends a block up to which the server keeps what it has read:
the pictures, which many questions share."""


class _Block(msgspec.Struct):
    type: str
    text: str = ""
    thinking: str = ""
    signature: str = ""
    data: str = ""
    """Of thoughts that are handed over sealed."""
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
        """The body. Of the first and the last message with pictures the last one is marked as worth
        keeping.

        Up to the first, questions on one scan are alike; up to the last, the turns of a session.
        """
        system = "\n".join(m.text() for m in request.messages if m.role == "system")
        turns = [message for message in request.messages if message.role != "system"]
        marked = [m for m in turns if any(isinstance(p, Image) for p in m.parts)]
        ends = {id(marked[0]), id(marked[-1])} if marked else set()
        pieces = [b'{"model":', msgspec.json.encode(self._model), b',"messages":[']
        # Some gateways insist that roles alternate; a tool's result and the picture after it are
        # one turn.
        for number, (role, messages) in enumerate(groupby(turns, _role)):
            blocks = [b for m in messages for b in self._blocks(m, keep=id(m) in ends)]
            pieces += [b"," * bool(number) + b'{"role":"' + role + b'","content":[']
            pieces += [b",".join(blocks), b"]}"]
        settings = _settings(request.settings)
        if system:
            settings["system"] = system
        if request.tools:
            settings["tools"] = [_tool(tool) for tool in request.tools]
        return [*pieces, b"]," + msgspec.json.encode(settings)[1:]]

    def samples(self, settings: Settings) -> bool:
        """Thinking goes with the server's own temperature, and there is no seed."""
        return _thinks(settings)

    def _blocks(self, message: Message, *, keep: bool) -> list[bytes]:
        # Blocks of blank text are refused, and a model that calls a tool often says nothing beside.
        parts = [
            part
            for part in message.parts
            if isinstance(part, Image) or (isinstance(part, str) and part.strip())
        ]
        blocks = [self._block(part) for part in parts]
        if keep:
            last = max(n for n, part in enumerate(parts) if isinstance(part, Image))
            blocks[last] = blocks[last][:-1] + _CACHED
        if message.role == "tool":
            content = b'{"type":"tool_result","tool_use_id":' + msgspec.json.encode(
                message.tool_call_id
            )
            blocks = [content + b',"content":[' + b",".join(blocks) + b"]}"]
        for call in message.tool_calls:
            if call.signature:
                blocks.insert(0, call.signature.encode())
            use = {"type": "tool_use", "id": call.id, "name": call.name}
            blocks.append(msgspec.json.encode(use | {"input": parsed_arguments(call.arguments)}))
        return blocks

    def _block(self, part: str | Image) -> bytes:
        if isinstance(part, Image):
            return self._pictures.json(part)
        return msgspec.json.encode({"type": "text", "text": part})

    def read(self, content: bytes, secret: str) -> Reply:
        """A message; thinking is not part of the answer, and what is no message is `failed`."""
        try:
            message = _DECODER.decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            server_error = (
                words_of_error(content, secret)[0] if b'"error"' in content[:4096] else ""
            )
            what = server_error or f"{len(content):,} bytes"
            return Reply("failed", error=f"the server's reply is not a message ({what})")
        text = "".join(block.text for block in message.content if block.type == "text")
        calls = _calls(message.content)
        usage = _usage(message.usage or {})
        thinking = "".join(block.thinking for block in message.content if block.type == "thinking")
        match message.stop_reason:
            case "refusal":
                return Reply("refused", text, usage, "content_filter")
            case "max_tokens" | "model_context_window_exceeded":
                return Reply("answered", text, usage, "length", calls, thinking=thinking)
            case reason:
                return Reply("answered", text, usage, reason or "", calls, thinking=thinking)


def _role(message: Message) -> bytes:
    return b"assistant" if message.role == "assistant" else b"user"


def _calls(content: list[_Block]) -> tuple[ToolCall, ...]:
    """The tools to use. The first call carries the signed thoughts,
    without which a next turn is refused."""
    sealed = [
        {"type": block.type, "thinking": block.thinking, "signature": block.signature}
        if block.type == "thinking"
        else {"type": block.type, "data": block.data}
        for block in content
        if (block.type == "thinking" and block.signature) or block.type == "redacted_thinking"
    ]
    used = [block for block in content if block.type == "tool_use"]
    return tuple(
        ToolCall(
            block.id,
            block.name,
            msgspec.json.encode(block.input).decode(),
            "" if number else msgspec.json.encode(sealed).decode()[1:-1],
        )
        for number, block in enumerate(used)
    )


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
    """Counted as others count:
    what was read from or written to the server's cache is part of the prompt."""

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
