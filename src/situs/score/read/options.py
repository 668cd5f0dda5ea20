"""Where a reply names the options: by letter, by number, by their words, or by a word that only one of them has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, pairwise

from situs.items.record import Option
from situs.score.read.intervals import named_ranges
from situs.score.read.prose.content import content_words, opposites, other_forms
from situs.score.read.prose.folding import fold
from situs.score.read.prose.lexicon import language_file
from situs.score.read.prose.refusal import cannot_tell
from situs.score.read.prose.tokens import Mention

__all__ = ["ALPHABET", "OptionNames"]

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ARTICLE = re.compile(r"(?:the|a|an) ")
_PRONOUN = re.compile(r"(?:they|both|it|the two) (?=\w+ \w+)")
_LETTER = re.compile(r"(?<!\w)(?<!\w')([A-Za-z])(?!\w|'\w|-\w)")
_PREFIX = re.compile(
    r"(?:^|(?<=\W))(?:options?|choices?|letters?|answers?|ans|marks?|markers?|points?|labels?|labelled|labeled|circles?|alternatives?|the)"
    r"[.:]? ?[\"'(\[]?$",
    re.IGNORECASE,
)
_NAMED_PREFIX = re.compile(
    r"\b(?:option|choice|letter|mark|marker|point|label|labelled|labeled|circle|answer|ans)s?[.:]? ?[\"'(\[]?$",
    re.IGNORECASE,
)
_OPTION_PREFIX = re.compile(
    r"\b(?:option|choice|letter|answer|ans)s?[.:]? ?[\"'(\[]?$", re.IGNORECASE
)
_LISTED_BEFORE = re.compile(r"(?<!\w)[A-Z]\)?(?:,|;| and| &|,? and) ?\(?$")
_ANNOUNCED = re.compile(
    r"(?:\b(?:answer|ans|is|it's|case|choose|pick|select)\b|[:=→])[: ]*[\"'(\[]?$", re.IGNORECASE
)
_NUMBERED = re.compile(
    r"\b(?:option|choice) (?:number |no\.? ?|#)?([0-9]{1,2}|one|two|three|four|five|six)\b(?![.,][0-9])",
    re.IGNORECASE,
)
_BESIDE_X = re.compile(r"\bX and (?:mark |point )?$")
# "A 0.95, B 0.03": how likely each is, not which is chosen.
_PROBABILITY = re.compile(
    r"\)? ?[:=(]? ?(?:0?\.[0-9]+|[01]\.[0-9]+|[0-9]{1,3} ?%)(?![0-9]* ?[a-z]m\b)"
)
# "Only A survives": what such a word singles out is no noun with its article.
_MID_SENTENCE = re.compile(r"\b(?:only|just|leaving|leaves|remaining|but|than|nor) $")
_HARDLY_DIFFER = re.compile(
    r"\bdiffers? by (?:less|no more) than\b|\bthe same (?:level|height|size)\b"
)
_LIKE = re.compile(
    r"\b(?:the same|equal|identical|similar|comparable)(?: in)? (?:sizes?|volumes?|heights?|levels?)\b"
    r"|\bequally (?:large|big|sized)\b|\bof (?:(?:about|roughly|nearly) )?(?:the same|equal|similar) (?:size|volume)\b"
    r"|\bno (?:meaningful|significant|real|relevant|appreciable|clear) (?:size |volume )?difference\b"
    r"|\b(?:the same|equal|identical)(?= ?(?:[.,;:!)\n]|$|so\b))",
    re.IGNORECASE,
)
_COUNTED = ("one", "two", "three", "four", "five", "six")
_BOUND = re.compile(
    r"(?:\b(?:\w+er|more|less) than|\bat least|\bat most|\bup to|\bover|\bunder|[<>≤≥]) ?$",
    re.IGNORECASE,
)
_PICTURE = r"(?:image|picture|screen|slice|display|photo|scan|figure|frame|view|page|panel|viewer|film|monitor)s?"
_OF_PICTURE = re.compile(
    r"(?:[ -]hand)?(?: (?:side|half|part|edge|portion|corner))? (?:of|in|on) (?:the |this |each |every |my |your )?"
    rf"(?:[a-z]+ )?{_PICTURE}\b",
    re.IGNORECASE,
)
_PICTURE_BEFORE = re.compile(rf"\b{_PICTURE}(?:'s)? $", re.IGNORECASE)
# "In the image, it is on the left." may mean either left; "in the image, the left kidney …" names the kidney.
_PICTURE_LED = re.compile(
    rf"\b(?:in|on|within|from) (?:the |this |these |"
    rf"each )?(?:[a-z]+ )?{_PICTURE}\b[^.;!?\n]{{0,60}}\b(?:on|to|at|towards?) (?:the )?$",
    re.IGNORECASE,
)
_SIDE_ALONE = re.compile(r"(?:[ -]hand)?(?: side)? ?(?:$|[.,;!?)\n])")
_SIDED = re.compile(r"\b(?:left|right|top|bottom|upper|lower)\b", re.IGNORECASE)
_DIRECTED = re.compile(
    r"(?:^|[.;:!?,(/\"&<>\n\ue000-] ?|'s |\b(?:on|to|in|at|from|the|its|is|are|was|were|be|towards?|or|and|"
    r"but|more|lies?|sits?|than|"
    r"located|situated|positioned|placed|found|seen|extends?|appears?|directly|\w+ly|slightly|so|therefore|not|say|neither|nor|a|"
    r"answer|it's|directed|points?|pointing|further|farther|mostly|either|between|i'd say|guess|think|"
    r"likely|both|only|just|third|choose|pick|well|far|(?:is|lies|sits) right) )$",
    re.IGNORECASE,
)
_NO_DIRECTION = re.compile(
    r"(?:\b(?:you are|you're|that is|that's|this is|which is|what is|is all|(?<!favour )(?<!favor )of the|as) )$",
    re.IGNORECASE,
)
_IDIOM_AFTER = {
    "right": re.compile(
        r" (?:behind|above|below|next|beside|besides|in|on|at|under|over|there|here|away|now|after|before|by|up|down|"
        r"through|between|where|into|around|against|along|about|to|near|answer|option|choice)\b"
        r"|, (?:so|let|i|now|here|ok|okay|this|we)\b",
        re.IGNORECASE,
    ),
    "left": re.compile(
        r" (?:to (?:see|say|do|be|show|assess)|over|out|alone|behind|with|untouched)\b",
        re.IGNORECASE,
    ),
}
_ADJECTIVE = re.compile(
    r"[ -](?:of|kidney|lobe|lung|side|sided|one|adrenal|ureter|half|ventricle|atrium|hip|femur|breast|"
    r"upper|lower|middle|third|hemi\w+|hand)\b",
    re.IGNORECASE,
)
_MOST_TEXT = 400
"""Characters of an option's words that are looked for."""


class OptionNames:
    """Finds the mentions of a given set of options; values are indices of options, `count` or more for none of them."""

    def __init__(self, options: Sequence[Option], question: str = "") -> None:
        self.options = options
        self.question = question
        self.count = min(len(options), len(ALPHABET))
        self.cores = tuple(core(option.text) for option in options)
        self.phrases = _phrases(self.cores)
        self.unsure = [index for index, words in enumerate(self.cores) if cannot_tell(words)]
        self.has_digits = any(re.search(r"[0-9]", words) for words in self.cores)
        self.words = frozenset(word for words in self.cores for word in content_words(words))
        self.about = " ".join([question, *(option.text for option in options)])
        self.letters: set[int] = set()
        """Where mentions by letter begin, in the text of the last call."""

    def exact(self, plain: str) -> list[int]:
        """The options whose words are the whole text."""
        whole = core(plain)
        return [index for index, words in enumerate(self.cores) if words and words == whole]

    def mentions(self, plain: str) -> list[Mention]:
        """All mentions in a cleaned reply, longest words first where they overlap; no repetition of the option list."""
        taken = bytearray(len(plain))
        found: list[Mention] = []
        self.letters = set()
        echoed = self.echo(plain)
        ranges = named_ranges(plain, self.cores, self.question)
        named = (
            *self._by_words(plain),
            *self._by_likeness(plain),
            *ranges,
            *self._by_rank(plain),
            *self._by_letter(plain),
        )
        for mention in named:
            inside = any(start <= mention.start < end for start, end in echoed)
            if not inside and taken.find(1, mention.start, mention.end) < 0:
                taken[mention.start : mention.end] = b"\x01" * (mention.end - mention.start)
                found.append(mention)
        return sorted(found, key=lambda mention: mention.start)

    def _by_words(self, plain: str) -> Iterator[Mention]:
        for phrase, index in self.phrases:
            bare_number = phrase.replace(".", "").isdigit()
            if len(phrase) < 2 and not bare_number:
                continue
            for match in _pattern(phrase).finditer(plain):
                if (
                    bare_number
                    and not _ANNOUNCED.search(plain[max(0, match.start() - 30) : match.start()])
                    and plain.strip(" .*") != match[0]
                ):
                    continue
                if _names_another(plain, match.end(), phrase, self.cores[index]):
                    continue
                if _contradicted(plain, match.start(), phrase, self.cores[index]):
                    continue
                if match[0][0].isdigit() and _BOUND.search(
                    plain[max(0, match.start() - 30) : match.start()]
                ):
                    continue  # "more than 5 cm" does not say 5 cm
                idle = (
                    _of_picture(plain, phrase, match.start(), match.end())
                    or _seen_from(plain, match.start())
                    or _idiom(plain, phrase, match.start(), match.end())
                )
                if idle and _idiom(plain, phrase, match.start(), match.end()):
                    continue
                yield Mention(match.start(), match.end(), index, idle=idle)

    def _by_likeness(self, plain: str) -> Iterator[Mention]:
        """ "They are about equal", where one option is that two things hardly differ."""
        for index, words in enumerate(self.cores):
            if _HARDLY_DIFFER.search(words):
                for match in _LIKE.finditer(plain):
                    yield Mention(match.start(), match.end(), index)

    def _by_rank(self, plain: str) -> Iterator[Mention]:
        """ "Option 3", "the second option", "the last one"."""
        if self.has_digits:
            return
        for match in _NUMBERED.finditer(plain):
            word = match[1].lower()
            number = _COUNTED.index(word) + 1 if word in _COUNTED else int(word)
            yield Mention(match.start(), match.end(), number - 1 if number else self.count)
        ordinals = _words()["ordinals"]
        pattern = rf"(?<!my )(?<!a )(?<!close )\b(?:the )?({'|'.join(ordinals)}|last) (?:option|choice|one|answer)\b"
        for match in re.compile(pattern, re.IGNORECASE).finditer(plain):
            word = match[1].lower()
            yield Mention(
                match.start(),
                match.end(),
                self.count - 1 if word == "last" else ordinals.index(word),
            )

    def _by_letter(self, plain: str) -> Iterator[Mention]:
        letters = [match for match in _LETTER.finditer(plain) if self._is_option(plain, match)]
        shares = {match.start() for match in letters if _PROBABILITY.match(plain, match.end())}
        for match in letters:
            self.letters.add(match.start())
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
            plain[max(0, match.start() - 30) : match.start()],
            plain[match.end() : match.end() + 40],
        )
        index = ALPHABET.index(letter.upper())
        enclosed = before[-1:] in {"(", "["} and after[:1] in {")", "]"}
        named = _NAMED_PREFIX.search(before) is not None
        alone = _is_alone(before, after)
        if _denied_noun(before) or _tail(after) in _words()["letter_tails"]:
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
                optional or alone or listed or bool(_ANNOUNCED.search(before) and not _tail(after))
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
            plain[match.end() : match.end() + 14],
            re.IGNORECASE,
        )
        return verdict is None and not re.search(r"(?<!\w)[B-Z]:", plain)

    def _is_lower_option(
        self, plain: str, match: re.Match[str], *, enclosed: bool, named: bool, alone: bool
    ) -> bool:
        before, after = (
            plain[max(0, match.start() - 30) : match.start()],
            plain[match.end() : match.end() + 40],
        )
        ends = re.match(r"[ .!)\"'\]\ue001]*(?:\n|$)", after) is not None
        if alone or enclosed:
            return True
        if named and (ends or after[:1] in {")", ":", ","}):
            return True
        if after[:1] == ")" and (not before or before[-1:] == "\n"):
            return True
        if ends and match[1] != "a" and _ANNOUNCED.search(before):
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

    def echo(self, plain: str) -> list[tuple[int, int]]:
        """Where the reply repeats the list of options ("(A) the left (B) the right")."""
        spans: list[tuple[int, int, int]] = []
        position = 0
        for index, option in enumerate(self.options[: self.count]):
            words = " ".join(option.text.split())
            if not words:
                continue
            match = re.compile(
                rf"\(?\b{ALPHABET[index]}[).:] ?{re.escape(words[:_MOST_TEXT])}[.,;]?",
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

    several = False
    """Whether several options may be chosen: then only the whole list is a repetition."""


def core(text: str) -> str:
    """An option's words without case, a leading article and outer punctuation."""
    folded = fold(text).strip(" .,;:!\"'\n")
    return _ARTICLE.sub("", folded, count=1) if _ARTICLE.match(folded) else folded


@lru_cache(maxsize=1)
def _words() -> dict[str, list[str]]:
    return language_file("en")["options"]


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


@lru_cache(maxsize=512)
def _phrases(cores: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """What to look for and which option it means, longest first."""
    skipped = {"", "yes", "no", "true", "false"}
    found: dict[str, set[int]] = {}
    for index, words in enumerate(cores):
        for phrase in {words, *_variants(words), *_distinct(index, cores)}:
            if phrase not in skipped:
                found.setdefault(phrase[:_MOST_TEXT], set()).add(index)
    for phrase in list(found):
        mixed = [
            i for i, words in enumerate(cores) if i not in found[phrase] and _holds(words, phrase)
        ]
        if phrase not in cores and (len(found[phrase]) > 1 or mixed):
            del found[phrase]
    ordered = sorted(found.items(), key=lambda pair: (-len(pair[0]), pair[0]))
    return tuple((phrase, index) for phrase, indices in ordered for index in sorted(indices))


def _variants(words: str) -> Iterator[str]:
    """Other words for an option that is nothing but a direction."""
    pronoun = _PRONOUN.match(words)
    if pronoun:
        yield words[pronoun.end() :]  # "the two kidneys differ by less than 5 %"
    content = [word for word in words.split() if word not in _words()["direction_fillers"]]
    if len(content) >= 3 and words.replace(" ", "").isalpha():
        yield "".join(word[0] for word in content)  # "ivc" for "inferior vena cava"
    *attributes, last = words.split() or [""]
    for adjective in other_forms(last) if len(attributes) < 2 else ():
        yield " ".join([*attributes, adjective])  # "right renal" for "right kidney"
    if len(content) == 2 and content[1] in _GENERIC:
        yield from (f"{other} {content[1]}" for other in _same_direction(content[0]))
    if len(content) != 1:
        return
    yield content[0]
    yield from _same_direction(content[0])


def _same_direction(word: str) -> list[str]:
    for line in _words()["directions"]:
        same = [other.strip() for other in line.split("|")]
        if word == same[0]:
            return same
    return []


_MOST_ATTRIBUTES = 3
"""Attributes of an option that may name it without their noun ("left frontal" of "left frontal lobe")."""
_GENERIC = frozenset(
    {
        "side",
        "third",
        "one",
        "part",
        "half",
        "lobe",
        "level",
        "mark",
        "point",
        "loss",
        "order",
        "size",
        "mm",
        "cm",
        "ml",
        "cut",
        "off",
        "%",
    }
)
"""Last words that name nothing by themselves."""


def _distinct(index: int, cores: tuple[str, ...]) -> Iterator[str]:
    """What names an option by a part of its words that no other has: "upper" of "upper third", its last words."""
    words = cores[index].split()
    if len(words) < 2 or any(
        "," in other and other.split()[-1] == words[-1] for other in cores if other
    ):
        return
    sharing = [other for other in cores if other.split()[-1:] == words[-1:]]
    if (
        len(sharing) >= 2
        and len(words) <= _MOST_ATTRIBUTES + 1
        and cores[index].replace(" ", "").isalpha()
    ):
        for start, end in combinations(range(len(words)), 2):
            if end - start > 1 or len(words[start]) > 2:
                yield " ".join(words[start:end])
            if end - start == 1 and start == 0:
                yield from other_forms(words[0])
    for start in range(1, len(words)):
        last = " ".join(words[start:])
        if (
            (words[-1] not in _GENERIC or words[start] not in _GENERIC)
            and "," not in cores[index]
            and len(last) > 3
            and last.replace(" ", "").isalpha()
        ):
            yield last


def _holds(words: str, phrase: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", words) is not None


@lru_cache(maxsize=4096)
def _pattern(phrase: str) -> re.Pattern[str]:
    before = r"(?<![\w])(?<![0-9][.,])" + (r"(?<!-)" if phrase[0].isdigit() else "")
    words = [_spelling(re.escape(word)) for word in phrase.split(" ")]
    joined = r"[ -]".join(words)
    # An order may be written with other signs: "liver > stomach > spleen", "liver, then stomach and spleen".
    joined = re.sub(
        r",\[ -\]",
        r"(?:,? ?(?:>|≥|→)|,? (?:then|followed by|and(?: then)?)|,|;) ?(?:the )?",
        joined,
    )
    joined = re.sub(r"(?<=[0-9])\[ -\](?=%|mm|cm|ml|l|m)", " ?", joined)
    joined = re.sub(r"(?<=[0-9])\[ -\](?=\\%)", " ?", joined)
    plural = "s?" if phrase[-1].isalpha() and len(phrase) > 4 and phrase[-1] not in "s" else ""
    after = r"(?!\w)(?![.,][0-9])" + (r"(?!')" if len(phrase) < 2 else "")
    return re.compile(before + joined + plural + after, re.IGNORECASE)


def _spelling(word: str) -> str:
    """British and American spellings of a word."""
    return (
        word.replace("oe", "o?e")
        .replace("ae", "a?e")
        .replace("our", "ou?r")
        .replace("centre", "cent(?:re|er)")
        .replace("gallbladder", "gall[ -]?bladder")
    )


def _of_picture(plain: str, phrase: str, start: int, end: int) -> bool:
    """Whether a side is that of the picture, as far as the words tell."""
    if not _SIDED.search(phrase) or re.search(rf"\b{_PICTURE}\b", phrase):
        return False
    before = plain[max(0, start - 100) : start]
    if _OF_PICTURE.match(plain, end, end + 60) or _PICTURE_BEFORE.search(before[-60:]):
        return True
    side = phrase.removeprefix("the ")
    return bool(" " not in side and _PICTURE_LED.search(before) and _SIDE_ALONE.match(plain, end))


_NEXT_WORD = re.compile(r"[ -]([a-z]+)", re.IGNORECASE)


def _names_another(plain: str, end: int, phrase: str, words: str) -> bool:
    """Whether attributes of an option stand before another noun ("right adrenal" for "right kidney").

    An adjective names its organ only before what lies in it ("splenic lesion"); alone it may be a vein's.
    """
    following = _NEXT_WORD.match(plain, end, end + 30)
    word = following[1].lower() if following else ""
    if words and phrase.split()[-1] in other_forms(words.split()[-1]):
        return word not in _IN_ORGAN
    attributes = words.startswith(f"{phrase} ") or f" {phrase} " in words
    if not attributes or not word:
        return False
    return word not in _behind_attributes() and word not in words.split()


def _contradicted(plain: str, start: int, phrase: str, words: str) -> bool:
    """Whether the word before a part of an option is against the rest of it ("right parietal" for "left parietal")."""
    if len(phrase) >= len(words):
        return False
    before = _LAST_WORD.search(plain, max(0, start - 20), start)
    against = opposites().get(before[1].lower(), frozenset()) if before else frozenset()
    return any(word in against for word in words.split() if word not in phrase.split())


_LAST_WORD = re.compile(r"([a-z]+)[ -]$", re.IGNORECASE)


_IN_ORGAN = frozenset(
    {
        "lesion",
        "lesions",
        "mass",
        "masses",
        "tumour",
        "tumor",
        "cyst",
        "nodule",
        "finding",
        "metastasis",
        "parenchyma",
    }
)


@lru_cache(maxsize=1)
def _behind_attributes() -> frozenset[str]:
    """Words that may follow an attribute without being the noun that it belongs to."""
    vocabulary = language_file("en")
    fillers = vocabulary["fillers"]
    return frozenset(
        [
            *fillers["words"],
            *fillers["verbs"],
            *vocabulary["topic"]["idle"],
            *_words()["behind_a"],
            *_GENERIC,
        ]
    ) | {"region", "area", "aspect", "because", "where", "however", *_IN_ORGAN}


_SEEN_FROM = re.compile(
    r"\b(?:below|above|under|beneath|underneath|beyond|behind|in front of|anterior to|posterior to|superior to|"
    r"inferior to|lateral to|medial to|(?:left|right) of) (?:the )?$",
    re.IGNORECASE,
)


def _seen_from(plain: str, start: int) -> bool:
    """Whether what is named only tells where something else lies ("below L2, at L3")."""
    return _SEEN_FROM.search(plain[max(0, start - 24) : start]) is not None


def _idiom(plain: str, phrase: str, start: int, end: int) -> bool:
    """Whether a word of direction is none here: "right behind", "nothing left to see", "as I said above"."""
    if (
        " " in phrase
        or phrase not in _directions()
        or phrase in {"upper", "middle", "lower", "central", "mid"}
    ):
        return False
    before = plain[max(0, start - 60) : start]
    idiom = _IDIOM_AFTER.get(phrase)
    if (idiom and idiom.match(plain, end, end + 30)) or _NO_DIRECTION.search(before):
        return True
    return not _DIRECTED.search(before) and not _ADJECTIVE.match(plain, end, end + 20)


@lru_cache(maxsize=1)
def _directions() -> frozenset[str]:
    words = {word.strip() for line in _words()["directions"] for word in line.split("|")}
    return frozenset(
        words
        | {
            "medial",
            "lateral",
            "up",
            "down",
            "inside",
            "outside",
            "over",
            "under",
            "before",
            "after",
            "back",
        }
    )


def _tail(after: str) -> str:
    """The word that follows at once."""
    match = re.match(r"[ ]?([A-Za-z']+)", after)
    return match[1].lower() if match else ""


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
    if letter == "I":
        return not re.match(r"[).:\]]|\s*(?:$|\ue001)", after)
    if re.match(r" (?:most|very|quite) (?:likely|probably)\b", after):
        return False
    following = re.match(r" ([A-Za-z][A-Za-z'-]*)(?P<ends> ?(?:[;.,)\n]|$))?", after)
    if following is not None and following[1].endswith("ly") and following["ends"] is not None:
        return False  # "A definitely; C probably"
    return following is not None and following[1].lower() not in _words()["behind_a"]


def _denied_noun(before: str) -> bool:
    match = re.search(r"([A-Za-z0-9-]+)[:.]? \(?$", before)
    if match is None:
        return False
    word = match[1].lower()
    return word in _words()["letter_nouns"] or (
        any(c.isdigit() for c in word) and any(c.isalpha() for c in word)
    )
