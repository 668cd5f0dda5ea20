"""Money and tokens: what was spent, what calls in flight may still spend, and what is left."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import msgspec

from situs.clients.asking.limits import Limits
from situs.clients.asking.prices import Price
from situs.clients.protocol import Request

__all__ = ["Budget", "Spent"]

_CHARACTERS_PER_TOKEN = 2.5
_TOKENS_PER_IMAGE = 1600
"""A first guess on the safe side; the largest prompt seen takes its place."""


class Spent(msgspec.Struct, frozen=True):
    """Tokens so far."""

    prompt_tokens: float = 0
    completion_tokens: float = 0
    cached_tokens: float = 0
    """Prompt tokens that a server had in its cache."""
    cache_written_tokens: float = 0
    """Prompt tokens that it put there."""
    charged: float = 0
    """Dollars, by the word of a server that says what a call cost (OpenRouter)."""

    def plus(self, usage: Mapping[str, float]) -> Spent:
        """With one more call."""
        return Spent(
            self.prompt_tokens + usage.get("prompt_tokens", 0),
            self.completion_tokens + usage.get("completion_tokens", 0),
            self.cached_tokens + usage.get("prompt_tokens.cached_tokens", 0),
            self.cache_written_tokens + usage.get("prompt_tokens.cache_written_tokens", 0),
            self.charged + usage.get("cost", 0),
        )

    @property
    def tokens(self) -> float:
        """Prompts and answers together."""
        return self.prompt_tokens + self.completion_tokens

    def cost(self, price: Price | None) -> float | None:
        """Dollars; None if the price is not known and the server did not say."""
        if price is None:
            return self.charged or None
        cached, written = self.cached_tokens, self.cache_written_tokens
        return price.of(self.prompt_tokens, self.completion_tokens, cached, written)


class Budget:
    """Lets a call out only if, together with those in flight, it cannot exceed what is allowed."""

    def __init__(self, limits: Limits, price: Price | None, spent: Spent) -> None:
        self._limits = limits
        self._price = price
        self._spent = spent
        self._per_character = 1.0 / _CHARACTERS_PER_TOKEN
        self._largest: float = 0
        self._reserved: list[float] = [0.0, 0.0]
        self._in_flight = 0
        self._ended = asyncio.Event()
        self.reckons = bool(
            limits.max_cost is not None or limits.max_tokens is not None or limits.tokens_per_minute
        )

    @property
    def spent(self) -> Spent:
        """Tokens so far, earlier sessions included."""
        return self._spent

    @property
    def cost(self) -> float | None:
        """Dollars so far; None if the price is not known and the server did not say."""
        return self._spent.cost(self._price)

    def _cost(self, prompt: float, completion: float) -> float:
        """Dollars for all that was spent and may still be:
        what is in flight may find nothing in a cache."""
        if self._price is None:
            return 0.0
        spent = self._spent
        return self._price.of(prompt, completion, spent.cached_tokens, spent.cache_written_tokens)

    def estimate(self, request: Request) -> tuple[float, float]:
        """Prompt and answer tokens a call may take at most, as far as one can tell."""
        if not self.reckons:
            return 0.0, 0.0
        words = sum(len(message.text()) for message in request.messages) * self._per_character
        guess = (
            words + _TOKENS_PER_IMAGE * len(request.images())
            if not self._largest
            else self._largest
        )
        answer = request.settings.extra.get("max_completion_tokens", request.settings.max_tokens)
        return guess, float(answer) if isinstance(answer, int | float) else float(
            request.settings.max_tokens
        )

    async def reserve(self, estimate: tuple[float, float]) -> str:
        """Wait until the call fits; the reason if it never will."""
        while reason := self.reserve_now(estimate):
            if not self._in_flight:
                return reason
            self._ended.clear()
            await self._ended.wait()
        return ""

    def reserve_now(self, estimate: tuple[float, float]) -> str:
        """Reserve for a call without waiting;
        the reason if it does not fit beside those in flight."""
        if reason := self._over(estimate):
            return reason
        self._in_flight += 1
        self._reserved[0] += estimate[0]
        self._reserved[1] += estimate[1]
        return ""

    def expect(self, prompt_tokens: float) -> None:
        """Take prompts to be at least as long as this one was."""
        self._largest = max(self._largest, prompt_tokens)

    def settle(self, estimate: tuple[float, float], usage: Mapping[str, float]) -> None:
        """A call has ended."""
        self._in_flight -= 1
        self._reserved[0] -= estimate[0]
        self._reserved[1] -= estimate[1]
        self._spent = self._spent.plus(usage)
        self.expect(usage.get("prompt_tokens", 0))
        self._ended.set()

    def _over(self, estimate: tuple[float, float]) -> str:
        limits = self._limits
        prompt = self._spent.prompt_tokens + self._reserved[0] + estimate[0]
        completion = self._spent.completion_tokens + self._reserved[1] + estimate[1]
        if limits.max_tokens is not None and prompt + completion > limits.max_tokens:
            return f"the next call could exceed {limits.max_tokens:,} tokens (--max-tokens-total)"
        if limits.max_cost is not None and self._cost(prompt, completion) > limits.max_cost:
            return f"the next call could exceed ${limits.max_cost:g} (--max-cost)"
        return ""
