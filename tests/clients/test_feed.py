"""A run that stops for a reason of its own ends the
callers that wait for a request, and nothing else."""

from __future__ import annotations

import asyncio
import threading

from situs.clients import Request
from situs.clients.asking.feed import Feed


def test_a_feed_that_closes_ends_those_who_wait() -> None:
    async def waiting() -> Request | None:
        feed = Feed([Request("a", ()), Request("b", ())], ahead=1)
        released = threading.Event()
        feed._thread.submit(released.wait)  # on a busy machine the thread begins late
        caller = asyncio.create_task(feed.next())
        while not feed._thread._work_queue.qsize():
            await asyncio.sleep(0)
        feed.close()
        released.set()
        return await caller

    assert asyncio.run(waiting()) is None
