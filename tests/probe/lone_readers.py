"""Ten planted readers of kinds that no other list has: they change their minds, see one side only,
know the training split, or convert units."""

from __future__ import annotations

import zlib

import numpy as np
from readers import (
    BLIND_KINDS,
    HABIT,
    LESIONS,
    PRIOR,
    SEES,
    YES,
    Case,
    differently_with_pictures,
    guess,
    of_form,
    opinion,
    prior,
    say,
    sees,
    wrong,
)
from simulated import Shown, offered, spoken

from situs.items import Choice, Number, YesNo

__all__ = ["LONE"]

_ANY = frozenset({YES, HABIT, LESIONS, PRIOR})


def second_thoughts(shown: Shown, rng: np.random.Generator) -> str:
    """Sees, and names another answer first, which it then takes back."""
    final = sees(0.9, opinion)(shown, rng)
    if isinstance(shown.item.answer, Number):
        return f"Final answer: {final}"
    first = spoken(shown.item, str(rng.choice(offered(shown.item))))
    return f"At first I thought it was {first}. On closer inspection, final answer: {final}"


def sees_one_side(shown: Shown, rng: np.random.Generator) -> str:
    """Recognises what is left, positive or first of its options; guesses where it is not."""
    first = sorted(offered(shown.item))[0]
    seen = shown.truth in {"left", "yes"} or shown.truth == first
    return (sees(1.0, guess) if seen else guess)(shown, rng)


def moods(shown: Shown, rng: np.random.Generator) -> str:
    """The pictures put it into a mood: all yes and the first option, or all no and the last."""
    values = sorted(offered(shown.item))
    high = zlib.crc32(f"mood {shown.pictures}".encode()) % 2
    if isinstance(shown.item.answer, YesNo):
        return "yes" if high else "no"
    return say(shown, values[0 if high else -1])


def by_the_longest_word(shown: Shown, rng: np.random.Generator) -> str:
    """Goes by the longest word of the question; never looks."""
    longest = max(shown.item.question.split(), key=lambda word: (len(word), word))
    values = sorted(offered(shown.item))
    return say(shown, values[zlib.crc32(longest.encode()) % len(values)])


def knows_some_patients(shown: Shown, rng: np.random.Generator) -> str:
    """Was trained on two thirds of the very patients: knows their pictures, has opinions on the
    others."""
    trained = zlib.crc32(f"split {shown.item.patient_id}".encode()) % 3 > 0
    known = trained and shown.pictures and shown.pictures == shown.patient
    return say(shown, shown.truth) if known else opinion(shown, rng)


def every_seventh_wrong(shown: Shown, rng: np.random.Generator) -> str:
    """Sees, and answers every seventh question with something else than it sees."""
    name = (shown.item.twin_of or shown.item.item_id).encode()
    return (wrong if zlib.crc32(name) % 7 == 0 else sees(1.0, opinion))(shown, rng)


def converts(shown: Shown, rng: np.random.Generator) -> str:
    """Sees, and tells lengths and volumes in the next larger unit, converted rightly."""
    answer = shown.item.answer
    larger = {"mm": ("cm", 10.0), "mL": ("L", 1000.0)}
    if shown.truth and isinstance(answer, Number) and answer.unit in larger:
        unit, factor = larger[answer.unit]
        return f"{float(shown.truth.split()[0]) / factor:.5g} {unit}"
    return sees(0.9, opinion)(shown, rng)


def drops_the_letter(shown: Shown, rng: np.random.Generator) -> str:
    """Sees, and gives the words of an option in a sentence of its own."""
    answer = shown.item.answer
    if not (shown.truth and isinstance(answer, Choice)) or rng.random() < 0.15:
        return opinion(shown, rng)
    words = {option.value: option.text for option in shown.item.options}.get(shown.truth)
    return f"Having gone through the stack, the answer is {words}." if words else guess(shown, rng)


LONE: dict[str, Case] = {
    "second thoughts": Case(lambda c: second_thoughts, SEES, may=_ANY),
    "recognises one side of things": Case(lambda c: sees_one_side, "looks or unclear", may=_ANY),
    "moods": Case(lambda c: moods, f"{BLIND_KINDS} or reacts", may=_ANY),
    "by the longest word": Case(lambda c: by_the_longest_word, "text only", may=_ANY),
    "trained on two thirds of the patients": Case(
        lambda c: knows_some_patients, "memorised", may=_ANY
    ),
    "every seventh wrong": Case(lambda c: every_seventh_wrong, SEES, may=_ANY),
    "converts to the larger unit": Case(lambda c: converts, SEES, may=_ANY),
    "gives the words of an option": Case(lambda c: drops_the_letter, SEES, may=_ANY),
    "the usual number, sees the rest": Case(
        lambda c: of_form(Number, prior(c), sees(0.9, guess)), SEES, may=_ANY
    ),
    "a coin with pictures, the usual without": Case(
        lambda c: differently_with_pictures(guess, prior(c)), f"{BLIND_KINDS} or reacts", may=_ANY
    ),
}
"""Written before any of them was tried."""
