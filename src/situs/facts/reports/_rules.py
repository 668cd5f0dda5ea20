"""The rules that a question from a report must pass, whoever wrote it; no model has a say in them."""

from __future__ import annotations

import re

from situs.facts._record import Fact, fact_id
from situs.facts.reports._ledger import ReportLedger
from situs.facts.reports._lexicon import ABOUT_BEFORE, DENIED, HEDGED, spelt_out
from situs.facts.reports._mentions import findings_in, sentences_of

__all__ = ["STATED", "proposal_problem", "quote_span", "stated"]

STATED = "stated"
"""Kind of fact: the subject is the question, the value is the answer as the quoted sentence states it."""

_REPORT_WORDS = re.compile(
    r"\b(?:reports?|reported|mention\w*|describ\w+|stat(?:e|ed|es)|noted|according to|document\w+|passage|"
    r"impressions?|findings? section|radiologist|text)\b"
)
_PRESENCE = re.compile(
    r"^(?:is|are|was|were) there\b|\b(?:normal|abnormal\w*|unremarkable|healthy|enlarged|dilated|present|absent|"
    r"visible|patent|preserved|open|obstructed|occluded|intact)\b.*\?|"
    r"^what (?:is|are) the (?:condition|status|state) of\b|"
    r"^(?:does|do|is|are) .*\b(?:show|have|contain) (?:any|a|an)\b|"
    r"\b(?:is|are|was|were|does|do|can)\b.* any\b|\bany evidence\b"
)
_SPATIAL = re.compile(
    r"\b(?:where|side|sides|left|right|both|bilateral\w*|lobes?|segments?|levels?|upper|lower|middle|superior\w*|"
    r"inferior\w*|anterior\w*|posterior\w*|medial\w*|lateral\w*|central\w*|peripher\w+|subpleural|midline|apex|"
    r"apical|basal|\w+basal|pole|adjacent|within|inside|between|extend\w*|extent|confined|diffuse\w*|how (?:far|long|"
    r"large|wide|deep)|diameter|[tl]\d+|vertebra\w*|around|along|towards?|behind|in front|above|below|which (?:part|"
    r"region|organ|structure|area|wall|vessel))\b"
)
_PLACE = re.compile(
    r"\b(?:upper|lower|middle|superior|inferior|anterior|posterior|medial|lateral|central|peripher\w+|subpleural|midline|"
    r"apical|basal|\w+basal|lingul\w+|above|below|behind|[tl]\d{1,2})\b"
)
_WORD = re.compile(r"[a-z0-9]+(?:[.,]\d+)?")
_SIDES = {"left": r"\bleft\b|\blingul", "right": r"\bright\b|\bmiddle lobe\b"}
_BOTH = re.compile(r"\b(?:both|bilateral\w*|each|either side|symmetric\w*)\b")
_EMPTY = frozenset(
    re.findall(
        r"\w+",
        "a an the in on at of to and is are was were be it its this that there with within from for by as only which "
        "located location lies found seen observed region regions area areas side sides level part parts yes no not "
        "lung lungs lobe lobes segment segments one mm cm approximately about into also they does do has have "
        "included examination section sections",
    )
)
_DENIAL = re.compile(r"\b(?:no|not|none|without|neither|nor|absent|absence)\b")


def quote_span(text: str, quote: str, findings_length: int | None = None) -> tuple[int, int] | None:
    """Where a quote stands, widened to whole sentences; white space and case may differ, words may not.

    None also where it stands under a heading for history, comparison, technique or advice.
    """
    words = quote.strip().rstrip(".;").split()
    if not words:
        return None
    pattern = re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE)
    found = pattern.search(text)
    if found is None:
        return None
    over = [
        s
        for s in sentences_of(text, len(text) if findings_length is None else findings_length)
        if s.start < found.end() and s.end > found.start()
    ]
    return (over[0].start, over[-1].end) if over and not any(sentence.aside for sentence in over) else None


def proposal_problem(question: str, answer: str, quote: str) -> str | None:
    """Why the quote does not prove the answer, or why the question is not to be asked; None if all is well."""
    asked, said = question.lower().strip(), spelt_out(answer.lower().strip())
    proof = spelt_out(" ".join(quote.lower().split()))
    if not asked.endswith("?") or not said:
        return "it is no question with an answer"
    for pattern, problem in (
        (_REPORT_WORDS, "it speaks of the report"),
        (_PRESENCE, "it asks whether something is there or normal"),
    ):
        if pattern.search(asked):
            return problem
    if not _SPATIAL.search(f"{asked} {said}"):
        return "it is not spatial"
    for pattern, problem in (
        (HEDGED, "its sentence is hedged"),
        (ABOUT_BEFORE, "its sentence is about another examination, history or technique"),
    ):
        if pattern.search(proof):
            return problem
    return _answer_problem(asked, said, proof)


def _answer_problem(asked: str, said: str, proof: str) -> str | None:
    denied = bool(_DENIAL.search(proof))
    first = said.split()[0].strip(",.")
    if first == "no" and not denied:
        return "it says no, and its sentence denies nothing"
    if first != "no" and DENIED.search(proof):
        return "its sentence is a denial"
    if not (_sides(said) | _sides(asked)) <= _sides(proof):
        return "its side is not that of its sentence"
    here = _families(proof)
    if any(own.isdisjoint(here) for own in _named(asked)):
        return "it asks about what its sentence does not speak of"
    words = [word for word in _WORD.findall(said) if word not in _EMPTY]
    if first not in ("yes", "no"):
        own = _stems(asked)
        if not words and not _sides(said):
            return "its answer says nothing"
        if all(_stem(word) in own for word in words):
            return "the question contains its answer"
    stems = _stems(proof)
    if first == "yes" and any(_stem(word) not in stems for word in _PLACE.findall(asked)):
        return "it says yes to a place that its sentence does not name"
    if _sides(proof) == {"left", "right"}:
        stems |= {_stem("both"), _stem("bilateral")}
    loose = [word for word in words if _stem(word) not in stems]
    return f"its answer says {loose[0]!r}, its sentence does not" if loose else None


def _named(text: str) -> list[set[str]]:
    """The families of every finding that has a name of its own."""
    return [set(finding.families) for finding, _ in findings_in(text) if finding.one]


def _families(text: str) -> set[str]:
    return {family for finding, _ in findings_in(text) for family in finding.families}


def _sides(text: str) -> set[str]:
    sides = {name for name, pattern in _SIDES.items() if re.search(pattern, text)}
    return {"left", "right"} if _BOTH.search(text) else sides


def _stem(word: str) -> str:
    return word if word[0].isdigit() else word[:5].rstrip("s")


def _stems(text: str) -> set[str]:
    return {_stem(word) for word in _WORD.findall(text)}


def stated(ledger: ReportLedger, question: str, answer: str, start: int, end: int) -> Fact:
    """The fact that a sentence states the answer to a question."""
    return Fact(
        fact_id=fact_id(ledger.study_id, ledger.series, STATED, (question,)),
        study_id=ledger.study_id,
        series=ledger.series,
        kind=STATED,
        subjects=(question,),
        value=answer,
        unit="",
        interval=None,
        derivation=ledger.quoted(start, end),
    )
