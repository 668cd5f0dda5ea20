"""Planted readers for the abstract cohort, each with the diagnosis it must get."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from simulated import Cohort, Reader, Shown, offered, spoken

from situs.items import Choice, Number, YesNo

REFUSAL = "I cannot answer this without the images."
VERBOSE_REFUSAL = (
    "I'm sorry, but I am unable to view the scans, so I can't determine this. Please consult a radiologist."
)
UP = {"T12": "L1", "L1": "L2", "L2": "L3", "L3": "T12"}


class Case(NamedTuple):
    """A reader, and what must be said of it."""

    make: Callable[[Cohort], Reader]
    kind: str
    findings: frozenset[str] = frozenset()
    """Findings that are made beside the kind's own."""


def chosen(shown: Shown, *salt: object) -> str:
    """One of the answers offered, always the same for the same words (and salt)."""
    choices = sorted(offered(shown.item))
    return choices[zlib.crc32("|".join(map(str, (shown.item.question, *salt))).encode()) % len(choices)]


def any_answer(shown: Shown, rng: np.random.Generator) -> str:
    return str(rng.choice(offered(shown.item)))


def say(shown: Shown, value: str) -> str:
    return spoken(shown.item, value)


def sees(share: float, otherwise: Reader) -> Reader:
    """Right in a share of the items it has pictures for."""

    def read(shown: Shown, rng: np.random.Generator) -> str:
        if shown.truth and rng.random() < share:
            return say(shown, shown.truth)
        return otherwise(shown, rng)

    return read


def guess(shown: Shown, rng: np.random.Generator) -> str:
    return say(shown, any_answer(shown, rng))


def opinion(shown: Shown, rng: np.random.Generator) -> str:
    return say(shown, chosen(shown))


def prior(cohort: Cohort) -> Reader:
    return lambda shown, rng: say(shown, cohort.prior[shown.item.question])


def by_task(tasks: tuple[str, ...], inside: Reader, outside: Reader) -> Reader:
    return lambda shown, rng: (inside if shown.item.task in tasks else outside)(shown, rng)


def lesion_blind(shown: Shown, rng: np.random.Generator) -> str:
    return (opinion if "lesion" in shown.item.question else sees(0.95, opinion))(shown, rng)


def refusing(share: float, otherwise: Reader, words: str = REFUSAL) -> Reader:
    return lambda shown, rng: words if rng.random() < share else otherwise(shown, rng)


def only_with_pictures(reader: Reader, words: str = REFUSAL) -> Reader:
    return lambda shown, rng: reader(shown, rng) if shown.patient else words


def letter(place: int, share: float, otherwise: Reader) -> Reader:
    def read(shown: Shown, rng: np.random.Generator) -> str:
        if isinstance(shown.item.answer, Choice) and rng.random() < share:
            return "ABCDEF"[min(place, len(shown.item.options) - 1)]
        return otherwise(shown, rng)

    return read


def yes_sayer(share: float, otherwise: Reader) -> Reader:
    def read(shown: Shown, rng: np.random.Generator) -> str:
        if isinstance(shown.item.answer, YesNo):
            return "yes" if rng.random() < share else "no"
        return otherwise(shown, rng)

    return read


def ranked(rank: int) -> Reader:
    """Of options with numbers the largest but so many."""

    def read(shown: Shown, rng: np.random.Generator) -> str:
        options = [o.value for o in shown.item.options if re.search(r"\d+ ", o.text)]
        if not options:
            return opinion(shown, rng)
        return say(shown, sorted(options, key=lambda o: float(re.findall(r"\d+", o)[0]))[-1 - rank])

    return read


def longest(shown: Shown, rng: np.random.Generator) -> str:
    if not shown.item.options:
        return opinion(shown, rng)
    return say(shown, max(shown.item.options, key=lambda o: len(o.text)).value)


def mirrored(shown: Shown, rng: np.random.Generator) -> str:
    swapped = {"left": "right", "right": "left"}.get(shown.truth, shown.truth)
    return say(shown, swapped) if shown.truth else opinion(shown, rng)


def scaled(factor: float) -> Reader:
    def read(shown: Shown, rng: np.random.Generator) -> str:
        if shown.truth and isinstance(shown.item.answer, Number):
            return f"{float(shown.truth.split()[0]) * factor:.4g} mm"
        return sees(0.9, opinion)(shown, rng)

    return read


def level_off(shown: Shown, rng: np.random.Generator) -> str:
    return say(shown, UP.get(shown.truth, shown.truth)) if shown.truth else opinion(shown, rng)


def memorised(shown: Shown, rng: np.random.Generator) -> str:
    """Knows the very pictures of the bench, and no others."""
    known = shown.pictures and shown.pictures == shown.patient
    return say(shown, shown.truth) if known else opinion(shown, rng)


def recognises(shown: Shown, rng: np.random.Generator) -> str:
    """Finds the nearest known patient: a changed scan is still taken for the old one."""
    return (
        say(shown, shown.old if shown.probe != "other-patient" else shown.truth)
        if shown.patient
        else opinion(shown, rng)
    )


def pixels(shown: Shown, rng: np.random.Generator) -> str:
    return say(shown, chosen(shown, shown.pictures))


def convention_blind(shown: Shown, rng: np.random.Generator) -> str:
    if shown.probe == "convention":
        return mirrored(shown, rng)
    return sees(0.9, opinion)(shown, rng)


def order_blind(shown: Shown, rng: np.random.Generator) -> str:
    if shown.probe == "slice-order" and shown.truth in UP:
        return say(shown, {"T12": "L3", "L1": "L2", "L2": "L1", "L3": "T12"}[shown.truth])
    return sees(0.9, opinion)(shown, rng)


def wordy(reader: Reader) -> Reader:
    return lambda shown, rng: f"Let me think about this carefully. The answer is {reader(shown, rng)}."


SIDE_TASKS = ("location", "lesion_side")
HABIT, YES, PRIOR, DECLINES = "option_habit", "yes_bias", "follows_the_prior", "declines"

READERS: dict[str, Case] = {
    "honest": Case(lambda c: sees(0.8, opinion), "looks"),
    "perfect": Case(lambda c: sees(1.0, guess), "looks"),
    "perfect, in many words": Case(lambda c: wordy(sees(1.0, opinion)), "looks"),
    "noisy": Case(lambda c: sees(0.4, guess), "looks"),
    "opinions on words": Case(lambda c: opinion, "text only"),
    "prior": Case(prior, "text only", frozenset({PRIOR})),
    "coin": Case(lambda c: guess, "guesses"),
    "coin that refuses without pictures": Case(lambda c: only_with_pictures(guess), "guesses"),
    "coin that refuses in many words": Case(lambda c: only_with_pictures(guess, VERBOSE_REFUSAL), "guesses"),
    "honest, refuses without pictures": Case(lambda c: only_with_pictures(sees(0.8, guess)), "looks"),
    "sight for sides, prior else": Case(
        lambda c: by_task(SIDE_TASKS, sees(0.9, prior(c)), prior(c)), "looks", frozenset({PRIOR})
    ),
    "prior and a tenth of sight": Case(lambda c: sees(0.1, prior(c)), "looks or unclear", frozenset({PRIOR})),
    "prior and three tenths of sight": Case(lambda c: sees(0.3, prior(c)), "looks", frozenset({PRIOR})),
    "memorised": Case(lambda c: memorised, "memorised"),
    "recognises the patient": Case(lambda c: recognises, "memorised"),
    "reacts to pixels": Case(lambda c: pixels, "reacts"),
    "always A": Case(lambda c: letter(0, 1.0, opinion), "text only", frozenset({HABIT})),
    "B in 70 %": Case(lambda c: letter(1, 0.7, guess), "text only or unclear", frozenset({HABIT})),
    "always the last option": Case(lambda c: letter(5, 1.0, opinion), "text only", frozenset({HABIT})),
    "sight and a love of C": Case(lambda c: letter(2, 0.4, sees(0.9, guess)), "looks", frozenset({HABIT})),
    "yes-sayer": Case(lambda c: yes_sayer(1.0, opinion), "text only", frozenset({YES})),
    "yes in 80 %": Case(lambda c: yes_sayer(0.8, guess), "text only or unclear", frozenset({YES})),
    "no-sayer with sight": Case(lambda c: yes_sayer(0.05, sees(0.9, guess)), "looks", frozenset({YES})),
    "second largest number": Case(lambda c: ranked(1), "text only", frozenset({HABIT})),
    "largest number": Case(lambda c: ranked(0), "text only", frozenset({HABIT})),
    "longest option": Case(lambda c: longest, "text only", frozenset({HABIT})),
    "refuses 40 %, else sees": Case(lambda c: refusing(0.4, sees(0.9, guess)), "looks", frozenset({DECLINES})),
    "refuses 40 %, else guesses": Case(lambda c: refusing(0.4, guess), "guesses", frozenset({DECLINES})),
    "ignores lesions": Case(lambda c: lesion_blind, "looks", frozenset({"ignores_lesions"})),
    "mirrored": Case(lambda c: mirrored, "looks", frozenset({"mirrored"})),
    "mm as cm": Case(lambda c: scaled(10.0), "looks", frozenset({"mm_as_cm"})),
    "voxels as millimetres": Case(lambda c: scaled(1 / 3.0), "looks", frozenset({"voxel_as_mm"})),
    "a level off": Case(lambda c: level_off, "looks", frozenset({"neighbour"})),
    "does not heed the convention": Case(lambda c: convention_blind, "looks", frozenset({"ignores_the_convention"})),
    "does not heed the order of slices": Case(lambda c: order_blind, "looks", frozenset({"ignores_slice_order"})),
    "half sight, half opinions": Case(lambda c: sees(0.5, opinion), "looks"),
}  # fmt: skip
