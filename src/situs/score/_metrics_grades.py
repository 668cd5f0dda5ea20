"""Scores of grades over many answers: agreement on ordered scales, and presence.

Grades of different sub-scores are never pooled into one table, since a scale's habits would then pass for agreement: a
score is computed for each sub-score and averaged over them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "GRADE_EXACT",
    "GRADE_KAPPA",
    "GRADE_MACRO_F1",
    "GRADE_WITHIN_ONE",
    "PRESENCE_SENSITIVITY",
    "PRESENCE_SPECIFICITY",
    "GradePair",
    "GradeStatistic",
    "GradeTables",
    "grade_table",
    "macro_f1",
    "presence_sensitivity",
    "presence_specificity",
    "quadratic_kappa",
]

GradePair: TypeAlias = tuple[str, int, int | None]
"""Sub-score, true grade, said grade or None."""
FloatArray: TypeAlias = NDArray[np.float64]
GradeStatistic: TypeAlias = Callable[[FloatArray], float | None]

GRADE_EXACT = "grade.exact@1"
GRADE_WITHIN_ONE = "grade.within-one@1"
GRADE_KAPPA = "grade.quadratic-kappa@1"
GRADE_MACRO_F1 = "grade.macro-f1@1"
PRESENCE_SENSITIVITY = "grade.presence-sensitivity@1"
PRESENCE_SPECIFICITY = "grade.presence-specificity@1"


def grade_table(truths: Sequence[int], said: Sequence[int | None]) -> FloatArray:
    """Counts by true grade (rows) and said grade (columns); the last column holds the unanswered."""
    tables = GradeTables([[("", truth, told)] for truth, told in zip(truths, said)])
    table: FloatArray = tables.counts(np.arange(len(truths)))[0]
    return table


def quadratic_kappa(table: FloatArray) -> float | None:
    """Cohen's κ with weights (i − j)²: 1 − Σ w O / Σ w E, of the answered pairs (Cohen 1968).

    None where truth and answers are all one grade. Weakness: only answered pairs enter, so read it beside the exact
    share, in which unanswered ones count as wrong.
    """
    observed = table[:, :-1]
    total = observed.sum()
    if not total:
        return None
    grades = np.arange(len(observed))
    weights = (grades[:, None] - grades[None]) ** 2
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0)) / total
    chance = float((weights * expected).sum())
    return 1.0 - float((weights * observed).sum()) / chance if chance > 0 else None


def macro_f1(table: FloatArray) -> float | None:
    """The plain mean of F1 over the grades that occur as truth or answer; an unanswered pair is a miss."""
    occurs = table.sum(axis=1) + table[:, :-1].sum(axis=0)
    held = occurs > 0
    return float((2 * np.diag(table)[held] / occurs[held]).mean()) if held.any() else None


def presence_sensitivity(table: FloatArray) -> float | None:
    """Share graded above 0 among those truly above 0; unanswered counts as not found."""
    there = float(table[1:].sum())
    return float(table[1:, 1:-1].sum()) / there if there else None


def presence_specificity(table: FloatArray) -> float | None:
    """Share graded 0 among those truly 0; unanswered counts as not told."""
    absent = float(table[0].sum())
    return float(table[0, 0]) / absent if absent else None


class GradeTables:
    """The tables of all sub-scores over any (re)sample of answers, without going through them one by one."""

    def __init__(self, answers: Sequence[Sequence[GradePair]]) -> None:
        names = sorted({name for pairs in answers for name, _, _ in pairs})
        places = {name: place for place, name in enumerate(names)}
        flat = [(row, pair) for row, pairs in enumerate(answers) for pair in pairs]
        most = max((max(truth, told or 0) for _, (_, truth, told) in flat), default=0)
        self._answers = len(answers)
        self._shape = (len(names), most + 1, most + 2)
        self._row = np.array([row for row, _ in flat], dtype=np.intp)
        self._code = np.array(
            [
                (places[name] * (most + 1) + truth) * (most + 2) + (most + 1 if told is None else told)
                for _, (name, truth, told) in flat
            ],
            dtype=np.intp,
        )

    def counts(self, picked: NDArray[np.intp]) -> FloatArray:
        """One table for each sub-score, in the order of their names."""
        times = np.bincount(picked, minlength=self._answers).astype(np.float64)
        sub_scores, truths, said = self._shape
        flat = np.bincount(self._code, times[self._row], minlength=sub_scores * truths * said)
        return flat.astype(np.float64).reshape(self._shape)

    def mean(self, statistic: GradeStatistic, picked: NDArray[np.intp]) -> float | None:
        """The plain mean over the sub-scores for which the statistic is defined."""
        defined = [value for table in self.counts(picked) if (value := statistic(table)) is not None]
        return float(np.mean(defined)) if defined else None
