"""Requests as they are needed: made in a thread of their own,
so that rendering never holds up the wire."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from situs.clients.protocol import Request

__all__ = ["Feed"]

_SECONDS = 0.02
"""How long the maker goes on while callers wait."""


class Feed:
    """Hands out requests one by one; at most `ahead` of them exist before they are asked for.

    A source whose next request depends on replies that are still out waits a moment for them and
    yields None: what was made so far is then asked.
    """

    def __init__(self, requests: Iterable[Request | None], ahead: int) -> None:
        self._source = iter(requests)
        self._ahead = ahead
        self._ready: deque[Request] = deque()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="situs-requests")
        self._lock = asyncio.Lock()
        self._ended = False
        self._error: Exception | None = None

    async def next(self) -> Request | None:
        """The next request; None when there are no more."""
        if not self._ready and not self._ended:
            async with self._lock:
                if not self._ready and not self._ended:
                    await asyncio.get_running_loop().run_in_executor(self._thread, self._make)
        if self._ready:
            return self._ready.popleft()
        if self._error is not None:
            raise self._error
        # Others may have taken what was made in the meantime.
        return None if self._ended else await self.next()

    def close(self) -> None:
        """Make no more."""
        self._ended = True
        # What the thread has yet to begin ends at once. Cancelled, it would end the caller that
        # waits for it, as a Ctrl-C would.
        self._thread.shutdown(wait=False)

    def _make(self) -> None:
        until = time.monotonic() + _SECONDS
        try:
            made = 0
            while made < self._ahead and not self._ended:
                request = next(self._source)
                if request is not None:
                    self._ready.append(request)
                    made += 1
                if self._ready and (request is None or time.monotonic() > until):
                    return
        except StopIteration:
            self._ended = True
        except Exception as error:
            # What was made before is still asked; then the error is raised.
            self._error = error
            self._ended = True
