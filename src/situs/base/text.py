"""Text from data on its way to a person: no control code reaches a terminal, no markup a page."""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Literal

__all__ = [
    "counted",
    "json_safe",
    "markdown_safe",
    "normalized",
    "printable",
    "short",
    "whole_characters",
]

_MARKDOWN = re.compile(r"([\\`\[\]|])")
"""Signs that start code, a link or a cell.

Stars and underscores inside words are left alone: they only slant.
"""


def printable(text: str, *, lines: bool = False) -> str:
    """Text with every character that is not printed made a space; line breaks stay if `lines`.

    Escape codes move the cursor, change titles or type on a user's behalf; marks of direction
    reorder words.
    """
    return "".join(c if c.isprintable() or (lines and c == "\n") else " " for c in text)


def counted(number: int, one: str, many: str = "") -> str:
    """`1 study`, `2,000 studies`; `many` is `one` with an s unless it is given."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def json_safe(text: str, encoding: str = "utf-8") -> str:
    """JSON whose strings hold no character that a terminal would act on, and none that `encoding`
    lacks; its meaning is the same."""
    if text.isascii() and "\x7f" not in text:
        return text
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(c if " " <= c <= "~" or c == "\n" else _escaped(c) for c in text)
    return "".join(c if c.isprintable() or c == "\n" else _escaped(c) for c in text)


def whole_characters(text: str) -> str:
    """Text in which half of a surrogate pair, which no file can hold, is a replacement sign."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


_MOST_MARKS = 30
_MARKS = re.compile(rf"[^\w\s\x00-\x7f]{{{_MOST_MARKS}}}")
_JOINER = "\u034f"


def normalized(text: str, form: Literal["NFC", "NFD"]) -> str:
    """Text in a normal form of Unicode, in time that grows with its length.

    Python sorts the marks of one character with the square of their number. As Unicode's
    stream-safe text does (UAX 15, D4), a joiner that is not seen stands after every 30 of them; no
    language has words with so many.
    """
    if text.isascii():
        return text
    return unicodedata.normalize(form, _MARKS.sub(rf"\g<0>{_JOINER}", text))


def _escaped(character: str) -> str:
    code = ord(character)
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def markdown_safe(text: str) -> str:
    """Text as it reads in Markdown, whose signs and HTML it may hold: nothing of it is markup."""
    return _MARKDOWN.sub(r"\\\1", html.escape(" ".join(printable(text).split()), quote=False))


def short(value: float) -> str:
    """A number as a reader wants it: three significant digits, thousands apart."""
    if value < 0:
        return "−" + short(-value)
    size = abs(value)
    if isinstance(value, int) or size >= 100:
        return f"{value:,.0f}".replace(",", "\u202f")
    return (
        f"{value:.1f}"
        if size >= 10
        else f"{value:.2f}"
        if size >= 0.01 or value == 0
        else f"{value:.1g}"
    )
