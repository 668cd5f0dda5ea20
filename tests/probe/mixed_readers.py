"""Ten planted readers that mix sight with habits of clients and pipelines, each with the diagnosis
written down before it was tried."""

from __future__ import annotations

import zlib

import numpy as np
from readers import (
    BLIND_KINDS,
    DECLINES,
    HABIT,
    LESIONS,
    MIRRORED,
    PRIOR,
    REFUSAL,
    SEES,
    YES,
    Case,
    chosen,
    guess,
    opinion,
    prior,
    say,
    sees,
    wrong,
)
from simulated import Cohort, Reader, Shown, offered

from situs.items import Number, YesNo

__all__ = ["MIXED"]


def _item_id(shown: Shown) -> str:
    return shown.item.twin_of or shown.item.item_id


def imagines(shown: Shown, rng: np.random.Generator) -> str:
    """Sees; without pictures it describes some that it was not given, and guesses."""
    if shown.patient:
        return sees(0.85, guess)(shown, rng)
    return f"The images show the anatomy well on slices 10 to 20. Answer: {guess(shown, rng)}"


def wrong_in_some_texts(shown: Shown, rng: np.random.Generator) -> str:
    """Sees in three texts of four, and is sure of something else in the fourth."""
    odd = zlib.crc32(shown.item.question.encode()) % 4 == 0
    return (wrong if odd else sees(0.95, opinion))(shown, rng)


def remembers_half_of_the_patients(shown: Shown, rng: np.random.Generator) -> str:
    """Repeats what was right in the original scan of every other patient, and sees the others."""
    known = zlib.crc32(shown.item.patient_id.encode()) % 2 == 0
    if known and shown.patient:
        return say(shown, shown.old)
    return sees(0.9, opinion)(shown, rng)


def first_in_the_alphabet(shown: Shown, rng: np.random.Generator) -> str:
    options = shown.item.options
    if not options:
        return opinion(shown, rng)
    return say(shown, min(options, key=lambda option: option.text).value)


def declines_changed_scans(shown: Shown, rng: np.random.Generator) -> str:
    """Sees, and gives up whatever was edited."""
    edited = shown.probe in ("mirror", "sham", "slice-order", "convention")
    return REFUSAL if edited else sees(0.9, guess)(shown, rng)


def answers_the_question_before(of: Cohort) -> Reader:
    """A pipeline that hands each answer to the next question of the patient."""
    before: dict[str, str] = {}
    last: dict[str, str] = {}
    for item in of.items:
        if item.patient_id in last:
            before[item.item_id] = last[item.patient_id]
        last[item.patient_id] = item.item_id
    truth = of.truth

    def read(shown: Shown, rng: np.random.Generator) -> str:
        other = before.get(_item_id(shown))
        value = truth.get((other, "original"), "") if other else ""
        if shown.patient and value in offered(shown.item):
            return say(shown, value)
        return opinion(shown, rng)

    return read


def surer_with_pictures(of: Cohort) -> Reader:
    """What others have, with pictures; a coin without."""
    usual = prior(of)
    return lambda shown, rng: (usual if shown.patient else guess)(shown, rng)


def right_for_lesions(shown: Shown, rng: np.random.Generator) -> str:
    """Every lesion is on the right; the rest is seen."""
    sides = {"left", "right"} <= {option.value for option in shown.item.options}
    if "lesion" in shown.item.question and sides:
        return say(shown, "right")
    return sees(0.9, opinion)(shown, rng)


def blurred_ruler(shown: Shown, rng: np.random.Generator) -> str:
    """Measures with an error of a third; a coin for options."""
    if shown.truth and isinstance(shown.item.answer, Number):
        value, unit = shown.truth.split()
        return f"{float(value) * rng.lognormal(0, 0.33):.4g} {unit}"
    return guess(shown, rng)


def sure_of_yes(shown: Shown, rng: np.random.Generator) -> str:
    """Says yes unless it sees a no clearly, which is half of the time; opinions elsewhere."""
    if isinstance(shown.item.answer, YesNo):
        return "no" if shown.truth == "no" and rng.random() < 0.5 else "yes"
    return say(shown, chosen(shown))


MIXED: dict[str, Case] = {
    "imagines pictures": Case(lambda c: imagines, SEES),
    "sure of something else in a quarter of the texts": Case(
        lambda c: wrong_in_some_texts,
        SEES,
        may=frozenset({LESIONS, MIRRORED, PRIOR, YES, HABIT, "neighbour", "up_down", "front_back"}),
    ),
    "remembers every other patient, sees the others": Case(
        lambda c: remembers_half_of_the_patients, "looks or memorised or unclear"
    ),
    "the first option of the alphabet": Case(
        lambda c: first_in_the_alphabet, "text only", may=frozenset({HABIT, YES, PRIOR})
    ),
    "gives up changed scans": Case(
        # Who recognises the very scan, and declines others, does the same.
        lambda c: declines_changed_scans,
        "unclear",
        may=frozenset({DECLINES}),
    ),
    "answers the question before": Case(
        answers_the_question_before,
        f"{BLIND_KINDS} or reacts or memorised or unclear",
        may=frozenset({YES, HABIT, PRIOR, LESIONS}),
    ),
    "the usual with pictures, a coin without": Case(
        surer_with_pictures, f"{BLIND_KINDS} or reacts or unclear", may=frozenset({PRIOR, YES})
    ),
    "every lesion on the right, sees the rest": Case(
        lambda c: right_for_lesions, SEES, may=frozenset({LESIONS, PRIOR, HABIT, MIRRORED})
    ),
    "a ruler that is off by a third, a coin else": Case(
        lambda c: blurred_ruler, "looks or unclear or guesses"
    ),
    "yes unless a no is plain": Case(
        lambda c: sure_of_yes, "looks or unclear", may=frozenset({YES, LESIONS})
    ),
}
"""Written before any of them was tried; "gives up changed scans" was first said to have memorised."""
