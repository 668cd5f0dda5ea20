"""Ten planted readers of kinds that no other list has: half an eye, odd speech, words of the
question."""

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

from situs.items import Choice, Number, YesNo

__all__ = ["STRAY"]

_ANY = frozenset({YES, HABIT, LESIONS, PRIOR})


def jittery_ruler(shown: Shown, rng: np.random.Generator) -> str:
    """Sees, and measures with an error of a third either way."""
    if shown.truth and isinstance(shown.item.answer, Number):
        value = float(shown.truth.split()[0]) * rng.lognormal(0.0, 0.35)
        return f"{value:.4g} {shown.item.answer.unit}".strip()
    return sees(0.95, opinion)(shown, rng)


def overlooks_half(shown: Shown, rng: np.random.Generator) -> str:
    """Sees, but overlooks half of what is there: a yes becomes a no; it never invents one."""
    if isinstance(shown.item.answer, YesNo):
        return "yes" if shown.truth == "yes" and rng.random() < 0.5 else "no"
    return sees(0.95, opinion)(shown, rng)


def sees_heights(shown: Shown, rng: np.random.Generator) -> str:
    """Sees what is higher or lower and how long things are, and tosses a coin for the rest."""
    height = re.search(
        r"\b(?:above|below|higher|lower|level|pole|top|long|longer)\b", shown.item.question
    )
    return (sees(0.95, guess) if height else guess)(shown, rng)


def likes_the_left(shown: Shown, rng: np.random.Generator) -> str:
    """Says yes to whatever is asked of the left; never looks."""
    if isinstance(shown.item.answer, YesNo):
        return "yes" if re.search(r"\bleft\b", shown.item.question) else "no"
    return opinion(shown, rng)


def textbook_reader(of: Cohort) -> Reader:
    """The usual answer outside the headline, and a coin in it; never looks."""
    usual = prior(of)
    return lambda shown, rng: (guess if shown.item.stratum == "headline" else usual)(shown, rng)


def bilingual(shown: Shown, rng: np.random.Generator) -> str:
    """Sees, and answers every third question in a language that was not declared."""
    value = shown.truth if shown.truth and rng.random() < 0.9 else any_answer(shown, rng)
    if rng.random() < 1 / 3:
        return "Auf diesen Schichten ist das leider schwer zu erkennen, vermutlich eher nicht."
    return say(shown, value)


def short_questions(of: Cohort) -> Reader:
    """Sees where the question has few words, else says the usual."""
    usual = prior(of)
    lengths = sorted(len(item.question.split()) for item in of.items)
    middle = lengths[len(lengths) // 2]

    def read(shown: Shown, rng: np.random.Generator) -> str:
        short = len(shown.item.question.split()) <= middle
        return (sees(0.95, usual) if short else usual)(shown, rng)

    return read


def lenient_match(shown: Shown, rng: np.random.Generator) -> str:
    """Sees, but in a third of the questions with options takes any other one."""
    values = offered(shown.item)
    if shown.truth and isinstance(shown.item.answer, Choice) and rng.random() < 1 / 3:
        return say(shown, str(rng.choice([v for v in values if v != shown.truth] or values)))
    return sees(0.95, opinion)(shown, rng)


def in_ranges(shown: Shown, rng: np.random.Generator) -> str:
    """Sees, but gives every number as a range, which is no answer."""
    if isinstance(shown.item.answer, Number):
        low = 10 + zlib.crc32(shown.item.question.encode()) % 40
        value = float(shown.truth.split()[0]) if shown.truth else low
        return f"between {0.7 * value:.3g} and {1.4 * value:.3g} {shown.item.answer.unit}"
    return sees(0.9, guess)(shown, rng)


def echoes_the_question(shown: Shown, rng: np.random.Generator) -> str:
    """Chooses the option that shares most words with the question; never looks."""
    if not shown.item.options:
        return say(shown, chosen(shown, "echo"))
    asked = set(shown.item.question.lower().split())
    options = sorted(
        shown.item.options, key=lambda o: (-len(asked & set(o.text.lower().split())), o.text)
    )
    return say(shown, options[0].value)


STRAY: dict[str, Case] = {
    "a jittery ruler": Case(lambda c: jittery_ruler, SEES, may=_ANY),
    "overlooks half of what is there": Case(lambda c: overlooks_half, SEES, may=_ANY),
    "sees heights only": Case(lambda c: sees_heights, "looks or unclear", may=_ANY),
    "yes to the left": Case(lambda c: likes_the_left, BLIND_KINDS, may=_ANY),
    "textbook outside, a coin in the headline": Case(textbook_reader, BLIND_KINDS, may=_ANY),
    "a third in another language": Case(lambda c: bilingual, SEES, may=_ANY | {DECLINES}),
    "sees short questions": Case(short_questions, "looks or unclear", may=_ANY),
    "takes another option in a third": Case(lambda c: lenient_match, SEES, may=_ANY),
    "numbers as ranges": Case(lambda c: in_ranges, SEES, may=_ANY | {DECLINES}),
    "echoes the question": Case(lambda c: echoes_the_question, BLIND_KINDS, may=_ANY),
}
"""Written before any of them was tried."""
