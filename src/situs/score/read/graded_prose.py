"""Grades in prose: what is said of each sub-score, by the grammar of assertion and negation.

The words of a sub-score's name open a passage that ends where another sub-score is named; each
passage is read like any other reply ("size: 2? No, 1", "not 2 but 1").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from situs.score.read.prose.grammar import statements
from situs.score.read.prose.lexicon import english
from situs.score.read.prose.resolve import decide
from situs.score.read.prose.taken import Taken
from situs.score.read.prose.tokens import Mention
from situs.score.read.result import Parsed

__all__ = ["Passage", "passages", "stated_grade"]

_WORD = re.compile(r"[A-Za-z]+|%")
_LINK = re.compile(
    r"(?:[\s:=*,–—-]|\b(?:is|was|are|as|of|at|grade|graded|score|scored|moaks|would|be|should|a|an|"
    r"the)\b)*",
    re.IGNORECASE,
)
"""What stands between a name and its grade without saying anything."""
_GRADE = re.compile(
    r"(?<![\w.,/%<–-])(?<![0-9] )([0-9]{1,2})(?:/[3-58]|\.0)?"
    r"(?![\w/]|[.,][0-9]|\s*(?:%|percent|mm\b|cm\b)|\s*[–-]\s*[0-9])"
)
# "0 – the cartilage is normal", "2 (half of the surface)": the grade, and why.
_EXPLAINED = re.compile(r"(?P<grade>[0-9]{1,2})(?=[,;.:)]| [–—(-]| and\b| because\b|, as\b)")
_UNSETTLED = re.compile(r"[0-9?]|\b(?:not|or|but|if|maybe|wait|rather)\b|n't\b", re.IGNORECASE)
_GRADE_FIRST = re.compile(r"\b(grade|score)[ -]([0-9](?:/[0-9])?) ([a-z]+)\b", re.IGNORECASE)
# "2 for size, 1 for depth"
_FOR = re.compile(
    r"\b([0-9]) (?:for|in|on) (?:the )?([a-z]+)\b(?=[ .!]*(?:$|[,;\n]|and\b))", re.IGNORECASE
)
# "Size and depth are both 0", "size and depth: 2, 1": grades of several sub-scores.
_JOINING = frozenset({"both", "all", "the", "and"})
_SHARED = re.compile(
    r"\b(?P<names>(?:(?:both|all) )?(?:the )?[a-z]+(?:(?:,| and|, and|/) ?(?:the )?[a-z]+){1,4})"
    r"(?: (?:grades?|scores?))? ?(?:are|is|were|=|:) ?(?:both |all |each )?(?:grade )?"
    r"(?P<grades>[0-9](?:(?:,|,? and| ?/) ?[0-9]){0,4})(?! ?(?:[.,/]|and|or|to|-|–)? ?[0-9])",
    re.IGNORECASE,
)
_MOST_PASSAGES = 60


class Passage(NamedTuple):
    """What follows the name of a sub-score."""

    name: str
    text: str


def passages(
    plain: str, own_words: Mapping[str, frozenset[str]], same: Mapping[str, str]
) -> list[Passage]:
    """The passages of a reply; `own_words` of a name are those that no other name has,
    `same` maps synonyms."""
    owner = {word: name for name, words in own_words.items() for word in words}

    def turned(match: re.Match[str]) -> str:
        word = match[3].lower()
        return f"{match[3]} {match[1]} {match[2]}" if same.get(word, word) in owner else match[0]

    def named_behind(match: re.Match[str]) -> str:
        word = match[2].lower()
        return f"{match[2]} {match[1]}" if same.get(word, word) in owner else match[0]

    def shared(match: re.Match[str]) -> str:
        words = [word.lower() for word in _WORD.findall(match["names"])]
        names = [word for word in words if word not in _JOINING]
        if not all(same.get(word, word) in owner for word in names):
            return match[0]
        grades = re.findall("[0-9]", match["grades"])
        grades = grades * len(names) if len(grades) == 1 else grades
        if len(grades) != len(names):
            return match[0]
        return ", ".join(f"{name} {grade}" for name, grade in zip(names, grades))

    plain = _GRADE_FIRST.sub(turned, plain)  # "grade 1 osteophytes"
    plain = _FOR.sub(named_behind, plain)
    plain = _SHARED.sub(shared, plain)
    named = [
        (match.start(), match.end(), owner[word])
        for match in _WORD.finditer(plain)
        if (word := same.get(match[0].lower(), match[0].lower())) in owner
    ]
    opened = [
        mark for index, mark in enumerate(named) if index == 0 or named[index - 1][2] != mark[2]
    ]
    found: list[Passage] = []
    for index, (_, end, name) in enumerate(opened[:_MOST_PASSAGES]):
        stop = opened[index + 1][0] if index + 1 < len(opened) else len(plain)
        found.append(Passage(name, plain[end:stop]))
    return found


def stated_grade(
    text: str, words: Sequence[str], on_scale: Callable[[int | str], int | None]
) -> int | None:
    """The grade that a passage states, in a number or in the `words` of its scale;
    None if it states none for sure."""
    link = _LINK.match(text)
    text = text[link.end() if link else 0 :]
    taken = Taken(text)
    mentions: list[Mention] = []
    for word in sorted(words, key=len, reverse=True):
        if not word:
            continue
        spelled = r"[\W_]+".join(map(re.escape, word.split()))
        for match in re.finditer(rf"(?<!\w){spelled}(?!\w)", text, re.IGNORECASE):
            _mention(match.span(), on_scale(word), taken, mentions)
    for match in _GRADE.finditer(text):
        _mention(match.span(), on_scale(int(match[1])), taken, mentions)
    result = decide(statements(text, mentions, english()))
    if isinstance(result, Parsed):
        return int(str(result.value))
    explained = _EXPLAINED.match(text)
    if explained is None or _UNSETTLED.search(text, explained.end()):
        return None
    return on_scale(int(explained["grade"]))


def _mention(
    span: tuple[int, int], grade: int | None, taken: Taken, mentions: list[Mention]
) -> None:
    start, end = span
    if taken.take(start, end) and grade is not None:
        mentions.append(Mention(start, end, grade))
