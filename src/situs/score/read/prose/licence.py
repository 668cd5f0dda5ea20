"""Whether the words around a short answer (a letter, a yes or no) license it as the reply's own.

The classes of the lexicon say what words do to an answer; words that no class explains may bend it
in ways nobody has listed ("B was my gut feeling", "nothing here supports a yes"). A short answer
carries no content of its own, so it counts only where every word of its clause is explained. What
stands apart from it, behind a comma, a colon or a reason, cannot bend it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from situs.score.read.prose.beside import just_after, just_before
from situs.score.read.prose.claims import Role, Statement
from situs.score.read.prose.content import content_words, noun, words_of
from situs.score.read.prose.lexicon import Lexicon, language_file
from situs.score.read.prose.tokens import Token

__all__ = ["Topic", "withhold_licence"]

_BORDERS = frozenset(
    {
        "comma", "colon", "dash", "open", "close", "stop", "reason", "contrast", "whereas",
        "conclude",
        "boxed", "unboxed", "than", "and", "if", "turn", "settle",
    }
)  # fmt: skip
_APPROVING = frozenset({"answer", "final", "approve", "beats", "yields", "likewise"})
_COPULAS = frozenset({"is", "does", "sits", "lies", "fits"})
_TELLING = frozenset(
    {"say", "take", "treat", "read", "call", "count", "consider", "expect", "choose"}
)
_VERBAL = frozenset({"comes to", "gives", "makes", "corresponds to", "leaves"})
"""Conclusions in other places; behind an answer they are its predicate ("B comes to mind")."""
_LONGEST_CLAUSE = 40
"""Tokens that are looked at on either side."""
_PRONOUNS = frozenset(
    {"it", "it's", "its", "they", "there", "there's", "this", "that", "the", "i", "i'd", "these"}
)
_OPENINGS = frozenset(
    {
        "after",
        "on",
        "upon",
        "by",
        "having",
        "with",
        "without",
        "despite",
        "in",
        "from",
        "at",
        "once",
    }
)
_SPEAKING = frozenset({"i", "i'd", "i'm", "i'll", "i've", "we", "it", "it's", "my", "this"})
"""What the main clause begins with, behind an opening."""
_SEEING = frozenset({"seen", "visible", "shown", "see", "show", "shows", "present"})
_BENDING = frozenset({"deny", "exclude", "negate", "maybe", "doubt", "odd", "first", "except"})
"""Behind a yes or no they make a predicate of it (""no" can be ruled out")."""


class Topic(NamedTuple):
    """What a reply may speak of without bending its answer."""

    known: frozenset[str]
    """Words of the question and of its options."""
    asked: frozenset[str]
    """Words of the question."""

    @classmethod
    def of(cls, question: str, offered: str) -> Topic:
        """The topic of a question, with the words of its options."""
        asked = _forms(question)
        return cls(asked | _forms(offered), asked)


@lru_cache(maxsize=1024)
def _forms(text: str) -> frozenset[str]:
    words = words_of(text)
    return frozenset([*words, *(noun(word) for word in words)])


def withhold_licence(
    statement: Statement,
    tokens: Sequence[Token],
    lexicon: Lexicon,
    topic: Topic,
    *,
    bare: bool,
) -> None:
    """Withhold it from the short answers of a sentence whose clause holds words that nothing
    explains.

    `bare` answers (yes, no) are short whatever their words.
    """
    starts = [token.start for token in tokens]
    # "Never say yes without …" tells what not to do.
    forbidden = tokens[0].kind == "negate" and any(t.text in _TELLING for t in tokens[1:2])
    for claim in statement.claims:
        if bare and forbidden and claim.denied:
            claim.licensed = False
        if not claim.asserted or claim.role in {Role.FINAL, Role.WEAK} or claim.verdict:
            continue
        first, last = bisect_left(starts, claim.start), bisect_left(starts, claim.end)
        short = bare or _is_short(tokens[first:last])
        before, behind = _without_adjunct(_before(tokens, first)), _behind(tokens, last)
        if bare and any(token.kind in _BENDING for token in behind):
            claim.licensed = False
        if forbidden or any(token.text in _VERBAL for token in just_after(tokens, last, 1)):
            claim.licensed = claim.licensed and not short
        if bare and not behind and _is_attribute(before):
            before = before[1:]
        if short and any(_unexplained(token, lexicon, topic.known) for token in (*before, *behind)):
            claim.licensed = False
        if topic.asked and not short and _is_of_another([*before, *behind], topic):
            claim.licensed = False
        exclusive = any(token.text == "only" for token in before[:2])
        subject = claim.subject and claim.role < Role.CONCLUDED and not exclusive
        ends = tokens[last + len(behind) : last + len(behind) + 1]
        if topic.asked and subject and not _answers(behind, ends, topic.asked, short=short):
            claim.licensed = False


def _answers(
    behind: Sequence[Token], ends: Sequence[Token], asked: frozenset[str], *, short: bool
) -> bool:
    """Whether what is said of an option is what the
    question asks for ("B lies in the pancreas")."""
    if any(token.kind in _APPROVING for token in behind):
        return True
    compared = bool(ends) and ends[0].kind in {"reason", "than"}  # "A is as likely as C"
    if not compared and all(token.text in _COPULAS for token in behind):
        return True  # "B is not consistent with the findings, D is"
    words = [token.text for token in behind if token.kind == "word"]
    content = {word for text in words for word in content_words(text)}
    if not content and not short and not compared:
        # "A loop of bowel lies in between"; "the liver is well seen" answers only what is seen.
        return _SEEING.isdisjoint(words) or not _SEEING.isdisjoint(asked)
    return bool(content & asked) and not content - asked - _explained()


def _is_of_another(beside: Sequence[Token], topic: Topic) -> bool:
    """Whether a clause speaks of a structure that is not asked about, and of nothing that is."""
    words = {noun(token.text) for token in beside if token.kind == "word"}
    content = {word for text in words for word in content_words(text)}
    return bool(words & _structures() - topic.known) and not content & topic.asked


@lru_cache(maxsize=1)
def _structures() -> frozenset[str]:
    named = frozenset(noun(word) for word in language_file("en")["numbers"]["structures"])
    return named - {
        "sacrum",
        "spine",
        "vertebra",
        "vertebral",
    }  # by which levels and sides are told


def _is_short(named: Sequence[Token]) -> bool:
    letters = (token.text.strip("()[]'\"") for token in named if token.kind == "mention")
    return all(len(letter) == 1 for letter in letters)


def _is_attribute(before: Sequence[Token]) -> bool:
    """Whether nothing but an adjective leads to a yes or no ("a resounding yes", "hard no")."""
    adjective = bool(before) and not before[0].text.endswith("ing")
    return adjective and (len(before) == 1 or before[1].text in {"a", "an"})


def _before(tokens: Sequence[Token], at: int) -> list[Token]:
    """What precedes a claim in its clause, from the claim outwards."""
    nearest = reversed(just_before(tokens, at, _LONGEST_CLAUSE))
    return list(takewhile(lambda token: token.kind not in _BORDERS, nearest))


def _without_adjunct(before: list[Token]) -> list[Token]:
    """What precedes a claim without how it was found ("after scrolling up one slice I …").

    An opening preposition cannot bend what the clause behind it says of its own subject.
    """
    if not before or before[-1].text.split(" ")[0] not in _OPENINGS:
        return before
    begins = (i for i, token in enumerate(before) if token.text.split(" ")[0] in _SPEAKING)
    return before[: max(begins, default=len(before)) + 1]


def _behind(tokens: Sequence[Token], at: int) -> list[Token]:
    """What follows a claim in its clause; a pronoun begins another one ("no it is not")."""
    nearest = just_after(tokens, at, _LONGEST_CLAUSE)
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
    explained = frozenset(
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
    return explained - {"first", "last", "least", "may"}  # "I'd choose D last" does not choose it
