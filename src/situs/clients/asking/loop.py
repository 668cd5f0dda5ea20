"""Event loops: a coroutine is run to its end, also where a loop runs already, as in a notebook."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from situs.base.stopping import answered_by, held

__all__ = ["run_to_end"]

_Made = TypeVar("_Made")


def run_to_end(
    make: Callable[[], Coroutine[Any, Any, _Made]], interrupt: Callable[[], None] = lambda: None
) -> _Made:
    """Run the coroutine that `make` makes;
    Ctrl-C in a notebook calls `interrupt` and waits for the end."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run(make)
    # A running loop cannot be entered again: the coroutine gets one of its own, in a thread.
    with ThreadPoolExecutor(1, thread_name_prefix="situs") as thread:
        made = thread.submit(lambda: asyncio.run(make()))
        try:
            return made.result()
        except KeyboardInterrupt:
            interrupt()
            return made.result()


def _run(make: Callable[[], Coroutine[Any, Any, _Made]]) -> _Made:
    """In a loop of its own. A stop cancels the work, never the loop's own code in its middle."""
    is_stopped = False

    async def work() -> _Made:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def cancel() -> None:
            nonlocal is_stopped
            is_stopped = True
            loop.call_soon_threadsafe(task.cancel)

        with answered_by(cancel):
            return await make()

    made: list[_Made] = []
    try:
        with held():
            made.append(asyncio.run(work()))
    except asyncio.CancelledError:
        if not is_stopped:
            raise
    if is_stopped:  # also where the work had just ended
        raise KeyboardInterrupt
    return made[0]
