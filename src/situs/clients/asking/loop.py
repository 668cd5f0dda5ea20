"""Event loops: a coroutine is run to its end, also where a loop runs already, as in a notebook."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

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
        return asyncio.run(make())
    # A running loop cannot be entered again: the coroutine gets one of its own, in a thread.
    with ThreadPoolExecutor(1, thread_name_prefix="situs") as thread:
        made = thread.submit(lambda: asyncio.run(make()))
        try:
            return made.result()
        except KeyboardInterrupt:
            interrupt()
            return made.result()
