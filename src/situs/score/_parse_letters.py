"""Option letters: at the head of an answer, or marked as such in prose."""

from __future__ import annotations

import re
from collections.abc import Iterator

from situs.score._parse_option_text import OptionWords, fold

__all__ = ["SEVERAL", "Letters"]

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SEVERAL = -1
"""Stands for "more than one option named"."""

_HEAD = re.compile(
    r"[\"'(\[]?(?:(?:the )?(?:option|choice|letter|answer)s?:? ?)?[\"'(\[]?([A-Za-z])(?![\w'])([)\]\"']*)",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r" ?(?:,|/|&|\+|\band\b|\bor\b|, ?and|, ?or) ?(?:option )?\(?([A-Z])(?![\w'])(?! (?:is|was|are|would|can|does)\b)"
)
_NEXT_CLOSED = re.compile(r" ?\(?([A-Z])\) ?$")
_REASON = re.compile(r" ?,? (?:because|since|due to|given|based on|as|for|which|is|with|in)\b")
_STRICT_REASON = re.compile(r" ?,? (?:because|since|due to|based on)\b")
_LOWER_REASON = re.compile(r"(?:because|since|due|the|this|these|it|based|as|in|there|here|on|i|explanation|reason)\b")
_MARKED = re.compile(
    r"(?<!\w)\(([A-Z])\)(?!\w)|\b(?:option|choice|letter) ?\(?\"?([A-Z])(?![\w'])"
    r"|(?<!\w)([A-Z])(?= (?:is|seems|appears|looks) (?:the |therefore |clearly |most likely )*"
    r"(?:correct|right|best|answer|true)\b)",
    re.IGNORECASE,
)
_DENIED_BEFORE = re.compile(
    r"\b(?:stage|grade|class|type|hepatitis|vitamin|group|plane|panel|figure|fig\.|zone|mark|phase) \(?$|"
    r"(?:\b(?:not|never|neither|nor|rather than|instead of|unlike|exclud\w*|rul\w* out|eliminat\w*|against|than)|n't)"
    r"(?: (?:be|the|option|answer|is|it|for|letter|choice))* ?\(?$",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"\)? (?:is|are|was|seems?|appears?|looks?|can be|could be|would be|has been) (?:\w+ly )?"
    r"(?:not|un\w+|incorrect|wrong|false|excluded|ruled out|eliminated|less|implausible|impossible|out)\b"
    r"|\)? (?:isn't|doesn't|cannot|can't|does not)\b",
    re.IGNORECASE,
)
_CONCLUDED = re.compile(
    r"\b(?:so|therefore|thus|hence|say|think|believe|guess|probably|likely|it's|it is|must be|be|conclude|→|=>)[,:]? "
    r"(?:it's |it is |it must be |that is |option )?\(?([A-Z])\)?(?= ?(?:[.,;!]|$|\n))",
    re.IGNORECASE,
)


class Letters:
    """Reads letters for a given set of options; indices are 0-based, those out of range are `len(options)` or more."""

    def __init__(self, words: OptionWords) -> None:
        self.words = words
        self.count = min(len(words.cores), len(ALPHABET))

    def head(self, segment: str, *, strict: bool) -> tuple[int, str] | None:
        """The letter at the head of a segment and what follows it; None if the segment does not begin with one.

        "A meniscus tear", "B cell lymphoma" and "C. difficile" do not: a letter must be followed by the end, a
        delimiter, a reason, or its own option's words. `strict` is for replies that mark no answer.
        """
        match = _HEAD.match(segment)
        if not match:
            return None
        letter, closing = match[1], match[2]
        rest = segment[match.end() :]
        alone = not rest.strip(" .:)!")
        if letter.islower() and not (alone or ")" in closing or (rest.startswith(".") and self.own(letter, rest))):
            return None
        if (several := _NEXT.match(rest) or _NEXT_CLOSED.match(rest)) and several[1] != letter:
            return SEVERAL, rest
        if alone or self._ends_letter(letter, closing, rest, strict=strict):
            return ALPHABET.index(letter.upper()), rest
        return None

    def marked(self, text: str) -> Iterator[int]:
        """Letters marked in prose ("(B)", "option B", "B is correct", "so B") and not denied."""
        for pattern in (_MARKED, _CONCLUDED):
            for match in pattern.finditer(text):
                group = match.lastindex or 1
                letter = match[group]
                start, end = match.span(group)
                if not letter.isupper() or (pattern is _MARKED and group == 1 and ALPHABET.index(letter) >= self.count):
                    continue  # "(R)" beside three options is no option, "option R" is a wrong one
                if _DENIED_BEFORE.search(text, max(0, start - 50), start) or _DENIED_AFTER.match(text, end):
                    continue
                yield ALPHABET.index(letter)

    def own(self, letter: str, rest: str) -> bool:
        """Whether the words of the letter's own option stand directly behind it."""
        index = ALPHABET.index(letter.upper())
        if index >= self.count or not self.words.cores[index]:
            return False
        folded = fold(rest).lstrip(" .:,)-–—")
        folded = re.sub(r"^(?:the|a|an) ", "", folded)
        core = self.words.cores[index]
        return folded.startswith(core) and not folded[len(core) : len(core) + 1].isalnum()

    def _ends_letter(self, letter: str, closing: str, rest: str, *, strict: bool) -> bool:
        if self.own(letter, rest):
            return True
        if ")" in closing or "]" in closing:
            return not strict or not re.match(r" (?:is|was|are|can|cannot|would|seems|looks|and|or|does|has)\b", rest)
        if (_STRICT_REASON if strict else _REASON).match(rest):
            return True
        if strict and letter == "A" and rest[:1] == ":":
            return False  # "Q: … A: …" labels an answer
        if rest[:1] == ".":
            return bool(re.match(r"\. ?(?:$|\n|[^a-z\s.])", rest) or _LOWER_REASON.match(rest[1:].lstrip()))
        return bool(re.match(r" ?(?:[:;,!\n\ue001]|[-–—](?= |$)|\((?!s\)))", rest))
