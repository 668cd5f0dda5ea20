"""Checking a graded joint: every fact and answer anew from the table and the masks or boxes."""

from __future__ import annotations

from collections.abc import Iterator

from situs.bench.checks.comparison import fact_problems, item_differences
from situs.bench.study import StudyRecord
from situs.facts import Fact
from situs.facts.grades import GradeLedger
from situs.items import Item, NotAsked, Question, item_id, pose_grades

__all__ = ["grade_problems"]


def grade_problems(
    study: StudyRecord, ledger: GradeLedger, items: list[Item], facts: list[Fact]
) -> Iterator[tuple[str, str, str]]:
    """`fact` or `item`, its id, and what is wrong with it."""
    stored = {fact.fact_id for fact in facts}
    for fact in facts:
        yield from (("fact", fact.fact_id, text) for text in fact_problems(fact, ledger))
    for item in items:
        yield from (
            ("item", item.item_id, text) for text in _item_problems(item, study, ledger, stored)
        )


def _item_problems(
    item: Item, study: StudyRecord, ledger: GradeLedger, stored: set[str]
) -> Iterator[str]:
    if item.item_id != item_id(item.study_id, item.task, item.form, item.parameters):
        yield "its id is not that of its task, form and parameters"
    if (item.patient_id, item.split) != (study.patient_id, study.split):
        yield "its patient or split is not that of its study"
    missing = [own for own in item.fact_ids if own not in stored]
    if missing:
        yield f"names the fact {missing[0]}, which is not in the ledger"
    try:
        anew = pose_grades(
            ledger, Question(item.task, item.form, item.parameters), study.patient_id, study.split
        )
    except (KeyError, ValueError, TypeError) as error:
        yield f"cannot be posed to this study ({type(error).__name__} {error})"
        return
    if isinstance(anew, NotAsked):
        yield f"would not be asked: {anew.reason}"
        return
    if anew.stratum != item.stratum:
        yield f"its stratum {item.stratum!r} is not that of its sub-scores"
    if anew.task != item.task or anew.answer.__class__ is not item.answer.__class__:
        yield "its form is not that of its task"
    yield from item_differences(item, anew)
