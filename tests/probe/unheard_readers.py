"""Ten planted readers of kinds that no other list has: odd sight, odd speech, blind habits."""

from __future__ import annotations

import re
import zlib

import numpy as np
from readers import (
    BLIND_KINDS,
    DECLINES,
    HABIT,
    LESIONS,
    PRIOR,
    REFUSAL,
    SEES,
    YES,
    Case,
    any_answer,
    guess,
    opinion,
    prior,
    say,
    sees,
)
from simulated import Cohort, Reader, Shown, offered

from situs.items import Choice, Number, YesNo

__all__ = ["UNHEARD"]


def other_way_round(shown: Shown, rng: np.random.Generator) -> str:
    """Sees, but takes larger for smaller and nearest for farthest: the other of two options."""
    values = offered(shown.item)
    compares = re.search(r"\b(?:larger|smaller|nearest|farthest)\b", shown.item.question)
    if shown.truth and compares and isinstance(shown.item.answer, Choice) and len(values) == 2:
        return say(shown, next((value for value in values if value != shown.truth), values[0]))
    return sees(0.95, opinion)(shown, rng)


def by_number_in_question(shown: Shown, rng: np.random.Generator) -> str:
    """Says yes to questions with a small number and no to those with a large one; never looks."""
    told = re.search(r"\d+", shown.item.question)
    if isinstance(shown.item.answer, YesNo) and told:
        return "yes" if int(told[0]) < 40 else "no"
    return opinion(shown, rng)


def by_turns(shown: Shown, rng: np.random.Generator) -> str:
    """Yes and no in turn, the options one after the other, whatever is asked."""
    values = sorted(offered(shown.item))
    place = zlib.crc32(f"{shown.item.item_id}".encode()) // 7
    return say(shown, values[place % len(values)]) if values else "no"


def previous_patient(of: Cohort) -> Reader:
    """Reports what was right for the patient read before: a worklist off by one."""
    patients = sorted({item.patient_id for item in of.items})
    before = dict(zip(patients[1:] + patients[:1], patients, strict=True))
    truths: dict[tuple[str, str], str] = {}
    for item in of.items:
        known = of.truth
        key = item.item_id, "original"
        truth = known[key] if key in known else known[item.item_id]  # type: ignore[index]
        truths[item.patient_id, item.question] = truth

    def read(shown: Shown, rng: np.random.Generator) -> str:
        other = truths.get((before.get(shown.item.patient_id, ""), shown.item.question))
        return say(shown, other) if other in offered(shown.item) else guess(shown, rng)

    return read


def half_in_doubt(shown: Shown, rng: np.random.Generator) -> str:
    """Sees everything, but commits itself only half of the time."""
    if rng.random() < 0.5:
        return "It might be this or that; I would rather not commit myself."
    return sees(0.95, guess)(shown, rng)


def all_but_lesions(shown: Shown, rng: np.random.Generator) -> str:
    """Declines whatever is asked of a lesion, and reads the rest."""
    return REFUSAL if "lesion" in shown.item.question else sees(0.95, guess)(shown, rng)


def full_sentences(shown: Shown, rng: np.random.Generator) -> str:
    """Sees, and names its answer in a sentence with caveats, never by its letter."""
    value = shown.truth if shown.truth and rng.random() < 0.9 else any_answer(shown, rng)
    words = next((o.text for o in shown.item.options if o.value == value), value)
    return (
        f"I went through the slices one by one. The answer is {words}. "
        "This is not medical advice; please have a radiologist confirm it."
    )


def best_of_three(shown: Shown, rng: np.random.Generator) -> str:
    """A weak eye that looks three times and says what it saw most often."""
    seen = [
        shown.truth if shown.truth and rng.random() < 0.55 else any_answer(shown, rng)
        for _ in range(3)
    ]
    return say(shown, max(sorted(set(seen)), key=seen.count))


def order_of_magnitude(shown: Shown, rng: np.random.Generator) -> str:
    """Sees, but tells measures as powers of ten only."""
    if shown.truth and isinstance(shown.item.answer, Number):
        value = float(shown.truth.split()[0])
        return f"{10 ** round(np.log10(max(value, 1e-3))):g} {shown.item.answer.unit}"
    return sees(0.95, opinion)(shown, rng)


def prior_unless_rare(of: Cohort) -> Reader:
    """Looks only where more than two answers are offered; else says the usual one."""
    usual = prior(of)

    def read(shown: Shown, rng: np.random.Generator) -> str:
        return (sees(0.95, usual) if len(offered(shown.item)) > 2 else usual)(shown, rng)

    return read


_ANY = frozenset({YES, HABIT, LESIONS, PRIOR})

UNHEARD: dict[str, Case] = {
    "takes larger for smaller": Case(lambda c: other_way_round, SEES, may=_ANY | {"neighbour"}),
    "goes by the number in the question": Case(
        lambda c: by_number_in_question, BLIND_KINDS, may=_ANY
    ),
    "every answer in its turn": Case(lambda c: by_turns, BLIND_KINDS, may=_ANY),
    "reports the patient before": Case(
        previous_patient, f"{BLIND_KINDS} or memorised or reacts", may=_ANY
    ),
    "commits itself half of the time": Case(lambda c: half_in_doubt, SEES, may=_ANY | {DECLINES}),
    "declines lesions": Case(
        lambda c: all_but_lesions, SEES, frozenset({DECLINES}), frozenset({LESIONS})
    ),
    "full sentences with caveats": Case(lambda c: full_sentences, SEES, may=_ANY),
    "a weak eye that looks three times": Case(lambda c: best_of_three, SEES, may=_ANY),
    "powers of ten": Case(lambda c: order_of_magnitude, SEES, may=_ANY | {"mm_as_cm"}),
    "looks only among many options": Case(prior_unless_rare, "looks or unclear", may=_ANY),
}
"""Written before any of them was tried."""
