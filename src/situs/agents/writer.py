"""The writer: a model that proposes questions from a report. It proposes; rules decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from situs.agents.dimensions import DIMENSIONS
from situs.facts.reports import Report
from situs.judges import AskedByID, Asker, Role, Subject, ask_by_id

__all__ = ["Proposal", "propose_questions"]

_INSTRUCTIONS = f"""\
You are an experienced radiologist who writes questions for an exam in which only the scan is \
shown, never the report. \
You get a JSON array of entries with an id and a radiology report (findings, impression).

Write 7 to 10 questions for every report, over these spatial dimensions: {"; ".join(DIMENSIONS)}.

Each question asks for one place, side, level, direction, neighbourhood or extent of something the \
report states, as a \
colleague would ask at the workstation, and has exactly one right answer, a few words long, that \
stands in ONE \
sentence of the report. Take sentences that speak of one thing in one place, use the words of the \
sentence, and copy \
it word for word as the quote.

Do not write: questions on normality or on whether something is there; questions from sentences \
that are hedged, \
compare with another examination, or speak of history, surgery or technique; questions that \
contain their answer; \
questions that speak of the report ("mentioned", "described"); answers that need outside \
knowledge. Answer "no" only \
where the sentence denies it. Write fewer questions rather than one that breaks a rule.

Reply with one JSON object: {{"entries": [{{"id": "...", "questions": [{{"question": "...", \
"answer": "...", \
"quote": "...", "dimension": "one of the names above"}}]}}]}}, with exactly one entry for every id \
you were given."""

_MOST = 20


class Proposal(msgspec.Struct, frozen=True):
    """A question as the writer proposes it."""

    question: str
    answer: str
    quote: str
    dimension: str = ""


def _read(entry: Mapping[str, Any]) -> dict[str, Any] | None:
    raw = entry.get("questions")
    if not isinstance(raw, list):
        return None
    proposals = []
    for candidate in raw[:_MOST]:
        texts = (
            [candidate.get(name) for name in ("question", "answer", "quote")]
            if isinstance(candidate, dict)
            else []
        )
        if texts and all(isinstance(text, str) and 0 < len(text.strip()) < 2000 for text in texts):
            proposal = {
                name: " ".join(candidate[name].split()) for name in ("question", "answer", "quote")
            }
            dimension = candidate.get("dimension")
            proposals.append(proposal | {"dimension": dimension if dimension in DIMENSIONS else ""})
    return {"questions": proposals}


_TEXT = {"type": "string"}
_QUESTION = {
    "type": "object",
    "properties": dict.fromkeys(("question", "answer", "quote", "dimension"), _TEXT),
    "required": ["question", "answer", "quote", "dimension"],
    "additionalProperties": False,
}
WRITER = Role("writer", _INSTRUCTIONS, {"questions": {"type": "array", "items": _QUESTION}}, _read)


def propose_questions(
    asker: Asker, reports: Sequence[tuple[str, Report]], folder: Path, *, restricted: bool
) -> tuple[dict[str, list[Proposal]], AskedByID]:
    """Study id → proposals. Reports are asked one by one;
    a report that got no readable reply has none."""
    report_fields = {
        id_: {"findings": report.findings, "impression": report.impression}
        for id_, report in reports
    }
    subjects = [Subject(id_, fields) for id_, fields in report_fields.items()]
    alone = msgspec.structs.replace(asker, batch=1)
    entries, asked = ask_by_id(
        alone, WRITER, subjects, folder / "writer.jsonl", restricted=restricted
    )
    return {
        id_: msgspec.convert(entry["questions"], list[Proposal]) for id_, entry in entries.items()
    }, asked
