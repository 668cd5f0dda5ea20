"""Where a reply names the options: by letter, by number,
by their words, or by a word that only one of them has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from situs.items.record import Option
from situs.score.read.intervals import named_ranges
from situs.score.read.option_names.composed import composed_names
from situs.score.read.option_names.context import (
    contradicted,
    idiom,
    names_another,
    of_picture,
    seen_from,
    told_apart,
)
from situs.score.read.option_names.letters import ALPHABET, ANNOUNCED, OptionLetters
from situs.score.read.option_names.phrases import (
    MOST_TEXT,
    core,
    option_words,
    pattern_of,
    phrases_of,
)
from situs.score.read.prose.beside import just_before
from situs.score.read.prose.content import content_words
from situs.score.read.prose.refusal import cannot_tell
from situs.score.read.prose.taken import Taken
from situs.score.read.prose.tokens import Mention

__all__ = ["OptionNames"]

_NUMBERED = re.compile(
    r"\b(?:option|choice) (?:number |no\.?"
    r" ?|#)?([0-9]{1,2}|one|two|three|four|five|six)\b(?![.,][0-9])",
    re.IGNORECASE,
)

# "The letter P marks a finding": drawn into the picture, no option.
_DRAWN = re.compile(r"\b(?:letter|mark|point) ([A-Z])\b")

_HARDLY_DIFFER = re.compile(
    r"\bdiffers? by (?:less|no more) than\b|\bthe same (?:level|height|size|length|volume)\b"
    r"|\b(?:they|both|the two) are (?:[a-z]+ly )?(?:level|equal|alike)\b|\b(?:equal|alike)$"
)

_LIKE = re.compile(
    r"\b(?:the same|equal|identical|similar|comparable)(?: in)?"
    r" (?:sizes?|volumes?|heights?|levels?|lengths?)\b"
    r"|\b(?:they're|they are|both are|are both|the two are) (?:[a-z]+ly )?level\b"
    r"|\b(?:are|is|be) (?:(?:about|roughly|nearly|virtually|essentially) )?equal(?: to)? within\b"
    r"|\bequally (?:large|big|sized)\b|\bof (?:(?:about|roughly|nearly) )?(?:the"
    r" same|equal|similar) (?:size|volume)\b"
    r"|\bno (?:meaningful|significant|real|relevant|appreciable|clear) (?:size |volume"
    r" )?difference\b"
    r"|\b(?:the same|equal|identical)(?= ?(?:[.,;:!)\n]|$|so\b))",
    re.IGNORECASE,
)

# "The difference is below 5 %", "they differ by only 2 %".
_DIFFERENCE = re.compile(
    r"\b(?:difference|discrepancy|gap)(?: in (?:size|volume))?(?: (?:between (?:them|the two)))?"
    r"(?: (?:is|of|was|being|amounts to))?(?P<bound> (?:only |well |just |clearly )?(?:below"
    r"|under|less than|within|<))?"
    r"(?: (?:only|about|just|roughly|approximately|around|~))* ?~?(?P<percent>[0-9]+"
    r"(?:\.[0-9]+)?) ?%"
    r"|\bdiffer(?:s|ing)? by(?P<less> (?:less than|under|no more than))?"
    r"(?: (?:only|about|just|roughly|approximately|around|~))* ?~?(?P<differ>[0-9]+"
    r"(?:\.[0-9]+)?) ?%"
    r"|(?P<below>\b(?:less than|under|below) (?:an? )?)(?P<of>[0-9]+(?:\.[0-9]+)?) ?%(?: of a)?"
    r" (?:difference|discrepancy)\b",
    re.IGNORECASE,
)
_PERCENT = re.compile(r"((?<![0-9])[0-9]++(?:\.[0-9]+)?) ?%")
_NEITHER = re.compile(
    r"\bneither(?: (?:one|kidney|lung|lobe|of them|of the two|side))?"
    r"(?: is (?:[a-z]+ly )?(?:larger|bigger|smaller|higher)(?: by more than [0-9]+ ?%)?)?"
    r"(?= ?(?:[.,;:!)\n]|$))",
    re.IGNORECASE,
)

_NONE_OF_THEM = frozenset(
    {"none", "none of them", "none of these", "none of those", "none of the above", "neither"}
)

_NONE = re.compile(r"none (?:of|shows?|is|are|has|have)\b|neither\b")

_COUNTED = ("one", "two", "three", "four", "five", "six")

_BOUND = re.compile(
    r"(?:\b(?:\w+er|more|less) than|\bat least|\bat most|\bup to|\bover|\bunder|[<>≤≥]) ?$",
    re.IGNORECASE,
)


_ON_THE = re.compile(r"\bon (?:the |its )?$", re.IGNORECASE)
_NOUN_BEHIND = re.compile(r"[ -]([a-z]{3,})", re.IGNORECASE)
_VERB_BEHIND = re.compile(r"(?: side)? [a-z]+s (?:it|the|them|everything)\b", re.IGNORECASE)


def _lies_there(plain: str, match: re.Match[str]) -> bool:
    """Whether a side only places what moves something ("the mass on the left pushes it …")."""
    before = just_before(plain, match.start(), 10)
    return bool(_ON_THE.search(before)) and bool(_VERB_BEHIND.match(plain, match.end()))


class OptionNames:
    """Finds the mentions of a given set of options;
    values are indices of options, `count` or more for none of them."""

    def __init__(self, options: Sequence[Option], question: str = "") -> None:
        self.options = options
        self.question = question
        self.count = min(len(options), len(ALPHABET))
        self.cores = tuple(core(option.text) for option in options)
        self.phrases = phrases_of(self.cores)
        self.unsure = [index for index, words in enumerate(self.cores) if cannot_tell(words)]
        self.alike = [i for i, words in enumerate(self.cores) if _HARDLY_DIFFER.search(words)]
        self.none = [i for i, words in enumerate(self.cores) if _NONE.match(words)]
        self.has_digits = any(re.search(r"[0-9]", words) for words in self.cores)
        self.words = frozenset(word for words in self.cores for word in content_words(words))
        self.offered = " ".join(option.text for option in options)
        self._letters = OptionLetters(self.cores, self.count)
        beyond = ALPHABET[self.count :]
        self._drawn = {match[1] for match in _DRAWN.finditer(question) if match[1] in beyond}

    def exact(self, plain: str) -> list[int]:
        """The options whose words are the whole text."""
        whole = core(plain)
        if whole in _NONE_OF_THEM:
            return self.none
        named = [index for index, words in enumerate(self.cores) if words and words == whole]
        if named or not whole.isalpha() or len(whole) < 4:
            return named
        # "Same", where one option alone has the word.
        return [index for index, words in enumerate(self.cores) if whole in words.split()]

    def mentions(self, plain: str) -> list[Mention]:
        """All mentions in a cleaned reply, longest words first where they overlap;
        no repetition of the option list."""
        taken = Taken(plain)
        found: list[Mention] = []
        echoed = self.echo(plain)
        ranges = named_ranges(plain, self.cores, self.question)
        named = (
            *self._by_words(plain),
            *self._by_likeness(plain),
            *ranges,
            *self._by_rank(plain),
            *self._letters.mentions(plain),
        )
        named = (*named, *composed_names(plain, self.cores, list(named)))
        for mention in named:
            if plain[mention.start : mention.end] in self._drawn:
                continue
            inside = any(start <= mention.start < end for start, end in echoed)
            if not inside and taken.take(mention.start, mention.end):
                found.append(mention)
        return _without_contrasts(plain, sorted(found, key=lambda mention: mention.start))

    def _by_words(self, plain: str) -> Iterator[Mention]:
        for phrase, index in self.phrases:
            bare_number = phrase.replace(".", "").isdigit()
            if len(phrase) < 2 and not bare_number:
                continue
            for match in pattern_of(phrase).finditer(plain):
                if (
                    bare_number
                    and not ANNOUNCED.search(just_before(plain, match.start(), 30))
                    and plain.strip(" .*") != match[0]
                ):
                    continue
                if names_another(plain, match.end(), phrase, self.cores[index]):
                    continue
                if contradicted(plain, match.start(), phrase, self.cores[index]):
                    continue
                if self._asked_about(plain, phrase, match.end()):
                    continue
                if match[0][0].isdigit() and _BOUND.search(just_before(plain, match.start(), 30)):
                    continue  # "more than 5 cm" does not say 5 cm
                idle = (
                    of_picture(plain, phrase, match.start(), match.end())
                    or seen_from(plain, match.start())
                    or idiom(plain, phrase, match.start(), match.end())
                )
                if self.cores[index].startswith("to the ") and _lies_there(plain, match):
                    idle = True
                if idle and idiom(plain, phrase, match.start(), match.end()):
                    continue
                yield Mention(match.start(), match.end(), index, idle=idle)

    def _asked_about(self, plain: str, phrase: str, end: int) -> bool:
        """Whether a side is part of a name in the question ("the left kidney lies below …")."""
        if phrase not in {"left", "right"}:
            return False
        noun = _NOUN_BEHIND.match(plain, end, end + 30)
        return noun is not None and f"{phrase} {noun[1].lower()}" in self.question.lower()

    def _by_likeness(self, plain: str) -> Iterator[Mention]:
        """ "They are about equal", where one option is that two things hardly differ."""
        for index, words in enumerate(self.cores):
            if _HARDLY_DIFFER.search(words):
                for pattern in (_LIKE, _NEITHER):
                    for match in pattern.finditer(plain):
                        yield Mention(match.start(), match.end(), index)
                yield from self._by_difference(plain, index)

    def _by_difference(self, plain: str, index: int) -> Iterator[Mention]:
        """A difference in per cent that is below the one of the option."""
        limit = _PERCENT.search(self.cores[index])
        for match in _DIFFERENCE.finditer(plain) if limit else ():
            bounded = match["bound"] or match["less"] or match["below"]
            percent = float(match["percent"] or match["differ"] or match["of"])
            if limit and (percent < float(limit[1]) or (bounded and percent == float(limit[1]))):
                yield Mention(match.start(), match.end(), index)

    def _by_rank(self, plain: str) -> Iterator[Mention]:
        """ "Option 3", "the second option", "the last one"."""
        for match in _NUMBERED.finditer(plain):
            word = match[1].lower()
            number = _COUNTED.index(word) + 1 if word in _COUNTED else int(word)
            if re.search(rf"\b{number}\b", " ".join(self.cores)):
                continue  # "option 2" beside an option "2 lesions"
            yield Mention(match.start(), match.end(), number - 1 if number else self.count)
        ordinals = option_words()["ordinals"]
        pattern = (
            rf"(?<!my )(?<!a )(?<!close )\b(?:the )?({'|'.join(ordinals)}|last)"
            r" (?:option|choice|one|answer)\b"
        )
        bare = (
            rf"(?:^|[.\n]|\b(?:so|only|hence|thus|therefore|it is|it's),?) ?the"
            rf" ({'|'.join(ordinals)}|last)(?: (?:applies|fits|is correct|is right|is seen))?"
            r"(?=[ .!]*(?:$|\n))"
        )
        found = re.compile(pattern, re.IGNORECASE).finditer(plain)
        # "Of the four, only the last applies": nothing else is counted in such a clause.
        alone = re.compile(bare, re.IGNORECASE).finditer(plain) if not self.has_digits else ()
        for match in (*found, *alone):
            word = match[1].lower()
            if self.has_digits and not match[0].lower().endswith(("option", "choice")):
                continue  # "the second one" of two numbers
            yield Mention(
                match.start(),
                match.end(),
                self.count - 1 if word == "last" else ordinals.index(word),
            )

    def echo(self, plain: str) -> list[tuple[int, int]]:
        """Where the reply repeats the list of options ("(A) the left (B) the right")."""
        spans: list[tuple[int, int, int]] = []
        position = 0
        for index, option in enumerate(self.options[: self.count]):
            words = " ".join(option.text.split())
            if not words:
                continue
            match = re.compile(
                rf"\(?\b{ALPHABET[index]}[).:] ?{re.escape(words[:MOST_TEXT])}[.,;]?",
                re.IGNORECASE,
            ).search(plain, position)
            if match:
                spans.append((index, *match.span()))
                position = match.end()
        listed = len(spans) >= 2 and len(spans) >= min(self.count, 3)
        if not listed or any(plain[a[2] : b[1]].strip(" \n,;|/-") for a, b in pairwise(spans)):
            return []
        if len(spans) < self.count and self.several:
            return []
        return [(spans[0][1], spans[-1][2])]

    @property
    def letters(self) -> set[int]:
        """Where mentions by letter begin, in the text of the last call."""
        return self._letters.starts

    several = False
    """Whether several options may be chosen: then only the whole list is a repetition."""


def _without_contrasts(plain: str, mentions: list[Mention]) -> list[Mention]:
    """Those that are only told from one another answer nothing:
    what is left over is no answer either."""
    apart = told_apart(plain)
    return [
        replace(one, idle=True) if any(a <= one.start < b for a, b in apart) else one
        for one in mentions
    ]
