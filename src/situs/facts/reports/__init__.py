"""From radiology reports to facts: what a sentence proves, with its quote and offsets."""

from situs.facts.reports.file import Report, read_reports
from situs.facts.reports.ledger import LOCATED, ReportLedger, place_of
from situs.facts.reports.lexicon import Finding, findings
from situs.facts.reports.mentions import Mention, Sentence, mentions_of, sentences_of
from situs.facts.reports.places import LOBES, SEGMENTS, Named, named_places
from situs.facts.reports.rules import STATED, proposal_problem, quote_span, report_problem, stated

__all__ = [
    "LOBES",
    "LOCATED",
    "SEGMENTS",
    "STATED",
    "Finding",
    "Mention",
    "Named",
    "Report",
    "ReportLedger",
    "Sentence",
    "findings",
    "mentions_of",
    "named_places",
    "place_of",
    "proposal_problem",
    "quote_span",
    "read_reports",
    "report_problem",
    "sentences_of",
    "stated",
]
