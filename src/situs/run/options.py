"""What a run is told by name: which items, how hard to ask, and what is kept back."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from situs.base.shard import Shard
from situs.clients import Limits, Price, ResponseCache, Tally

__all__ = ["RunOptions"]


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of every way to put a bench to a model."""

    split: str | None = None
    limit: int | None = None
    limits: Limits = Limits()
    cache: ResponseCache | None = None
    price: Price | None = None
    allow_remote: bool = False
    skip_hidden: bool = False
    withhold: str = ""
    """Keeps all pictures back: `text` where the prompt says so, `silent` where it does not."""
    batch: bool = False
    """Hands the questions over as jobs, at half price, and waits for them."""
    shard: Shard | None = None
    """Only this part of the items."""
    progress: Callable[[Tally, int, int], None] = lambda tally, before, total: None
    """Called with the session's tally,
    how many items were done before it, and how many there are."""
    say: Callable[[str], None] = lambda text: None
