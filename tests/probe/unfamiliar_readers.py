"""Ten more planted readers: mix-ups, shrunken measures,
marks of a patient, corrections, sight of some structures."""

from __future__ import annotations

import re
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
    SIDE_TASKS,
    YES,
    Case,
    any_answer,
    chosen,
    guess,
    opinion,
    prior,
    say,
    sees,
    turned,
    yes_sayer,
)
from simulated import Cohort, Reader, Shown, offered

from situs.items import Number, YesNo

__all__ = ["UNFAMILIAR"]


def some_questions(shown: Shown, rng: np.random.Generator) -> str:
    """Sees what half of the question texts ask for,
    whoever the patient is; has opinions on the rest."""
    known = zlib.crc32(shown.item.question.encode()) % 2
    return (sees(0.95, opinion) if known else opinion)(shown, rng)


def towards_the_mean(of: Cohort) -> Reader:
    """Measures halfway between what it sees and what is usual; options are seen."""

    def read(shown: Shown, rng: np.random.Generator) -> str:
        usual = of.prior.get(shown.item.question, "")
        if shown.truth and isinstance(shown.item.answer, Number) and usual:
            middle = (float(shown.truth.split()[0]) + float(usual.split()[0])) / 2
            return f"{middle:.4g} {shown.item.answer.unit}"
        return sees(0.9, opinion)(shown, rng)

    return read


def mixes_up_patients(of: Cohort) -> Reader:
    """Sees all, but in a quarter of the questions another patient's scan was hung up."""
    truths: dict[str, list[str]] = {}
    for item in of.items:
        key = item.item_id, "original"
        truth = of.truth[key] if key in of.truth else of.truth[item.item_id]  # type: ignore[index]
        truths.setdefault(item.question, []).append(truth)

    def read(shown: Shown, rng: np.random.Generator) -> str:
        values = truths[shown.item.question]
        other = values[int(rng.integers(len(values)))]
        if shown.truth and rng.random() < 0.25 and other in offered(shown.item):
            return say(shown, other)
        return sees(1.0, guess)(shown, rng)

    return read


def by_the_name_on_the_film(shown: Shown, rng: np.random.Generator) -> str:
    """One answer for each patient and text, whatever a probe does to the scan;
    right only by luck."""
    return say(shown, chosen(shown, shown.patient or "nobody"))


def the_middle_option(shown: Shown, rng: np.random.Generator) -> str:
    """The option in the middle of the list; opinions where none are offered."""
    values = [option.value for option in shown.item.options]
    return say(shown, values[len(values) // 2]) if values else opinion(shown, rng)


def sides_or_nothing(shown: Shown, rng: np.random.Generator) -> str:
    """Sees sides, and declines whatever else is asked."""
    return sees(0.95, guess)(shown, rng) if shown.item.task in SIDE_TASKS else REFUSAL


def mirrored_in_some_patients(shown: Shown, rng: np.random.Generator) -> str:
    """Takes left for right in one patient of three."""
    flipped = zlib.crc32(shown.item.patient_id.encode()) % 3 == 0
    return (turned("sides", guess) if flipped else sees(0.97, guess))(shown, rng)


def corrects_itself(shown: Shown, rng: np.random.Generator) -> str:
    """Sees, and begins every answer with another that it takes back."""
    value = shown.truth if shown.truth and rng.random() < 0.85 else any_answer(shown, rng)
    others = [one for one in offered(shown.item) if one != value] or [value]
    first = say(shown, others[0])
    return f"At first I thought {first}, but after a second look the answer is {say(shown, value)}."


def agreeable(of: Cohort) -> Reader:
    """Says yes to everything with pictures, declines without;
    the usual answer where options are offered."""
    usual = prior(of)

    def read(shown: Shown, rng: np.random.Generator) -> str:
        return yes_sayer(1.0, usual)(shown, rng) if shown.pictures else REFUSAL

    return read


def no_small_numbers(shown: Shown, rng: np.random.Generator) -> str:
    """Sees what is asked about numbers over 20 in the question or answer;
    guesses the rest, and all yes or no."""
    numbers = [int(number) for number in re.findall(r"\d+", shown.item.question + shown.truth)]
    large = numbers and max(numbers) > 20 and not isinstance(shown.item.answer, YesNo)
    return (sees(0.95, guess) if large else guess)(shown, rng)


_ANY = frozenset({YES, HABIT, LESIONS, PRIOR})

UNFAMILIAR: dict[str, Case] = {
    "sees half of the question texts": Case(lambda c: some_questions, SEES, may=_ANY),
    "measures towards the mean": Case(towards_the_mean, SEES, may=_ANY),
    "another scan in a quarter of the questions": Case(mixes_up_patients, SEES, may=_ANY),
    "goes by the name on the film": Case(
        lambda c: by_the_name_on_the_film, "reacts or guesses or unclear", may=frozenset({YES})
    ),
    "the middle option": Case(lambda c: the_middle_option, "text only", frozenset({HABIT}), _ANY),
    "sides or nothing": Case(lambda c: sides_or_nothing, SEES, frozenset({DECLINES}), _ANY),
    "mirrored in one patient of three": Case(
        lambda c: mirrored_in_some_patients, SEES, may=_ANY | {MIRRORED}
    ),
    "corrects itself": Case(lambda c: corrects_itself, SEES, may=_ANY),
    "agreeable with pictures": Case(agreeable, BLIND_KINDS, may=_ANY | {DECLINES}),
    "sees large numbers only": Case(lambda c: no_small_numbers, "looks or unclear", may=_ANY),
}
"""Written before any of them was tried."""
