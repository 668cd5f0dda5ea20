"""A request as the chat a transformers processor reads:
text with a place for every picture, and the pictures."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import msgspec

from situs.base.files import canonical_json, digest
from situs.clients.protocol import Image, Request, VolumeInput

__all__ = ["Chat", "Unaskable", "chat_of", "decoded", "seed_of"]

_MAX_PIXELS = 64_000_000


class Unaskable(Exception):
    """Why this client cannot ask a request; asking again would not help."""


class Chat(msgspec.Struct, frozen=True):
    """One conversation, pictures apart."""

    messages: list[dict[str, Any]]
    images: list[Any]
    """PIL pictures, in the order of their places."""


def chat_of(request: Request, decode: Callable[[Image], Any] | None = None) -> Chat:
    """The conversation of a request; `decode` makes a picture of its bytes."""
    decode = decode or decoded
    if request.tools:
        raise Unaskable("hf: has no tools; serve the model and ask it through openai:")
    messages: list[dict[str, Any]] = []
    images: list[Any] = []
    for message in request.messages:
        if message.role == "tool" or message.tool_calls:
            raise Unaskable("hf: has no tools; serve the model and ask it through openai:")
        content: list[dict[str, Any]] = []
        for part in message.parts:
            if isinstance(part, str):
                content.append({"type": "text", "text": part})
            elif isinstance(part, Image):
                images.append(decode(part))
                content.append({"type": "image"})
            elif isinstance(part, VolumeInput):
                raise Unaskable(
                    "hf: takes pictures, not a volume; wrap a 3D model as plugin:module:object"
                )
            else:
                raise Unaskable(f"hf: cannot send a {type(part).__name__}")
        messages.append({"role": message.role, "content": content})
    return Chat(messages, images)


def decoded(image: Image) -> Any:
    """A picture as the processor takes it."""
    from PIL import Image as Pictures

    try:
        picture = Pictures.open(io.BytesIO(image.data), formats=("PNG", "JPEG"))
        if picture.width * picture.height > _MAX_PIXELS:
            raise Unaskable(f"an image of {picture.width} × {picture.height} pixels is too large")
        return picture.convert("RGB")
    except (OSError, SyntaxError, ValueError) as error:
        raise Unaskable(f"an image cannot be decoded ({error})") from error


def seed_of(request: Request) -> int:
    """The seed of one sampled answer:
    of the settings' seed and the request, not of the order of asking."""
    parts = [
        part.digest if isinstance(part, Image) else str(part)
        for message in request.messages
        for part in message.parts
    ]
    return int(digest(canonical_json([request.settings.seed or 0, parts]), size=8), 16) >> 1
