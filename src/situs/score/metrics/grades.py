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
GradeStatistic: TypeAlias = Callable[[FloatArray], FloatArray]
"""A number for each of a stack of tables, or for one; NaN where it is not defined."""

GRADE_EXACT = "grade.exact@1"
GRADE_WITHIN_ONE = "grade.within-one@1"
GRADE_KAPPA = "grade.quadratic-kappa@1"
GRADE_MACRO_F1 = "grade.macro-f1@1"
PRESENCE_SENSITIVITY = "grade.presence-sensitivity@1"
PRESENCE_SPECIFICITY = "grade.presence-specificity@1"


def grade_table(truths: Sequence[int], said: Sequence[int | None]) -> FloatArray:
    """Counts by true grade (rows) and said grade (columns); the last column holds the unanswered."""
    tables = GradeTables(
        [[("", truth, told)] for truth, told in zip(truths, said)], [range(len(truths))]
    )
    table: FloatArray = tables.counts([np.array([0])])[0, 0]
    return table


def quadratic_kappa(tables: FloatArray) -> FloatArray:
    """Cohen's κ with weights (i − j)²: 1 − Σ w O / Σ w E, of the answered pairs (Cohen 1968).

    Not defined where truth and answers are all one grade. Weakness: only answered pairs enter, so read it beside the
    exact share, in which unanswered ones count as wrong.
    """
    observed = tables[..., :-1]
    grades = np.arange(observed.shape[-1])
    weights = (grades[:, None] - grades[None]) ** 2
    truths, said = observed.sum(axis=-1), observed.sum(axis=-2)
    chance = _share(
        np.einsum("...i,ij,...j->...", truths, weights, said), observed.sum(axis=(-1, -2))
    )
    kappa: FloatArray = 1.0 - _share((weights * observed).sum(axis=(-1, -2)), chance)
    return kappa


def macro_f1(tables: FloatArray) -> FloatArray:
    """The plain mean of F1 over the grades that occur as truth or answer; an unanswered pair is a miss."""
    occurs = tables.sum(axis=-1) + tables[..., :-1].sum(axis=-2)
    right = 2.0 * np.diagonal(tables, axis1=-2, axis2=-1)
    scores = np.divide(right, occurs, out=np.zeros_like(right), where=occurs > 0)
    return _share(scores.sum(axis=-1), (occurs > 0).sum(axis=-1))


def presence_sensitivity(tables: FloatArray) -> FloatArray:
    """Share graded above 0 among those truly above 0; unanswered counts as not found."""
    return _share(tables[..., 1:, 1:-1].sum(axis=(-1, -2)), tables[..., 1:, :].sum(axis=(-1, -2)))


def presence_specificity(tables: FloatArray) -> FloatArray:
    """Share graded 0 among those truly 0; unanswered counts as not told."""
    return _share(tables[..., 0, 0], tables[..., 0, :].sum(axis=-1))


def _share(part: FloatArray, whole: NDArray[np.float64 | np.intp]) -> FloatArray:
    """`part / whole`; NaN where there is no whole."""
    nothing = np.full(np.shape(part), np.nan)
    shares: FloatArray = np.divide(part, whole, out=nothing, where=np.asarray(whole > 0))
    return shares


class GradeTables:
    """The tables of all sub-scores over any (re)sample of patients, without going through the answers again."""

    def __init__(
        self, answers: Sequence[Sequence[GradePair]], patients: Sequence[Sequence[int]]
    ) -> None:
        """`patients` are the rows of each."""
        names = sorted({name for pairs in answers for name, _, _ in pairs})
        places = {name: place for place, name in enumerate(names)}
        most = max(
            (max(truth, told or 0) for pairs in answers for _, truth, told in pairs), default=0
        )
        self._shape = (len(names), most + 1, most + 2)
        self._own = np.zeros((len(patients), *self._shape))
        for patient, rows in enumerate(patients):
            for row in rows:
                for name, truth, told in answers[row]:
                    self._own[patient, places[name], truth, most + 1 if told is None else told] += 1

    def counts(self, samples: Sequence[NDArray[np.intp]]) -> FloatArray:
        """For each sample of patients one table for each sub-score, in the order of their names."""
        patients = len(self._own)
        times = np.array(
            [np.bincount(sample, minlength=patients) for sample in samples], dtype=np.float64
        )
        tables: FloatArray = (times @ self._own.reshape(patients, -1)).reshape(-1, *self._shape)
        return tables

    def means(self, statistic: GradeStatistic, samples: Sequence[NDArray[np.intp]]) -> FloatArray:
        """For each sample the plain mean over the sub-scores for which the statistic is defined."""
        values = statistic(self.counts(samples))
        defined = ~np.isnan(values)
        return _share(np.where(defined, values, 0.0).sum(axis=1), defined.sum(axis=1))
