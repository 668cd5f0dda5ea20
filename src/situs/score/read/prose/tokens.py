"""A reply as a row of tokens: the answers it mentions, the words that decide how they are meant,
and stops.

What counts as a mention is the business of each answer form (option letters and words, yes and no,
numbers, frames); the rest is the same for all. One pass, linear in the length of the reply.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from situs.score.read.prose.clean import FINAL_CLOSE, FINAL_OPEN
from situs.score.read.prose.lexicon import Lexicon

__all__ = ["Mention", "Token", "tokenise"]


@dataclass(frozen=True, slots=True)
class Mention:
    """A place where the reply names a possible answer."""

    start: int
    end: int
    value: Hashable
    idle: bool = False
    """Named, but surely not as an answer:
    what another thing is compared with, a side of the picture."""


@dataclass(frozen=True, slots=True)
class Token:
    """A mention, a phrase of the lexicon, a word or a mark."""

    kind: str
    """`mention`, a class of the lexicon, `word`, or the name of a mark:
    `stop`, `ask`, `line`, `comma`, …"""
    text: str
    start: int
    end: int
    mention: Mention | None = None


_PIECE = re.compile(r"[^\W_]+(?:['-][^\W_]+)*|\n|[^\w\s]|_")
_MARKS = {
    ".": "stop", "!": "stop", ";": "stop", "\n": "line", "?": "ask", ",": "comma", ":": "colon",
    "=": "colon",
    "-": "dash", "–": "dash",
    "—": "dash", "…": "comma", "(": "open", ")": "close", "[": "open", "]": "close", "/": "slash",
    "&": "and",
    "+": "and", "|": "colon",
    FINAL_OPEN: "boxed", FINAL_CLOSE: "unboxed", "。": "stop", "'": "quote",
    '"': "quote", "*": "quote",
}  # fmt: skip
_JOINING = {"and": "and", "or": "or", "either": "or", "nor": "or"}
_ABBREVIATED = frozenset(
    {
        "approx",
        "ca",
        "e",
        "g",
        "i",
        "vs",
        "fig",
        "etc",
        "incl",
        "dr",
        "al",
        "resp",
        "ans",
        "max",
        "min",
    }
)


def tokenise(text: str, mentions: Sequence[Mention], lexicon: Lexicon) -> list[Token]:
    """The tokens of a cleaned reply, in order.

    Where a phrase of the lexicon is longer than a mention inside it, the phrase wins: "the right
    answer" names no side, and "no doubt" is no answer.
    """
    pieces = _pieces(text, mentions)
    words = [piece[0] for piece in pieces]
    waiting = sorted(mentions, key=lambda mention: (mention.start, -mention.end))
    result: list[Token] = []
    at = 0
    following = 0
    while at < len(pieces):
        word, start, end = pieces[at]
        while following < len(waiting) and waiting[following].end <= start:
            following += 1
        mention = (
            waiting[following]
            if following < len(waiting) and waiting[following].start < end
            else None
        )
        phrase = lexicon.longest(words, at)
        if phrase is not None and _ends_in_letter(pieces[at + phrase[1] - 1], waiting, following):
            phrase = None
        if mention is not None and (phrase is None or not _covers(pieces, at, phrase[1], mention)):
            result.append(
                Token(
                    "mention",
                    text[mention.start : mention.end],
                    mention.start,
                    mention.end,
                    mention,
                )
            )
            while at < len(pieces) and pieces[at][1] < mention.end:
                at += 1
            continue
        if phrase is not None:
            last = pieces[at + phrase[1] - 1][2]
            result.append(Token(phrase[0], text[start:last].lower(), start, last))
            at += phrase[1]
            continue
        result.append(Token(_kind(text, word, start, end, result[-1:]), word, start, end))
        at += 1
    return result


def _ends_in_letter(last: tuple[str, int, int], waiting: Sequence[Mention], following: int) -> bool:
    """Whether the last word of a phrase is a letter that is named ("it would be A")."""
    _, start, end = last
    letters = (one for one in waiting[following : following + 2] if one.end == one.start + 1)
    return any(one.start == start and one.end == end for one in letters)


def _pieces(text: str, mentions: Sequence[Mention]) -> list[tuple[str, int, int]]:
    """Words and marks with their places;
    a word is cut where a mention inside it begins or ends ("L2-L3")."""
    borders = sorted({border for mention in mentions for border in (mention.start, mention.end)})
    found: list[tuple[str, int, int]] = []
    following = 0
    for match in _PIECE.finditer(text):
        start, end = match.span()
        while following < len(borders) and borders[following] <= start:
            following += 1
        while following < len(borders) and borders[following] < end:
            found += _cut(text, start, borders[following])
            start = borders[following]
            following += 1
        found += _cut(text, start, end)
    return found


def _cut(text: str, start: int, end: int) -> list[tuple[str, int, int]]:
    return [
        (match[0].lower(), match.start(), match.end())
        for match in _PIECE.finditer(text, start, end)
    ]


def _covers(pieces: Sequence[tuple[str, int, int]], at: int, length: int, mention: Mention) -> bool:
    """Whether a phrase is more than the mention it begins with."""
    start, end = pieces[at][1], pieces[at + length - 1][2]
    return (
        start <= mention.start and end >= mention.end and end - start > mention.end - mention.start
    )


def _kind(text: str, word: str, start: int, end: int, last: Sequence[Token]) -> str:
    if word in _JOINING:
        return _JOINING[word]
    kind = _MARKS.get(word, "word")
    if word == "." and not _ends_sentence(text, start, end, last):
        return "quote"
    if (
        kind == "dash"
        and text[start - 1 : start] not in {" ", "\n", ""}
        and text[end : end + 1] not in {" ", "\n", ""}
        and word == "-"
    ):
        return "quote"
    return kind


def _ends_sentence(text: str, start: int, end: int, last: Sequence[Token]) -> bool:
    """A full stop ends a sentence unless it belongs to an abbreviation or to dots in a row."""
    if (
        end < len(text)
        and not text[end].isspace()
        and text[end] not in "\"')]…" + FINAL_CLOSE + FINAL_OPEN
    ):
        return text[end].isupper() or not text[end].isalnum()
    return not (last and last[0].text in _ABBREVIATED and last[0].end == start and end < len(text))
