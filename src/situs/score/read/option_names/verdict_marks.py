"""Verdicts on options in signs: bits ("tear: 1"), plus and minus, ticked boxes ("☑ A ☐ B")."""

from __future__ import annotations

import re

__all__ = ["with_words_for_marks"]

# A bit, a sign or a letter that ends what is said of a name before it.
_MARK = re.compile(
    r"[\"')\]]*+ ?(?:[:=→]|->) ?[\"']?(?P<mark>[01]|[+−–-]|[yYnN])[\"']?"
    r"(?=[ \t]*+(?:[,;.}\n]|$))[,;.]?"
)
_BRACKETED = re.compile(r"(?<=[a-zA-Z]) ?\((?P<mark>[01+−–-])\)[,;.]?")
_BOX = re.compile(r"(?P<box>[☑☒✅☐⬜]) ?(?P<name>[^☑☒✅☐⬜\n]{1,80})")
_POSITIVE = frozenset("1+yY")
_TICKED = frozenset("☑☒✅")
_BOXES = _TICKED | frozenset("☐⬜")
_FEWEST = 2
"""Verdicts that make a list of them."""


def with_words_for_marks(plain: str) -> str:
    """The reply with "yes" and "no" on a line of its own for each verdict in signs."""
    for pattern in (_MARK, _BRACKETED):
        if len(pattern.findall(plain)) >= _FEWEST:
            plain = pattern.sub(_verdict, plain)
    if plain.lstrip(" -*•")[:1] in _BOXES and ("☐" in plain or "⬜" in plain):
        plain = _BOX.sub(
            lambda match: (
                f"{match['name'].strip(' ,;.')}: {'yes' if match['box'] in _TICKED else 'no'}\n"
            ),
            plain,
        )
    return plain


def _verdict(match: re.Match[str]) -> str:
    return ": yes\n" if match["mark"] in _POSITIVE else ": no\n"
