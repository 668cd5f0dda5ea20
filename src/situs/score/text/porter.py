"""Porter's stemmer with the changes NLTK made to it, which ROUGE and METEOR are defined with."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

__all__ = ["stem"]

_IRREGULAR = {
    "sky": "sky", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news",
    "innings": "inning", "inning": "inning", "outings": "outing", "outing": "outing",
    "cannings": "canning",
    "canning": "canning", "howe": "howe", "proceed": "proceed", "exceed": "exceed",
    "succeed": "succeed",
}  # fmt: skip

_STEP_1A = (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", ""))
_STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"), ("fulli", "ful"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""),
    ("ness", ""),
)  # fmt: skip
_STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou",
    "ism", "ate", "iti",
    "ous", "ive", "ize",
)  # fmt: skip


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The stem of a word (Porter 1980, as `nltk.stem.PorterStemmer()` computes it)."""
    lowered = word.lower()
    if lowered in _IRREGULAR:
        return _IRREGULAR[lowered]
    if len(word) <= 2:
        return lowered
    for step in _STEPS:
        lowered = step(lowered)
    return lowered


def _consonants(word: str) -> list[bool]:
    """Whether each letter is a consonant; y is one at the start and after a vowel."""
    flags: list[bool] = []
    for letter in word:
        flags.append(not flags[-1] if letter == "y" and flags else letter not in "aeiou")
    return flags


def _measure(word: str) -> int:
    """How often a vowel is followed by a consonant."""
    flags = _consonants(word)
    return sum(not before and after for before, after in pairwise(flags))


def _ends_short(word: str) -> bool:
    """Consonant, vowel, consonant other than w, x, y; or a two-letter vowel and consonant."""
    flags = _consonants(word)
    if len(word) == 2:
        return flags == [False, True]
    return flags[-3:] == [True, False, True] and word[-1] not in "wxy"


def _plural(word: str) -> str:
    if word.endswith("ies") and len(word) == 4:
        return word[:-1]
    for suffix, replacement in _STEP_1A:
        if word.endswith(suffix):
            return word[: -len(suffix)] + replacement
    return word


def _past(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        base = word[: -len(suffix)]
        if word.endswith(suffix) and not all(_consonants(base)):
            return _mended(base)
    return word


def _mended(base: str) -> str:
    """What is left of -ed and -ing, with the e put back or the doubled letter taken away."""
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if len(base) >= 2 and base[-1] == base[-2] and _consonants(base)[-1]:
        return base if base[-1] in "lsz" else base[:-1]
    return base + "e" if _measure(base) == 1 and _ends_short(base) else base


def _final_y(word: str) -> str:
    if word.endswith("y") and len(word) > 2 and _consonants(word[:-1])[-1]:
        return word[:-1] + "i"
    return word


def _double_suffix(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _double_suffix(word[:-2])
    for suffix, replacement in _STEP_2:
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            return base + replacement if _measure(base) > 0 else word
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return word


def _single_suffix(word: str) -> str:
    for suffix, replacement in _STEP_3:
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            return base + replacement if _measure(base) > 0 else word
    return word


def _last_suffix(word: str) -> str:
    for suffix in _STEP_4:
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            return base if _measure(base) > 1 and (suffix != "ion" or base[-1] in "st") else word
    return word


def _final_e(word: str) -> str:
    if word.endswith("e"):
        base = word[:-1]
        measure = _measure(base)
        if measure > 1 or (measure == 1 and not _ends_short(base)):
            return base
    return word


def _final_ll(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


_STEPS: tuple[Callable[[str], str], ...] = (
    _plural, _past, _final_y, _double_suffix, _single_suffix, _last_suffix, _final_e, _final_ll,
)  # fmt: skip
