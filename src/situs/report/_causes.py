"""Why an answer is wrong, as far as the answer itself tells."""

from __future__ import annotations

import math

from situs.score import INFERRED, Scored

__all__ = ["cause_of"]

_SIDES = {"left": "right", "right": "left"}
_SLIP = 0.05
"""How near to a power of ten a ratio must be to be taken for a wrong unit."""


def cause_of(row: Scored) -> str:
    """One cause, the plainest; empty for a right answer and where none can be told."""
    outcome = row.outcome
    if outcome.right is not False:
        return ""
    if outcome.state != "answered":
        return outcome.state.replace("_", " ")
    said = outcome.parsed.strip().lower()
    if row.answer in _SIDES and _SIDES[row.answer] in said and row.answer not in said:
        return "mirrored"
    if row.truth is not None and row.prediction is not None:
        return _slip(row.truth, float(row.prediction))
    if row.answer_right is True and row.place_right is False:
        return "right answer, wrong place"
    if row.answer_right is False and row.place_right is True:
        return "wrong answer, right place"
    return "read in another scale" if INFERRED & set(outcome.flags) else ""


def _slip(truth: float, prediction: float) -> str:
    if truth <= 0 or prediction <= 0:
        return ""
    power = math.log10(prediction / truth)
    nearest = round(power)
    if nearest and abs(power - nearest) < _SLIP and abs(nearest) in (1, 3):
        return "cm and mm mixed up" if abs(nearest) == 1 else "mL and L mixed up"
    return "too large" if power > 0 else "too small"
