"""What a check says."""

from __future__ import annotations

import msgspec

__all__ = ["Check"]


class Check(msgspec.Struct, frozen=True):
    """One thing that was looked at."""

    what: str
    ok: bool
    found: str
    fix: str = ""
