"""When there is no use in asking on:
the server is down, denies all, or fails whatever it is asked."""

from __future__ import annotations

from situs.clients.asking.limits import Limits
from situs.clients.protocol import Reply

__all__ = ["Breaker"]

_FEWEST = 3
"""Failures that could still be chance."""


class Breaker:
    """Watches attempts and their ends; `reason` says why the rest should not be asked."""

    def __init__(self, limits: Limits, now: float) -> None:
        self._limits = limits
        self._contact = now
        self._reached = False
        self._answered = False
        self._unreachable = self._denied = self._lost = self._failed = 0
        self.reason = ""

    def attempt(self, reply: Reply, now: float) -> None:
        """One attempt came back."""
        if reply.fault == "unreachable":
            self._unreachable += 1
            patience = self._limits.patience if self._reached else self._limits.first_patience
            if self._unreachable >= _FEWEST and now - self._contact >= patience:
                self.reason = (
                    f"the server cannot be reached ({reply.error}, for {now - self._contact:.0f} s)"
                )
            return
        self._reached, self._contact, self._unreachable = True, now, 0
        if reply.retry_after is not None and reply.retry_after > self._limits.longest_pause:
            self.reason = (
                f"the server asks for a pause of {reply.retry_after:,.0f} s ({reply.error})"
            )

    def end(self, reply: Reply) -> None:
        """A request has its last word."""
        if reply.state != "failed":
            self._answered = True
            self._denied = self._lost = self._failed = 0
            return
        self._denied = self._denied + 1 if reply.fault == "denied" else 0
        self._failed += 1
        self._lost = self._lost if reply.fatal else self._lost + 1
        if self._denied >= (_FEWEST if self._answered else 1):
            self.reason = f"the server will not answer ({reply.error})"
        elif self._lost >= self._limits.hopeless or (
            not self._answered and self._failed >= self._limits.hopeless
        ):
            self.reason = f"{self._failed} requests in a row failed (the last: {reply.error})"
