"""Questions that a model wrote from a report: free text, each with the sentence that proves it."""

from __future__ import annotations

from situs.facts import Fact
from situs.items.record import Item, Text, item_id
from situs.items.tasks import OTHER_TASKS, OtherTask

__all__ = ["WRITTEN", "written_item"]

WRITTEN = "report_text"
"""Task of a question that a model wrote."""
OTHER_TASKS[WRITTEN] = OtherTask()


def written_item(fact: Fact, patient_id: str, split: str, dimensions: tuple[str, ...]) -> Item:
    """The item of a `stated` fact."""
    question, answer = fact.subjects[0], str(fact.value)
    parameters = {"question": question}
    return Item(
        item_id=item_id(fact.study_id, WRITTEN, "text", parameters),
        study_id=fact.study_id,
        series=fact.series,
        patient_id=patient_id,
        split=split,
        stratum="report",
        task=WRITTEN,
        form="text",
        question=question,
        answer=Text((answer,)),
        tags=dimensions,
        fact_ids=(fact.fact_id,),
        parameters=parameters,
    )
