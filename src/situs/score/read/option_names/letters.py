"""Letters that stand for options, and those that are articles, grades or names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from situs.score.read.option_names.phrases import ALPHABET, core, option_words
from situs.score.read.prose.beside import just_after, just_before
from situs.score.read.prose.tokens import Mention

__all__ = ["ALPHABET", "ANNOUNCED", "OptionLetters"]

_LETTER = re.compile(r"(?<!\w)(?<!\w')([A-Za-z])(?!\w|'\w|-\w)")

_NAMED_PREFIX = re.compile(
    r"\b(?:option|choice|letter|mark|marker|point|label|labelled|labeled|circle|answer|ans)s?[.:]?"
    r"(?: ?[-–—=>]+)? ?[\"'(\[]?$",
    re.IGNORECASE,
)

_OPTION_PREFIX = re.compile(
    r"\b(?:option|choice|letter|answer|ans)s?[.:]? ?[\"'(\[]?$", re.IGNORECASE
)

_LISTED_BEFORE = re.compile(r"(?<!\w)[A-Z]\)?(?:,|;| and| &|,? and) ?\(?$")

ANNOUNCED = re.compile(
    r"(?:\b(?:answer(?:'s)?|ans|is|it's|that's|case|choose|pick|select)\b|[:=→])[: ]*"
    r"[\"'(\[]?$",
    re.IGNORECASE,
)

_BESIDE_X = re.compile(r"\bX and (?:mark |point )?$")


@lru_cache(maxsize=4)
def _heads_others(plain: str) -> bool:
    """Whether a letter other than A heads something; asked for every "A:" of a reply."""
    return re.search(r"(?<!\w)[B-Z]:", plain) is not None


# "A 0.95, B 0.03": how likely each is, not which is chosen.
_PROBABILITY = re.compile(
    r"\)? ?[:=(]? ?(?:0?\.[0-9]+|[01]\.[0-9]+|[0-9]{1,3} ?%)(?![0-9]* ?[a-z]m\b)"
)

# "Only A survives": what such a word singles out is no noun with its article.
_MID_SENTENCE = re.compile(r"\b(?:only|just|leaving|leaves|remaining|but|than|nor) $")

# "Both C and A fit": an article inside a sentence is no capital.
_INSIDE = re.compile(r"[a-z]{2},? $|(?<![A-Za-z])[B-Z] (?:and|or) $")

_LOWER_REASON = frozenset(
    {
        "because",
        "since",
        "due",
        "the",
        "this",
        "these",
        "it",
        "based",
        "as",
        "in",
        "there",
        "here",
        "on",
        "i",
        "explanation",
        "reason",
    }
)

_LOWER_VERDICT = frozenset(
    {"yes", "no", "not", "correct", "incorrect", "wrong", "true", "false", "present", "absent"}
)


def _tail(after: str) -> str:
    """The word that follows at once."""
    match = re.match(r"[ ]?([A-Za-z']+)", after)
    return match[1].lower() if match else ""


class OptionLetters:
    """Finds the letters of options in a reply."""

    def __init__(self, cores: Sequence[str], count: int) -> None:
        self.cores = cores
        self.count = count
        self.starts: set[int] = set()
        """Where mentions by letter begin, in the text of the last call."""

    def mentions(self, plain: str) -> Iterator[Mention]:
        """Every letter that stands for an option; one beyond the last is that of none."""
        self.starts = set()
        letters = [match for match in _LETTER.finditer(plain) if self._is_option(plain, match)]
        shares = {match.start() for match in letters if _PROBABILITY.match(plain, match.end())}
        for match in letters:
            self.starts.add(match.start())
            index = ALPHABET.index(match[1].upper())
            # "A (70 % sure)" chooses; "A 0.7, B 0.3" weighs.
            weighed = len(shares) > 1 and match.start() in shares
            yield Mention(match.start(), self._end(plain, match.end(), index), index, idle=weighed)
        for match in re.finditer(r"(?<!\w)([A-Z])\1{1,4}(?!\w)", plain):
            if plain.strip(" .") == match[0]:
                yield Mention(match.start(), match.end(), ALPHABET.index(match[1]))

    def _end(self, plain: str, end: int, index: int) -> int:
        """Where a letter ends: behind its option's text, if that is a letter too ("B) C")."""
        words = self.cores[index] if index < self.count else ""
        following = (
            re.compile(rf"[).:]+ ?{re.escape(words)}(?!\w)", re.IGNORECASE).match(plain, end)
            if len(words) == 1
            else None
        )
        return following.end() if following else end

    def _is_option(self, plain: str, match: re.Match[str]) -> bool:
        letter = match[1]
        before, after = (
            just_before(plain, match.start(), 30),
            just_after(plain, match.end(), 40),
        )
        index = ALPHABET.index(letter.upper())
        enclosed = before[-1:] in {"(", "["} and after[:1] in {")", "]"}
        named = _NAMED_PREFIX.search(before) is not None
        alone = _is_alone(before, after)
        if _denied_noun(before) or _tail(after) in option_words()["letter_tails"]:
            return False
        if (
            letter == "A"
            and after[:1] == ":"
            and not self._owns(index, after)
            and self._labels_answer(plain, match)
        ):
            return False
        if index >= self.count:
            listed = (
                _LISTED_BEFORE.search(before) is not None
                and not _tail(after)
                and letter not in "IX"
            )
            optional = _OPTION_PREFIX.search(before) is not None
            return letter.isupper() and (
                optional or alone or listed or bool(ANNOUNCED.search(before) and not _tail(after))
            )
        if letter.islower():
            return self._is_lower_option(plain, match, enclosed=enclosed, named=named, alone=alone)
        if _BESIDE_X.search(before):
            return True
        if (
            enclosed
            or (named and not _is_article(letter, after, before))
            or alone
            or self._owns(index, after)
        ):
            return True
        if after[:2] == ". " and after[2:3].islower():
            return _tail(after[1:]) in _LOWER_REASON | _LOWER_VERDICT
        return letter not in "AI" or not _is_article(letter, after, before)

    @staticmethod
    def _labels_answer(plain: str, match: re.Match[str]) -> bool:
        """Whether "A:" stands for "Answer:", as in "Q: … A: …": no other letter heads a line so,
        and no verdict follows."""
        verdict = re.match(
            r": ?(?:yes|no|true|false|correct|incorrect|wrong|right|present|absent|[✓✔✅✗✘❌])\b",
            just_after(plain, match.end(), 14),
            re.IGNORECASE,
        )
        return verdict is None and not _heads_others(plain)

    def _is_lower_option(
        self, plain: str, match: re.Match[str], *, enclosed: bool, named: bool, alone: bool
    ) -> bool:
        before, after = (
            just_before(plain, match.start(), 30),
            just_after(plain, match.end(), 40),
        )
        ends = re.match(r"[ .!)\"'\]\ue001]*(?:\n|$)", after) is not None
        if alone or enclosed:
            return True
        if named and (ends or after[:1] in {")", ":", ","} or match[1] not in "ai"):
            return True
        if after[:1] == ")" and (not before or before[-1:] == "\n"):
            return True
        # "Answer is a)": a bracket stands behind no article.
        marked = match[1] != "a" or after[:1] == ")"
        if ends and marked and ANNOUNCED.search(before):
            return True
        return (
            after[:1] in {".", ")"}
            and (not before or before[-1:] == "\n")
            and self._owns(ALPHABET.index(match[1].upper()), after)
        )

    def _owns(self, index: int, after: str) -> bool:
        """Whether the words of the letter's own option stand directly behind it."""
        words = self.cores[index]
        following = core(after.lstrip(" .:,)-–—("))
        return bool(words) and following.startswith(words[:30]) and len(words) > 1


def _is_alone(before: str, after: str) -> bool:
    """Whether a letter is all of its line."""
    opened = re.search(r"(?:^|[\n\ue000])[\s\"'(\[]*$", before)
    return (
        opened is not None
        and (len(before) < 30 or "\n" in before or "\ue000" in before)
        and bool(re.match(r"[\s.:)\]\"'!]*(?:$|\n|\ue001)", after))
    )


def _is_article(letter: str, after: str, before: str) -> bool:
    """Whether "A" is the article: an ordinary word follows."""
    if letter not in "AI" or (letter == "A" and _MID_SENTENCE.search(before)):
        return False
    if letter == "A" and _INSIDE.search(before) and re.match(r" [a-z]", after):
        return False
    if letter == "I":
        return not re.match(r"[).:\]]|\s*(?:$|\ue001)", after)
    if re.match(r" (?:most|very|quite) (?:likely|probably)\b", after):
        return False
    following = re.match(r" ([A-Za-z][A-Za-z'-]*)(?P<ends> ?(?:[;.,)\n]|$))?", after)
    if following is not None and following[1].endswith("ly") and following["ends"] is not None:
        return False  # "A definitely; C probably"
    return following is not None and following[1].lower() not in option_words()["behind_a"]


def _denied_noun(before: str) -> bool:
    match = re.search(r"([A-Za-z0-9-]+)\.? \(?$", before)
    if match is None:
        return False
    word = match[1].lower()
    return word in option_words()["letter_nouns"] or (
        any(c.isdigit() for c in word) and any(c.isalpha() for c in word)
    )
