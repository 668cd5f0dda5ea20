"""When the next call may go out:
requests and tokens per minute, and pauses the server asked for."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

from situs.clients.asking.limits import Limits

__all__ = ["Pace", "backoff"]

_BURST_SECONDS = 6.0
"""How much of a minute's tokens may be spent at once."""


def backoff(limits: Limits, attempt: int, asked_for: float | None, rng: random.Random) -> float:
    """Seconds to wait after the given attempt (from 0):
    doubling with jitter, never less than the server asked for."""
    wait = min(limits.longest_wait, limits.first_wait * 2.0**attempt) * rng.uniform(0.5, 1.0)
    return wait if asked_for is None else max(wait, asked_for + rng.uniform(0.0, limits.first_wait))


class Pace:
    """Calls go out evenly; a token debt is waited for."""

    def __init__(self, limits: Limits, sleep: Callable[[float], Awaitable[None]]) -> None:
        self._gap = 60.0 / limits.requests_per_minute if limits.requests_per_minute else 0.0
        self._rate = limits.tokens_per_minute / 60.0 if limits.tokens_per_minute else 0.0
        self._next = 0.0
        self._tokens = self._rate * _BURST_SECONDS
        self._filled: float | None = None
        self._paused_until = 0.0
        self._sleep = sleep
        self._free = not self._gap and not self._rate

    def pause(self, seconds: float) -> None:
        """Let nobody out before the server is ready again."""
        self._paused_until = max(self._paused_until, asyncio.get_running_loop().time() + seconds)

    async def turn(self, tokens: float) -> None:
        """Return when a call of about this many tokens may go out."""
        if self._free and not self._paused_until:
            return
        loop = asyncio.get_running_loop()
        while (wait := self._paused_until - loop.time()) > 0:
            await self._sleep(wait)
        if self._gap:
            now = loop.time()
            mine = max(now, self._next)
            self._next = mine + self._gap
            if mine > now:
                await self._sleep(mine - now)
        if self._rate:
            self._fill(loop.time())
            self._tokens -= tokens
            if self._tokens < 0:
                await self._sleep(-self._tokens / self._rate)

    def correct(self, difference: float) -> None:
        """The call used this many tokens more (or fewer) than was reckoned."""
        if self._rate:
            self._tokens -= difference

    def _fill(self, now: float) -> None:
        if self._filled is not None:
            self._tokens = min(
                self._rate * _BURST_SECONDS, self._tokens + (now - self._filled) * self._rate
            )
        self._filled = now
