"""The body of a chat-completions request, put together from pieces that are encoded once."""

from __future__ import annotations

from typing import Any

import msgspec

from situs.clients.protocol import Image, Message, Request, Settings
from situs.clients.wire.learned import Lesson
from situs.clients.wire.pictures import EncodedPictures

__all__ = ["BodyWriter"]


class BodyWriter:
    """Writes bodies for one model."""

    def __init__(self, model: str) -> None:
        self._head = b'{"model":' + msgspec.json.encode(model) + b',"messages":['
        self._pictures = EncodedPictures(
            b'{"type":"image_url","image_url":{"url":"data:', b";base64,", b'"}}'
        )
        self._tail: tuple[Settings, bytes] | None = None
        self._lessons: dict[str, Lesson] = {}
        self._system_role = True
        self._streams: dict[str, Any] = {}

    def learn(self, lesson: Lesson) -> None:
        """Send a field under another name from now on, or no longer."""
        self._lessons[lesson.field] = lesson
        self._tail = None

    def put_system_into_user(self) -> None:
        """Send instructions at the head of the first question from now on."""
        self._system_role = False

    def stream(self) -> None:
        """Ask for a stream of events from now on, with the counts of tokens at its end."""
        self._streams = {"stream": True, "stream_options": {"include_usage": True}}
        self._tail = None

    def fields(self, settings: Settings) -> dict[str, Any]:
        """The fields of a body that say how to generate."""
        usual: dict[str, Any] = {
            "temperature": settings.temperature,
            "max_tokens": None
            if "max_completion_tokens" in settings.extra
            else settings.max_tokens,
            "top_p": settings.top_p,
            "seed": settings.seed,
        }
        wanted = {name: value for name, value in usual.items() if value is not None}
        fields = dict(self._streams)
        for name, value in (wanted | settings.extra).items():
            lesson = self._lessons.get(name)
            if lesson is None:
                fields[name] = value
            elif lesson.instead:
                fields[lesson.instead] = value
        return fields

    def samples(self, settings: Settings) -> bool:
        """Whether the server, by what it refuses, draws at random where it was not asked to."""
        sent = self.fields(settings)
        return settings.repeatable and "temperature" not in sent and "seed" not in sent

    def pieces(self, request: Request, *, schema: bool) -> list[bytes]:
        """The body in pieces that need only be sent one after the other."""
        pieces = [self._head]
        messages = request.messages if self._system_role else system_into_user(request.messages)
        for number, message in enumerate(messages):
            if number:
                pieces.append(b",")
            self._add_message(pieces, message)
        pieces.append(b"]" + self._settings(request.settings) + _options(request, schema) + b"}")
        return pieces

    def _add_message(self, pieces: list[bytes], message: Message) -> None:
        pictures = any(isinstance(part, Image) for part in message.parts)
        if not pictures:
            pieces.append(msgspec.json.encode(_plain(message)))
            return
        pieces.append(b'{"role":' + msgspec.json.encode(message.role) + b',"content":[')
        first = True
        for part in message.parts:
            if isinstance(part, Image):
                encoded = self._pictures.json(part)
            elif isinstance(part, str):
                encoded = msgspec.json.encode({"type": "text", "text": part})
            else:
                continue
            if not first:
                pieces.append(b",")
            pieces.append(encoded)
            first = False
        pieces.append(b"]}")

    def _settings(self, settings: Settings) -> bytes:
        if self._tail is None or self._tail[0] is not settings:
            fields = self.fields(settings)
            self._tail = settings, b"," + msgspec.json.encode(fields)[1:-1] if fields else b""
        return self._tail[1]


def system_into_user(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The same conversation without a system role: its words open the first turn of the user."""
    rules = tuple(part for m in messages if m.role == "system" for part in m.parts)
    turns = [message for message in messages if message.role != "system"]
    if not rules:
        return messages
    if not turns or turns[0].role != "user":
        return (Message("user", rules), *turns)
    first = msgspec.structs.replace(turns[0], parts=(*rules, *turns[0].parts))
    return (first, *turns[1:])


def _options(request: Request, schema: bool) -> bytes:
    fields: dict[str, Any] = {}
    if request.schema is not None and schema:
        named = {"name": "answer", "schema": request.schema, "strict": True}
        fields["response_format"] = {"type": "json_schema", "json_schema": named}
    if request.tools:
        fields["tools"] = request.tools
    return b"," + msgspec.json.encode(fields)[1:-1] if fields else b""


def _plain(message: Message) -> dict[str, Any]:
    fields: dict[str, Any] = {"role": message.role, "content": message.text()}
    if message.tool_calls:
        fields["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id:
        fields["tool_call_id"] = message.tool_call_id
    return fields
