"""How kernels are compiled: on first use, once per machine, and said so."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit  # type: ignore[import-untyped,unused-ignore]
from numba.core import event  # type: ignore[import-untyped,unused-ignore]
from numba.core.caching import FunctionCache  # type: ignore[import-untyped,unused-ignore]

from situs.base.locks import try_lock

__all__ = ["kernel"]

_Function = Callable[..., Any]
"""Numba converts arguments by itself: calls of a kernel are not checked."""


class _Notice(event.Listener):  # type: ignore[misc,unused-ignore]
    """Says once on stderr that a kernel of ours is
    being compiled rather than loaded from the cache."""

    announced = False

    def on_start(self, event: Any) -> None:
        function = getattr(event.data.get("dispatcher"), "py_func", None)
        if not self.announced and getattr(function, "__module__", "").startswith("situs."):
            self.announced = True
            print("compiling kernels; they are kept", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Notice())

_PATIENCE_S = 120.0
"""A process waits so long for others that compile, once; then it compiles for itself."""


class _Turn:
    """The right to compile, which one process of this machine has at a time.

    A kernel compiles the kernels it calls: whoever has the turn may take it again. Numba lets one
    thread compile at a time, so nothing here is shared between threads.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._descriptor: int | None = None
        self._patience_s = _PATIENCE_S

    def take(self, folder: Path) -> None:
        """Wait for the turn; go without where no lock can be had or another process never ends."""
        if self._depth == 0:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                self._descriptor = os.open(folder / "compiling.lock", os.O_CREAT | os.O_RDWR, 0o666)
                self._wait()
            except OSError:
                self._close()
        self._depth += 1

    def give_back(self) -> None:
        """Let others compile, once the outermost kernel is stored."""
        self._depth = max(0, self._depth - 1)
        if self._depth == 0:
            self._close()

    def _wait(self) -> None:
        assert self._descriptor is not None
        while True:
            try:
                return try_lock(self._descriptor)
            except BlockingIOError:
                if self._patience_s <= 0.0:
                    raise
            time.sleep(0.05)
            self._patience_s -= 0.05

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


_TURN = _Turn()


class _SharedCache(FunctionCache):  # type: ignore[misc,unused-ignore]
    """Numba's cache; of several processes that lack a kernel one compiles it, the others wait and
    load it.

    Workers begin together and need the same kernels: each would take half a minute to compile them.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """A compiled kernel, or None with the turn to compile it."""
        compiled = super().load_overload(sig, target_context)
        if compiled is not None:
            return compiled
        _TURN.take(Path(self.cache_path))
        compiled = super().load_overload(sig, target_context)
        if compiled is not None:
            _TURN.give_back()
        return compiled

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store what was compiled, for the others as well."""
        try:
            super().save_overload(sig, data)
        finally:
            _TURN.give_back()


def kernel(function: _Function) -> _Function:
    """Compile a function when it is first called; the machine code is kept beside the package or in
    the user's cache.

    Kernels see flat contiguous arrays and numbers only, hold no lock, and divide as C does.
    """
    options = {"nogil": True, "error_model": "numpy"}
    try:
        compiled: _Function = njit(cache=True, **options)(function)
        compiled._cache = _SharedCache(function)  # type: ignore[attr-defined]
    except RuntimeError:  # no folder to write to: neither the package's nor the user's cache
        compiled = njit(**options)(function)
    return compiled
