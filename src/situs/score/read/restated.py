"""Replies to a yes/no question that repeat it as a statement instead of saying yes or no."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from situs.score.read.framing import without_asides, without_frame
from situs.score.read.prose.content import noun, opposites, words_of
from situs.score.read.prose.lexicon import language_file

__all__ = ["denies", "restates", "said_to_be_there", "same_question"]

_AS_A_WHOLE = re.compile(r" as a whole\b| overall\b")
_ASKS = re.compile(
    r"\s*(?:is|are|was|were|does|do|did|has|have|can)\s+(?P<rest>[^?\n]{3,300})\?", re.IGNORECASE
)
# Where the question leaves its subject: at its last comparison or verb, or else at its first
# preposition, since a preposition may belong to the subject ("the lesion in the left lobe in front
# of the sulcus").
_RELATION = re.compile(
    r"\b(?:(?:more|less|as) )?(?:[a-z]{2,}er than|[a-z]+ than|above|below|behind|in front|to the"
    r" (?:left|right) of|"
    r"anterior to|posterior to|superior to|inferior to|medial to|lateral to|"
    r"within|inside|outside|beyond|beside|next to|"
    r"adjacent|touch|reach|extend|cross|involve|abut|contain|compress|displace|invade|surround|"
    r"contact|"
    r"intact|torn|ruptured|enlarged|dilated|displaced|fractured|thickened|narrowed|collapsed|"
    r"midline)\b"
)
_PREPOSITION = re.compile(r"\b(?:in|on|at|over|under|against|along|through|between|near|same)\b")
_SENTENCE = re.compile(r"(?:[^.;!?\n]|\.(?=[0-9]))+(?P<end>[.;!?\n]|$)")
_CLAUSE = re.compile(
    r"[,:()–—]| -"
    r" |\b(?:but|however|so|therefore|thus|hence|because|since|while|whereas|although|though|as)\b",
    re.IGNORECASE,
)
# A condition holds for the whole sentence, a doubt for its clause.
_IF = re.compile(
    r"\b(?:if|whether|unless|provided that|assuming|suppos\w+|depend\w*|otherwise)\b", re.IGNORECASE
)
_CONDITION = re.compile(
    r"\b(?:could|might|may|maybe|perhaps|possibly|unclear|unsure|not"
    r" sure|doubt(?:ful)?|would|should|"
    r"question|unlikely|excluded?|ruled)\b",
    re.IGNORECASE,
)
_PRESENCE = frozenset({"annotated", "present", "visible", "marked", "seen", "shown"})
"""What tells one question from another, though it adds nothing to an answer."""
_LONGEST = 2_000
"""Characters of a reply that are read as statements; longer ones argue rather than answer."""
_NONE_OF = re.compile(
    r"(?:[^.,:;?]{1,60}, )?(?:there (?:is|are|was|were) |i (?:can )?see |i find )?no"
    r" (?:(?:evidence|"
    r"signs?|indication) of )?(?:an? |any )?"
    r"(?P<noun>[a-z][a-z -]{1,60}?)"
    r"(?: (?:(?:is|are|was|were|has been|have been)"
    r" )?(?:annotated|marked|seen|present|visible|found|identified|noted|"
    r"detected|there|shown|evident)\b)?(?: (?:on|in|within) (?:this|the|any) [a-z ]{1,40})?[.!]?",
    re.IGNORECASE,
)
_NOT_SEEN = re.compile(
    r"(?:i|we) (?:do not|don't|cannot|can't) (?:see|find|identify|detect) (?:an? |any"
    r" )?(?P<noun>[a-z][a-z -]{1,60}?)"
    r"(?: (?:on|in|within) (?:this|the|any) [a-z ]{1,40})?[.!]?",
    re.IGNORECASE,
)
# "None in the left lobe; one in the right."
_NONE_THERE = re.compile(
    r"\W*(?:(?:there (?:is|are)|i (?:can )?see) )?none(?: (?:is|are) [a-z]+)? (?:in|on|at|within)"
    r" (?P<noun>[a-z][a-z -]{1,60}?)(?: ?[.,;!]|$)",
    re.IGNORECASE,
)
_ASKS_FOR = re.compile(
    r"\b(?:there|annotated|mark(?:ed)?|includes?|present|seen|visible|found|identified|detected|"
    r"evidence|shows?)\b",
    re.IGNORECASE,
)
_TURNED_ROUND = re.compile(
    r"\b(?:no|not|normal|absent|free|without|unremarkable|intact|lacks?|none)\b|n't", re.IGNORECASE
)
_STATES = re.compile(
    r"\b(?:there|is|are|was|see|sees|seen|shows?|visible|present|has|have|contains?|no|not|"
    r"without)\b|n't|'s\b",
    re.IGNORECASE,
)
"""What makes a clause a statement that something is there, or is not."""
_ANYTHING = {"finding", "abnormality"}


_LEAD_IN = re.compile(
    r"(?:based on|looking at|judging (?:from|by)|according to|given|after reviewing|on|in|from|as"
    r" seen on) "
    r"[a-z -]{0,40}, ",
    re.IGNORECASE,
)
"""What opens a statement without belonging to it ("Based on these images, …")."""


def denies(plain: str, question: str) -> bool:
    """Whether a reply is nothing but "No X" (or "there is no X") to a question that asks whether X
    is there.

    X must be named by the question, or be any finding at all; a question that itself speaks of
    absence or of what is normal is left alone.
    """
    match = _NONE_OF.fullmatch(plain) or _NOT_SEEN.fullmatch(plain) or _NONE_THERE.match(plain)
    if not match or not _ASKS_FOR.search(question) or _TURNED_ROUND.search(question):
        return False
    named = [noun(word) for word in words_of(match["noun"])]
    asked = {noun(word) for word in words_of(question)}
    return set(named) <= asked or (len(named) == 1 and named[0] in _ANYTHING)


def said_to_be_there(plain: str, question: str) -> bool | None:
    """What a short reply says to a question whether something is there ("I don't see one",
    "Not on this slice")."""
    if not _ASKS_FOR.search(question) or _TURNED_ROUND.search(question):
        return None
    words = language_file("en")["yes_no"]
    told = " ".join(plain.lower().strip(" .!*\"'").split())
    return (
        True if told in words["presence_yes"] else False if told in words["presence_no"] else None
    )


def same_question(asked: str, question: str) -> bool:
    """Whether a question in a reply is the one that was put to it."""
    words = set(_content(asked, keep=_PRESENCE)) - {"q", "question"}
    theirs = set(_content(question, keep=_PRESENCE))
    if not theirs or "answer" in words or words & {"yes", "no"}:
        return True
    return words <= theirs or len(words & theirs) >= 0.6 * len(theirs)


def restates(plain: str, question: str) -> bool | None:
    """True if clauses of the reply say what the question asks, False if they deny it or say its
    opposite.

    A clause counts only if all its words that carry content are words of the question, in its
    order, and if it holds what the question asks of its subject. One word more and it says nothing;
    all must agree.
    """
    asked = _question(question)
    if asked is None or len(plain) > _LONGEST:
        return None
    answers: set[bool] = set()
    for sentence in _SENTENCE.finditer(plain):
        if sentence["end"] == "?" or _IF.search(sentence[0]):
            continue
        for clause in _CLAUSE.split(without_asides(sentence[0])):
            if asked.exists and not _STATES.search(clause):
                continue  # "Bone contusion: absent" says nothing before its colon
            answer = _restated(clause, asked)
            if answer is not None:
                answers.add(answer)
    return answers.pop() if len(answers) == 1 else None


@dataclass(frozen=True, slots=True)
class _Question:
    words: tuple[str, ...]
    """All that carry content."""
    subject: int
    """How many of them name the subject."""
    needed: frozenset[str]
    """Those that a clause must hold to say what is asked."""
    relation: str
    """The word of comparison or place that has an opposite; empty if there is none."""
    exists: bool
    """Whether it asks if something is there."""


@lru_cache(maxsize=1024)
def _question(question: str) -> _Question | None:
    match = _ASKS.match(_LEAD_IN.sub("", _AS_A_WHOLE.sub("", question.strip()), count=1))
    if match is None or _TURNED_ROUND.search(question):
        return None
    rest = match["rest"].lower()
    exists = rest.startswith("there ")
    cut = max(_RELATION.finditer(rest, 1), key=re.Match.start, default=None) or _PREPOSITION.search(
        rest, 1
    )
    subject = len(_content(rest[: cut.start()])) if cut and not exists else 0
    # "… of the left kidney" at the end only repeats whose part it is.
    ending = rest.rfind(" of ") if " of " in rest else len(rest)
    predicate = _content(
        rest[cut.start() if cut and not exists else 0 : max(ending, cut.end() if cut else 0)]
    )
    words = tuple(_content(rest))
    verb = _content(cut[0]) if cut and cut.re is _RELATION else []
    relation = next((word for word in verb if word in opposites()), "")
    needed = {relation} if relation else set(verb or predicate)
    return _Question(words, subject, frozenset(needed), relation, exists) if needed else None


def _restated(clause: str, asked: _Question) -> bool | None:
    """What one clause says: True, False or nothing."""
    clause, turned = without_frame(_LEAD_IN.sub("", " ".join(clause.lower().split()), count=1))
    if _CONDITION.search(clause):
        return None
    if turned:
        return False if _restated(clause, asked) else None
    words = words_of(clause)
    against = opposites().get(asked.relation, frozenset())
    if not words or any(word in _unsettled() and word not in against for word in words):
        return None
    negations = sum(word in _negations() or word.endswith("n't") for word in words)
    stated = [
        word for word in _content(clause) if word not in _negations() and not word.endswith("n't")
    ]
    if negations > 1 or not stated or (not asked.exists and _is_absent(words, asked)):
        return False if negations == 1 and _holds_predicate(stated, asked) else None
    elliptic = _elliptic(words, stated, asked)
    if elliptic is not None:
        return elliptic
    told = _outside_names(stated, asked) if asked.relation else set(stated)
    if not (asked.needed <= told or (asked.exists and negations)):
        return _opposite(stated, asked, negations)
    if not _in_order(stated, asked.words):
        return _swapped(stated, asked, negations)
    return negations == 0


def _is_absent(words: list[str], asked: _Question) -> bool:
    """Whether a clause says that there is no such thing ("I see no gland on the left")."""
    return any(
        word == "no" and noun(following) in asked.words[: asked.subject]
        for word, following in pairwise(words)
    )


def _holds_predicate(stated: list[str], asked: _Question) -> bool:
    """Whether a clause has all that is asked of the subject: "no lesion is within 10 mm of the
    aorta" denies it.

    A predicate of a word or two may only say where the subject is not seen ("no gland on the
    left").
    """
    predicate = asked.words[asked.subject :]
    return len(predicate) > 2 and set(predicate) <= set(stated) and _in_order(stated, asked.words)


def _elliptic(words: list[str], stated: list[str], asked: _Question) -> bool | None:
    """ "…, the medial one is not": the subject of the question, and its verb alone."""
    subject = set(asked.words[: asked.subject])
    if not stated or not set(stated) <= subject or set(stated) & asked.needed:
        return None
    if words[-2:] in (["is", "not"], ["does", "not"], ["are", "not"], ["do", "not"]):
        return False
    if words[-1] in {"isn't", "doesn't", "aren't"}:
        return False
    return True if words[-1] in {"is", "does", "are"} else None


def _outside_names(stated: list[str], asked: _Question) -> set[str]:
    """The words that a clause does not only have in names of the question: the side of "the left
    gland is well seen" tells no direction."""
    names = {*pairwise(asked.words[: asked.subject]), *pairwise(asked.words[asked.subject + 1 :])}
    return {word for word, behind in zip(stated, [*stated[1:], ""]) if (word, behind) not in names}


def _opposite(stated: list[str], asked: _Question, negations: int) -> bool | None:
    """False for the plain opposite of the question ("it lies below");
    "not below" does not say above."""
    if not asked.relation or negations:
        return None
    free = _outside_names(stated, asked)
    turned = [
        asked.relation if word in opposites()[asked.relation] and word in free else word
        for word in stated
    ]
    whole = asked.needed <= set(turned) and asked.relation not in stated
    return False if whole and _in_order(turned, asked.words) else None


def _swapped(stated: list[str], asked: _Question, negations: int) -> bool | None:
    """False for the two things of a comparison in the
    other order ("the left is lower than the right")."""
    if asked.relation not in stated or negations or asked.relation not in asked.words:
        return None
    at = asked.words.index(asked.relation)
    before, behind = (
        stated[: stated.index(asked.relation)],
        stated[stated.index(asked.relation) + 1 :],
    )
    own = set(asked.words[:at]) - set(asked.words[at:])
    other = set(asked.words[at + 1 :]) - set(asked.words[:at])
    known = {*before, *behind} <= set(asked.words)
    turned = set(before) & other and not set(before) & own and not set(behind) & other
    return False if known and turned else None


def _in_order(stated: list[str], words: tuple[str, ...]) -> bool:
    """Whether what is stated are words of the question, in its order."""
    remaining = iter(words)
    return all(word in remaining for word in stated)


def _content(text: str, keep: frozenset[str] = frozenset()) -> list[str]:
    text = re.sub(r"\bin front\b", "front", text.lower())
    return [noun(word) for word in words_of(text) if word in keep or word not in _idle()]


@lru_cache(maxsize=1)
def _idle() -> frozenset[str]:
    words = language_file("en")["yes_no"]
    return frozenset([*words["idle"], *words["adverbs"]])


@lru_cache(maxsize=1)
def _unsettled() -> frozenset[str]:
    return frozenset(language_file("en")["relations"]["unsettled"])


@lru_cache(maxsize=1)
def _negations() -> frozenset[str]:
    return frozenset(language_file("en")["relations"]["negations"])
