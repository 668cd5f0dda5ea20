"""How kernels are compiled: on first use, once per machine, and said so."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from numba import njit  # type: ignore[import-untyped,unused-ignore]
from numba.core import event  # type: ignore[import-untyped,unused-ignore]

__all__ = ["kernel"]

_Function = Callable[..., Any]
"""Numba converts arguments by itself: calls of a kernel are not checked."""


class _Notice(event.Listener):  # type: ignore[misc,unused-ignore]
    """Says once on stderr that a kernel of ours is being compiled rather than loaded from the cache."""

    said = False

    def on_start(self, event: Any) -> None:
        function = getattr(event.data.get("dispatcher"), "py_func", None)
        if not self.said and getattr(function, "__module__", "").startswith("situs."):
            self.said = True
            print("compiling kernels, once", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Notice())


def kernel(function: _Function) -> _Function:
    """Compile a function when it is first called; the machine code is kept beside the package or in the user's cache.

    Kernels see flat contiguous arrays and numbers only, hold no lock, and divide as C does.
    """
    options = {"nogil": True, "error_model": "numpy"}
    try:
        compiled: _Function = njit(cache=True, **options)(function)
    except RuntimeError:  # no folder to write to: neither the package's nor the user's cache
        compiled = njit(**options)(function)
    return compiled
