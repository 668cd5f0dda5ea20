"""Scores of grades over many answers: agreement on ordered scales, and presence.

Grades of different sub-scores are never pooled into one table, since a scale's habits would then
pass for agreement: a score is computed for each sub-score and averaged over them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from situs.base.files import digest
from situs.items import Item
from situs.score.stats.resamples import Samples
from situs.score.stats.sums import distinct_codes

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
    "absent_grade",
    "is_nominal",
    "macro_f1",
    "presence_sensitivity",
    "presence_specificity",
    "quadratic_kappa",
    "share_exact",
    "share_within_one",
]

GradePair: TypeAlias = tuple[str, int, int | None]
"""Sub-score, true grade, said grade or None."""
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
GradeStatistic: TypeAlias = Callable[[FloatArray], FloatArray]
"""A number for each of a stack of tables, or for one; NaN where it is not defined."""

GRADE_EXACT = "grade.exact@1"
GRADE_WITHIN_ONE = "grade.within-one@1"
GRADE_KAPPA = "grade.quadratic-kappa@1"
GRADE_MACRO_F1 = "grade.macro-f1@1"
PRESENCE_SENSITIVITY = "grade.presence-sensitivity@1"
PRESENCE_SPECIFICITY = "grade.presence-specificity@1"


def is_nominal(tags: tuple[str, ...], name: str) -> bool:
    """Whether the grades of a sub-score are kinds, not steps: then being one off means nothing."""
    return f"nominal:{name}" in tags


@functools.lru_cache(maxsize=4096)
def absent_grade(tags: tuple[str, ...], name: str) -> int | None:
    """The grade that means, by the tags of an item,
    that a sign is not there; None where none does."""
    start = f"absent:{name}:"
    stated = next((tag.rpartition(":")[2] for tag in tags if tag.startswith(start)), "0")
    return int(stated) if stated else None


def share_exact(truth: Mapping[str, int], said: Mapping[str, int]) -> float:
    """The share of sub-scores with the very grade."""
    return sum(said.get(name) == grade for name, grade in truth.items()) / len(truth)


def share_within_one(item: Item, truth: Mapping[str, int], said: Mapping[str, int]) -> float:
    """The share of sub-scores whose grades are steps and that are at most one off."""
    ordered = [name for name in truth if not is_nominal(item.tags, name)]
    near = [name in said and abs(truth[name] - said[name]) <= 1 for name in ordered]
    return sum(near) / len(near)


def quadratic_kappa(tables: FloatArray) -> FloatArray:
    """Cohen's κ with weights (i − j)²: 1 − Σ w O / Σ w E, of the answered pairs (Cohen 1968).

    Not defined where truth and answers are all one grade. Weakness: only answered pairs enter, so
    read it beside the exact share, in which unanswered ones count as wrong.
    """
    cells, sums = _flat(tables), _cell_sums(tables.shape[-1])
    truths, said = cells @ sums.answered_truths, cells @ sums.said
    chance = _share((truths @ sums.squares * said).sum(axis=-1), cells @ sums.answered)
    kappa: FloatArray = 1.0 - _share(cells @ sums.squares_off, chance)
    return kappa


def macro_f1(tables: FloatArray) -> FloatArray:
    """The plain mean of F1 over the grades that occur as truth or answer;
    an unanswered pair is a miss."""
    cells, sums = _flat(tables), _cell_sums(tables.shape[-1])
    occurs = cells @ (sums.truths + sums.said)
    right = 2.0 * np.diagonal(tables, axis1=-2, axis2=-1)
    scores = np.divide(right, occurs, out=np.zeros_like(right), where=occurs > 0)
    return _share(scores.sum(axis=-1), (occurs > 0).sum(axis=-1))


def presence_sensitivity(tables: FloatArray) -> FloatArray:
    """Share graded above 0 among those truly above 0; unanswered counts as not found."""
    cells, sums = _flat(tables), _cell_sums(tables.shape[-1])
    return _share(cells @ sums.found, cells @ sums.truths[:, 1:].sum(axis=1))


def presence_specificity(tables: FloatArray) -> FloatArray:
    """Share graded 0 among those truly 0; unanswered counts as not told."""
    cells, sums = _flat(tables), _cell_sums(tables.shape[-1])
    return _share(tables[..., 0, 0], cells @ sums.truths[:, 0])


def _flat(tables: FloatArray) -> FloatArray:
    """The cells of each table in a row."""
    return tables.reshape(*tables.shape[:-2], -1)


class _CellSums(NamedTuple):
    """What the cells of a table are multiplied by for each sum over them.

    Products of matrices are quicker than sums over short axes, and of whole numbers they are exact.
    """

    truths: FloatArray
    """By true grade."""
    answered_truths: FloatArray
    """The same, of what was answered."""
    said: FloatArray
    """By said grade."""
    answered: FloatArray
    squares: FloatArray
    """Of the difference of two grades."""
    squares_off: FloatArray
    """The same for each cell that was answered."""
    found: FloatArray
    """Truly above 0 and graded so."""


@functools.lru_cache(maxsize=32)
def _cell_sums(columns: int) -> _CellSums:
    """For tables with so many columns; the last one holds the unanswered."""
    grades = np.arange(columns - 1)
    truth, said = (one.ravel() for one in np.indices((columns - 1, columns)))
    is_answered = said < columns - 1
    by_truth = (truth[:, None] == grades).astype(np.float64)
    return _CellSums(
        by_truth,
        by_truth * is_answered[:, None],
        (said[:, None] == grades).astype(np.float64),
        is_answered.astype(np.float64),
        ((grades[:, None] - grades) ** 2).astype(np.float64),
        np.where(is_answered, (truth - said) ** 2, 0).astype(np.float64),
        ((truth > 0) & (said > 0) & is_answered).astype(np.float64),
    )


def _share(part: FloatArray, whole: NDArray[np.float64 | np.intp]) -> FloatArray:
    """`part / whole`; NaN where there is no whole."""
    nothing = np.full(np.shape(part), np.nan)
    shares: FloatArray = np.divide(part, whole, out=nothing, where=np.asarray(whole > 0))
    return shares


class GradeTables:
    """The tables of all sub-scores over any (re)sample of patients,
    without going through the answers again."""

    def __init__(
        self,
        sub_scores: IntArray,
        truths: IntArray,
        told: IntArray,
        patient: IntArray,
        patients: int,
    ) -> None:
        """A grade a row: its sub-score, the true grade,
        the one told (-1 for none) and the patient, by number."""
        names, place = distinct_codes(sub_scores)
        most = int(max(truths.max(initial=0), told.max(initial=0)))
        self._shape = (most + 1, most + 2)
        self._patients = patients
        cells = truths * (most + 2) + np.where(told < 0, most + 1, told)
        order = np.argsort(place, kind="stable")
        ends = np.cumsum(np.bincount(place, minlength=len(names)))[:-1]
        self._tables: dict[tuple[Samples, str], FloatArray] = {}
        self._own = [
            _SubScore(own, filled)
            for own, filled in zip(np.split(patient[order], ends), np.split(cells[order], ends))
        ]

    def counts(self, samples: Samples) -> FloatArray:
        """For each sample of patients one table for each sub-score, in the order of their names."""
        return self._stacked(samples, self._own)

    def means(self, statistic: GradeStatistic, samples: Samples) -> FloatArray:
        """For each sample the plain mean over the sub-scores for which the statistic is defined."""
        known = samples.known
        # A task, its tags and the whole share most of their sub-scores.
        new = [own for own in self._own if (statistic, self._shape, own.key) not in known]
        if new:
            for own, column in zip(new, statistic(self._stacked(samples, new)).T):
                known[statistic, self._shape, own.key] = column
        values = np.stack([known[statistic, self._shape, own.key] for own in self._own], axis=1)
        defined = ~np.isnan(values)
        return _share(np.where(defined, values, 0.0).sum(axis=1), defined.sum(axis=1))

    def _stacked(self, samples: Samples, chosen: Sequence[_SubScore]) -> FloatArray:
        """The tables of some sub-scores: samples × sub-scores × true grade × said grade."""
        new = [own for own in chosen if (samples, own.key) not in self._tables]
        if new:
            for own, table in zip(new, np.swapaxes(self._counted(samples, new), 0, 1)):
                self._tables[samples, own.key] = table
        return np.stack([self._tables[samples, own.key] for own in chosen], axis=1)

    def _counted(self, samples: Samples, chosen: Sequence[_SubScore]) -> FloatArray:
        """Times drawn × own counts, over the cells that are not empty;
        the sums of whole numbers are exact."""
        size = self._shape[0] * self._shape[1]
        cells = np.concatenate([own.cells + place * size for place, own in enumerate(chosen)])
        filled, place = distinct_codes(cells)
        patient = np.concatenate([own.patient for own in chosen])
        counts = np.bincount(
            patient * len(filled) + place, minlength=self._patients * len(filled)
        ).reshape(self._patients, len(filled))
        tables = np.zeros((len(samples), len(chosen) * size))
        tables[:, filled] = samples.times @ counts.astype(np.float32)
        return tables.reshape(len(samples), len(chosen), *self._shape)


class _SubScore:
    """The grades of one sub-score: of each its patient and its cell in the table."""

    def __init__(self, patient: IntArray, cells: IntArray) -> None:
        self.patient = patient
        self.cells = cells
        self.key = digest(patient.tobytes(), cells.tobytes())
