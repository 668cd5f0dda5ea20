"""Whether the words around a short answer (a letter, a yes or no) license it as the reply's own.

The classes of the lexicon say what words do to an answer; words that no class explains may bend it in ways nobody
has listed ("B was my gut feeling", "nothing here supports a yes"). A short answer carries no content of its own, so it
counts only where every word of its clause is explained. What stands apart from it, behind a comma, a colon or a
reason, cannot bend it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from itertools import takewhile

from situs.score.read.prose.claims import Role, Statement
from situs.score.read.prose.content import noun
from situs.score.read.prose.lexicon import Lexicon, language_file
from situs.score.read.prose.tokens import Token

__all__ = ["withhold_licence"]

_BORDERS = frozenset(
    {
        "comma", "colon", "dash", "open", "close", "stop", "reason", "contrast", "whereas", "conclude",
        "boxed", "unboxed", "than", "and", "if", "turn", "settle",
    }
)  # fmt: skip
_LONGEST_CLAUSE = 40
"""Tokens that are looked at on either side."""
_PRONOUNS = frozenset(
    {"it", "it's", "its", "they", "there", "there's", "this", "that", "the", "i", "i'd", "these"}
)
_BENDING = frozenset({"deny", "exclude", "negate", "maybe", "doubt", "odd", "first", "except"})
"""Behind a yes or no they make a predicate of it (""no" can be ruled out")."""


def withhold_licence(
    statement: Statement,
    tokens: Sequence[Token],
    lexicon: Lexicon,
    known: frozenset[str],
    *,
    bare: bool,
) -> None:
    """Withhold it from the short answers of a sentence whose clause holds words that nothing explains.

    `bare` answers (yes, no) are short whatever their words.
    """
    starts = [token.start for token in tokens]
    for claim in statement.claims:
        if not claim.asserted or claim.role in {Role.FINAL, Role.WEAK} or claim.verdict:
            continue
        first, last = bisect_left(starts, claim.start), bisect_left(starts, claim.end)
        if not bare and not _is_short(tokens[first:last]):
            continue
        before, behind = _before(tokens, first), _behind(tokens, last)
        if bare and any(token.kind in _BENDING for token in behind):
            claim.licensed = False
        if bare and not behind and _is_attribute(before):
            before = before[1:]
        if any(_unexplained(token, lexicon, known) for token in (*before, *behind)):
            claim.licensed = False


def _is_short(named: Sequence[Token]) -> bool:
    letters = (token.text.strip("()[]'\"") for token in named if token.kind == "mention")
    return all(len(letter) == 1 for letter in letters)


def _is_attribute(before: Sequence[Token]) -> bool:
    """Whether nothing but an adjective leads to a yes or no ("a resounding yes", "hard no")."""
    return len(before) == 1 or (len(before) > 1 and before[1].text in {"a", "an"})


def _before(tokens: Sequence[Token], at: int) -> list[Token]:
    """What precedes a claim in its clause, from the claim outwards."""
    nearest = reversed(tokens[max(0, at - _LONGEST_CLAUSE) : at])
    return list(takewhile(lambda token: token.kind not in _BORDERS, nearest))


def _behind(tokens: Sequence[Token], at: int) -> list[Token]:
    """What follows a claim in its clause; a pronoun begins another one ("no it is not")."""
    nearest = tokens[at : at + _LONGEST_CLAUSE]
    if nearest and nearest[0].text in _PRONOUNS:
        return []
    return list(takewhile(lambda token: token.kind not in _BORDERS, nearest))


def _unexplained(token: Token, lexicon: Lexicon, known: frozenset[str]) -> bool:
    word = token.text
    if token.kind != "word" or len(word) == 1 or word[0].isdigit():
        return False
    if word.endswith("ly"):
        return False  # adverbs that bend have a class of their own
    names = {word, noun(word)}
    return not (names & known or names & _explained() or word in lexicon.fillers | lexicon.verbs)


@lru_cache(maxsize=1)
def _explained() -> frozenset[str]:
    words = language_file("en")
    compared = [word for line in words["options"]["comparatives"] for word in line.split()]
    return frozenset(
        [
            *words["relations"]["plain"],
            *words["fillers"]["adverbs"],
            *words["topic"]["idle"],
            *words["numbers"]["structures"],
            *words["licence"]["words"],
            *set(words["yes_no"]["leading"]) - set(words["yes_no"]["bending"]),
            *compared,
        ]
    )
