"""How long to wait for a server."""

from __future__ import annotations

import msgspec

__all__ = ["Timeouts"]


class Timeouts(msgspec.Struct, frozen=True):
    """How long to wait, in seconds."""

    total: float = 600.0
    """For a whole call; a long answer without streaming is silent until it is done."""
    stall: float = 60.0
    """For the next byte once a reply has begun."""
    connect: float = 10.0
