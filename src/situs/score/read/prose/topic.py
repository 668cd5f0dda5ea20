"""Which of a reply's claims speak of what the question asks about.

"The upper pole lies at L1 and the lower pole at L3": each claim has a label, the words of its
clause. A label that holds the opposite of a word of the question, or names another thing where a
second label names the asked one, is about something else, and its claim is set aside.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from situs.score.read.prose.beside import just_before
from situs.score.read.prose.claims import Certainty, Claim, Role, Statement
from situs.score.read.prose.content import content_words, noun, opposites, synonyms, words_of
from situs.score.read.prose.lexicon import language_file

__all__ = ["set_aside_other_topics"]

# Where the words about one claim end and those about the next begin.
_BORDER = re.compile(
    r"[,;:()\n]|\bto $|\b(?:and|but|while|whereas|with|although|though|however|so|because|since)\b",
    re.IGNORECASE,
)
_CONTRAST = re.compile(r"\b(?:but|while|whereas|although|though|however)\b", re.IGNORECASE)
_WHEREAS = re.compile(r"\b(?:whereas|while|although)\b", re.IGNORECASE)
# Names of one kind, of which a question names one: vertebrae, ribs, segments, numbered lesions.
_NUMBERED = re.compile(r"[a-z]?[0-9]{1,2}|i{1,3}|iv|vi{0,3}|ix|x")
_MEASURED = re.compile(r"(?:(?<![0-9])[0-9]++ ?)?(?:mm|cm|ml|cc)\b", re.IGNORECASE)
_DETERMINERS = frozenset(
    {"the", "a", "an", "its", "his", "her", "this", "that", "at", "for", "of", "from", "in", "on"}
)
_HEADS = re.compile(r"(?:^|[.;,\n])[\s*•-]*(?P<name>[A-Za-z][a-z -]*): ?(?:about |~ ?|≈ ?)?$")
_LONGEST_HEADING = 50
_LONGEST_LABEL = 160
_ASKED = "asked"
"""Stands in a label for "the one asked about"."""

Same = Callable[[Hashable, Hashable], bool]


@dataclass(slots=True)
class _Labelled:
    claim: Claim
    words: list[str]
    hits: set[str]
    """Words of the question."""
    alien: bool
    """Holds the opposite of what the question names, and not that itself."""
    foreign: bool
    """Names something that the question does not."""


def set_aside_other_topics(
    found: Sequence[Statement],
    plain: str,
    question: str,
    same: Same = lambda one, other: one == other,
    *,
    answers: Collection[str] = (),
) -> None:
    """Set aside claims about something else, where their answers differ.

    `answers` are words that name possible answers and so tell nothing about what a claim is about.
    """
    asked = _asked_words(question) - set(answers)
    if not asked:
        return
    labelled = [
        _judged(claim, words, asked, question, answers, plain)
        for statement in found
        for claim, words in _labels(statement, plain)
        if claim.asserted and Role.PLAIN <= claim.role < Role.STATED
    ]
    for one in labelled:
        if one.alien and _swapped(one.words, question):
            one.claim.certainty = Certainty.ASIDE
    _bring_in_the_asked(found, plain, labelled, asked, question, answers)
    latest = max((one.claim.turns for one in labelled), default=0)
    open_ones = [one for one in labelled if one.claim.asserted and one.claim.turns == latest]
    values = [one.claim.values[0] for one in open_ones]
    if not values or all(same(value, values[0]) for value in values):
        return
    shared = set.intersection(*(one.hits for one in open_ones))
    about = [one for one in open_ones if one.hits - shared and not one.alien]
    highest = max((one.claim.role for one in about), default=Role.WEAK)
    for one in open_ones:
        elsewhere = one.foreign and not one.hits - shared and one.claim.role <= highest
        if (one.alien and len(open_ones) > 1) or elsewhere:
            one.claim.certainty = Certainty.ASIDE
    if about and all(not one.claim.asserted for one in open_ones):
        for one in open_ones:
            one.claim.certainty = Certainty.DOUBTED


def _bring_in_the_asked(
    found: Sequence[Statement],
    plain: str,
    labelled: list[_Labelled],
    asked: frozenset[str],
    question: str,
    answers: Collection[str],
) -> None:
    """ "The bladder holds 200 mL, whereas the prostate has 41 mL": the second is asked about."""
    if any(one.hits or not one.foreign for one in labelled):
        return
    for statement in found:
        for claim, words in _labels(statement, plain):
            led = _WHEREAS.search(plain, max(statement.start, claim.start - 60), claim.start)
            if led is None or claim.certainty is not Certainty.ASIDE:
                continue
            if claim.negated or claim.idle:
                continue
            beside = _judged(claim, words, asked, question, answers, plain)
            if beside.hits and not beside.alien and claim.role >= Role.PLAIN:
                claim.certainty = Certainty.ASSERTED
                labelled.append(beside)


@lru_cache(maxsize=1024)
def _asked_words(question: str) -> frozenset[str]:
    words = {word for word in content_words(question) if len(word) > 1}
    return frozenset(words.union(*(synonyms().get(word, ()) for word in words)))


def _judged(
    claim: Claim,
    words: list[str],
    asked: frozenset[str],
    question: str,
    answers: Collection[str],
    plain: str,
) -> _Labelled:
    names = {noun(word) for word in words}
    hits = names & asked
    vocabulary = language_file("en")["topic"]
    if any(phrase in " ".join(words) for phrase in vocabulary["the_asked"]):
        hits.add(_ASKED)
    all_asked = {noun(word) for word in words_of(question)}
    against = {noun(word) for asked_word in all_asked for word in opposites().get(asked_word, ())}
    opposed = {word for word in names & against if not opposites()[word] & names} - all_asked
    other_kind = {
        word
        for word in names
        if _NUMBERED.fullmatch(word) and word not in all_asked and not word.isdigit()
    }
    numbered = any(_NUMBERED.fullmatch(word) and not word.isdigit() for word in all_asked)
    alien = bool(
        (opposed - set(answers))
        or (numbered and other_kind - set(answers))
        or names & (set(vocabulary["others"]) - all_asked)
    )
    heading = {noun(word) for word in content_words(_heading(plain, claim))}
    foreign = bool((_named(words) | heading) - all_asked - set(answers))
    if words[:1] in (["one"], ["another"]):
        foreign = False  # "a lesion of 18 mm in segment 4 and one of 34 mm in segment 8"
    return _Labelled(claim, words, hits, alien, foreign)


def _heading(plain: str, claim: Claim) -> str:
    """The few words before a colon that head a claim ("Thorax: 28 cm")."""
    match = _HEADS.search(just_before(plain, claim.start, _LONGEST_HEADING))
    return match["name"] if match else ""


def _named(words: Sequence[str]) -> set[str]:
    """The words behind an article or a preposition, up to the next one that carries no content."""
    found: set[str] = set()
    naming = False
    for word in words:
        content = content_words(word)
        if naming and content:
            found.add(content[0])
        # "The lowest rib-bearing vertebra" names a rib.
        naming = word in _DETERMINERS or (naming and (bool(content) or word.endswith("est")))
    return found


def _swapped(words: Sequence[str], question: str) -> bool:
    """Whether a label holds "upper pole" where the question asks for the "lower pole"."""
    theirs = [noun(word) for word in words_of(question)]
    pairs = set(pairwise(theirs))
    label_nouns = [noun(word) for word in words]
    for first, second in pairwise(label_nouns):
        against = opposites().get(first, frozenset())
        if (first, second) not in pairs and any((other, second) in pairs for other in against):
            return not any((other, second) in set(pairwise(label_nouns)) for other in against)
    return False


def _labels(statement: Statement, plain: str) -> list[tuple[Claim, list[str]]]:
    """Each claim of a sentence with the words about it, before and behind."""
    claims = sorted(statement.claims, key=lambda claim: claim.start)
    before = [""] * len(claims)
    behind = [""] * len(claims)
    end = statement.start
    for index, claim in enumerate(claims):
        between = plain[max(end, claim.start - _LONGEST_LABEL) : claim.start]
        border = _BORDER.search(between) if index else None
        if border is not None:
            behind[index - 1] = between[: border.start()]
            between = between[border.end() :]
        contrasts = list(_CONTRAST.finditer(between))
        before[index] = between[contrasts[-1].end() :] if contrasts else between
        end = claim.end
    if claims:
        behind_last = plain[end : min(statement.end, end + _LONGEST_LABEL)]
        border = _BORDER.search(behind_last)
        behind[-1] = behind_last[: border.start()] if border else behind_last
    result: list[tuple[Claim, list[str]]] = []
    last: list[str] = []
    for index, claim in enumerate(claims):
        words = words_of(_MEASURED.sub(" ", f"{before[index]} {behind[index]}"))
        # "… first 15, last 23": what has no words of its own goes on about the same.
        last = words if content_words(" ".join(words)) or not last else last
        result.append((claim, last))
    return result
