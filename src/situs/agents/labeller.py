"""The labeller: a model that says which spatial dimensions a question and its answer speak of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from situs.agents.dimensions import DIMENSIONS
from situs.judges import AskedByID, Asker, Role, Subject, ask_by_id

__all__ = ["label_dimensions"]

_INSTRUCTIONS = f"""\
You sort questions about CT scans by the spatial dimensions they ask for. You get a JSON array of \
entries with an id, \
a question and its answer. Give every dimension that question or answer speaks of, by its exact \
name, or none:
{"; ".join(DIMENSIONS)}.

Reply with one JSON object: {{"entries": [{{"id": "...", "dimensions": ["..."]}}]}}, with exactly \
one entry for every \
id you were given."""


def _read(entry: Mapping[str, Any]) -> dict[str, Any] | None:
    dimensions = entry.get("dimensions")
    if not isinstance(dimensions, list) or not all(name in DIMENSIONS for name in dimensions):
        return None
    return {"dimensions": [name for name in DIMENSIONS if name in dimensions]}


LABELLER = Role(
    "labeller",
    _INSTRUCTIONS,
    {"dimensions": {"type": "array", "items": {"type": "string", "enum": list(DIMENSIONS)}}},
    _read,
)


def label_dimensions(
    asker: Asker, questions: Sequence[tuple[str, str, str]], journal: Path, *, restricted: bool
) -> tuple[dict[str, tuple[str, ...]], AskedByID]:
    """Id → dimensions, for questions given as id, question and answer;
    one that is not there was not told."""
    subjects = [
        Subject(id_, {"question": question, "answer": answer})
        for id_, question, answer in questions
    ]
    entries, asked = ask_by_id(asker, LABELLER, subjects, journal, restricted=restricted)
    return {id_: tuple(entry["dimensions"]) for id_, entry in entries.items()}, asked
