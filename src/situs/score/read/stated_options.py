"""Options in the plainest forms, which most replies have: "B", "(C)", "A, C, D", "(A)(C)",
`{"answer": ["A", "C"]}`, read without a grammar.

Whatever departs from these forms by a character is left to the full readers (`choice`, `choices`),
and what is read here is what they read: `tests/score/test_stated_options.py` compares the two on
thousands of replies.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from situs.items.record import Option
from situs.score.read.option_names import ALPHABET

__all__ = ["stated_option", "stated_options"]

_LETTER = re.compile(r"\(([A-Z])\)|([A-Z])\.?")
_LETTERS = re.compile(
    r"[A-Z](?:, [A-Z]){0,9}|(?:\([A-Z]\)){1,10}"
    r'|\{"answer": \["[A-Z]"(?:, "[A-Z]"){0,9}\]\}'
)
_CAPITAL = re.compile(r"[A-Z]")
_SHORTEST = 2
"""Characters of an option's words that no letter can be taken for."""


def stated_option(text: str, options: Sequence[Option], language: str) -> Option | None:
    """The option of a reply that is nothing but its letter; None if it is anything else."""
    letter = _LETTER.fullmatch(text)
    if letter is None or language != "en":
        return None
    return next(iter(_lettered([letter[1] or letter[2]], options)), None)


def stated_options(
    text: str, options: Sequence[Option], language: str
) -> tuple[Option, ...] | None:
    """The options of a reply that is nothing but a list of their letters, in their order;
    None if it is not."""
    if language != "en" or not _LETTERS.fullmatch(text):
        return None
    return _lettered(_CAPITAL.findall(text), options) or None


def _lettered(letters: Sequence[str], options: Sequence[Option]) -> tuple[Option, ...]:
    """Those under the letters; none where one is not offered,
    or an option's words may be a letter themselves."""
    if any(len(option.text.strip()) < _SHORTEST for option in options):
        return ()
    places = {ALPHABET.index(letter) for letter in letters}
    if len(places) < len(letters) or max(places) >= len(options):
        return ()
    return tuple(options[place] for place in sorted(places))
