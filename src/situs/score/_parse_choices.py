"""Which options a reply chooses, where several may be right."""

from __future__ import annotations

import re
from collections.abc import Sequence

from situs.items import Option
from situs.score._parse_claims import claims, sentences
from situs.score._parse_clean import clean
from situs.score._parse_common import Parsed, RefusedInWords, Result, Unparsed
from situs.score._parse_letters import ALPHABET, Letters
from situs.score._parse_option_text import OptionWords, fold
from situs.score._parse_refusal import after_refusal, refuses

__all__ = ["parse_choices"]

_RUN = re.compile(
    r"\W*(?:options? |choices? |answers? |letters? )?((?:\(?\b[A-Za-z]\b\)?[\s,;/&+.]*(?:\b(?:and|or)\b\s*)?)+)\W*",
    re.I,
)
_NAMED_RUN = re.compile(
    r"\b(?:correct|right|true|best|chosen|selected|applicable|following|the|my) "
    r"(?:options|choices|answers|letters|statements|ones)"
    r"(?: (?:are|would be))?:? ((?:\(?[A-Z]\b\)?[ ,;/&+]*(?:and |or )?)+)(?=[.\n;]|$)"
)
_GLUED = re.compile(r"\W*([A-Z]{2,10})\W*")
_HEADED = re.compile(r"(?:^|(?<=[\s,;(&+/]))\(?([A-Za-z])(?:\)|[.:]\)?|(?= [-–—] ))\s*")
_ALL = re.compile(
    r"\b(?:all (?:of )?(?:the )?(?:above|options|choices|of them)|all (?:four|three|five) (?:options|choices)?)\b", re.I
)
_NONE = re.compile(r"\bnone (?:of (?:the )?(?:above|options|choices|them|these))\b|^\W*none\W*$", re.I)


def parse_choices(text: str, options: Sequence[Option]) -> Result[tuple[str, ...]]:
    """The values of all options that the reply chooses, in the order of the options.

    By letters ("A, C", "(A)(C)", "AC", a JSON list) or by the options' words; a marked answer wins over prose. Options
    that are denied do not count, and neither does the article "a".
    """
    plain = clean(text)
    if not plain:
        return Unparsed("empty")
    words = OptionWords.of(options)
    reader = _Reader(options, words)
    marked = claims(plain)
    finals = [claim for claim in marked if claim.final]
    if finals:
        together = [claim.payload for claim in finals if claim.group == finals[-1].group]
        return reader.result(reader.chosen(" and ".join(together)), plain)
    named = list(_NAMED_RUN.finditer(plain))
    if named and (chosen := reader.chosen(named[-1][1])):
        return reader.result(chosen, plain)
    stated = [chosen for claim in marked if (chosen := reader.chosen(claim.payload))]
    if stated:
        return reader.result(stated[-1], plain)
    return reader.result(reader.chosen(reader.without_list(plain)), plain)


class _Reader:
    def __init__(self, options: Sequence[Option], words: OptionWords) -> None:
        self._options = options
        self._words = words
        self._letters = Letters(words)
        self._count = self._letters.count

    def result(self, chosen: set[int] | None, plain: str) -> Result[tuple[str, ...]]:
        if chosen is None:
            return Unparsed("no such option")
        if not chosen and _NONE.search(plain):
            return Parsed(())
        if not chosen:
            return RefusedInWords() if refuses(plain) else Unparsed("no option named")
        return Parsed(tuple(option.value for index, option in enumerate(self._options) if index in chosen))

    def chosen(self, part: str) -> set[int] | None:
        """The options that a stretch of text chooses; None for a letter that no option has."""
        first = part.split("\n")[0].strip()
        run = _RUN.fullmatch(first)
        letters = re.findall(r"\b[A-Za-z]\b", run[1]) if run else []
        glued = _GLUED.fullmatch(first)
        if glued and len(set(glued[1])) == len(glued[1]) and max(map(ALPHABET.index, glued[1])) < self._count:
            letters = list(glued[1])
        if letters:
            found = {ALPHABET.index(letter.upper()) for letter in letters}
            return found if max(found) < self._count else None
        rest = after_refusal(part)
        if _ALL.search(rest) and not any("all of the above" in core for core in self._words.cores):
            return set(range(self._count))
        return (
            self._headed(rest)
            | {index for index in self._letters.marked(rest) if index < self._count}
            | self._named(rest)
        )

    def without_list(self, plain: str) -> str:
        """The text without a repetition of all options."""
        text = plain
        for index, option in enumerate(self._options[: self._count]):
            listed = re.compile(
                rf"\(?\b{ALPHABET[index]}[).:]\s*{re.escape(' '.join(option.text.split()))}[.,;]?", re.I
            )
            match = listed.search(text)
            if match is None:
                return plain
            text = f"{text[: match.start()]} {text[match.end() :]}"
        return text if re.search(r"\w", text) else plain

    def _headed(self, text: str) -> set[int]:
        """Letters that stand before their own option's words, or with a closing mark at the head of a statement."""
        found = set()
        for match in _HEADED.finditer(text):
            index = ALPHABET.index(match[1].upper())
            if index < self._count and self._letters.own(match[1], text[match.end() :]):
                found.add(index)
        return found

    def _named(self, text: str) -> set[int]:
        named: set[int] = set()
        denied: set[int] = set()
        for statement in sentences(text) or [text]:
            for mention in self._words.mentions(fold(statement), bare_numbers=False):
                if mention.denied:
                    denied.add(mention.option)
                elif not mention.aside:
                    named.add(mention.option)
        return named - denied
