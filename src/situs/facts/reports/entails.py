"""Whether one sentence proves an answer:
it must speak of one thing at one place, and the question of nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from situs.facts.reports.lexicon import DENIED, plain_words
from situs.facts.reports.mentions import findings_in
from situs.facts.reports.places import LEVEL, named_places

__all__ = ["answer_problem"]

_WORD = re.compile(r"[a-z]+\d*")
_ENDING = re.compile(r"(?<=\w{3})(?:ly|ed|ing|es|s|e)$")
_EMPTY = frozenset(
    re.findall(
        r"\w+",
        "a an the in on at of to into from by for with within as and or is are was were be been"
        " being has have does do did it its this that these those they there which what where how"
        " far who whose only also one approximately about yes no not located location locations lie"
        " lies lying situated found seen observed identified noted position positioned place placed"
        " side sides sided region regions area areas part parts organ structure level levels"
        " direction relative relation respect compared patient lung lungs mm cm size diameter long"
        " large wide deep thick mainly exactly",
    )
)
"""Words that say nothing of what is where."""
_LUNG = re.compile(r"\b(?:lungs?|pulmonary)\b")
_SIDES = {"left": r"\bleft\b|\blingul", "right": r"\bright\b|\bmiddle lobe\b"}
_BOTH = re.compile(r"\b(?:both|bilateral\w*|each|either side|symmetric\w*)\b")
_EITHER_SIDE = re.compile(r"\b(?:left|right)\b[^?]*\bor\b[^?]*\b(?:left|right)\b")
_NUMBER = re.compile(r"(?<![\w.])(\d+(?:[.,]\d+)?)(?![.,]?\d)")
_MEASURE = re.compile(
    r"(?<![\w.])(\d+(?:[.,]\d+)?(?: ?[x×*-] ?\d+(?:[.,]\d+)?)*)"
    r" ?-?(mm|cm|ml|cc|hu|%|degrees?|°|mill?imet(?:er|re)s?|"
    r"centimet(?:er|re)s?)(?!\w)"
)
_LESS_ON = re.compile(
    r",? (?:\w+ )?(?:more|larger|greater|smaller|less|wider|thicker)(?: \w+)? (?:on|in|at) the"
    r" (?:left|right)"
    r"(?: side| lung| kidney)?,?"
)
"""Which of two sides has more of what is on both."""
_SIZE_ASIDE = re.compile(
    r",? ?(?:measuring|measured|with an? (?:size|diameter) of|of|up"
    r" to|reaching|about|approximately)? ?"
    rf"{_MEASURE.pattern}(?: in (?:size|diameter|length|width|thickness|its \w+ \w+))?,?"
)
_JOINED = re.compile(
    r"[,;/&+()]|\b(?:and|or|but|while|whereas|as"
    r" well|plus|nor|respectively|otherwise|except\w*|then|which|who|whose|"
    r"where|when|than|not only)\b"
)
"""Signs that a sentence speaks of several things or places."""
_COMPARED = re.compile(
    r"\b(?:than|more|most|less|least|larg(?:er|est)|small(?:er|est)|great(?:er|est)|bigg(?:er|est)|"
    r"high(?:er|est)|"
    r"low(?:est)|wid(?:er|est)|thick(?:er|est)|long(?:er|est)|short(?:er|est)|ipsilateral\w*|"
    r"contralateral\w*|opposite|"
    r"same|asymmetr\w+)\b"
)
_DIRECTION = re.compile(
    r"upper|lower|middle|mid|superior|inferior|anterior|posterior|medial|lateral|central|"
    r"peripheral|apical|basal|"
    r"proximal|distal|inner|outer|left|right"
)
_MOVED = re.compile(r"\b(?:displac|deviat|shift|push|pull|retract|drawn|mov)\w*")
_RELATION = re.compile(
    r"\b(?:(?P<word>anterior|posterior|superior|inferior|medial|lateral|cranial|caudal|proximal|"
    r"distal|ventral|dorsal|"
    r"adjacent|close|next|left|right)(?:ly)? (?:to|of)(?="
    r" )|(?P<whole>above|below|behind|beneath|underneath|under|over|"
    r"between|in front of|beside|around|inside|outside|along|across))\b"
)
"""A place told by that of something else."""
_COMPARED_WITH = re.compile(
    r"\b(?:relative|in relation|with respect|with regard|compared) (?:to|with)\b"
)
_ACTS = re.compile(
    r"\b(?:compress|encas|invad|surround|abut|indent|contact|touch|cross|cover|obliterat|contain|"
    r"drain|suppl|extend|"
    r"reach|continu|originat|aris|enter|end|displac|push|pull|narrow|infiltrat|involv|cause|"
    r"connect|attach)\w*"
)
"""Verbs of which it matters who does it to whom."""
_ASKS = re.compile(
    r"^(?:(?:in|on|at|to|into|from|by|with) )?(?:which|what)(?: \w+)?(?: of the \w+)?\b"
)
_HOLDS = re.compile(
    r"^((?:which|what) \w+(?: of the \w+)?) (?:contains?|has|have|harbou?rs?|holds?|shows?)\b"
)
_NOT = re.compile(r"\b(?:does|do|did|is|are|was|were) ?(?:not|n['’]t)\b")
_ANY_DENIAL = re.compile(
    r"\b(?:no|not|none|never|without|neither|nor|absent|absence|free of)\b|n['’]t\b"
)
_PARTICIPLE = re.compile(r"\b\w+ed\b")
_STATES = frozenset(
    re.findall(
        r"\w+",
        "thickened enlarged dilated loculated deviated displaced collapsed confined limited"
        " pedunculated encapsulated elevated narrowed inserted placed extended attached centered"
        " based shaped surrounded compressed rounded rotated curved angulated fractured herniated"
        " encased invaded located obliterated ruptured",
    )
)
"""Participles that tell how something is now; others may say that it is over."""


def answer_problem(asked: str, answer: str, proof: str) -> str | None:
    """Why the sentence does not prove the answer,
    all in lower case and spelt out; None if it does."""
    asked = _HOLDS.sub(r"\1", asked)
    first = answer.split()[0].strip(",.;!")
    denial = _ANY_DENIAL.search(proof)
    if first == "no" and not denial:
        return "it says no, and its sentence denies nothing"
    if first != "no" and DENIED.search(proof):
        return "its sentence is a denial"
    if _ANY_DENIAL.search(asked) or _ANY_DENIAL.search(answer.removeprefix("no")):
        return "it asks or answers by a denial"
    odd = [word for word in _PARTICIPLE.findall(proof) if word not in plain_words() | _STATES]
    if odd:
        return f"its sentence may be of what is over ({odd[0]!r})"
    problems = (
        _number_problem(asked, answer, proof),
        _side_problem(asked, answer, proof),
        _words_problem(asked, answer, proof, first),
        _several(asked, proof),
        _comparison_problem(asked, proof),
        _relation_problem(asked, answer, proof, first),
        _unread(asked, answer, proof),
    )
    return next((problem for problem in problems if problem is not None), None)


def _number_problem(asked: str, answer: str, proof: str) -> str | None:
    """Numbers and units must be those of the sentence;
    an answer gives its one measure as a whole."""
    here, bare = _measures(proof), _bare_numbers(proof)
    for text in (asked, answer):
        loose = (_measures(text) - here) or (_bare_numbers(text) - bare)
        if loose:
            return "a number or unit in it is not that of its sentence"
    if _measures(answer) and _measures(answer) != here:
        return "its sentence has several measures"
    if re.search(r"\d", answer) and len(bare) > 1:
        return "its sentence has several numbers"
    return None


def _measures(text: str) -> set[tuple[float, str]]:
    measures = set()
    for match in _MEASURE.finditer(text):
        unit = (
            "cm"
            if match[2].startswith("centi")
            else "mm"
            if match[2].startswith("mil")
            else match[2]
        )
        for number in re.findall(r"\d+(?:[.,]\d+)?", match[1]):
            value = float(number.replace(",", "."))
            measures.add((round(value * 10, 6), "mm") if unit == "cm" else (value, unit))
    return measures


def _bare_numbers(text: str) -> set[str]:
    return set(_NUMBER.findall(_MEASURE.sub(" ", text)))


def _side_problem(asked: str, answer: str, proof: str) -> str | None:
    """A sentence has one side, or both by one word; whatever names a side names that."""
    sides = {
        name for name, pattern in _SIDES.items() if re.search(pattern, _LESS_ON.sub(" ", proof))
    }
    both = _BOTH.search(proof) is not None
    if len(sides) + both > 1:
        return "its sentence names several sides"
    here = {"both"} if both else sides
    open_question = _EITHER_SIDE.search(asked) is not None
    for text in (answer, "" if open_question else asked):
        named = (
            {"both"}
            if _BOTH.search(text)
            else {n for n, pattern in _SIDES.items() if re.search(pattern, text)}
        )
        if named and named != here:
            return "its side is not that of its sentence"
    return None


def _words_problem(asked: str, answer: str, proof: str, first: str) -> str | None:
    """Question and answer speak of nothing that the sentence does not;
    the answer adds something to the question."""
    sentence_stems = set(_stems(_LESS_ON.sub(" ", proof)))
    if _BOTH.search(proof):
        sentence_stems |= {"both", _stem("bilateral")}
    if _EITHER_SIDE.search(asked):
        sentence_stems |= {"left", "right"}
    loose = next((word for word in _contents(asked) if _stem(word) not in sentence_stems), None)
    if loose is not None:
        return f"it asks about {loose!r}, its sentence does not speak of it"
    if _LUNG.search(f"{asked} {answer}") and "lung" not in named_places(proof).organs:
        return "it asks about the lung, its sentence does not speak of it"
    if not _directions(asked) | _directions(answer) <= _directions(proof):
        return "a direction in it is of another thing than in its sentence"
    words = list(_contents(answer))
    loose = next((word for word in words if _stem(word) not in sentence_stems), None)
    if loose is not None:
        return f"its answer says {loose!r}, its sentence does not"
    if first in ("yes", "no"):
        return "it asks which, and is told yes or no" if _EITHER_SIDE.search(asked) else None
    if not words and not _measures(answer) and not _bare_numbers(answer):
        return "its answer says nothing"
    asked_stems = set(_stems(asked))
    if (
        words
        and not _EITHER_SIDE.search(asked)
        and all(_stem(word) in asked_stems for word in words)
    ):
        return "the question contains its answer"
    return None


def _several(asked: str, proof: str) -> str | None:
    """A sentence on several findings or places does not tell which is where."""
    finding_names = [finding.name for finding, _ in findings_in(proof)]
    if len(finding_names) > 1:
        return "its sentence speaks of several findings"
    if finding_names and finding_names[0] not in {
        finding.name for finding, _ in findings_in(asked)
    }:
        return "it does not ask about the finding of its sentence"
    if _JOINED.search(_SIZE_ASIDE.sub(" ", _LESS_ON.sub(" ", proof))):
        return "its sentence speaks of several things or places"
    places = named_places(proof)
    kinds = (places.organs, places.lobes, places.segments, places.parts, places.levels)
    return "its sentence names several places" if any(len(kind) > 1 for kind in kinds) else None


def _unread(asked: str, answer: str, proof: str) -> str | None:
    """Every word of the sentence is plain, or in question or answer:
    another may turn its meaning ("spares")."""
    unread_text = _MEASURE.sub(" ", _LESS_ON.sub(" ", proof))
    for _, match in findings_in(unread_text):
        unread_text = unread_text.replace(match[0], " ")
    known = set(_stems(f"{asked} {answer}")) | ({"not"} if _NOT.search(proof) else set())
    words = _WORD.findall(LEVEL.sub(" ", unread_text))
    loose = next(
        (word for word in words if word not in plain_words() and _stem(word) not in known), None
    )
    return None if loose is None else f"its sentence says {loose!r}, question and answer do not"


def _comparison_problem(asked: str, proof: str) -> str | None:
    if _COMPARED.search(asked) or _COMPARED.search(_LESS_ON.sub(" ", proof)):
        return "it compares"
    moved = _MOVED.search(proof)
    if moved is not None and (any(findings_in(proof)) or _stem(moved[0]) not in set(_stems(asked))):
        return "its sentence tells where something was moved to"
    return None


def _relation_problem(asked: str, answer: str, proof: str, first: str) -> str | None:
    """Of "A lies anterior to B" A is asked for, never B; of "A compresses B" the order stays."""
    relations = list(_RELATION.finditer(proof))
    if len(relations) > 1:
        return "its sentence names several relations"
    turned = "it turns round who lies or acts where"
    asked_words = list(_contents(_ASKS.sub(" ", asked)))
    if re.search(r"\bfrom\b", proof) and not re.search(r"\bfrom\b", answer):
        return turned
    ordered = first == "yes" or (_ACTS.search(proof) is not None and not relations)
    if ordered and not _is_in_order([_stem(word) for word in asked_words], list(_stems(proof))):
        return turned
    if first == "no":
        return _denial_problem(asked_words, proof)
    if not relations:
        return None
    relation = relations[0]
    before, after = set(_stems(proof[: relation.start()])), set(_stems(proof[relation.end() :]))
    asked_relation = _RELATION.search(asked)
    beside = asked_relation or _COMPARED_WITH.search(asked)
    if beside is not None:
        if asked_relation is not None and asked_relation[0] != relation[0]:
            return turned
        other = next(_contents(asked[beside.end() :]), None)
        return None if other is not None and _stem(other) in after - before else turned
    if any(_stem(word) in after - before for word in asked_words) or relation[0] not in answer:
        return turned
    return None


def _denial_problem(asked_words: list[str], proof: str) -> str | None:
    """`No` follows from "does not …", and only if all that it denies is asked for."""
    denials = list(_NOT.finditer(proof))
    if len(denials) != 1 or len(_ANY_DENIAL.findall(proof)) != 1:
        return "its sentence does not deny what is asked"
    asked_stems = {_stem(word) for word in asked_words}
    denied = list(_contents(proof[denials[0].end() :]))
    good = denied and all(_stem(word) in asked_stems for word in denied)
    if good and _is_in_order([_stem(word) for word in asked_words], list(_stems(proof))):
        return None
    return "its sentence does not deny what is asked"


def _is_in_order(words: list[str], text: list[str]) -> bool:
    remaining = iter(text)
    return all(word in remaining for word in words)


def _contents(text: str) -> Iterator[str]:
    return (word for word in _WORD.findall(_MEASURE.sub(" ", text)) if word not in _EMPTY)


def _directions(text: str) -> set[tuple[str, str]]:
    """Every word for a direction with the thing it stands before, as in "upper lobe"."""
    words = _WORD.findall(text)
    pairs = ((a, b) for a, b in pairwise(words) if _DIRECTION.fullmatch(a) and b not in _EMPTY)
    return {(a, _stem(b)) for a, b in pairs if not _DIRECTION.fullmatch(b)}


def _stem(word: str) -> str:
    while (shorter := _ENDING.sub("", word)) != word:
        word = shorter
    return word


def _stems(text: str) -> Iterator[str]:
    return (_stem(word) for word in _WORD.findall(text))
