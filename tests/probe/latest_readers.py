"""Ten more planted readers: uneven sensors, careful refusals,
fading sight, forms of speech, and blind ones."""

from __future__ import annotations

import json

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
    by_item,
    guess,
    letter,
    memorised,
    opinion,
    prior,
    say,
    sees,
)
from simulated import Cohort, Reader, Shown, offered, spoken

from situs.items import Choice

__all__ = ["LATEST"]


def knows_when_it_sees(share: float) -> Reader:
    """Answers what it sees, and declines the rest instead of guessing."""

    def read(shown: Shown, rng: np.random.Generator) -> str:
        seen = shown.truth and rng.random() < share
        return say(shown, shown.truth) if seen else REFUSAL

    return read


def blind_to(value: str) -> Reader:
    """Sees all answers but one, for which it guesses."""

    def read(shown: Shown, rng: np.random.Generator) -> str:
        return (guess if shown.truth in ("", value) else sees(0.95, guess))(shown, rng)

    return read


def fading(of: Cohort) -> Reader:
    """Sees everything at the beginning of the bench, and ever less towards its end."""
    order = {item.item_id: at / len(of.items) for at, item in enumerate(of.items)}

    def read(shown: Shown, rng: np.random.Generator) -> str:
        at = order[shown.item.twin_of or shown.item.item_id]
        return sees(1.0 - at, opinion)(shown, rng)

    return read


def prior_in_most(share: float, of: Cohort) -> Reader:
    usual = prior(of)
    return lambda shown, rng: (usual if rng.random() < share else guess)(shown, rng)


def rarest(of: Cohort) -> Reader:
    """Says what the fewest patients have."""
    counts: dict[str, dict[str, int]] = {}
    for item in of.items:
        key = item.item_id, "original"
        truth = of.truth[key] if key in of.truth else of.truth[item.item_id]  # type: ignore[index]
        text = counts.setdefault(item.question, {})
        text[truth] = text.get(truth, 0) + 1

    def read(shown: Shown, rng: np.random.Generator) -> str:
        told = counts[shown.item.question]
        return say(shown, min(sorted(offered(shown.item)), key=lambda value: told.get(value, 0)))

    return read


def sees_the_changed_only(shown: Shown, rng: np.random.Generator) -> str:
    """Has opinions on the scans of the bench, and reads those that a probe has changed."""
    changed = shown.probe in ("mirror", "sham", "slice-order", "convention")
    return (sees(0.95, opinion) if changed else opinion)(shown, rng)


def in_json(reader: Reader) -> Reader:
    def read(shown: Shown, rng: np.random.Generator) -> str:
        record = {"reasoning": "Compared slice by slice.", "answer": reader(shown, rng)}
        return f"```json\n{json.dumps(record)}\n```"

    return read


def boxed(reader: Reader) -> Reader:
    return lambda shown, rng: f"So the final answer is $\\boxed{{\\text{{{reader(shown, rng)}}}}}$."


def stuck(share: float) -> Reader:
    """Sees a share; else says again what it said for the question before, if that is offered."""
    last = [""]

    def read(shown: Shown, rng: np.random.Generator) -> str:
        values = offered(shown.item)
        seen = shown.truth and rng.random() < share
        again = last[0] if last[0] in values else any_answer(shown, rng)
        last[0] = shown.truth if seen else again
        return spoken(shown.item, last[0])

    return read


def unsure_says_c(shown: Shown, rng: np.random.Generator) -> str:
    if isinstance(shown.item.answer, Choice) and not (shown.truth and rng.random() < 0.6):
        return letter(2, 1.0, guess)(shown, rng)
    return sees(0.6, guess)(shown, rng)


LATEST: dict[str, Case] = {
    "declines what it does not see": Case(
        lambda c: knows_when_it_sees(0.6), SEES, frozenset({DECLINES})
    ),
    "never sees a right or a yes": Case(
        lambda c: lambda s, r: (blind_to("right") if s.truth == "right" else blind_to("yes"))(s, r),
        SEES,
        may=frozenset({YES, HABIT, LESIONS, PRIOR}),
    ),
    "fades towards the end": Case(fading, SEES, may=frozenset({LESIONS})),
    "the prior in seven of ten, else a coin": Case(
        lambda c: prior_in_most(0.7, c), BLIND_KINDS, may=frozenset({PRIOR, YES, HABIT})
    ),
    "the rarest answer": Case(rarest, BLIND_KINDS, may=frozenset({YES, HABIT})),
    "reads changed scans only": Case(
        lambda c: sees_the_changed_only, f"{BLIND_KINDS} or reacts or memorised"
    ),
    "sees, in JSON": Case(lambda c: in_json(sees(0.8, opinion)), SEES),
    "opinions in boxes": Case(lambda c: boxed(opinion), "text only"),
    "sees a third, else repeats itself": Case(
        lambda c: stuck(0.35), "looks or unclear", may=frozenset({YES, HABIT, LESIONS})
    ),
    "memorised four items in five, else a coin": Case(
        lambda c: by_item(0.8, memorised, guess), "memorised"
    ),
    "says C where it does not see": Case(
        lambda c: unsure_says_c, SEES, may=frozenset({HABIT, PRIOR, LESIONS})
    ),
}
"""Written before any of them was tried."""
