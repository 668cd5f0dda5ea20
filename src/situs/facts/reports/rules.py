"""The rules that a question from a report must pass, whoever wrote it;
no model has a say in them."""

from __future__ import annotations

import re

from situs.facts.record import Fact, fact_id
from situs.facts.reports.entails import answer_problem
from situs.facts.reports.ledger import ReportLedger
from situs.facts.reports.lexicon import ABOUT_BEFORE, HEDGED, spelt_out
from situs.facts.reports.mentions import sentences_of

__all__ = ["STATED", "proposal_problem", "quote_span", "report_problem", "stated"]

STATED = "stated"
"""Kind of fact: the subject is the question,
the value is the answer as the quoted sentence states it."""

_REPORT_WORDS = re.compile(
    r"\b(?:reports?|reported|mention\w*|describ\w+|stat(?:e|ed|es)|noted|according"
    r" to|document\w+|passage|"
    r"impressions?|findings? section|radiologist|text)\b"
)
_PRESENCE = re.compile(
    r"^(?:is|are|was|were)"
    r" there\b|\b(?:normal|abnormal\w*|unremarkable|healthy|enlarged|dilated|present|absent|"
    r"visible|patent|preserved|free|clear|open|obstructed|occluded|intact)\b.*\?|"
    r"^what (?:is|are) the (?:condition|status|state) of\b|"
    r"^(?:does|do|is|are) .*\b(?:show|have|contain) (?:any|a|an)\b|"
    r"\b(?:is|are|was|were|does|do|can)\b.* any\b|\bany evidence\b"
)
_SPATIAL = re.compile(
    r"\b(?:where|side|sides|left|right|both|bilateral\w*|lobes?|segments?|levels?|upper|lower|"
    r"middle|superior\w*|"
    r"inferior\w*|anterior\w*|posterior\w*|medial\w*|lateral\w*|central\w*|peripher\w+|subpleural|"
    r"midline|apex|"
    r"apical|basal|\w+basal|pole|adjacent|within|inside|between|extend\w*|extent|confined|"
    r"diffuse\w*|how"
    r" (?:far|long|"
    r"large|wide|deep)|diameter|[tl]\d+|vertebra\w*|around|along|towards?|behind|in"
    r" front|above|below|which (?:part|"
    r"region|organ|structure|area|wall|vessel))\b"
)


def quote_span(text: str, quote: str, findings_length: int | None = None) -> tuple[int, int] | None:
    """Where a quote stands, widened to whole sentences; white space and case may differ, words may
    not.

    None also where it stands under a heading for history, comparison, technique or advice.
    """
    words = quote.strip().rstrip(".;").split()
    if not words:
        return None
    pattern = re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE)
    match = pattern.search(text)
    if match is None:
        return None
    over = [
        s
        for s in sentences_of(text, len(text) if findings_length is None else findings_length)
        if s.start < match.end() and s.end > match.start()
    ]
    return (
        (over[0].start, over[-1].end)
        if over and not any(sentence.aside for sentence in over)
        else None
    )


def proposal_problem(question: str, answer: str, quote: str) -> str | None:
    """Why the quote does not prove the answer,
    or why the question is not to be asked; None if all is well."""
    asked, stated = question.lower().strip(), spelt_out(answer.lower().strip())
    proof = spelt_out(" ".join(quote.lower().split()))
    if not asked.endswith("?") or not stated:
        return "it is not a question with an answer"
    for pattern, problem in (
        (_REPORT_WORDS, "it speaks of the report"),
        (_PRESENCE, "it asks whether something is there or normal"),
    ):
        if pattern.search(asked):
            return problem
    if not _SPATIAL.search(f"{asked} {stated}"):
        return "it is not spatial"
    for pattern, problem in (
        (HEDGED, "its sentence is hedged"),
        (ABOUT_BEFORE, "its sentence is about another examination, history or technique"),
    ):
        if pattern.search(proof):
            return problem
    if len(list(sentences_of(quote, len(quote)))) != 1:
        return "its quote is not one sentence"
    return answer_problem(asked, stated, proof)


def report_problem(ledger: ReportLedger, question: str, start: int, end: int) -> str | None:
    """Why the rest of the report leaves the question
    open that the span from `start` to `end` answers."""
    if ledger.distrusted:
        return "the report corrects itself"
    asked = spelt_out(question.lower())
    return (
        "another sentence of the report speaks of the same otherwise"
        if ledger.rivals(asked, start, end)
        else None
    )


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
