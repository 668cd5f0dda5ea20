"""The one durable loop that asks: runs, judges and agents all go through it."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

import msgspec

from situs.base.stopping import answered_by
from situs.base.text import counted
from situs.clients.asking.breaker import Breaker
from situs.clients.asking.budget import Budget
from situs.clients.asking.care import Terms, check_may_ask
from situs.clients.asking.feed import Feed
from situs.clients.asking.limits import Limits
from situs.clients.asking.loop import run_to_end
from situs.clients.asking.pace import Pace, backoff
from situs.clients.asking.sight import blind_notice, without_pictures
from situs.clients.asking.tally import Asked, Tally
from situs.clients.protocol import Client, Reply, Request
from situs.clients.response_cache import ResponseCache
from situs.errors import SitusError

__all__ = ["Record", "ask"]

Record = Callable[[Request, Reply, float], None]
"""Writes down a request's last word and how many seconds it took;
called once per request, in order of completion."""

_PROGRESS_SECONDS = 0.2


def ask(
    client: Client,
    requests: Iterable[Request | None],
    record: Record,
    terms: Terms,
    *,
    cache: ResponseCache | None = None,
    progress: Callable[[Tally], None] = lambda tally: None,
    say: Callable[[str], None] = lambda text: None,
) -> Asked:
    """Put requests to a client and record every reply as it comes.

    Requests are made as they are needed; None among them waits for replies that are still out, on
    which the next one depends. What `record` or the requests raise ends the session; replies that
    came before are recorded. Failed calls are tried again, and recorded as failed only when that
    does not help; what was not asked because the session stopped early is not recorded at all.
    """
    check_may_ask(client, terms)
    budget = Budget(terms.limits, terms.price, terms.spent)
    asking = _Asking(client, requests, record, terms.limits, cache, budget, progress, say)

    async def session() -> Asked:
        try:
            return await asking.run()
        finally:
            await client.close()

    try:
        return run_to_end(session, asking.interrupt_from_outside)
    finally:
        if cache is not None:
            cache.flush()


class _Asking:
    def __init__(
        self,
        client: Client,
        requests: Iterable[Request | None],
        record: Record,
        limits: Limits,
        cache: ResponseCache | None,
        budget: Budget,
        progress: Callable[[Tally], None],
        say: Callable[[str], None],
    ) -> None:
        self._client = client
        self._record = record
        self._limits = limits
        self._cache_key = client.cache_key
        self._cache = cache if self._cache_key is not None else None
        self._budget = budget
        self._progress = progress
        self._say = say
        self._feed = Feed(requests, ahead=max(8, limits.concurrency))
        self._stop = asyncio.Event()
        self._pace = Pace(limits, self._sleep)
        self._breaker = Breaker(limits, time.monotonic())
        self._rng = random.Random()
        self._tally = Tally(cost=None if budget.cost is None else 0.0)
        self._cost_before = budget.cost
        self._last_progress = 0.0
        self._stopped = ""
        self._interrupted = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._workers: list[asyncio.Task[None]] = []
        self._broken: Exception | None = None
        self._notices: list[str] = []
        self._passed_on = 0
        self._sight: asyncio.Task[None] | None = None
        self._sight_checked = False

    async def run(self) -> Asked:
        """Ask until nothing is left or something stops it."""
        self._loop = asyncio.get_running_loop()
        workers = [asyncio.create_task(self._work()) for _ in range(self._limits.concurrency)]
        self._workers = workers
        try:
            # The first Ctrl-C lets calls in flight end, the second does not.
            with answered_by(self.interrupt_from_outside):
                await self._all(workers)
        finally:
            self._feed.close()
            if self._sight is not None:
                self._sight.cancel()
        self._progress(self._tally)
        return Asked(self._tally, self._stopped, self._interrupted, tuple(self._notices))

    async def _all(self, workers: list[asyncio.Task[None]]) -> None:
        """Wait for all workers; what one of them raises ends the others."""
        try:
            await asyncio.gather(*workers)
            if self._sight is not None and not self._stop.is_set():
                await self._sight
            if self._broken is not None:
                raise self._broken
        except asyncio.CancelledError:
            if not self._interrupted:
                raise
        finally:
            self._stop.set()
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    def interrupt_from_outside(self) -> None:
        """What Ctrl-C does, from another thread or out of the middle of the loop's own code."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._interrupt)

    def _interrupt(self) -> None:
        if self._interrupted:
            self._cancel()
            return
        self._interrupted = True
        self._stop_asking("interrupted")
        self._say("stopping: waiting for the calls in flight; press Ctrl-C again to stop at once")
        asyncio.get_running_loop().call_later(self._limits.grace, self._cancel)

    def _cancel(self) -> None:
        for worker in self._workers:
            worker.cancel()

    def _stop_asking(self, reason: str) -> None:
        self._stopped = self._stopped or reason
        self._stop.set()
        self._feed.close()

    async def _sleep(self, seconds: float) -> None:
        """Sleep, but not past the end of the session."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), seconds)

    async def _work(self) -> None:
        while not self._stop.is_set():
            try:
                request = await self._feed.next()
            except Exception as error:
                self._broken = self._broken or error
                self._stop_asking("no more requests could be made")
                return
            if request is None or self._stop.is_set():
                return
            key = (
                self._cache.key(self._cache_key or "", request) if self._cache is not None else None
            )
            begin = time.monotonic()
            reply = self._cache.get(key) if self._cache is not None and key is not None else None
            if reply is None:
                reply = await self._until_answered(request)
                if reply is None:
                    return
                if self._cache is not None and key is not None:
                    self._cache.put(key, reply)
            self._end(request, reply, time.monotonic() - begin)

    def _end(self, request: Request, reply: Reply, seconds: float) -> None:
        self._record(request, reply, 0.0 if reply.cached else seconds)
        tally = self._tally
        tally.count(reply)
        if not self._sight_checked and _tells_of_pictures(request, reply):
            self._sight_checked = True
            self._sight = asyncio.create_task(self._check_sight(request, reply))
        now = time.monotonic()
        if now - self._last_progress > _PROGRESS_SECONDS:
            self._last_progress = now
            self._progress(tally)

    async def _until_answered(self, request: Request) -> Reply | None:
        """The request's last word; None if the session ended before it had one."""
        tries = 0
        while True:
            reply = await self._attempt(request)
            if reply is None:
                return None
            # Where nobody is there to ask, the breaker decides when to give up.
            tries += reply.fault != "unreachable"
            if reply.state != "failed" or reply.fatal or self._breaker.reason:
                break
            if tries >= self._limits.tries:
                told = f"{reply.error} ({counted(tries, 'try', 'tries')})"
                reply = msgspec.structs.replace(reply, error=told)
                break
            if reply.retry_after is not None:
                self._pace.pause(reply.retry_after)
            await self._sleep(
                backoff(self._limits, max(0, tries - 1), reply.retry_after, self._rng)
            )
            if self._stop.is_set():
                return None
        if not self._breaker.reason:
            self._breaker.end(reply)
        elif reply.state == "failed":
            self._stop_asking(self._breaker.reason)
            return None
        if self._breaker.reason:
            self._stop_asking(self._breaker.reason)
        return reply

    async def _attempt(self, request: Request) -> Reply | None:
        """One call, when budget and pace allow it; None if they no longer do."""
        estimate = self._budget.estimate(request)
        reason = await self._budget.reserve(estimate)
        if reason:
            self._stop_asking(reason)
            return None
        usage: dict[str, float] = {}
        try:
            await self._pace.turn(sum(estimate))
            if self._stop.is_set():
                return None
            self._tally.requests += 1
            reply = await self._answer(request)
            self._pass_on_notices()
            usage = reply.usage
        finally:
            self._settle(estimate, usage)
        self._breaker.attempt(reply, time.monotonic())
        return reply

    async def _answer(self, request: Request) -> Reply:
        try:
            return await self._client.answer(request)
        except SitusError:
            raise
        except Exception as error:
            return Reply("failed", error=f"{type(error).__name__}: {error}"[:500], fatal=True)

    def _pass_on_notices(self) -> None:
        """What the client has learned of its server since the last look."""
        for notice in self._client.notices[self._passed_on :]:
            self._passed_on += 1
            self._notices.append(notice)
            self._say(f"note: {notice}")

    def _settle(self, estimate: tuple[float, float], usage: dict[str, float]) -> None:
        budget, tally = self._budget, self._tally
        budget.settle(estimate, usage)
        tally.prompt_tokens += usage.get("prompt_tokens", 0)
        tally.completion_tokens += usage.get("completion_tokens", 0)
        tally.cost = None if budget.cost is None else budget.cost - (self._cost_before or 0.0)
        if usage:
            used = usage.get("prompt_tokens", 0) + usage.get("completion_tokens", 0)
            self._pace.correct(used - sum(estimate))

    async def _check_sight(self, request: Request, reply: Reply) -> None:
        """Ask the same in words only, once, to see whether the pictures were counted."""
        probe = without_pictures(request)
        key = self._cache.key(self._cache_key or "", probe) if self._cache is not None else None
        words = self._cache.get(key) if self._cache is not None and key is not None else None
        if words is None:
            words = await self._attempt(probe)
            if words is None or words.state == "failed":
                return
            if self._cache is not None and key is not None:
                self._cache.put(key, words)
        notice = blind_notice(request, reply, words)
        if notice:
            self._notices.append(notice)
            self._say(f"warning: {notice}")


def _tells_of_pictures(request: Request, reply: Reply) -> bool:
    return reply.state == "answered" and "prompt_tokens" in reply.usage and bool(request.images())
