"""One item as every exported format tells it:
what is shown, what is right, and, of a run, what was said."""

from __future__ import annotations

import msgspec

from situs.items import Choice, Item, Number, Text, YesNo, letter_of
from situs.profiles import Image, options_text
from situs.score import Outcome

__all__ = ["CLOSED", "Example", "Said", "example_of", "said_of"]

CLOSED = ("yes_no", "choice")
"""Forms whose accuracy means the same in every tool."""


class Said(msgspec.Struct, frozen=True):
    """What a run answered."""

    state: str
    response: str
    """The model's words, verbatim."""
    read: str
    """What Situs read from them: a letter, yes or no, a number;
    empty where it counts as no answer."""
    right: bool | None


class Example(msgspec.Struct, frozen=True):
    """One question with its pictures."""

    item_id: str
    study_id: str
    patient_id: str
    task: str
    form: str
    stratum: str
    split: str
    tags: tuple[str, ...]
    prompt: str
    """All the words a model is given."""
    question: str
    """The words up to the question, for tools that put the options and how to answer themselves."""
    options: dict[str, str]
    """Letter → text."""
    targets: tuple[str, ...]
    """Every answer that is right: letters, yes or no, a number with its unit, references."""
    interval: tuple[float, float] | None
    """For a number: what counts as right."""
    images: tuple[Image, ...] = ()
    said: Said | None = None


def example_of(
    item: Item, prompt: str = "", images: tuple[Image, ...] = (), said: Said | None = None
) -> Example | None:
    """An item as an example; None where its form is not one that other tools score.

    No prompt: the bare question.
    """
    interval: tuple[float, float] | None = None
    options = {letter_of(item, option.value): option.text for option in item.options}
    match item.answer:
        case YesNo(value):
            targets: tuple[str, ...] = ("yes" if value else "no",)
        case Choice(value, also_right):
            targets = tuple(letter_of(item, right) for right in (value, *also_right))
        case Number(value, unit, bounds):
            targets = (f"{value:.6g} {unit}".strip(),)
            interval = bounds or (value, value)
        case Text(references):
            targets = references
        case _:
            return None
    words = prompt or "\n".join(filter(None, (item.question, options_text(item))))
    before, question, _ = words.rpartition(item.question)
    return Example(
        item_id=item.item_id,
        study_id=item.study_id,
        patient_id=item.patient_id,
        task=item.task,
        form=item.form,
        stratum=item.stratum,
        split=item.split,
        tags=item.tags,
        prompt=words,
        question=before + question if question else words,
        options=options,
        targets=targets,
        interval=interval,
        images=images,
        said=said,
    )


def said_of(outcome: Outcome, response: str) -> Said:
    """What a run said to an item, with what was read from it."""
    read = outcome.parsed if outcome.state == "answered" else ""
    return Said(outcome.state, response, read, outcome.right)
