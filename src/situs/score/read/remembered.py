"""Short replies come again and again: each is read once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

__all__ = ["remembered"]

_SHORT = 80
"""Longer replies hardly come twice."""
_MOST = 1 << 14

P = ParamSpec("P")
R = TypeVar("R")


def remembered(reader: Callable[P, R]) -> Callable[P, R]:
    """The reader of replies, which depends on nothing but what it is given and answers what cannot
    be changed.

    "B" to a question that fifty patients share, or "yes" from a run, its blind rows and its probes:
    once read, the answer is known.
    """
    cached_reader = functools.lru_cache(maxsize=_MOST)(reader)

    @functools.wraps(reader)
    def read(*arguments: P.args, **how: P.kwargs) -> R:
        reply = arguments[0] if arguments else None
        if not isinstance(reply, str) or len(reply) > _SHORT:
            return reader(*arguments, **how)
        # Options may come as a list, which cannot be looked up.
        plain = tuple(tuple(one) if isinstance(one, list) else one for one in arguments)
        return cached_reader(*plain, **how)  # type: ignore[arg-type]

    return read
