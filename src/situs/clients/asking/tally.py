"""What was asked so far, for progress and for the result."""

from __future__ import annotations

import time
from collections import Counter

import msgspec

from situs.clients.protocol import Reply

__all__ = ["Asked", "Tally"]


class Tally(msgspec.Struct):
    """Counts of a session while it goes on."""

    states: Counter[str] = msgspec.field(default_factory=Counter)
    requests: int = 0
    """Attempts that went to the client."""
    cached: int = 0
    cut: int = 0
    """Answers that ended at `max_tokens`."""
    errors: Counter[str] = msgspec.field(default_factory=Counter)
    """Why requests failed."""
    only_thought: int = 0
    """Answers that hold nothing but thoughts."""
    prompt_tokens: float = 0
    completion_tokens: float = 0
    cost: float | None = 0.0
    """Dollars; None if the price is not known."""
    items: int | None = None
    """Of sessions of several requests: how many have ended; None where a request is an item."""
    looks: int = 0
    """Of such sessions: pictures asked for."""
    begun: float = msgspec.field(default_factory=time.monotonic)

    def count(self, reply: Reply) -> None:
        """One more request has its last word."""
        self.states[reply.state] += 1
        self.cached += reply.cached
        self.cut += reply.finish_reason == "length"
        if reply.state == "failed":
            self.errors[reply.error] += 1
        elif reply.thinking and not reply.text.strip() and not reply.tool_calls:
            self.only_thought += 1

    @property
    def trouble(self) -> str:
        """The commonest error, with how often it came; empty if nothing failed."""
        if not self.errors:
            return ""
        (error, times), *others = self.errors.most_common()
        return f"{error} ({times:,} of {times + sum(n for _, n in others):,})" if others else error

    @property
    def done(self) -> int:
        """Requests that have their last word."""
        return sum(self.states.values())

    @property
    def seconds(self) -> float:
        """Since the session began."""
        return time.monotonic() - self.begun


class Asked(msgspec.Struct, frozen=True):
    """How a session of asking ended."""

    tally: Tally
    stopped: str = ""
    """Why the rest was not asked; empty if nothing is left."""
    interrupted: bool = False
    notices: tuple[str, ...] = ()
    """What whoever reads the answers should know."""
