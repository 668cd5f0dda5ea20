"""Scores of numbers: one answer against its truth, and many answers together.

Single answers are compared in exact arithmetic. Floats enter by their shortest decimal form
(`repr`), so that 0.1 means one tenth, as whoever wrote it down meant it.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from situs.errors import SitusError

__all__ = [
    "MRA_VSI_CODE",
    "MRA_VSI_PAPER",
    "RELATIVE_ACCURACY",
    "WITHIN_INTERVAL",
    "NumberLike",
    "exact",
    "log_ratio",
    "mra_vsi_code",
    "mra_vsi_paper",
    "relative_accuracy",
    "relative_error",
    "within_interval",
]

NumberLike: TypeAlias = str | int | float | Fraction | Decimal

MRA_VSI_CODE = "mra.vsi-code@1"
MRA_VSI_PAPER = "mra.vsi-paper@1"
RELATIVE_ACCURACY = "relative-accuracy@1"
WITHIN_INTERVAL = "within-interval@1"

_TOLERANCES = tuple(Fraction(steps, 20) for steps in range(10, 0, -1))
"""1 − θ for θ = .50, .55, …, .95: 1/2, 9/20, …, 1/20."""


def exact(number: NumberLike) -> Fraction:
    """The number as a fraction, a float by its shortest decimal form."""
    try:
        return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        raise SitusError(f"{number!r} is not a finite number") from error


def relative_error(prediction: NumberLike, truth: NumberLike) -> Fraction | None:
    """|p − y| / |y|; None for truth 0."""
    target = exact(truth)
    return abs(exact(prediction) - target) / abs(target) if target else None


def mra_vsi_code(prediction: NumberLike, truth: NumberLike) -> Fraction | None:
    """Mean relative accuracy as VSI-Bench's code has it: the share of θ with |p − y| / |y| ≤ 1 − θ.
    None for truth 0.

    Departures: exact comparison (the code's floats decide ties wrongly) and |y| for negative
    truths. Weaknesses: ten steps, so errors under 5 % all score 1 and over 50 % all score 0;
    asymmetric (half the truth scores 0.1, twice the truth 0); a constant near the structure's mean
    scores well, so it never ranks alone.
    """
    error = relative_error(prediction, truth)
    return (
        None
        if error is None
        else Fraction(sum(error <= tolerance for tolerance in _TOLERANCES), len(_TOLERANCES))
    )


def mra_vsi_paper(prediction: NumberLike, truth: NumberLike) -> Fraction | None:
    """Mean relative accuracy as VSI-Bench's paper writes it: as `mra_vsi_code`, with < for ≤.

    Weaknesses: those of `mra_vsi_code`; and ties, frequent for counts, lose a step, so the two must
    not be mixed.
    """
    error = relative_error(prediction, truth)
    return (
        None
        if error is None
        else Fraction(sum(error < tolerance for tolerance in _TOLERANCES), len(_TOLERANCES))
    )


def relative_accuracy(prediction: NumberLike, truth: NumberLike) -> Fraction | None:
    """max(0, 1 − |p − y| / |y|). None for truth 0.

    Weaknesses: asymmetric (0 for every prediction of twice the truth or more, but 0.5 for half of
    it), so it rewards guessing low; and it is generous: an error of 30 % still scores 0.7.
    """
    error = relative_error(prediction, truth)
    return None if error is None else max(Fraction(0), 1 - error)


def within_interval(prediction: NumberLike, interval: tuple[NumberLike, NumberLike]) -> bool:
    """Whether the prediction lies in the fact's closed interval: then it is exact as far as the
    truth is known.

    Weaknesses: all or nothing, and its difficulty depends on how sure the evidence is: a coarse
    scan is easier.
    """
    low, high = exact(interval[0]), exact(interval[1])
    if low > high:
        raise SitusError(f"interval {interval} is empty", fix="give the lower end first")
    return low <= exact(prediction) <= high


def log_ratio(prediction: NumberLike, truth: NumberLike) -> float | None:
    """|ln(p / y)|; None unless both are positive."""
    p, y = exact(prediction), exact(truth)
    if p <= 0 or y <= 0:
        return None
    ratio = p / y
    return abs(math.log(ratio.numerator) - math.log(ratio.denominator))
