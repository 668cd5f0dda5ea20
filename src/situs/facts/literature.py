"""Citations as facts: why a kind of question matters, and where a publication says so.

Never part of an answer.
"""

from __future__ import annotations

from collections.abc import Iterator

from situs.facts.record import Fact, Quoted, fact_id

__all__ = ["LITERATURE", "literature_fact", "literature_problems"]

LITERATURE = "literature"
_SECTION = "section:"


def literature_fact(
    study_id: str,
    series: str,
    cell: str,
    *,
    pmid: int,
    section: int,
    span: tuple[int, int],
    document: str,
    quote: str = "",
) -> Fact:
    """A citation for a cell of question and structure (`closer|liver_lesion`): its value is the
    PubMed id.

    `span` counts characters of the section's normalised text, `section` is -1 for the title. The
    words themselves may be protected and are kept only on request.
    """
    return Fact(
        fact_id=fact_id(study_id, series, LITERATURE, (cell,)),
        study_id=study_id,
        series=series,
        kind=LITERATURE,
        subjects=(cell,),
        value=pmid,
        unit="",
        interval=None,
        derivation=Quoted(document, *span, quote),
        flags=(f"{_SECTION}{section}",),
    )


def literature_problems(fact: Fact) -> Iterator[str]:
    """What is wrong with a stored citation, as far as it can be told without the library."""
    quoted = fact.derivation
    if fact.fact_id != fact_id(fact.study_id, fact.series, fact.kind, fact.subjects):
        yield "its id does not match its kind and subjects"
    if not isinstance(fact.value, int) or isinstance(fact.value, bool) or fact.value < 1:
        yield "its value is no PubMed id"
    if not isinstance(quoted, Quoted) or not quoted.document or not 0 <= quoted.start < quoted.end:
        yield "it does not say where the cited words stand"
    elif quoted.quote and len(quoted.quote) != quoted.end - quoted.start:
        yield "its quote is not as long as the passage it names"
