"""Which option a reply chooses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from situs.items._record import Option
from situs.score._parse_claims import Claim, claims, lone_sentences, sentences
from situs.score._parse_clean import clean
from situs.score._parse_common import Parsed, RefusedInWords, Result, Unparsed, agree, settle
from situs.score._parse_letters import ALPHABET, SEVERAL, Letters
from situs.score._parse_option_text import Mention, OptionWords, fold
from situs.score._parse_refusal import after_refusal, cannot_tell, declines, refuses
from situs.score._parse_yes_no import read_head

__all__ = ["parse_choice"]

_SEVERAL = Unparsed("several options named")
_DISAGREE = Unparsed("letter and text disagree")
_OUT_OF_RANGE = Unparsed("no such option")
_OF_PICTURE = Unparsed("a side of the picture, not of the patient")
_CONTRADICTORY = Unparsed("contradictory answers")
_TURN = re.compile(
    r"(?:^|(?<=[.;!?,…\n—–-]) ?|(?<=[.;!?,…—–-] ))(?:(?:but |oh |hmm* |hm )?"
    r"(?P<word>wait|on second thoughts?|scratch that|correction|my mistake|i misspoke|oops|i mean|actually|no|sorry|"
    r"rather|make that)\b[ ,.:;!…—–-]*)+",
    re.IGNORECASE,
)
_STATEMENTS = re.compile(r"(?<=[.;!?\n])")
_STRONG_TURN = re.compile(r"\b(?:wait|on second|scratch|correction|my mistake|misspoke|oops)\b", re.IGNORECASE)
_TURNED_TO = re.compile(
    r"(?:it's |it is |it must be |it should be |that's |the answer is |i mean |i choose |option |answer |make that )*",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\b(?:option|choice) (?:number |no\.? ?|#)?([0-9]{1,2})\b(?![.,][0-9])", re.IGNORECASE)


def parse_choice(text: str, options: Sequence[Option]) -> Result[str]:
    """The value of the option that the reply chooses, by its letter or by its words.

    A marked answer wins; then a reply that begins or ends with a bare answer; then the only option that is named and
    not denied. Letters in prose ("hepatitis B", "A large lesion") are never answers. Where letter and words
    disagree, or several options are left, the reply is unparsed.
    """
    plain = clean(text)
    if not plain:
        return Unparsed("empty")
    reader = _Reader(options)
    result = reader.corrected(plain, reader.read(plain))
    return result if result is not None else Unparsed("no option named")


class _Reader:
    def __init__(self, options: Sequence[Option]) -> None:
        self.options = options
        self.words = OptionWords.of(options)
        self.letters = Letters(self.words)
        self.unsure = [index for index, core in enumerate(self.words.cores) if cannot_tell(core)]

    def read(self, plain: str) -> Result[str] | None:
        exact = self.words.exact(plain)
        if exact:
            return (
                self._one(exact)
                if self._letter_free(plain)
                else self._letter(ALPHABET.index(plain.strip(" .")[0].upper()))
            )
        text = self._without_echo(plain)
        result = settle(text, lambda claim: self._claim(claim))
        if result is not None:
            return result
        lone = [found for sentence in lone_sentences(text) if (found := self._lone(sentence)) is not None]
        head = self.letters.head(text, strict=True)
        if head is not None:
            lone.append(self._letter(head[0], head[1]))
        result = agree(lone)
        if result is not None:
            return result
        rest = after_refusal(text)
        if rest != text and (head := self.letters.head(rest.strip(" ,"), strict=True)) is not None:
            return self._letter(head[0], head[1])
        result = self._prose(_without_questions(rest), bare_numbers=False)
        return result if result is not None else self._refusal(text)

    def corrected(self, plain: str, result: Result[str] | None) -> Result[str] | None:
        """A result that a later "wait, actually C" takes back: the correction if it is unmistakable, else none."""
        turns = list(_TURN.finditer(plain))
        if not isinstance(result, Parsed) or not turns or any(claim.final for claim in claims(plain)):
            return result
        turn = turns[-1]
        if "no" in self.words.cores and turn["word"].lower() == "no":
            return result
        before, after = plain[: turn.start()].strip(" ,;"), plain[turn.end() :].strip()
        if not before:
            return result
        rest = sentences(after)
        now = self._lone(rest[0][match.end() :].strip()) if rest and (match := _TURNED_TO.match(rest[0])) else None
        if now is None and rest:
            letters = {index for index in self.letters.marked(rest[0]) if index < self.letters.count}
            if letters and self._one(sorted(letters)) != result:
                return _CONTRADICTORY
        if now is None:
            taken_back = _STRONG_TURN.search(turn[0]) and isinstance(self.read(before), Parsed)
            return _CONTRADICTORY if taken_back and self.read(after) != result else result
        if now == result:
            return result
        return now if isinstance(now, Parsed) and len(rest) == 1 else _CONTRADICTORY

    def _claim(self, claim: Claim) -> Result[str] | None:
        payload = claim.payload
        exact = self.words.exact(payload)
        if exact and self._letter_free(payload):
            return self._one(exact)
        head = self.letters.head(payload, strict=False)
        if head is not None:
            return self._letter(head[0], head[1])
        first = re.split(r"[.;!](?= |$)", payload, maxsplit=1)[0]
        for part in (first, payload):
            result = self._prose(after_refusal(part), bare_numbers=True)
            if result is not None:
                return result
        return self._refusal(payload)

    def _lone(self, sentence: str) -> Result[str] | None:
        """A sentence that is nothing but an answer."""
        exact = self.words.exact(sentence)
        if exact and self._letter_free(sentence):
            return self._one(exact)
        head = self.letters.head(sentence, strict=True)
        if head is not None and (not head[1].strip(" .:)") or self._named(head[1])):
            return self._letter(head[0], head[1])
        yes_no = read_head(sentence)
        if yes_no is not None:
            word = "yes" if yes_no else "no"
            return self._one([index for index, core in enumerate(self.words.cores) if core == word])
        return None

    def _prose(self, text: str, *, bare_numbers: bool) -> Result[str] | None:
        """The only option that a stretch of prose names without denying it."""
        letters = set(self.letters.marked(text))
        numbered = {int(match[1]) - 1 for match in _NUMBERED.finditer(text)}
        if numbered and not any(re.search(r"[0-9]", core) for core in self.words.cores):
            letters |= numbered
        folded = fold(text)
        mentions = self.words.mentions(folded, bare_numbers=bare_numbers)
        denied = {mention.option for mention in mentions if mention.denied}
        said = [mention for mention in mentions if not mention.denied and not mention.aside]
        named = {mention.option for mention in said} - denied
        if len(letters) > 1:
            return _SEVERAL
        if letters:
            index = next(iter(letters))
            return _DISAGREE if named and named != {index} and len(named) == 1 else self._letter(index)
        if len(named) == 1 and any(_compared(folded, one, mentions) for one in said if one.option in named):
            head = self._named(text)  # "the left, which is larger than the right"
            return self._one(head) if set(head) == named else _SEVERAL
        if not named and any(mention.of_picture for mention in mentions):
            return _OF_PICTURE
        return self._one(sorted(named)) if named else None

    def _refusal(self, text: str) -> Result[str] | None:
        """A refusal, unless it says just what one of the options says."""
        if cannot_tell(text) and not declines(text) and len(self.unsure) == 1:
            return Parsed(self.options[self.unsure[0]].value)
        return RefusedInWords() if refuses(text) else None

    def _letter(self, index: int, rest: str = "") -> Result[str]:
        """The option of a letter, checked against the words that follow it directly."""
        if index == SEVERAL:
            return _SEVERAL
        if not 0 <= index < self.letters.count:
            return _OUT_OF_RANGE
        named = [index] if self.letters.own(ALPHABET[index], rest) else self._named(rest)
        if named and index not in named:
            return _DISAGREE
        letter = ALPHABET[index].lower()
        if letter in self.words.cores and self.words.cores[index] != letter and not named:
            return _DISAGREE
        return Parsed(self.options[index].value)

    def _named(self, rest: str) -> list[int]:
        """The options whose words stand directly behind a letter, as words of their own and not as part of a reason."""
        folded = fold(rest).lstrip(" .:;,)]-–—=(\"'")
        folded = re.sub(r"^(?:the|a|an) ", "", folded)
        mentions = self.words.mentions(folded, bare_numbers=True)
        found = [mention for mention in mentions if mention.start == 0 and not mention.aside]
        if not found:
            return []
        behind = folded[found[0].end :]
        alone = re.match(r" ?(?:$|[.,;:!)\"']|because\b|since\b|as\b|[-–—] )", behind)
        return [mention.option for mention in found] if alone else []

    def _one(self, indices: list[int]) -> Result[str] | None:
        if len(indices) == 1:
            return Parsed(self.options[indices[0]].value)
        return _SEVERAL if indices else None

    def _letter_free(self, text: str) -> bool:
        bare = text.strip(" .,;:!\"'()")
        return len(bare) != 1 or bare.upper() not in ALPHABET[: self.letters.count]

    def _without_echo(self, text: str) -> str:
        """The text without a repetition of the options' list ("(A) the left (B) the right")."""
        spans: list[tuple[int, int, int]] = []
        position = 0
        for index, option in enumerate(self.options[: self.letters.count]):
            if not option.text.strip():
                continue
            pattern = rf"\(?\b{ALPHABET[index]}[).:] ?{re.escape(' '.join(option.text.split()))}[.,;]?"
            match = re.compile(pattern, re.IGNORECASE).search(text, position)
            if match:
                spans.append((index, *match.span()))
                position = match.end()
        if len(spans) < 2 or any(text[a[2] : b[1]].strip(" \n,;|/-") for a, b in pairwise(spans)):
            return text
        return f"{text[: spans[0][1]]}\n{text[spans[-1][2] :]}"


def _without_questions(text: str) -> str:
    """What a reply states; all of it if it only asks."""
    stated = "".join(part for part in _STATEMENTS.split(text) if not part.endswith("?"))
    return stated if stated.strip(" .,;!\n") else text


def _compared(folded: str, one: Mention, mentions: list[Mention]) -> bool:
    """Whether the mention's own sentence compares it with another option: which of them is chosen is not said."""
    start = max(folded.rfind(mark, 0, one.start) for mark in (". ", "; ", "! ", "? "))
    ends = [end for mark in (". ", "; ", "! ", "? ") if (end := folded.find(mark, one.end)) >= 0]
    end = min(ends, default=len(folded))
    others = (other for other in mentions if other.aside and not other.of_picture)
    return any(other.option != one.option and start < other.start < end for other in others)
