"""Checking a series of frames: every fact and answer anew from the annotation files, and the image if it is there."""

from __future__ import annotations

from collections.abc import Iterator

from situs.bench.checks.comparison import fact_problems, item_differences
from situs.bench.study import StudyRecord
from situs.facts import BoxLedger, Fact
from situs.items import Item, NotAsked, Question, item_id
from situs.items.findings import FINDING_TASKS, pose_finding

__all__ = ["box_item_problems", "box_problems"]


def box_problems(
    study: StudyRecord, ledger: BoxLedger, items: list[Item], facts: list[Fact], seed: int
) -> Iterator[tuple[str, str, str]]:
    """`fact` or `item`, its id, and what is wrong with it."""
    stored = {fact.fact_id for fact in facts}
    for fact in facts:
        yield from (("fact", fact.fact_id, text) for text in fact_problems(fact, ledger))
    for item in items:
        yield from (
            ("item", item.item_id, text)
            for text in box_item_problems(item, study, ledger, stored, seed)
        )


def box_item_problems(
    item: Item, study: StudyRecord, ledger: BoxLedger, stored: set[str], seed: int
) -> Iterator[str]:
    """What is wrong with one item."""
    if item.item_id != item_id(item.study_id, item.task, item.form, item.parameters):
        yield "its id is not that of its task, form and parameters"
    if (item.patient_id, item.split) != (study.patient_id, study.split):
        yield "its patient or split is not that of its study"
    missing = [own for own in item.fact_ids if own not in stored]
    if missing:
        yield f"names the fact {missing[0]}, which is not in the ledger"
    if item.task not in FINDING_TASKS:
        yield f"its task {item.task!r} is unknown"
        return
    try:
        anew = pose_finding(
            ledger, Question(item.task, item.form, item.parameters), study.patient_id, seed
        )
    except (KeyError, ValueError, IndexError, TypeError) as error:
        yield f"cannot be posed to this study ({type(error).__name__} {error})"
        return
    if isinstance(anew, NotAsked):
        yield f"would not be asked: {anew.reason}"
        return
    if anew.form != item.form:
        yield "its form is not that of its task"
    yield from item_differences(item, anew)
    closed = item.form in ("yes_no", "choice", "number")
    strata = (
        ("untwinned",)
        if item.form in ("text", "choices")
        else ("headline", "untwinned")
        if closed
        else ("headline",)
    )
    if item.stratum not in strata:
        yield f"its stratum {item.stratum!r} is not that of its form"
