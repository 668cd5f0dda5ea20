"""From many outcomes to the entries of a table."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.score.metrics.boxes import (
    BOX_CENTRE_HIT,
    BOX_CENTRE_HIT_3D,
    BOX_F1,
    BOX_FRAME_F1,
    BOX_FRAME_IOU,
    BOX_HIT_3D,
    BOX_IOU_3D,
    BOX_MEAN_IOU,
    BOX_PANOPTIC,
    BOX_TUBE_IOU,
)
from situs.score.metrics.grades import (
    GRADE_EXACT,
    GRADE_KAPPA,
    GRADE_MACRO_F1,
    GRADE_WITHIN_ONE,
    PRESENCE_SENSITIVITY,
    PRESENCE_SPECIFICITY,
    GradePair,
    GradeStatistic,
    GradeTables,
    macro_f1,
    presence_sensitivity,
    presence_specificity,
    quadratic_kappa,
)
from situs.score.metrics.number import (
    MRA_VSI_CODE,
    MRA_VSI_PAPER,
    RELATIVE_ACCURACY,
    WITHIN_INTERVAL,
    exact,
    log_ratio,
)
from situs.score.metrics.numbers import (
    MEDIAN_ABS_LOG_RATIO,
    SKILL_OVER_MEAN,
    SPEARMAN_WITHIN_STRUCTURE,
    spearman_within_structure,
)
from situs.score.metrics.sets import (
    CHOICES_EXACT,
    CHOICES_F1,
    FRAMES_ENDS_WITHIN_ONE,
    FRAMES_F1,
    FRAMES_IOU,
)
from situs.score.outcomes import NOT_COUNTED, Scored
from situs.score.parts import LEVEL_WITHIN_ONE
from situs.score.read.boxes import INFERRED
from situs.score.stats.estimates import (
    Estimate,
    RowStatistic,
    Samples,
    SumStatistic,
    cluster_bootstrap_of,
    cluster_bootstrap_of_samples,
    cluster_function,
    cluster_mean,
)
from situs.score.stats.sums import cluster_rows, cluster_sums

__all__ = ["BOX_METRICS", "METRICS", "NOT_ANSWERABLE", "Entry", "closed_or_all", "entries"]


class Entry(msgspec.Struct, frozen=True):
    """One metric over one group of items."""

    metric: str
    value: float | None
    n: int
    ci95: tuple[float, float] | None
    states: dict[str, int]
    clusters: int = 0
    note: str = ""
    """How the interval was made, or why there is none."""


Rows = Sequence[Scored]
Metric = Callable[[Rows, int], Estimate | None]


def _accuracy(rows: Rows, seed: int) -> Estimate | None:
    return _mean(rows, [float(bool(row.outcome.right)) for row in rows], seed)


def _accuracy_closed(rows: Rows, seed: int) -> Estimate | None:
    return _accuracy([row for row in rows if row.chance is not None], seed)


def _accuracy_answered(rows: Rows, seed: int) -> Estimate | None:
    return _accuracy([row for row in rows if row.outcome.state == "answered"], seed)


def _coverage(rows: Rows, seed: int) -> Estimate | None:
    return _mean(rows, [float(row.outcome.state == "answered") for row in rows], seed)


def _chance(rows: Rows, seed: int) -> Estimate | None:
    closed = [row for row in rows if row.chance is not None]
    if not closed:
        return None
    value = float(np.mean([row.chance for row in closed]))
    return Estimate(
        value,
        len(closed),
        len({row.cluster for row in closed}),
        None,
        "none",
        "known, not estimated",
    )


def _chance_adjusted(rows: Rows, seed: int) -> Estimate | None:
    closed = [row for row in rows if row.chance is not None]
    gains = [
        (float(bool(r.outcome.right)) - (r.chance or 0.0)) / (1.0 - (r.chance or 0.0))
        for r in closed
    ]
    return _mean(closed, gains, seed, bounds=(-1.0, 1.0))


def _within(rows: Rows, seed: int) -> Estimate | None:
    return _accuracy([row for row in rows if row.truth is not None], seed)


def _mean_of(name: str) -> Metric:
    def metric(rows: Rows, seed: int) -> Estimate | None:
        held = [row for row in rows if name in row.values]
        return _mean(held, [row.values[name] for row in held], seed)

    return metric


def _balanced(rows: Rows, seed: int) -> Estimate | None:
    """The mean over yes and no of the share that is right: always the same answer gives one half."""
    asked = [row for row in rows if row.form == "yes_no"]
    yes = np.array([row.answer == "yes" for row in asked], dtype=np.float64)
    right = np.array([bool(row.outcome.right) for row in asked], dtype=np.float64)
    columns = np.stack([yes * right, (1 - yes) * right, yes, 1 - yes], axis=1)

    def statistic(totals: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(_ratios(totals[:, :2], totals[:, 2:]).mean(axis=1))

    return _of_sums(columns, statistic, asked, bounds=(0.0, 1.0))


def _twin_groups(rows: Rows, seed: int) -> Estimate | None:
    """The share of twin groups all of whose items are right; groups that share a patient are one cluster."""
    groups: dict[str, list[Scored]] = defaultdict(list)
    for row in rows:
        if row.twin_group:
            groups[row.twin_group].append(row)
    whole = {name: group for name, group in sorted(groups.items()) if len(group) > 1}
    if not whole:
        return None
    right = [float(all(row.outcome.right for row in group)) for group in whole.values()]
    linked = _linked([{row.cluster for row in group} for group in whole.values()])
    return cluster_mean(right, linked)


def _linked(sets: list[set[str]]) -> list[str]:
    """A name for each set, the same for sets that share a member, also by way of others."""
    parent: dict[str, str] = {}

    def root(member: str) -> str:
        while parent.setdefault(member, member) != member:
            parent[member] = parent[parent[member]]
            member = parent[member]
        return member

    for members in sets:
        first, *rest = sorted(members)
        for member in rest:
            low, high = sorted((root(first), root(member)))
            parent[high] = low
    return [root(min(members)) for members in sets]


def _all_grades(row: Scored) -> list[GradePair]:
    return list(row.grades)


def _ordered_grades(row: Scored) -> list[GradePair]:
    """Those of sub-scores whose grades are steps."""
    return [pair for pair in row.grades if pair[0] not in row.nominal]


def _presences(row: Scored) -> list[GradePair]:
    """0 for absent and 1 for present, of the sub-scores in which a grade means absence."""
    return [
        (name, int(truth != absent), None if told is None else int(told != absent))
        for name, truth, told in row.grades
        if (absent := row.absent.get(name, 0)) is not None
    ]


def _over_grades(
    statistic: GradeStatistic,
    bounds: tuple[float, float],
    pairs_of: Callable[[Scored], list[GradePair]] = _all_grades,
) -> Metric:
    """The mean over sub-scores."""

    def metric(rows: Rows, seed: int) -> Estimate | None:
        told = [(row, pairs_of(row)) for row in rows]
        held = sorted((row for row, pairs in told if pairs), key=lambda row: row.outcome.item_id)
        by_id = {row.outcome.item_id: pairs for row, pairs in told}
        if not held:
            return None
        patients = cluster_rows([row.cluster for row in held])
        tables = GradeTables(
            [by_id[row.outcome.item_id] for row in held], [own.tolist() for own in patients]
        )

        def each(samples: Samples) -> NDArray[np.float64]:
            return tables.means(statistic, samples)

        return cluster_bootstrap_of_samples(
            each, len(held), len(patients), n_boot=500, seed=seed, bounds=bounds
        )

    return metric


def _grounded(answer: bool, place: bool) -> Metric:
    """The share of answers of which the what is (not) right and the where is (not) right."""

    def metric(rows: Rows, seed: int) -> Estimate | None:
        held = [row for row in rows if row.answer_right is not None]
        values = [float(row.answer_right is answer and row.place_right is place) for row in held]
        return _mean(held, values, seed)

    return metric


def _not_answerable(rows: Rows, seed: int) -> Estimate | None:
    held = [row for row in rows if row.hidden_right is not None]
    return _mean(held, [float(bool(row.hidden_right)) for row in held], seed)


def _inferred(rows: Rows, seed: int) -> Estimate | None:
    """The share of answers with places that were read otherwise than the profile declares."""
    held = [row for row in rows if any(name in row.values for name in (BOX_TUBE_IOU, FRAMES_IOU))]
    return _mean(held, [float(bool(INFERRED & set(row.outcome.flags))) for row in held], seed)


def _mean(
    rows: Rows, values: Sequence[float], seed: int, bounds: tuple[float, float] = (0.0, 1.0)
) -> Estimate | None:
    return cluster_mean(values, [row.cluster for row in rows], bounds=bounds) if rows else None


def _answered_numbers(rows: Rows) -> list[Scored]:
    return sorted(
        (row for row in rows if row.prediction is not None), key=lambda row: row.outcome.item_id
    )


def _skill(rows: Rows, seed: int) -> Estimate | None:
    """Against the mean of other patients' answers to the same question, among the items of the table."""
    totals: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row.truth is not None:
            totals[row.question][row.cluster].append(row.truth)
    held: list[Scored] = []
    means: list[float] = []
    for row in _answered_numbers(rows):
        others = [
            v
            for cluster, values in totals[row.question].items()
            if cluster != row.cluster
            for v in values
        ]
        if others:
            held.append(row)
            means.append(float(np.mean(others)))

    # Exact arithmetic once per row, as skill_over_mean does it; the rest only adds up.
    errors = [_distance(row.prediction, row.truth) for row in held]
    references = [_distance(mean, row.truth) for mean, row in zip(means, held)]

    def statistic(totals: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(1.0 - _ratios(totals[:, 0], totals[:, 1]))

    columns = np.array([errors, references]).T
    return _of_sums(columns, statistic, held, bounds=(-math.inf, 1.0))


def _distance(a: float | Fraction | None, b: float | None) -> float:
    return float(abs(exact(a or 0) - exact(b or 0)))


def _log_ratio(rows: Rows, seed: int) -> Estimate | None:
    held = _answered_numbers(rows)
    ratios = [log_ratio(row.prediction or 0, row.truth or 0) for row in held]
    known = np.array([np.nan if ratio is None else ratio for ratio in ratios], dtype=np.float64)

    def statistic(picked: np.ndarray) -> float | None:
        defined = known[picked][~np.isnan(known[picked])]
        return float(np.median(defined)) if defined.size else None

    return _of(statistic, held, seed, bounds=(0.0, math.inf))


def _spearman(rows: Rows, seed: int) -> Estimate | None:
    held = _answered_numbers(rows)
    # Only the order of the numbers counts, and whole numbers are quick to compare exactly.
    predictions = _places([exact(row.prediction or 0) for row in held])
    truths = _places([exact(row.truth or 0) for row in held])

    def statistic(picked: np.ndarray) -> float | None:
        questions = [held[i].question for i in picked]
        return spearman_within_structure(
            [predictions[i] for i in picked], [truths[i] for i in picked], questions
        ).value

    return _of(statistic, held, seed, bounds=(-1.0, 1.0))


def _places(values: list[Fraction]) -> list[int]:
    """Each value's place in their order; equal values share one."""
    places = {value: place for place, value in enumerate(sorted(set(values)))}
    return [places[value] for value in values]


def _ratios(above: NDArray[np.float64], under: NDArray[np.float64]) -> NDArray[np.float64]:
    """above / under, NaN where there is nothing to divide by."""
    return np.divide(above, under, out=np.full_like(above, np.nan), where=under > 0)


def _of_sums(
    columns: NDArray[np.float64],
    statistic: SumStatistic,
    held: list[Scored],
    bounds: tuple[float, float],
) -> Estimate | None:
    """A function of the columns' sums over the items."""
    if not held:
        return None
    return cluster_function(
        cluster_sums(columns, [row.cluster for row in held]), statistic, len(held), bounds=bounds
    )


def _of(
    statistic: RowStatistic,
    held: list[Scored],
    seed: int,
    bounds: tuple[float, float] | None = None,
    n_boot: int = 500,
) -> Estimate | None:
    clusters = [row.cluster for row in held]
    return (
        cluster_bootstrap_of(statistic, clusters, n_boot=n_boot, seed=seed, bounds=bounds)
        if held
        else None
    )


BOX_METRICS = (
    *BOX_F1.values(),
    BOX_PANOPTIC,
    BOX_TUBE_IOU,
    BOX_CENTRE_HIT,
    BOX_FRAME_F1,
    BOX_FRAME_IOU,
    BOX_MEAN_IOU,
    BOX_IOU_3D,
    *BOX_HIT_3D.values(),
    BOX_CENTRE_HIT_3D,
)
NOT_ANSWERABLE = "accuracy.not-answerable"
"""Of the items that the profile hides; the one metric that looks at them."""

METRICS: dict[str, Metric] = {
    "accuracy": _accuracy,
    "accuracy.answered": _accuracy_answered,
    "accuracy.closed": _accuracy_closed,
    "coverage": _coverage,
    "chance": _chance,
    "accuracy.chance-adjusted": _chance_adjusted,
    "accuracy.balanced": _balanced,
    "accuracy.twin-groups": _twin_groups,
    LEVEL_WITHIN_ONE: _mean_of(LEVEL_WITHIN_ONE),
    NOT_ANSWERABLE: _not_answerable,
    WITHIN_INTERVAL: _within,
    MRA_VSI_CODE: _mean_of(MRA_VSI_CODE),
    MRA_VSI_PAPER: _mean_of(MRA_VSI_PAPER),
    RELATIVE_ACCURACY: _mean_of(RELATIVE_ACCURACY),
    SKILL_OVER_MEAN: _skill,
    MEDIAN_ABS_LOG_RATIO: _log_ratio,
    SPEARMAN_WITHIN_STRUCTURE: _spearman,
    **{name: _mean_of(name) for name in BOX_METRICS},
    **{name: _mean_of(name) for name in (FRAMES_IOU, FRAMES_F1, FRAMES_ENDS_WITHIN_ONE)},
    "places.inferred": _inferred,
    **{name: _mean_of(name) for name in (CHOICES_EXACT, CHOICES_F1, GRADE_EXACT, GRADE_WITHIN_ONE)},
    GRADE_KAPPA: _over_grades(quadratic_kappa, (-1.0, 1.0), _ordered_grades),
    GRADE_MACRO_F1: _over_grades(macro_f1, (0.0, 1.0)),
    PRESENCE_SENSITIVITY: _over_grades(presence_sensitivity, (0.0, 1.0), _presences),
    PRESENCE_SPECIFICITY: _over_grades(presence_specificity, (0.0, 1.0), _presences),
    "grounded.accuracy": _grounded(answer=True, place=True),
    "grounded.answer-only": _grounded(answer=True, place=False),
    "grounded.place-only": _grounded(answer=False, place=True),
    "grounded.neither": _grounded(answer=False, place=False),
}


def entries(rows: Rows, metrics: Sequence[str], seed: int) -> list[Entry]:
    """The metrics that these items allow, with the states of all of them."""
    states = dict(sorted(Counter(row.outcome.state for row in rows).items()))
    # In one order, so that not even the last bit of a sum depends on that of the table.
    ordered = sorted(rows, key=lambda row: row.outcome.item_id)
    counted = [row for row in ordered if row.outcome.state != NOT_COUNTED]
    result = []
    for name in metrics:
        estimate = METRICS[name](ordered if name == NOT_ANSWERABLE else counted, seed)
        if estimate is not None:
            note = estimate.note or estimate.method
            value = estimate.value
            result.append(
                Entry(name, value, estimate.n, estimate.ci95, states, estimate.clusters, note)
            )
    return result


def closed_or_all(table: Sequence[Entry]) -> str:
    """The accuracy to show of a group: on its questions with options, which chance fits; where it has none, on all."""
    closed = any(entry.metric == "accuracy.closed" and entry.value is not None for entry in table)
    return "accuracy.closed" if closed else "accuracy"
