"""Ten planted readers of yet other kinds: confused by words, of two minds, half a pipeline."""

from __future__ import annotations

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
    chosen,
    guess,
    opinion,
    prior,
    say,
    sees,
)
from simulated import Cohort, Reader, Shown, offered

from situs.items import Number, YesNo

__all__ = ["SUNDRY"]

_ANY = frozenset({HABIT, LESIONS, PRIOR, YES})
_LONG = 60
"""Characters of a question in which a reader loses its thread."""


def loses_the_thread(shown: Shown, rng: np.random.Generator) -> str:
    """Sees, but guesses where the question is long."""
    return (guess if len(shown.item.question) > _LONG else sees(0.95, guess))(shown, rng)


def two_minds(of: Cohort) -> Reader:
    """Tosses a coin before each answer: look, or say what is usual."""
    usual = prior(of)
    return lambda shown, rng: (sees(1.0, usual) if rng.random() < 0.5 else usual)(shown, rng)


def stale_cache(of: Cohort) -> Reader:
    """Read the first patient of each question, and says the same of all others ever since."""
    first: dict[str, str] = {}
    for item in of.items:
        known = of.truth
        key = item.item_id, "original"
        truth = known[key] if key in known else known[item.item_id]  # type: ignore[index]
        first.setdefault(item.question, truth)

    def read(shown: Shown, rng: np.random.Generator) -> str:
        value = first.get(shown.item.question, "")
        fits = value in offered(shown.item) or isinstance(shown.item.answer, Number)
        return say(shown, value) if value and fits else opinion(shown, rng)

    return read


def contrary_with_pictures(of: Cohort) -> Reader:
    """The usual without pictures, anything but the usual with them."""
    usual = prior(of)

    def read(shown: Shown, rng: np.random.Generator) -> str:
        common = usual(shown, rng)
        others = [say(shown, value) for value in sorted(offered(shown.item))]
        others = [value for value in others if value != common]
        return str(rng.choice(others)) if shown.pictures and others else common

    return read


def slips_to_the_next(shown: Shown, rng: np.random.Generator) -> str:
    """Sees, and ticks the next box in three answers of ten."""
    values = list(offered(shown.item))
    if shown.truth in values and rng.random() < 0.3:
        return say(shown, values[(values.index(shown.truth) + 1) % len(values)])
    return sees(1.0, guess)(shown, rng)


def grain_for_yes_and_no(shown: Shown, rng: np.random.Generator) -> str:
    """Yes or no by the grain of the very picture, opinions on the rest."""
    if isinstance(shown.item.answer, YesNo):
        grain = zlib.adler32(f"{shown.pictures}|{shown.item.question}".encode())
        return "yes" if grain % 7 < 4 else "no"
    return opinion(shown, rng)


def one_in_three_loads(shown: Shown, rng: np.random.Generator) -> str:
    """The viewer loads for one question in three; it declines the others."""
    loads = zlib.crc32((shown.item.twin_of or shown.item.item_id).encode()) % 3 == 0
    return sees(0.95, guess)(shown, rng) if loads else REFUSAL


def ten_for_every_number(shown: Shown, rng: np.random.Generator) -> str:
    """Sees what can be chosen, and says ten where a number is asked for."""
    if isinstance(shown.item.answer, Number):
        return f"10 {shown.item.answer.unit}".strip()
    return sees(0.85, opinion)(shown, rng)


def needs_the_stack(shown: Shown, rng: np.random.Generator) -> str:
    """Sees whole stacks, and has opinions on single slices."""
    return (opinion if shown.probe == "one-slice" else sees(0.9, opinion))(shown, rng)


def never_yes(shown: Shown, rng: np.random.Generator) -> str:
    """Sees what can be chosen, and says no to whatever is asked so."""
    return "no" if isinstance(shown.item.answer, YesNo) else sees(0.9, any_seen)(shown, rng)


def any_seen(shown: Shown, rng: np.random.Generator) -> str:
    """A guess with pictures, always the same one without."""
    return say(shown, any_answer(shown, rng) if shown.pictures else chosen(shown))


SUNDRY: dict[str, Case] = {
    "loses the thread of long questions": Case(lambda c: loses_the_thread, SEES, may=_ANY),
    "of two minds": Case(two_minds, SEES, may=_ANY),
    "a stale cache": Case(stale_cache, "text only", may=_ANY),
    # Its answers differ between patients with pictures only, as "reacts" says.
    "contrary with pictures": Case(contrary_with_pictures, f"{BLIND_KINDS} or reacts", may=_ANY),
    "ticks the next box": Case(lambda c: slips_to_the_next, SEES, may=_ANY | {"neighbour"}),
    "grain for yes and no": Case(
        lambda c: grain_for_yes_and_no, f"{BLIND_KINDS} or reacts", may=_ANY
    ),
    "loads one question in three": Case(
        lambda c: one_in_three_loads, SEES, frozenset({DECLINES}), _ANY
    ),
    "ten for every number": Case(lambda c: ten_for_every_number, SEES, may=_ANY),
    "needs the stack": Case(lambda c: needs_the_stack, SEES, may=_ANY),
    "never yes": Case(lambda c: never_yes, SEES, frozenset({YES}), _ANY),
}
