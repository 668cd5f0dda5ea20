"""Replies to a yes/no question that say how things are, in words of their own.

The question is read as a subject and a key, the word that it asks about: "the lesion", *extend*
(into the orbit); *tear* (of the meniscus). A clause of the reply answers if it holds a form of the
key ("extension", "extends") or a word for the opposite ("confined"), and speaks of the subject or
of nothing else. What it adds about how and how much does not matter; what names another structure,
side, time or place does, and so do doubt and condition. All clauses that answer must agree.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from situs.score.read.assertions.asked_relation import relates
from situs.score.read.assertions.relation_symbols import HEALTHY
from situs.score.read.framing import without_asides, without_frame
from situs.score.read.prose.content import opposites, stem, words_of
from situs.score.read.prose.lexicon import language_file

__all__ = ["affirms", "placed_elsewhere"]

_ASKS = re.compile(
    r"(?:[^?,]{1,60}, )?(?P<verb>is|are|was|were|does|do|did|has|have) (?P<rest>[^?\n]{3,300})\?",
    re.IGNORECASE,
)
# Bounds, alternatives and comparisons have readers of their own; where the question denies, it is
# not clear what a denial says.
_UNFIT = re.compile(
    r"[0-9]|\b(?:or|both|same|than|no|not|free|without|absent|lacks?|none)\b|n't", re.IGNORECASE
)
_VIEWPOINT = re.compile(r",? from the patient's (?:point of view|perspective|viewpoint)")
_SENTENCE = re.compile(r"(?:[^.;!?\n]|\.(?=[0-9]))+(?P<end>[.;!?\n]|$)")
_CLAUSE = re.compile(
    r"[,:()–—]| - |\bso (?=(?:the|it|there|they|this|that|i|no)\b)"
    r"|\b(?:but|however|therefore|thus|hence|because|since|while|whereas|although|though|as|and"
    r"|which)\b"
)
# "Orbit: clear", "Displacement: none": said of what stands before the colon.
_LABELLED = re.compile(r"^(?P<label>\W*(?:[a-z'-]+ ){0,3}[a-z'-]+) ?[:=]+ ?(?=\S)")
_PLACING = frozenset(
    {
        "in", "on", "at", "of", "within", "inside", "into", "through", "across", "along", "around",
        "near", "between", "from", "with", "to", "against", "towards", "toward", "beyond", "past",
        "over", "under", "behind", "above", "below", "beside", "by",
    }
)  # fmt: skip
_ARTICLES = frozenset({"the", "a", "an", "this", "that", "any", "these", "its", "both"})
_PRONOUNS = frozenset({"it", "it's", "they", "there", "there's", "this", "that", "these", "one"})
_SHOWING = frozenset({"show", "contain", "have", "demonstrate", "reveal", "include"})
"""Verbs whose object is what is asked about."""
_ATTRIBUTES = frozenset(
    {"size", "sized", "shape", "contour", "contours", "position", "course", "calibre", "caliber",
     "length", "width", "volume", "thickness", "otherwise", "rest", "remaining", "remainder"}
)  # fmt: skip
"""What may be normal while a finding is there."""
_PICTURED = frozenset({"brain", "knee", "joint", "head", "exam", "examination", "picture"})
"""What a whole picture shows: where that is normal, nothing is found in it."""
_WHOLE = frozenset({"both", "all", "each", "they", "it", "it's", "which"})
"""What a clause begins with that goes on about all that was found."""
_SOUGHT = frozenset({"for", "about", "regarding", "whether", "than", "versus", "towards"})
"""Before the key: it is looked for or compared with, not found."""
_LINKED = frozenset({"is", "are", "was", "were", "does", "do", "can", "has", "have", "been", "be"})
_LONG_NOUN = 5
_LONGEST = 2_000
"""Characters of a reply that are read so; longer ones argue rather than answer."""


@dataclass(frozen=True, slots=True)
class _Asked:
    keys: frozenset[str]
    """The stem of the word that is asked about, and of words that say the same."""
    against: frozenset[str]
    """Stems of words for its opposite."""
    exhaustive: bool
    """Whether what is not the one is the other ("not torn" is intact, "not left" need not be
    right)."""
    subject: frozenset[str]
    place: frozenset[str]
    """Stems behind the key: of what, into what."""
    exists: bool
    """Whether it asks if something is there."""

    @property
    def known(self) -> frozenset[str]:
        """All that the question names."""
        return self.subject | self.place | self.keys | self.against


def affirms(plain: str, question: str) -> bool | None:
    """True if the reply says what the question asks, False if it says the opposite; None if
    neither is sure."""
    asked = _asked(question)
    if asked is None or len(plain) > _LONGEST:
        return None
    clauses = list(_clauses(plain))
    answers = {answer for one in clauses if (answer := _answer(one, asked)) is not None}
    return answers.pop() if len(answers) == 1 else None


def placed_elsewhere(plain: str, question: str) -> bool:
    """Whether "it is in the ulna" places a finding where the question does not ask for it."""
    asked = _asked(question)
    if asked is None or not asked.exists or not asked.place or len(plain) > _LONGEST:
        return False
    for one in _clauses(plain):
        if _PLACING.isdisjoint(one.words):
            continue
        it = one.words[:1] == ["it's"] or one.words[:2] == ["it", "is"]
        if it and asked.place.isdisjoint(stem(word) for word in one.words):
            return True
        # "Two lesions, both in the right lobe": where all of them are.
        whole = one.words[0] in _WHOLE | _PLACING or "only" in one.words
        if whole and any(_opposed(word, one.words, asked) for word in one.words):
            return True
    return False


@lru_cache(maxsize=1024)
def _asked(question: str) -> _Asked | None:
    if relates(question):
        return None
    match = _ASKS.fullmatch(_VIEWPOINT.sub("", question.strip()))
    if match is None or _UNFIT.search(match["rest"]):
        return None
    words = words_of(match["rest"])
    if words[0] == "there":
        return _existing(words[1:])
    verb = match["verb"].lower()
    at = _verb_at(words) if verb in {"does", "do", "did"} else _predicate_at(words)
    if at is None:
        return None
    if verb in {"does", "do", "did"} and words[at] in _SHOWING:
        return _existing(words[at + 1 :], shown_by=words[:at])
    return _of(words[:at], words[at], words[at + 1 :], exists=False)


def _existing(words: Sequence[str], shown_by: Sequence[str] = ()) -> _Asked | None:
    """What a question whether something is there asks about: the noun before a preposition.

    `shown_by` is what should show it, and so where it is ("does the *meniscus* show …")."""
    end = next((i for i, word in enumerate(words) if word in _PLACING), len(words))
    named = [word for word in words[:end] if word not in _idle()]
    return _of(named[:-1], named[-1], [*words[end:], *shown_by], exists=True) if named else None


def _verb_at(words: Sequence[str]) -> int | None:
    """The verb of "the lesion extend into the orbit": the last word before another article or a
    preposition; or one that shows something ("the meniscus show abnormal signal")."""
    for at in range(1, len(words)):
        if words[at] in _SHOWING:
            return at
        if words[at] in _idle():
            continue
        following = words[at + 1] if at + 1 < len(words) else ""
        if not following or following in _PLACING - {"of"} or following in _ARTICLES:
            return at
    return None


def _predicate_at(words: Sequence[str]) -> int | None:
    """The adjective or participle of "the gallbladder distended", or the word of a place that has
    an opposite ("in the *left* lobe")."""
    cut = next(
        (i for i, word in enumerate(words) if i and word in _PLACING and word != "of"), len(words)
    )
    before = cut - 1
    if before and words[before] in _idle() and words[before - 1].endswith("ly"):
        return before - 1  # "correctly positioned"
    if cut == len(words):
        return before if before else None
    said = words[before].endswith(("ed", "ing")) or stem(words[before]) in _complements()
    if said and not _ARTICLES.issuperset(words[:before]):
        return before
    placed = [i for i in range(cut, len(words)) if words[i] in opposites()]
    # "In contact with the left kidney" asks for no side.
    lone = len(placed) == 1 and _ARTICLES.issuperset(words[cut + 1 : placed[0]])
    return placed[0] if lone else None


def _of(before: Sequence[str], key: str, behind: Sequence[str], *, exists: bool) -> _Asked | None:
    root = stem(key)
    same, against = _complements().get(root, (frozenset({root}), frozenset()))
    near = frozenset(stem(word) for word in opposites().get(key, ()))
    subject, place = (
        frozenset(stem(word) for word in part if word not in _idle() | _PLACING)
        for part in (before, behind)
    )
    if root in _vague():
        return None
    # "The left lobe is normal": no finding is there.
    # Where abnormal signal is asked for, it is the signal that is normal or not.
    _, abnormal = _complements()[stem("normal")]
    healthy = frozenset(map(stem, HEALTHY)) if exists and not subject & abnormal else frozenset()
    return _Asked(same, against | near | healthy, bool(against), subject, place, exists)


@dataclass(slots=True)
class _Clause:
    words: list[str]
    inherits: bool
    """Goes on with the list of a clause that denies ("no fracture, dislocation or effusion")."""


def _clauses(plain: str) -> Iterator[_Clause]:
    for sentence in _SENTENCE.finditer(plain):
        words = words_of(sentence[0])
        if "or" not in words:
            words = [word for word in words if word != "either"]  # "no stones on either side"
        if sentence["end"] == "?" or not _bending().isdisjoint(words):
            continue
        denied = False
        labelled = _LABELLED.sub(r"\g<label> is ", sentence[0].lower())
        for part in _CLAUSE.split(without_asides(labelled)):
            framed, turned = without_frame(" ".join(part.split()))
            named = words_of(framed)
            if not named:
                continue
            verbless = _LINKED.isdisjoint(named) and named[0] not in _PRONOUNS
            yield _Clause(["not", *named] if turned else named, denied and verbless)
            denied = named[0] in {"no", "without", "neither", "nor"} or (denied and verbless)


def _answer(clause: _Clause, asked: _Asked) -> bool | None:
    """What one clause says: True, False or nothing."""
    stems = [stem(word) for word in clause.words]
    keys = [i for i, root in enumerate(stems) if _is_key(root, asked.keys)]
    others = [i for i, root in enumerate(stems) if root in asked.against]
    if bool(keys) is bool(others):
        return None
    at = (keys or others)[0]
    if keys and any(_denies_attribute(root, stems, asked) for root in stems):
        return None if _negations_of(clause.words, at) or clause.inherits else False
    if not _speaks_of(clause.words, stems, at, asked):
        return None
    if others and asked.exists and not _ATTRIBUTES.isdisjoint(clause.words):
        return None  # "the liver is of normal size"
    if others and _names_a_thing(clause.words, stems, at + 1, asked):
        return None  # "intact menisci", where a fracture of the bone is asked for
    negations = _negations_of(clause.words, at) + clause.inherits
    if negations > 1:
        return None
    if keys:
        return negations == 0
    return False if not negations else True if asked.exhaustive else None


def _names_a_thing(words: Sequence[str], stems: Sequence[str], at: int, asked: _Asked) -> bool:
    """Whether an attribute stands before a noun that the question does not name."""
    if at >= len(words) or words[at] in _PLACING | _LINKED | _elsewhere() | {"sided"}:
        return False
    return not _is_known(words[at], stems[at], asked)


def _denies_attribute(root: str, stems: Sequence[str], asked: _Asked) -> bool:
    """Whether a word is the opposite of what the key is called in the question ("the signal is
    normal", where abnormal signal is asked for)."""
    _, against = _complements().get(root, (frozenset(), frozenset()))
    called = asked.subject & against
    return asked.exists and bool(called) and called.isdisjoint(stems)


def _is_key(root: str, keys: Collection[str]) -> bool:
    """Whether a stem is the key, or the noun that it ends in ("stones" for gallstones)."""
    noun_of = len(root) >= _LONG_NOUN and any(key.endswith(root) for key in keys)
    return root in keys or noun_of


def _speaks_of(words: Sequence[str], stems: Sequence[str], at: int, asked: _Asked) -> bool:
    """Whether the key is said of the subject, or of nothing else that the clause names."""
    if set(words) & _elsewhere() or any(_opposed(word, words, asked) for word in words):
        return False
    led = range(at)
    foreign = [i for i in led if not _is_known(words[i], stems[i], asked)]
    about = any(stems[i] in asked.subject or words[i] in _PRONOUNS for i in led)
    if foreign and (asked.exists or not about):
        return False
    if at and words[at - 1] in _SOUGHT:
        return False
    behind = {
        stems[i + 1]
        for i in range(at, len(words) - 1)
        if words[i] in _PLACING | _ARTICLES and words[i + 1] not in _idle() | _PLACING
    }
    return not behind or not asked.place or not asked.place.isdisjoint(stems[at + 1 :])


def _is_known(word: str, root: str, asked: _Asked) -> bool:
    pictured = asked.exists and word in _PICTURED
    plain = word in _plain() or word.endswith("ly") or word in _denying()
    return root in asked.known or plain or pictured


def _opposed(word: str, words: Collection[str], asked: _Asked) -> bool:
    """Whether a word is against one that the question names beside its key ("the lateral one")."""
    against = {stem(other) for other in opposites().get(word, ())}
    own = (asked.subject | asked.place) & against
    return bool(own) and not own & {stem(other) for other in words}


def _negations_of(words: Sequence[str], at: int) -> int:
    """How many words deny the key: those before it, and behind it a "not" of its own verb."""
    before = sum(word in _denying() or word.endswith("n't") for word in words[:at])
    behind = sum(
        (word in {"not", "never", "absent", "nowhere", "none", "nil"} and words[i - 1] in _LINKED)
        or word in {"isn't", "aren't", "wasn't", "cannot", "can't"}
        for i, word in enumerate(words)
        if i > at
    )
    return before + behind


@lru_cache(maxsize=1)
def _words() -> dict[str, list[str]]:
    return language_file("en")["propositions"]


@lru_cache(maxsize=1)
def _complements() -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """A stem → those of words that say the same, and of words that say the opposite, where one of
    the two must be so."""
    found: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
    for line in _words()["complements"]:
        one, other = (frozenset(stem(word) for word in side.split()) for side in line.split("|"))
        found.update(dict.fromkeys(one, (one, other)))
        found.update({word: (frozenset({word}), one) for word in other})
    return found


@lru_cache(maxsize=1)
def _idle() -> frozenset[str]:
    words = language_file("en")
    return frozenset([*words["yes_no"]["idle"], *words["yes_no"]["adverbs"]]) - {"marked"}


@lru_cache(maxsize=1)
def _plain() -> frozenset[str]:
    words = language_file("en")
    relations = words["relations"]
    return _idle() | frozenset([*relations["plain"], *relations["described"], *_words()["plain"]])


@lru_cache(maxsize=1)
def _denying() -> frozenset[str]:
    return frozenset([*language_file("en")["relations"]["negations"], *_words()["denying"]])


@lru_cache(maxsize=1)
def _bending() -> frozenset[str]:
    """Words of a sentence that keep it from being a plain statement."""
    unsettled = frozenset(language_file("en")["relations"]["unsettled"])
    return (unsettled | frozenset(_words()["bending"])) - frozenset(_words()["settled"])


@lru_cache(maxsize=1)
def _elsewhere() -> frozenset[str]:
    return frozenset(language_file("en")["relations"]["beside"])


@lru_cache(maxsize=1)
def _vague() -> frozenset[str]:
    return frozenset(stem(word) for word in _words()["vague"])
