"""The words that name an option: its own, and those that only it has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations

from situs.score.read.prose.content import content_words, fold, other_forms
from situs.score.read.prose.lexicon import language_file

__all__ = [
    "ALPHABET",
    "GENERIC",
    "MOST_TEXT",
    "as_options_write",
    "both_sides_named",
    "core",
    "option_words",
    "pattern_of",
    "phrases_of",
]

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

_ARTICLE = re.compile(r"(?:the|a|an) ")

_PRONOUN = re.compile(r"(?:they|both|it|the two) (?=\w+ \w+)")

MOST_TEXT = 400
"""Characters of an option's words that are looked for."""


def core(text: str) -> str:
    """An option's words without case, a leading article and outer punctuation."""
    folded = fold(text).strip(" .,;:!\"'\n")
    return _ARTICLE.sub("", folded, count=1) if _ARTICLE.match(folded) else folded


@lru_cache(maxsize=1)
def option_words() -> dict[str, list[str]]:
    return language_file("en")["options"]


@lru_cache(maxsize=512)
def phrases_of(cores: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """What to look for and which option it means, longest first."""
    skipped = {"", "yes", "no", "true", "false"}
    found: dict[str, set[int]] = {}
    shared = frozenset.intersection(*(frozenset(words.split()) for words in cores or ("",)))
    for index, words in enumerate(cores):
        for phrase in {words, *_variants(words, shared), *_distinct(index, cores)}:
            if phrase not in skipped:
                found.setdefault(phrase[:MOST_TEXT], set()).add(index)
    for phrase in list(found):
        mixed = [
            i for i, words in enumerate(cores) if i not in found[phrase] and _holds(words, phrase)
        ]
        if phrase not in cores and (len(found[phrase]) > 1 or mixed):
            del found[phrase]
    ordered = sorted(found.items(), key=lambda pair: (-len(pair[0]), pair[0]))
    return tuple((phrase, index) for phrase, indices in ordered for index in sorted(indices))


def _variants(words: str, shared: frozenset[str] = frozenset()) -> Iterator[str]:
    """Other words for an option that is nothing but a direction, beside what all options name
    ("above the kidney", "behind the kidney")."""
    pronoun = _PRONOUN.match(words)
    if pronoun:
        yield words[pronoun.end() :]  # "the two kidneys differ by less than 5 %"
    if words.startswith("both ") and "same" not in words:
        yield from ("bilateral", "bilaterally", "both sides")
    content = [word for word in words.split() if word not in option_words()["direction_fillers"]]
    if len(content) >= 3 and words.replace(" ", "").isalpha():
        yield "".join(word[0] for word in content)  # "ivc" for "inferior vena cava"
    numbered = _NUMBERED_NAME.fullmatch(words)
    if numbered:
        yield from _numbered(numbered["noun"], int(numbered["number"]))
    *attributes, last = words.split() or [""]
    if len(attributes) == 2 and set(attributes) & _SIDE_WORDS and last in _SIDED_PARTS:
        side = next(word for word in attributes if word in _SIDE_WORDS)
        other = next(word for word in attributes if word != side)
        yield f"{other} {side} {last}"  # "upper right lobe"
        for organ in _SIDED_PARTS[last]:
            yield f"{other} {last} of the {side} {organ}"
    for adjective in other_forms(last) if len(attributes) < 2 else ():
        yield " ".join([*attributes, adjective])  # "right renal" for "right kidney"
    yield from _lesions_of(attributes, last)
    if len(content) == 2 and (content[1] in GENERIC or content[1] in _SIDED_PARTS):
        yield from (f"{other} {content[1]}" for other in _same_direction(content[0]))
    told = content if len(content) == 1 else [word for word in content if word not in shared]
    if len(told) != 1:
        return
    if told == content:
        yield told[0]
    yield from _same_direction(told[0])


def _lesions_of(attributes: Sequence[str], last: str) -> Iterator[str]:
    """ "The renal one", "the lesion in the kidney" for "the largest kidney lesion"."""
    if last not in _LESIONS:
        return
    for place in attributes:
        forms = other_forms(place)
        if not forms:
            continue
        meant = content_words(place)
        organ = meant[0] if meant and meant[0] in forms else place
        for adjective in {place, *forms} - {organ}:
            yield from (f"{adjective} {last}", f"{adjective} one")
        yield from (f"{what} {where} {organ}" for what in (last, "one") for where in _IN_ORGAN)


_LESIONS = frozenset({"lesion", "mass", "nodule", "cyst", "tumour", "tumor", "metastasis"})
_IN_ORGAN = ("in the", "of the", "within the")
_SIDE_WORDS = frozenset({"left", "right"})
_SIDED_PARTS = {
    "lobe": ("lung", "hemisphere", "thyroid", "brain"),
    "pole": ("kidney",),
    "third": ("kidney", "lung"),
    "horn": ("ventricle", "lateral ventricle"),
}
"""Parts of paired organs: "the lower lobe of the right lung" is the right lower lobe."""
_NUMBERED_NAME = re.compile(r"(?P<noun>[a-z]+) (?P<number>[1-9])")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_ORDINALS_NAMED = re.compile(rf"\b(?:{'|'.join(_ORDINALS)})\b")
_COUNTED = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def _numbered(noun: str, number: int) -> Iterator[str]:
    """ "Lesion #2", "lesion number two", "the second lesion" for "lesion 2"."""
    word = _COUNTED[number - 1]
    for link in ("#", "# ", "no. ", "no ", "number "):
        yield f"{noun} {link}{number}"
    yield f"{noun} {word}"
    yield f"{noun} number {word}"
    yield f"{_ORDINALS[number - 1]} {noun}"


_ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")


def _with_numbers_named(plain: str, cores: tuple[str, ...]) -> str:
    """ "Segment 5 or 8" as "segment 5 or segment 8", "segment VII" as "segment 7"."""
    nouns = {match["noun"] for words in cores if (match := _NUMBERED_NAME.fullmatch(words))}
    for noun in nouns:
        plain = re.sub(
            rf"\b({noun}s? )({'|'.join(sorted(_ROMAN, key=len, reverse=True))})\b",
            lambda match: f"{match[1]}{_ROMAN.index(match[2].upper()) + 1}",
            plain,
            flags=re.IGNORECASE,
        )
        joined = re.compile(
            rf"\b({noun})s?( [1-9](?:{noun}| |,|/|and|or|&|[1-9])*?(?:,? (?:or|and|&) |/|, ))"
            rf"([1-9])\b"
            r"(?! ?(?:mm|cm|%|m?L\b|\.[0-9]))",
            re.IGNORECASE,
        )
        for _ in range(len(cores)):
            plain = joined.sub(r"\1\2\1 \3", plain)
    return plain


_ROMAN_NAME = re.compile(rf"(?P<noun>[a-z]+) (?:{'|'.join(_ROMAN)})", re.IGNORECASE)
_ORDINAL = re.compile(r"\b([1-9])(?:st|nd|rd|th)\b", re.IGNORECASE)
_SIDE_LETTERS = {"R": "right", "L": "left"}
_SIDE_LETTER = re.compile(r"(?<![\w'(.-])(?<!option )(?<!mark )([RL])(?![\w')])")


def as_options_write(plain: str, cores: tuple[str, ...]) -> str:
    """The reply with sides and numerals as the options have them: "R > L" where they say "right",
    "segment 8" where they say "segment VIII"."""
    if len(cores) <= ALPHABET.index("L") and any(
        _SIDE_WORDS & set(words.split()) for words in cores
    ):
        plain = _SIDE_LETTER.sub(lambda match: _SIDE_LETTERS[match[1]], plain)
    for noun in {match["noun"] for words in cores if (match := _ROMAN_NAME.fullmatch(words))}:
        plain = re.sub(
            rf"\b({noun}s? )([1-9])\b(?![.,][0-9])",
            lambda match: match[1] + _ROMAN[int(match[2]) - 1],
            plain,
            flags=re.IGNORECASE,
        )
    if any(_ORDINALS_NAMED.search(words) for words in cores):
        plain = _ORDINAL.sub(lambda match: _ORDINALS[int(match[1]) - 1], plain)
    return _with_numbers_named(plain, cores)


def both_sides_named(plain: str, cores: tuple[str, ...]) -> str:
    """ "Both kidneys" as "the left kidney and the right kidney", where these are options."""
    for words in cores:
        side, _, organ = words.partition(" ")
        if side == "left" and organ and f"right {organ}" in cores:
            both = re.compile(rf"\bboth (?:of the )?{re.escape(organ)}s\b", re.IGNORECASE)
            plain = both.sub(f"the left {organ} and the right {organ}", plain)
    return plain


def _same_direction(word: str) -> list[str]:
    for line in option_words()["directions"]:
        same = [other.strip() for other in line.split("|")]
        if word == same[0]:
            return same
    return []


_MOST_ATTRIBUTES = 3
"""Attributes of an option that may name it without
their noun ("left frontal" of "left frontal lobe")."""

GENERIC = frozenset(
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

_DROPPED = frozenset({"gland"})
"""Last words that are mostly left out."""


def _distinct(index: int, cores: tuple[str, ...]) -> Iterator[str]:
    """What names an option by a part of its words that no other has:
    "upper" of "upper third", its last words."""
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
    if words[-1] in _DROPPED:
        for start in range(len(words) - 1):
            yield " ".join(words[start:-1])  # "the left adrenal"
    for start in range(1, len(words)):
        last = " ".join(words[start:])
        if (
            (words[-1] not in GENERIC or words[start] not in GENERIC)
            and "," not in cores[index]
            and len(last) > 3
            and last.replace(" ", "").isalpha()
        ):
            yield last


def _holds(words: str, phrase: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", words) is not None


@lru_cache(maxsize=4096)
def pattern_of(phrase: str) -> re.Pattern[str]:
    before = r"(?<![\w])(?<![0-9][.,])" + (r"(?<!-)" if phrase[0].isdigit() else "")
    words = [_spelling(re.escape(word)) for word in phrase.split(" ")]
    joined = r"[ -]".join(words)
    # An order may be written with other signs: "liver > stomach > spleen", "liver, then stomach and
    # spleen".
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
