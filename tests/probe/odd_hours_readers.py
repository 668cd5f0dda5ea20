"""Ten planted readers of kinds that no other list has: sight by patient, place or hour, and blind
rules that look like sight."""

from __future__ import annotations

import zlib
from collections import defaultdict

import numpy as np
from readers import (
    BLIND_KINDS,
    DECLINES,
    HABIT,
    LESIONS,
    MIRRORED,
    PRIOR,
    SEES,
    YES,
    Case,
    by_task,
    guess,
    opinion,
    prior,
    refusing,
    say,
    sees,
    turned,
)
from simulated import Cohort, Reader, Shown, offered

__all__ = ["ODD_HOURS"]

_ANY = frozenset({YES, HABIT, LESIONS, PRIOR})


def _even(*words: str) -> bool:
    return zlib.crc32("|".join(words).encode()) % 2 == 0


def even_slices(shown: Shown, rng: np.random.Generator) -> str:
    """Is shown every second slice: what lies on the others it does not know."""
    item = shown.item
    place = str(item.frames[0]) if item.frames else f"{item.patient_id} {item.question}"
    seen = item.frames[0] % 2 == 0 if item.frames else _even("slice", place)
    return (sees(1.0, guess) if seen else guess)(shown, rng)


def mirrors_feet_first(shown: Shown, rng: np.random.Generator) -> str:
    """Takes left for right in the patients who were scanned feet first, half of them."""
    feet_first = _even("position", shown.item.patient_id)
    return (turned("sides", opinion) if feet_first else sees(0.97, opinion))(shown, rng)


def mornings(of: Cohort) -> Reader:
    """Sees the first half of the patients, and says what is usual of the others."""
    usual = prior(of)
    patients = sorted({item.patient_id for item in of.items})
    morning = set(patients[: len(patients) // 2])
    return lambda shown, rng: (sees(0.95, usual) if shown.item.patient_id in morning else usual)(
        shown, rng
    )


def middle_of_the_alphabet(shown: Shown, rng: np.random.Generator) -> str:
    """The option that stands in the middle by the alphabet; never looks."""
    values = sorted(offered(shown.item))
    return say(shown, values[len(values) // 2])


def marks_only(of: Cohort) -> Reader:
    """Follows the pictures for drawn marks only, and says what is usual elsewhere."""
    usual = prior(of)
    return by_task(("marks",), sees(0.95, usual), usual)


def last_of_each(of: Cohort) -> Reader:
    """Warms up: sees the last third of every patient's questions, tosses a coin before."""
    own: dict[str, list[str]] = defaultdict(list)
    for item in of.items:
        own[item.patient_id].append(item.item_id)
    warm = {name for names in own.values() for name in names[2 * len(names) // 3 :]}
    return lambda shown, rng: (
        sees(0.97, guess) if (shown.item.twin_of or shown.item.item_id) in warm else guess
    )(shown, rng)


def halves_the_options(shown: Shown, rng: np.random.Generator) -> str:
    """Sees enough to drop one wrong option or two, and tosses a coin between the rest."""
    values = sorted(offered(shown.item))
    if not shown.truth or shown.truth not in values or len(values) < 3:
        return guess(shown, rng)
    others = [value for value in values if value != shown.truth]
    return say(
        shown, str(rng.choice([shown.truth, *rng.choice(others, len(values) // 2 - 1, False)]))
    )


def sticky(reader: Reader) -> Reader:
    """Says in three of ten questions what it said just before, where that is offered."""
    before = [""]

    def read(shown: Shown, rng: np.random.Generator) -> str:
        repeated = before[0] in offered(shown.item) and rng.random() < 0.3
        if not repeated:
            right = bool(shown.truth) and rng.random() < 0.9
            before[0] = shown.truth if right else str(rng.choice(offered(shown.item)))
        return say(shown, before[0]) if before[0] else reader(shown, rng)

    return read


def contrary(shown: Shown, rng: np.random.Generator) -> str:
    """Has an opinion on the words, and another one as soon as there are pictures, whichever."""
    values = sorted(offered(shown.item))
    own = zlib.crc32(shown.item.question.encode()) % len(values)
    return say(shown, values[(own + 1) % len(values) if shown.pictures else own])


ODD_HOURS: dict[str, Case] = {
    "sees every second slice": Case(lambda c: even_slices, SEES, may=_ANY),
    "mirrors who lies feet first": Case(lambda c: mirrors_feet_first, SEES, may=_ANY | {MIRRORED}),
    "sees in the morning": Case(mornings, SEES, may=_ANY),
    "the middle of the alphabet": Case(lambda c: middle_of_the_alphabet, BLIND_KINDS, may=_ANY),
    "follows the pictures for marks only": Case(marks_only, "looks or unclear", may=_ANY),
    "refuses 30 %, sees most of the rest": Case(
        lambda c: refusing(0.3, sees(0.8, opinion)), SEES, frozenset({DECLINES}), may=_ANY
    ),
    "warms up with every patient": Case(last_of_each, SEES, may=_ANY),
    "halves the options": Case(lambda c: halves_the_options, SEES, may=_ANY),
    "repeats itself three times in ten": Case(lambda c: sticky(guess), SEES, may=_ANY),
    "contradicts itself with pictures": Case(
        lambda c: contrary, f"{BLIND_KINDS} or reacts", may=_ANY
    ),
}
"""Written before any of them was tried."""
