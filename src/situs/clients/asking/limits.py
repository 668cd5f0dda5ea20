"""How hard a model may be asked, and when to give up."""

from __future__ import annotations

import msgspec

__all__ = ["Limits"]


class Limits(msgspec.Struct, frozen=True):
    """Bounds of one session of asking."""

    concurrency: int = 8
    """Calls in flight at once."""
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    tries: int = 6
    """Attempts per request before it is written down as failed."""
    first_wait: float = 1.0
    """Seconds before the second attempt; doubled each time, with jitter."""
    longest_wait: float = 60.0
    patience: float = 30.0
    """Seconds without a connection after which a server that has answered counts as down."""
    first_patience: float = 5.0
    """The same for a server that was never reached."""
    longest_pause: float = 300.0
    """A server that asks for a longer pause than this ends the session."""
    hopeless: int = 25
    """Requests in a row that failed for good, after which the rest is not asked."""
    max_cost: float | None = None
    max_tokens: int | None = None
    """Tokens in all, prompts and answers together."""
    grace: float = 20.0
    """Seconds that calls in flight get to end after an interruption."""
