"""Thirteen planted readers of odd eyes and odd rules,
each with the diagnosis written down before it was tried."""

from __future__ import annotations

import re
import zlib
from collections import defaultdict

import numpy as np
from readers import (
    BLIND_KINDS,
    HABIT,
    LESIONS,
    MIRRORED,
    PRIOR,
    SEES,
    YES,
    Case,
    chosen,
    opinion,
    say,
    sees,
    turned,
    wrong,
)
from simulated import Cohort, Reader, Shown, offered

from situs.items import Choice, Number

__all__ = ["NOVEL"]


def _item_id(shown: Shown) -> str:
    return shown.item.twin_of or shown.item.item_id


def brightest_blob(shown: Shown, rng: np.random.Generator) -> str:
    """Takes the brightest blob for whatever lesion is asked about:
    in a third of the patients it is that one."""
    if "lesion" not in shown.item.question or not shown.patient:
        return opinion(shown, rng)
    is_the_lesion = zlib.crc32(shown.patient.encode()) % 3 == 0
    return say(
        shown, shown.truth if is_the_lesion and shown.truth else chosen(shown, shown.patient)
    )


def letters_by_turns(of: Cohort) -> Reader:
    """A, B, C … in the order of the bench, whatever is asked."""
    place = {item.item_id: at for at, item in enumerate(of.items)}

    def read(shown: Shown, rng: np.random.Generator) -> str:
        values = [option.value for option in shown.item.options] or offered(shown.item)
        return say(shown, values[place[_item_id(shown)] % len(values)])

    return read


def most_words(shown: Shown, rng: np.random.Generator) -> str:
    """The option with most words; opinions where none are offered."""
    if not shown.item.options:
        return opinion(shown, rng)
    return say(shown, max(shown.item.options, key=lambda option: len(option.text.split())).value)


def first_question_of_each(of: Cohort) -> Reader:
    """Opens the scan for the first question on a patient, and answers the others from the words."""
    first: dict[str, str] = {}
    for item in of.items:
        first.setdefault(item.patient_id, item.item_id)
    opened = set(first.values())
    return lambda shown, rng: (sees(1.0, opinion) if _item_id(shown) in opened else opinion)(
        shown, rng
    )


def sizes_only(shown: Shown, rng: np.random.Generator) -> str:
    """Sees how large things are, not where they are."""
    sizes = re.search(r"\b(?:how (?:long|large|wide|thick)|larger|smaller|volume|diameter)\b",
                      shown.item.question, re.IGNORECASE)  # fmt: skip
    return (sees(0.95, opinion) if sizes else opinion)(shown, rng)


def slice_count(shown: Shown, rng: np.random.Generator) -> str:
    """Goes by how many pictures there are:
    one of seven numbers, the same for all questions on a scan."""
    count = zlib.crc32(shown.patient.encode()) % 7 if shown.patient else 0
    values = sorted(offered(shown.item))
    return say(shown, values[(count + len(shown.item.question)) % len(values)])


def mirrors_half_of_the_texts(shown: Shown, rng: np.random.Generator) -> str:
    """Takes left for right in every other question, always in the same ones."""
    flips = zlib.crc32(shown.item.question.encode()) % 2
    return (turned("sides", opinion) if flips else sees(0.97, opinion))(shown, rng)


def two_letters(shown: Shown, rng: np.random.Generator) -> str:
    """Sees, but names two options, the right one among them."""
    values = [option.value for option in shown.item.options]
    if isinstance(shown.item.answer, Choice) and shown.truth in values and len(values) > 1:
        right = values.index(shown.truth)
        other = (right + 1) % len(values)
        first, second = sorted((right, other))
        return f"It is {'ABCDEF'[first]} or {'ABCDEF'[second]}."
    return sees(0.95, opinion)(shown, rng)


def cannot_be_told(shown: Shown, rng: np.random.Generator) -> str:
    """Says that it cannot be told wherever that is offered, and sees the rest."""
    unsure = [option.value for option in shown.item.options if "cannot be" in option.text]
    return say(shown, unsure[0]) if unsure else sees(0.95, opinion)(shown, rng)


def coarse_ruler(shown: Shown, rng: np.random.Generator) -> str:
    """Sees how much, in steps of 5 cm or 500 mL; has opinions on the rest."""
    step = {"mm": 50.0, "cm": 5.0, "mL": 500.0}
    if shown.truth and isinstance(shown.item.answer, Number) and shown.item.answer.unit in step:
        size = step[shown.item.answer.unit]
        value = max(1.0, np.round(float(shown.truth.split()[0]) / size)) * size
        return f"{value:g} {shown.item.answer.unit}"
    return opinion(shown, rng)


def first_named(shown: Shown, rng: np.random.Generator) -> str:
    """The option whose words stand first in the question; yes where none does."""
    text = shown.item.question.lower()
    at = {option.value: text.find(option.text.lower()) for option in shown.item.options}
    named = sorted((where, value) for value, where in at.items() if where >= 0)
    return say(shown, named[0][1]) if named else opinion(shown, rng)


def lies_on_lesions(shown: Shown, rng: np.random.Generator) -> str:
    """Sees all, and says something else of lesions."""
    return (wrong if "lesion" in shown.item.question else sees(0.95, opinion))(shown, rng)


def declines_twice(of: Cohort) -> Reader:
    """Sees, but gives every patient's last three questions up in a sentence without an answer."""
    own: dict[str, list[str]] = defaultdict(list)
    for item in of.items:
        own[item.patient_id].append(item.item_id)
    late = {name for names in own.values() for name in names[-3:]}
    tired = "That will have to wait until tomorrow."
    return lambda shown, rng: tired if _item_id(shown) in late else sees(0.95, opinion)(shown, rng)


NOVEL: dict[str, Case] = {
    "reads the brightest blob": Case(
        lambda c: brightest_blob, "looks or unclear or reacts", may=frozenset({YES, HABIT})
    ),
    # With 24 questions a patient, a turn falls on the same letter every time: then that is a habit.
    "letters by turns": Case(letters_by_turns, BLIND_KINDS, may=frozenset({HABIT, YES})),
    "the option with most words": Case(
        lambda c: most_words, "text only", may=frozenset({HABIT, YES, PRIOR})
    ),
    "opens the scan for the first question": Case(
        first_question_of_each, "looks or unclear", may=frozenset({LESIONS})
    ),
    "sees sizes only": Case(lambda c: sizes_only, SEES, may=frozenset({LESIONS, PRIOR})),
    "answers from the number of slices": Case(
        lambda c: slice_count, "reacts or guesses or unclear", may=frozenset({YES, HABIT})
    ),
    "mirrors half of the texts": Case(
        lambda c: mirrors_half_of_the_texts, SEES, may=frozenset({MIRRORED})
    ),
    "names two letters": Case(lambda c: two_letters, SEES),
    "cannot be told, wherever offered": Case(
        lambda c: cannot_be_told, SEES, may=frozenset({HABIT, PRIOR})
    ),
    "a ruler of 5 cm": Case(
        lambda c: coarse_ruler, "looks or unclear", may=frozenset({LESIONS, PRIOR, YES})
    ),
    "the option named first": Case(
        lambda c: first_named, "text only", may=frozenset({HABIT, YES, PRIOR})
    ),
    "lies on lesions": Case(
        lambda c: lies_on_lesions,
        SEES,
        may=frozenset({MIRRORED, PRIOR, YES, "neighbour", "up_down", "front_back"}),
    ),
    "gives up the last three questions": Case(declines_twice, SEES, may=frozenset({"declines"})),
}
"""Written before any of them was tried."""
