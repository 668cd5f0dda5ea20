"""The little of a question about boxes that the arrangement of a whole cohort needs."""

from __future__ import annotations

import msgspec

from situs.anatomy import protocol_of_volume
from situs.items.kinds import answer_key
from situs.items.record import Choices, Item, marks_of

__all__ = ["Draft", "alike", "draft"]


class Draft(msgspec.Struct, frozen=True):
    """The little of an item that the arrangement of a whole cohort needs."""

    item_id: str
    patient_id: str
    task: str
    form: str
    level: str
    text: str
    key: str | None
    right: tuple[str, ...]
    pool: tuple[str, ...]
    shared: bool
    """Whether its options are chosen for each item (one of several findings),
    not fixed by the question."""
    frame: int = -1
    """Of a question about one slice."""
    about: tuple[str, ...] = ()
    """Its tags."""
    split: str = ""
    organ: str = ""
    marked: bool = False
    """A mark is drawn into its picture."""
    protocol: str = ""
    """Sequence and scanner, where known:
    whoever sees that it is a FLAIR knows what is looked for on it."""


def draft(item: Item, split: str = "") -> Draft:
    """The draft of an item that has all its possible options, of a patient in that split."""
    key = None if isinstance(item.answer, Choices) else answer_key(item.answer)
    right = (
        item.answer.values
        if isinstance(item.answer, Choices)
        else (key,)
        if key is not None
        else ()
    )
    pool = tuple(option.value for option in item.options)
    shared = item.form == "choice" and item.task == "classification"
    text, level = item.question, item.level
    organ = next((tag for tag in item.tags if tag.startswith("organ:")), "")
    frame = item.frames[0] if level == "slice" and item.frames else -1
    about = (text, key, right, pool, shared, frame, item.tags, split, organ, bool(marks_of(item)))
    protocol = protocol_of_volume(item.study_id)
    return Draft(item.item_id, item.patient_id, item.task, item.form, level, *about, protocol)


def alike(entry: Draft) -> object:
    """What is known without looking for the finding:
    the part of the body, the sequence, and which slice it is."""
    return entry.organ, entry.protocol, entry.frame
