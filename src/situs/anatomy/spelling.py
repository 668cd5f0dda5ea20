"""One structure, many spellings: `kidney_left`, `Left Kidney`, `LeftKidney`, `L kidney`."""

from __future__ import annotations

import re

__all__ = ["Key", "keys_of", "swap_side"]

Key = tuple[str, str]
"""(`left`, `right` or nothing; the other words): two spellings with one key mean the same."""

_SIDES = {"left": "left", "lt": "left", "l": "left", "right": "right", "rt": "right", "r": "right"}
_OTHER_SIDE = {"left": "right", "right": "left", "lt": "rt", "rt": "lt", "l": "r", "r": "l"}
_SPELLINGS = {
    "tumor": "tumour",
    "tumors": "tumour",
    "tumours": "tumour",
    "oesophagus": "esophagus",
    "oedema": "edema",
}
_SKIPPED = {"of", "the", "mask", "seg", "segmentation"}
"""Words that say nothing of the structure;
the last three say what kind of file it is (`liver_mask`)."""
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def keys_of(name: str) -> tuple[Key, ...]:
    """The keys of a name, the most literal first:
    as it stands, then with `CamelCase` taken apart."""
    return tuple(dict.fromkeys((_key(name), _key(_HUMP.sub(" ", name)))))


def _key(name: str) -> Key:
    words = [word for word in re.split(r"[\W_]+", name.lower()) if word]
    sides = [at for at, word in enumerate(words) if _is_side(word, at in (0, len(words) - 1))]
    side = _SIDES[words.pop(sides[0])] if len(sides) == 1 else ""
    return side, " ".join(_SPELLINGS.get(word, word) for word in words if word not in _SKIPPED)


def _is_side(word: str, at_an_end: bool) -> bool:
    return word in _SIDES and (len(word) > 1 or at_an_end)


_WORD = re.compile(r"(?<![^\W_])(left|right|lt|rt)(?![^\W_])", re.IGNORECASE)
_LETTER = re.compile(r"^[lr](?![^\W_])|(?<![^\W_])[lr]$", re.IGNORECASE)
_IN_CAMEL_CASE = re.compile(
    r"(?<![^\W_])(left|right|Left|Right)(?=[A-Z])|(?<=[a-z])(Left|Right)(?![a-z])"
)


def swap_side(name: str) -> str | None:
    """The name with its one side word changed, in the same style;
    None if it has none or several."""
    for pattern in (_WORD, _LETTER, _IN_CAMEL_CASE):
        matches = list(pattern.finditer(name))
        if len(matches) == 1:
            match = matches[0]
            return (
                name[: match.start()]
                + _like(match[0], _OTHER_SIDE[match[0].lower()])
                + name[match.end() :]
            )
        if matches:
            return None
    return None


def _like(pattern: str, word: str) -> str:
    if pattern.isupper():
        return word.upper()
    return word.capitalize() if pattern[0].isupper() else word
