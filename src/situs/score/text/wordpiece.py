"""BERT's uncased word pieces."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from pathlib import Path

from situs.base.text import normalized
from situs.errors import SitusError

__all__ = ["WordPieces"]

_LONGEST_WORD = 100
_CJK = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


class WordPieces:
    """Texts to the numbers of their pieces, between [CLS] and [SEP]."""

    def __init__(self, vocabulary: Path, longest: int) -> None:
        words = vocabulary.read_text("utf-8").splitlines()
        self._numbers = {word: number for number, word in enumerate(words)}
        missing = {"[CLS]", "[SEP]", "[UNK]"} - set(self._numbers)
        if missing:
            raise SitusError(
                f"has no {min(missing)}",
                where=vocabulary,
                fix="give the vocabulary of all-MiniLM-L6-v2",
            )
        self._longest = longest
        self._word = lru_cache(maxsize=1 << 16)(self._pieces)

    def __call__(self, text: str) -> tuple[int, ...]:
        """The pieces' numbers, cut to the model's longest input."""
        inner = [number for word in _words(text) for number in self._word(word)]
        return (self._numbers["[CLS]"], *inner[: self._longest - 2], self._numbers["[SEP]"])

    def _pieces(self, word: str) -> tuple[int, ...]:
        """Greedily the longest piece from the left;
        a word that cannot be pieced is unknown as a whole."""
        if len(word) > _LONGEST_WORD:
            return (self._numbers["[UNK]"],)
        result, start = [], 0
        while start < len(word):
            for end in range(len(word), start, -1):
                number = self._numbers.get(("##" if start else "") + word[start:end])
                if number is not None:
                    result.append(number)
                    start = end
                    break
            else:
                return (self._numbers["[UNK]"],)
        return tuple(result)


def _words(text: str) -> list[str]:
    """Lower case without accents, split at white space and around every mark and CJK character."""
    spaced = "".join(_spaced(character) for character in normalized(text.lower(), "NFD"))
    return spaced.split()


@lru_cache(maxsize=1 << 12)
def _spaced(character: str) -> str:
    code, category = ord(character), unicodedata.category(character)
    if (
        code in (0, 0xFFFD)
        or category == "Mn"
        or (category.startswith("C") and character not in "\t\n\r")
    ):
        return ""
    mark = (
        category.startswith("P")
        or 33 <= code <= 47
        or 58 <= code <= 64
        or 91 <= code <= 96
        or 123 <= code <= 126
    )
    return f" {character} " if mark or any(low <= code <= high for low, high in _CJK) else character
