"""Requests for tests, a book of replies, and limits under which nothing waits long."""

from __future__ import annotations

from typing import Any

import pytest

from situs.clients import Image, Limits, Message, Reach, Reply, Request

QUICK = Limits(
    concurrency=4,
    tries=4,
    first_wait=0.01,
    longest_wait=0.05,
    patience=0.3,
    first_patience=0.1,
    longest_pause=5,
    grace=1,
)
TIMEOUTS = Reach(total=120, stall=60, connect=60)
"""So long that no good reply is given up on a busy machine."""
SHORT = Reach(total=1.5, stall=0.8, connect=60)
"""For servers that say nothing."""


def wait_little(patch: pytest.MonkeyPatch) -> None:
    """The program waits hundredths of a second for a
    server that is down and between tries, not seconds."""
    patch.setattr(
        "situs.clients.asking.options.Limits",
        lambda **more: Limits(**more, first_wait=0.01, first_patience=0.1),
    )


def picture(number: int, size: int = 64) -> Image:
    """Bytes that stand for a picture."""
    return Image(bytes([number % 256]) * 300, "image/png", f"digest{number}", size, size)


def question(number: int, pictures: int = 0, **more: Any) -> Request:
    """A request whose words are its number."""
    parts = (*(picture(n) for n in range(pictures)), f"question {number}")
    return Request(f"key{number}", (Message("user", parts),), **more)


class Book(dict[str, Reply]):
    """What was recorded, refusing a second word on one request."""

    def __init__(self) -> None:
        super().__init__()
        self.order: list[str] = []

    def record(self, request: Request, reply: Reply, seconds: float) -> None:
        """As `ask` wants it."""
        assert request.key not in self
        assert seconds >= 0
        self[request.key] = reply
        self.order.append(request.key)
