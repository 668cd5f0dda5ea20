"""What passes between Situs and a model: a request of messages and images, and a reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, Protocol

import msgspec

from situs.base.text import whole_characters
from situs.profiles import Image, VolumeInput

__all__ = [
    "BatchTrouble",
    "Client",
    "ClientDefaults",
    "Image",
    "Message",
    "Part",
    "Reply",
    "Request",
    "Settings",
    "ToolCall",
    "VolumeInput",
]


Part = str | Image | VolumeInput
"""A piece of a message: words, a picture or a volume, in the order the model reads them."""


class Message(msgspec.Struct, frozen=True):
    """One turn."""

    role: Literal["system", "user", "assistant", "tool"]
    parts: tuple[Any, ...]
    """Of `Part`."""
    tool_calls: tuple[ToolCall, ...] = ()
    """What an assistant asked for."""
    tool_call_id: str = ""
    """For a tool's answer: which call it answers."""

    def text(self) -> str:
        """The words, without pictures and volumes."""
        return "\n".join(part for part in self.parts if isinstance(part, str))


class ToolCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool the model wants to use, its arguments as JSON text (untrusted)."""

    id: str
    name: str
    arguments: str
    signature: str = ""
    """What its server wants back with it: sealed thoughts, in that server's own form."""

    def __post_init__(self) -> None:
        _make_whole(self, ("id", "name", "arguments", "signature"))


class Settings(msgspec.Struct, frozen=True):
    """How to generate. Greedy by default; all of it is recorded in a run."""

    temperature: float | None = 0.0
    """None leaves it to the server."""
    max_tokens: int = 1024
    top_p: float | None = None
    seed: int | None = None
    extra: dict[str, Any] = {}
    """Further fields of the request body, as the server names them."""

    @property
    def repeatable(self) -> bool:
        """Whether asking again is meant to give the same answer."""
        return self.temperature == 0.0 or self.seed is not None


class Request(msgspec.Struct, frozen=True):
    """One question to a model. `key` is the caller's name for it; it is never sent."""

    key: str
    messages: tuple[Message, ...]
    settings: Settings = Settings()
    schema: dict[str, Any] | None = None
    """A JSON schema the reply should follow, where the server can enforce one."""
    tools: tuple[dict[str, Any], ...] = ()
    """Tools in the form of the chat-completions interface."""

    def images(self) -> tuple[Image, ...]:
        """The pictures, in the order shown."""
        return tuple(
            part for message in self.messages for part in message.parts if isinstance(part, Image)
        )

    def volume(self) -> VolumeInput | None:
        """The volume, if one was handed over."""
        parts = (part for message in self.messages for part in message.parts)
        return next((part for part in parts if isinstance(part, VolumeInput)), None)

    def text(self) -> str:
        """All the words, without pictures and volumes."""
        return "\n".join(filter(None, (message.text() for message in self.messages)))

    def words_only(self) -> Request:
        """The same request with every picture and volume withheld."""
        messages = tuple(
            msgspec.structs.replace(
                message, parts=tuple(part for part in message.parts if isinstance(part, str))
            )
            for message in self.messages
        )
        return msgspec.structs.replace(self, messages=messages)


class Reply(msgspec.Struct, frozen=True):
    """What came back. `failed` is transport, never an answer."""

    state: Literal["answered", "refused", "failed"]
    text: str = ""
    usage: dict[str, float] = {}
    """`prompt_tokens`, `completion_tokens`, and what else the server counts."""
    finish_reason: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    error: str = ""
    retry_after: float | None = None
    """Seconds the server asked to wait; with `failed` only."""
    fatal: bool = False
    """Asking this again cannot help (wrong key, unknown model, malformed request)."""
    fault: Literal["", "unreachable", "denied"] = ""
    """With `failed`: nobody was there to ask, or whoever is there will answer none of our
    requests."""
    sampled: bool = False
    """The server drew it at random although the request asked for the likeliest reply."""
    cached: bool = False
    """It was answered before; nothing was sent."""
    thinking: str = ""
    """What the model thought aloud, where the server hands it over; never part of the answer."""

    def __post_init__(self) -> None:
        _make_whole(self, ("text", "finish_reason", "error", "thinking"))


def _make_whole(struct: msgspec.Struct, names: Sequence[str]) -> None:
    """Models cut characters in half;
    such text could not be kept, and would end the run that got it."""
    for name in names:
        text = getattr(struct, name)
        if isinstance(text, str) and not text.isascii():
            msgspec.structs.force_setattr(struct, name, whole_characters(text))


class BatchTrouble(Exception):
    """The server did not do what a batch needs;
    `reply` says how, and whether trying again may help."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.error)
        self.reply = reply


class Client(Protocol):
    """A model behind a wire or in memory. It receives requests, never items.

    A client names itself, says whether it is remote, and answers; `ClientDefaults` has the rest.
    """

    name: str
    """What a run records; no key, no secret."""
    remote: bool
    """Whether a request leaves this machine (anything but loopback)."""

    @property
    def settings(self) -> Settings | None:
        """How it generates, if it read its spec itself.

        None: as the spec's general settings say.
        """

    @property
    def cache_key(self) -> str | None:
        """Equal keys give equal answers to equal requests.

        Without one nothing it says is cached.
        """

    @property
    def batch(self) -> int:
        """Requests that it answers in one pass, so that enough are in flight.

        0 if it takes them one by one.
        """

    @property
    def takes_volume(self) -> bool:
        """Whether requests carry the volume beside the pictures."""

    @property
    def versions(self) -> Mapping[str, str]:
        """What a run records of the software behind it."""

    @property
    def notices(self) -> Sequence[str]:
        """What it has learned of its server so far; told to the user and recorded in the run."""

    @property
    def reusable(self) -> bool:
        """Whether another run may go on with it, instead of making it anew."""

    async def answer(self, request: Request) -> Reply:
        """One reply; transport trouble comes back as `failed`, not as an exception."""

    async def close(self) -> None:
        """Free what the client holds."""


class ClientDefaults:
    """What most clients are: each attribute as `Client` documents it."""

    settings: Settings | None = None
    cache_key: str | None = None
    batch: int = 0
    takes_volume: bool = False
    reusable: bool = False
    versions: Mapping[str, str] = MappingProxyType({})
    notices: Sequence[str] = ()
