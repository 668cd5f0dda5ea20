"""What passes between Situs and a model: a request of messages and images, and a reply."""

from __future__ import annotations

from typing import Any, Literal, Protocol

import msgspec

from situs.profiles import Image, VolumeInput

__all__ = ["Client", "Image", "Message", "Part", "Reply", "Request", "Settings", "ToolCall", "VolumeInput"]


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


class ToolCall(msgspec.Struct, frozen=True):
    """A tool the model wants to use, its arguments as JSON text (untrusted)."""

    id: str
    name: str
    arguments: str


class Settings(msgspec.Struct, frozen=True):
    """How to generate. Greedy by default; all of it is recorded in a run."""

    temperature: float = 0.0
    max_tokens: int = 1024
    top_p: float | None = None
    seed: int | None = None
    extra: dict[str, Any] = {}
    """Further fields of the request body, as the server names them."""


class Request(msgspec.Struct, frozen=True):
    """One question to a model. `key` is the caller's name for it; it is never sent."""

    key: str
    messages: tuple[Message, ...]
    settings: Settings = Settings()
    schema: dict[str, Any] | None = None
    """A JSON schema the reply should follow, where the server can enforce one."""
    tools: tuple[dict[str, Any], ...] = ()
    """Tools in the form of the chat-completions interface."""


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
    """Asking again cannot help (wrong key, unknown model, malformed request)."""


class Client(Protocol):
    """A model behind a wire or in memory. It receives requests, never items."""

    name: str
    """What a run records; no key, no secret."""
    remote: bool
    """Whether a request leaves this machine (anything but loopback)."""

    async def answer(self, request: Request) -> Reply:
        """One reply; transport trouble comes back as `failed`, not as an exception."""

    async def close(self) -> None:
        """Free what the client holds."""
