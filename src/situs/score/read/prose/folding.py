"""Words made comparable."""

from __future__ import annotations

import re

__all__ = ["fold"]

_UNIT_GAP = re.compile(r"(?<=[0-9]) ?(?=(?:%|mm|cm|ml|m|l)\b|%)")


def fold(text: str) -> str:
    """Case, quotes' and hyphens' variants and spacing made equal,
    so that the same words compare equal."""
    text = " ".join(text.casefold().replace("’", "'").replace("\u2212", "-").split())
    text = re.sub(r"(?<=[a-z])-(?=[a-z])", " ", text)
    return _UNIT_GAP.sub(" ", text)
