"""Whether a reply says that the scan is not as it should be."""

from __future__ import annotations

import re

__all__ = ["looks_flipped"]

_TURNED = (
    r"(?:flipped|mirrored|mirror[- ]image|mirror[- ]reversed|reversed|inverted|upside[-"
    r" ]down|back[- ]to[- ]front|"
    r"swapped|turned over|shuffled|scrambled|out of order|in the wrong order)"
)
_THING = (
    r"(?:images?|pictures?|scan|slices?|slice order|stack|volume|orientation|anatomy|body|patient)"
)
_SAID = re.compile(
    rf"\b{_THING}\b[^.;!?\n]{{0,60}}\b{_TURNED}"
    rf"|\b(?:appears?|appear|looks?|seems?|seem)\b[^.;!?\n]{{0,40}}\b{_TURNED}"
    rf"|\b{_TURNED}\s+{_THING}\b"
    r"|\bsitus inversus\b|\bdextrocardia\b|\bwrong (?:orientation|way (?:up|round))\b",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(?:not|no|never|isn't|aren't|doesn't|don't|without|neither|nor|if)\b", re.IGNORECASE
)


def looks_flipped(response: str) -> bool:
    """Whether the words say that the scan looks flipped, mirrored or out of order, and do not deny
    it.

    A sentence with a negation or an `if` before the word does not count, so "not flipped" is no
    such remark.
    """
    for match in _SAID.finditer(response):
        start = max(response.rfind(mark, 0, match.start()) for mark in ".;!?\n") + 1
        if not _NOT.search(response[start : match.end()]):
            return True
    return False
