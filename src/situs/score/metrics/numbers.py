"""Scores of many numbers together: does a model do better than the average anatomy?"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError
from situs.score.metrics.number import NumberLike, exact

__all__ = [
    "MEDIAN_ABS_LOG_RATIO",
    "SKILL_OVER_MEAN",
    "SKILL_OVER_PRIOR",
    "SPEARMAN_WITHIN_STRUCTURE",
    "Aggregate",
    "spearman",
    "spearman_within_structure",
]

SKILL_OVER_MEAN = "skill-over-mean@1"
SKILL_OVER_PRIOR = "skill-over-prior@1"
MEDIAN_ABS_LOG_RATIO = "median-abs-log-ratio@1"
SPEARMAN_WITHIN_STRUCTURE = "spearman-within-structure@1"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A score over many answers."""

    value: float | None
    """None where the score is undefined."""
    n: int
    """Answers that entered."""
    undefined: int
    """Answers that could not enter; never silently dropped."""


def spearman_within_structure(
    predictions: Sequence[NumberLike], truths: Sequence[NumberLike], structures: Sequence[Hashable]
) -> Aggregate:
    """Mean of Spearman's rank correlation within each structure, weighted by its number of answers.

    Within a structure the average anatomy earns nothing: a model must tell large patients from
    small ones. Structures with fewer than three answers or with constant truths are undefined and
    their answers counted as such; constant *predictions* score 0 there, since they tell nobody
    apart. Departure: Spearman is formally undefined for them, but leaving them out would reward
    answering a constant wherever one is unsure. Weaknesses: blind to scale and offset (a slip from
    cm to mm is perfect); noisy in small groups.
    """
    _same_length(predictions, truths, structures)
    groups: dict[Hashable, list[tuple[float, float]]] = defaultdict(list)
    for p, y, structure in zip(predictions, truths, structures):
        groups[structure].append((float(exact(p)), float(exact(y))))
    scored = [(len(pairs), rho) for pairs in groups.values() if (rho := _group(pairs)) is not None]
    n = sum(count for count, _ in scored)
    value = math.fsum(count * rho for count, rho in scored) / n if n else None
    return Aggregate(value, n, len(truths) - n)


def spearman(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Spearman's rank correlation, ties by average ranks;
    None if either side is constant or shorter than 2."""
    _same_length(x, y)
    if len(x) < 2:
        return None
    a, b = _ranks(x), _ranks(y)
    a, b = a - a.mean(), b - b.mean()
    spread = math.sqrt(float(a @ a) * float(b @ b))
    return min(1.0, max(-1.0, float(a @ b) / spread)) if spread > 0 else None


def _group(pairs: list[tuple[float, float]]) -> float | None:
    if len(pairs) < 3 or len({y for _, y in pairs}) < 2:
        return None
    rho = spearman([p for p, _ in pairs], [y for _, y in pairs])
    return 0.0 if rho is None else rho


def _ranks(values: Sequence[float]) -> NDArray[np.float64]:
    _, place, counts = np.unique(
        np.asarray(values, dtype=np.float64), return_inverse=True, return_counts=True
    )
    last = np.cumsum(counts)
    average: NDArray[np.float64] = (last - (counts - 1) / 2).astype(np.float64)
    return average[place]


def _same_length(*columns: Sequence[object]) -> None:
    if len({len(column) for column in columns}) > 1:
        raise SitusError(f"columns of different lengths: {[len(column) for column in columns]}")
