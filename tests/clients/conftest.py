"""What the tests of clients share: asking in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from asking import QUICK, TIMEOUTS, Book
from situs.clients import Asked, Client, Limits, Reach, Request, Terms, ask, make_client, parse_spec


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sends the user's key."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def asked() -> Callable[..., tuple[Asked, Book]]:
    """Asks a model by its spec, quickly."""

    def run(
        spec: str | Client,
        requests: Iterable[Request],
        limits: Limits = QUICK,
        reach: Reach = TIMEOUTS,
        **more: Any,
    ) -> tuple[Asked, Book]:
        book = Book()
        client = make_client(parse_spec(spec), reach=reach) if isinstance(spec, str) else spec
        agreed = {
            name: more.pop(name) for name in ("allow_remote", "price", "spent") if name in more
        }
        terms = Terms(more.pop("restricted", True), limits=limits, **agreed)
        return ask(client, requests, book.record, terms, **more), book

    return run
