"""How long a reply may be at most, learned from a server's own words.

Two limits are told apart. One is the model's: it holds for every request. The other is what a
request leaves free in the context; it differs from one to the next.
"""

from __future__ import annotations

import re
from collections.abc import Collection

import msgspec

from situs.clients.protocol import Settings

__all__ = ["OutputLimit"]

_STATUSES = (400, 413, 422)
_READ = 4096
"""Bytes of an error that are read."""
_FEWEST = 64
"""Tokens below which no useful answer fits: such a request is not sent again."""
_NAMES = ("max_tokens", "max_completion_tokens")
_ABOUT_OUTPUT = re.compile(
    r"max\w{0,10}[_ -]?(?:\w{2,12}[_ ])?tokens|completion|maximum tokens|output tokens"
    r"|the output\b",
    re.IGNORECASE,
)
_NUMBER = r"[`'\"]?(\d{1,3}(?:,\d{3})+|\d{1,9})\b"
_OF_MODEL = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), less)
    for pattern, less in (
        # OpenAI, Azure: "max_tokens is too large: 32768. This model supports at most 16384 …"
        (rf"max_\w{{0,12}}tokens\b.{{0,80}}?\bat most {_NUMBER}(?! (?:image|picture))", 0),
        # As Anthropic says it: "max_tokens: 32768 > 8192, which is the maximum allowed …"
        (rf"max_tokens: \d+ > {_NUMBER}", 0),
        # As Google says it: "the supported range is from 1 (inclusive) to 8193 (exclusive)"
        (rf"range is from 1 \(inclusive\) to {_NUMBER} \(exclusive\)", 1),
        # DashScope, DeepSeek: "the valid range of max_tokens is [1, 8192]"
        (rf"range.{{0,40}}\[1, ?{_NUMBER}\]", 0),
        # Groq, Cohere: "must be less than or equal to `8192`"
        (rf"tokens\W{{0,3}} must be less than or equal to {_NUMBER}", 0),
        # OpenAI since 2025: "Expected a value <= 16384, but got 32768 instead"
        (rf"max_\w{{0,12}}tokens\b.{{0,80}}?\bvalue <= {_NUMBER}", 0),
        # Servers built on pydantic (NIM, Perplexity): "Input should be less than or equal to 8192"
        (rf"max_\w{{0,12}}tokens\b.{{0,80}}?should be less than or equal to {_NUMBER}", 0),
        # As Bedrock says it: "The maximum tokens you requested exceeds the model limit of 4096"
        (rf"maximum tokens you requested exceeds the model limit of {_NUMBER}", 0),
    )
)
"""What servers say of their model, and how much less than the number they name is allowed."""
_OF_REQUEST = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        # vLLM
        rf"maximum context length is (?P<all>{_NUMBER}) tokens and your request has"
        rf" (?P<used>{_NUMBER}) input tokens",
        # OpenAI, SGLang, vLLM of 2024
        rf"maximum context length is (?P<all>{_NUMBER}) tokens.{{0,80}}?\((?P<used>{_NUMBER}) in"
        r" the (?:messages|prompt|input)",
        # vLLM since 2026
        rf"maximum context length is (?P<all>{_NUMBER}) tokens.{{0,80}}?your prompt contains"
        rf" (?P<used>{_NUMBER}) input tokens",
        # SGLang, OpenRouter
        rf"maximum context length (?:is|of) (?P<all>{_NUMBER}) tokens.{{0,80}}?[:(] ?"
        rf"(?P<used>{_NUMBER}) (?:tokens from the input|of text input)",
        # As Anthropic says it: "exceed context limit: 188240 + 21333 > 200000"
        rf"context limit: (?P<used>{_NUMBER}) \+ \d+ > (?P<all>{_NUMBER})",
        # Text Generation Inference
        rf"must be <= (?P<all>{_NUMBER})\. Given: (?P<used>{_NUMBER}) .inputs. tokens",
    )
)
"""What servers say of one request: the size of the context, and what the question takes of it."""
_OF_SUM = re.compile(
    rf"current length is (?P<sum>{_NUMBER}) while (?:the )?limit is (?P<all>{_NUMBER})",
    re.IGNORECASE,
)
"""Cerebras: question and longest reply together."""
_NOT_COUNTED = re.compile(r"requested .{1,40}your prompt contains at least \d", re.IGNORECASE)
"""vLLM since 2026, of a question that it did not count to its end: half the reply may fit."""


class OutputLimit:
    """The longest reply that one server gives; what the user asked for is never changed."""

    def __init__(self, asked_for: Collection[str]) -> None:
        self._may_lower = not set(_NAMES) & set(asked_for)
        self._of_model: int | None = None
        self._lowered: tuple[Settings, Settings] | None = None

    def applied(self, settings: Settings) -> Settings:
        """The settings within the model's limit; always the same object for the same settings."""
        if self._of_model is None or settings.max_tokens <= self._of_model:
            return settings
        if self._lowered is None or self._lowered[0] is not settings:
            self._lowered = settings, _with_tokens(settings, self._of_model)
        return self._lowered[1]

    def learn(
        self, status: int, body: bytes, settings: Settings, notices: list[str]
    ) -> Settings | None:
        """The settings to send a refused request with again; None if nothing is to be learned."""
        if not self._may_lower or status not in _STATUSES:
            return None
        text = body[:_READ].decode("utf-8", "replace")
        if not _ABOUT_OUTPUT.search(text):
            return None
        asked = settings.max_tokens
        most = _stated_of_model(text)
        if most is not None and _FEWEST <= most < asked:
            if self._of_model is None or most < self._of_model:
                self._of_model = most
                notices.append(
                    f"the server gives at most {most:,} tokens an answer: max_tokens was lowered"
                    f" from {asked:,}"
                )
            return self.applied(settings)
        left = _stated_of_request(text, asked)
        if left is not None and _FEWEST <= left < asked:
            note = "max_tokens was lowered for requests that leave less room in the context"
            if note not in notices:
                notices.append(note)
            return _with_tokens(settings, left)
        return None


def _with_tokens(settings: Settings, most: int) -> Settings:
    return msgspec.structs.replace(settings, max_tokens=most)


def _stated_of_model(text: str) -> int | None:
    for pattern, less in _OF_MODEL:
        stated = pattern.search(text)
        if stated:
            return _whole(stated[1]) - less
    return None


def _stated_of_request(text: str, asked: int) -> int | None:
    for pattern in _OF_REQUEST:
        stated = pattern.search(text)
        if stated:
            return _whole(stated["all"]) - _whole(stated["used"])
    if stated := _OF_SUM.search(text):
        return asked - (_whole(stated["sum"]) - _whole(stated["all"]))
    return asked // 2 if _NOT_COUNTED.search(text) else None


def _whole(text: str) -> int:
    return int(text.strip("`'\"").replace(",", ""))
