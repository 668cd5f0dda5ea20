"""Metrics of many answers together:
balanced accuracy, twin groups, skill, correlation, agreement of grades."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from situs.score.metrics.grades import GradeStatistic, GradeTables
from situs.score.metrics.number import exact, log_ratio
from situs.score.metrics.numbers import spearman_within_structure
from situs.score.stats.estimates import (
    Estimate,
    SumStatistic,
    cluster_bootstrap_of,
    cluster_bootstrap_of_samples,
    cluster_function,
    cluster_mean,
)
from situs.score.stats.sums import cluster_sums, distinct_codes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from situs.score.columns import GradeColumns, Rows
    from situs.score.stats.resamples import Samples

__all__ = [
    "balanced",
    "chance",
    "log_ratio_median",
    "over_grades",
    "skill",
    "skill_over_prior",
    "spearman",
    "twin_groups",
]

FloatArray = NDArray[np.float64]
Prior: TypeAlias = "Callable[[FloatArray], np.floating[Any]]"
_DRAWS = 500


def chance(rows: Rows, seed: int) -> Estimate | None:
    """What a uniform guess gets of the questions with options: known, not estimated."""
    closed = rows.where(~np.isnan(rows.columns.chance))
    if not len(closed):
        return None
    value = float(np.mean(rows.columns.chance[closed.index]))
    patients = len(np.unique(closed.clusters))
    return Estimate(value, len(closed), patients, None, "none", "known, not estimated")


def balanced(rows: Rows, seed: int) -> Estimate | None:
    """The mean over yes and no of the share that is right:
    always the same answer gives one half."""
    columns = rows.columns
    asked = rows.where(columns.coded("form").is_("yes_no"))
    yes = columns.coded("answer").is_("yes")[asked.index].astype(np.float64)
    right = columns.right[asked.index].astype(np.float64)
    sums = np.stack([yes * right, (1 - yes) * right, yes, 1 - yes], axis=1)

    def statistic(totals: FloatArray) -> FloatArray:
        return np.asarray(_ratios(totals[:, :2], totals[:, 2:]).mean(axis=1))

    return _of_sums(sums, statistic, asked, bounds=(0.0, 1.0))


def twin_groups(rows: Rows, seed: int) -> Estimate | None:
    """The share of twin groups all of whose items are right;
    groups that share a patient are one cluster."""
    twins = rows.columns.coded("twin_group")
    paired = rows.where(~twins.is_(""))
    groups, place, sizes = np.unique(
        twins.codes[paired.index], return_inverse=True, return_counts=True
    )
    several = sizes > 1
    if not several.any():
        return None
    rights = np.bincount(place, rows.columns.right[paired.index], minlength=len(groups))
    inside = several[place]
    linked = _linked(place[inside], paired.clusters[inside], len(groups))
    return cluster_mean((rights == sizes)[several].astype(np.float64), linked[several])


def _linked(groups: NDArray[np.intp], patients: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """For each group a number, the same for groups that share a patient, also by way of others.

    It is that of the first patient of all those linked, so that clusters keep the order of
    patients.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    size = count + int(patients.max()) + 1
    links = coo_matrix((np.ones(len(groups)), (groups, count + patients)), shape=(size, size))
    _, label = connected_components(links, directed=False)
    first = np.full(label.max() + 1, size, dtype=np.int64)
    np.minimum.at(first, label[count + patients], patients)
    return np.asarray(first[label[:count]])


def skill(rows: Rows, seed: int) -> Estimate | None:
    """Against the mean of other patients' answers to the same question,
    among the items of the table."""
    return _against_others(rows, [("question", np.mean)])


def skill_over_prior(rows: Rows, seed: int) -> Estimate | None:
    """Against the mean or the median of other patients' answers to the same question, or to all
    questions of its task: whichever errs least in all.

    Where values are skewed, as volumes and distances are, whoever says the median beats the mean
    without looking; no constant beats the median in absolute error. Where few patients are asked
    the same (counts of a rare finding), their mean says little, and all counts together say more.
    """
    priors: list[tuple[str, Prior]] = [
        (group, prior) for group in ("question", "task") for prior in (np.mean, np.median)
    ]
    return _against_others(rows, priors)


def _against_others(rows: Rows, priors: Sequence[tuple[str, Prior]]) -> Estimate | None:
    """1 minus the error over that of the best of some statistics of the other patients, each over
    those who were asked the same question or task."""
    columns = rows.columns
    asked = rows.where(~np.isnan(columns.truth))
    others = [_OtherPatients(columns.coded(group).codes, asked, prior) for group, prior in priors]
    compared, distances = [], []
    for row in rows.where(columns.predicted).index.tolist():
        expected = [one.without(row, int(columns.clusters[row])) for one in others]
        if None not in expected:
            compared.append(row)
            said = (columns.predictions[row], *expected)
            distances.append([_distance(value, columns.truth[row]) for value in said])

    def statistic(sums: FloatArray) -> FloatArray:
        return np.asarray(1.0 - _ratios(sums[:, 0], sums[:, 1:].min(axis=1)))

    compared_rows = rows.only(np.array(compared, dtype=np.int64))
    sums = np.array(distances, dtype=np.float64).reshape(len(compared), 1 + len(priors))
    return _of_sums(sums, statistic, compared_rows, bounds=(-math.inf, 1.0))


class _OtherPatients:
    """A statistic of the true answers to a question (or task) over all patients but one,
    worked out once for each pair."""

    def __init__(self, groups: NDArray[np.int64], asked: Rows, prior: Prior) -> None:
        self._groups, self._prior = groups, prior
        truths: dict[int, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
        for row, patient in zip(asked.index.tolist(), asked.clusters.tolist()):
            truths[int(groups[row])][patient].append(float(asked.columns.truth[row]))
        self._values = {
            group: (
                np.array([value for values in own.values() for value in values]),
                np.repeat(list(own), [len(values) for values in own.values()]),
            )
            for group, own in truths.items()
        }
        self._known: dict[tuple[int, int], float | None] = {}

    def without(self, row: int, patient: int) -> float | None:
        """What it is for a row and its patient; None if nobody else was asked."""
        key = int(self._groups[row]), patient
        if key not in self._known:
            values, patients = self._values[key[0]]
            others = values[patients != patient]
            self._known[key] = float(self._prior(others)) if others.size else None
        return self._known[key]


def _distance(a: float | Fraction | None, b: float) -> float:
    return float(abs(exact(a or 0) - exact(float(b))))


def log_ratio_median(rows: Rows, seed: int) -> Estimate | None:
    """The median of |ln(said / true)| over the numbers that were said."""
    answered = rows.where(rows.columns.predicted)
    if not len(answered):
        return None
    predictions, truth = rows.columns.predictions, rows.columns.truth
    ratios = [log_ratio(predictions[row] or 0, float(truth[row])) for row in answered.index]
    known = np.array([np.nan if ratio is None else ratio for ratio in ratios], dtype=np.float64)
    _, patient = np.unique(answered.clusters, return_inverse=True)
    order = np.argsort(known)[: int((~np.isnan(known)).sum())]
    values, own = known[order], patient[order]
    count = int(patient.max()) + 1

    def each(samples: Samples) -> FloatArray:
        # A patient drawn twice counts twice: the median is found among sorted values with their
        # times.
        return _weighted_medians(values, samples.times[:, own].astype(np.float64))

    return cluster_bootstrap_of_samples(
        each, len(answered), count, n_boot=_DRAWS, seed=seed, bounds=(0.0, math.inf)
    )


def _weighted_medians(values: FloatArray, times: FloatArray) -> FloatArray:
    """For each row of times the median of sorted values, each counted so often; NaN of none."""
    ends = np.cumsum(times, axis=1)
    result = np.full(len(times), np.nan)
    for place, (end, total) in enumerate(zip(ends, ends[:, -1:] if len(values) else ends)):
        if len(end) and total[0] > 0:
            middle = np.searchsorted(end, [(total[0] - 1) // 2, total[0] // 2], side="right")
            result[place] = np.mean(values[middle])
    return result


def spearman(rows: Rows, seed: int) -> Estimate | None:
    """Spearman's correlation within each question, of the numbers that were said."""
    answered = rows.where(rows.columns.predicted)
    if not len(answered):
        return None
    columns = rows.columns
    # Only the order of the numbers counts, and whole numbers are quick to compare exactly.
    predictions = _ranks([columns.predictions[row] or Fraction(0) for row in answered.index])
    truths = _ranks([exact(float(columns.truth[row])) for row in answered.index])
    question = columns.coded("question").codes[answered.index].tolist()

    def statistic(picked: NDArray[np.intp]) -> float | None:
        chosen = picked.tolist()
        return spearman_within_structure(
            [predictions[i] for i in chosen],
            [truths[i] for i in chosen],
            [question[i] for i in chosen],
        ).value

    return cluster_bootstrap_of(
        statistic, answered.clusters, n_boot=_DRAWS, seed=seed, bounds=(-1.0, 1.0)
    )


def _ranks(values: list[Fraction]) -> list[int]:
    """Each value's place in their order; equal values share one."""
    places = {value: place for place, value in enumerate(sorted(set(values)))}
    return [places[value] for value in values]


def all_grades(grades: GradeColumns) -> GradePairs:
    """Every grade."""
    return np.ones(len(grades.rows), dtype=bool), grades.truths, grades.told


def ordered_grades(grades: GradeColumns) -> GradePairs:
    """Those of sub-scores whose grades are steps."""
    return ~grades.nominal, grades.truths, grades.told


def presences(grades: GradeColumns) -> GradePairs:
    """0 for absent and 1 for present, of the sub-scores in which a grade means absence."""
    truths = (grades.truths != grades.absent).astype(np.int64)
    stated = np.where(grades.told < 0, -1, grades.told != grades.absent)
    return grades.absent >= 0, truths, stated


GradePairs = tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]
"""Which grades count, the true ones, and what was said (-1 for nothing)."""


def over_grades(
    statistic: GradeStatistic,
    bounds: tuple[float, float],
    pairs_of: Callable[[GradeColumns], GradePairs] = all_grades,
) -> Callable[[Rows, int], Estimate | None]:
    """The mean over sub-scores of a statistic of their tables."""

    def metric(rows: Rows, seed: int) -> Estimate | None:
        graded = _graded(rows, pairs_of)
        if graded is None:
            return None
        tables, answers, patients = graded

        def each(samples: Samples) -> FloatArray:
            return tables.means(statistic, samples)

        return cluster_bootstrap_of_samples(
            each,
            answers,
            patients,
            n_boot=_DRAWS,
            seed=seed,
            bounds=bounds,
        )

    return metric


def _graded(
    rows: Rows, pairs_of: Callable[[GradeColumns], GradePairs]
) -> tuple[GradeTables, int, int] | None:
    """The tables of the rows' grades, and how many answers and patients they are of; None without
    any.

    Several statistics read the same tables.
    """
    if pairs_of not in rows.derived:
        columns = rows.columns
        chosen = rows.grade_rows
        counts, truths, told = pairs_of(columns.grades)
        chosen = chosen[counts[chosen]]
        answers = columns.grades.rows[chosen]
        patients, patient = distinct_codes(columns.clusters[answers])
        names = columns.grades.names.codes[chosen]
        rows.derived[pairs_of] = len(chosen) and (
            GradeTables(names, truths[chosen], told[chosen], patient, len(patients)),
            # The grades of an answer lie together.
            1 + int(np.count_nonzero(np.diff(answers))),
            len(patients),
        )
    return rows.derived[pairs_of] or None


def _ratios(above: FloatArray, under: FloatArray) -> FloatArray:
    """above / under, NaN where there is nothing to divide by."""
    return np.divide(above, under, out=np.full_like(above, np.nan), where=under > 0)


def _of_sums(
    values: FloatArray, statistic: SumStatistic, rows: Rows, bounds: tuple[float, float]
) -> Estimate | None:
    """A function of the columns' sums over the items."""
    if not len(rows):
        return None
    return cluster_function(
        cluster_sums(values, rows.clusters), statistic, len(rows), bounds=bounds
    )
