"""Metrics that are read off the columns of scored answers:
a value for each row, NaN where it has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from situs.score.metrics.boxes import BOX_TUBE_IOU
from situs.score.metrics.sets import FRAMES_IOU
from situs.score.read.result import INFERRED

if TYPE_CHECKING:
    from situs.score.columns import Columns

__all__ = [
    "answered",
    "beyond_chance",
    "grounded",
    "read_otherwise",
    "right",
    "right_if_answered",
    "right_if_closed",
    "right_if_number",
    "right_though_hidden",
]

FloatArray = NDArray[np.float64]


def _where(values: NDArray[np.generic], mask: NDArray[np.bool_]) -> FloatArray:
    """The values where the mask holds, else NaN."""
    return np.where(mask, values.astype(np.float64), np.nan)


def right(columns: Columns) -> FloatArray:
    """Whether each is right."""
    return columns.right.astype(np.float64)


def right_if_answered(columns: Columns) -> FloatArray:
    """The same, of those that were read."""
    return _where(columns.right, columns.has_state("answered"))


def right_if_closed(columns: Columns) -> FloatArray:
    """The same, of questions with options."""
    return _where(columns.right, ~np.isnan(columns.chance))


def right_if_number(columns: Columns) -> FloatArray:
    """The same, of numbers."""
    return _where(columns.right, ~np.isnan(columns.truth))


def answered(columns: Columns) -> FloatArray:
    """Whether each was read."""
    return columns.has_state("answered").astype(np.float64)


def beyond_chance(columns: Columns) -> FloatArray:
    """Right, with what a uniform guess gets taken off; 1 is the most."""
    return np.asarray((columns.right - columns.chance) / (1.0 - columns.chance))


def right_though_hidden(columns: Columns) -> FloatArray:
    """Of items that the profile hides, whether the answer was right nevertheless."""
    hidden_right = columns.tri_state("hidden_right")
    return _where(hidden_right == 1, hidden_right >= 0)


def read_otherwise(columns: Columns) -> FloatArray:
    """Of answers with places, whether they were read otherwise than the profile declares."""
    tubes, frames = columns.numbers(BOX_TUBE_IOU), columns.numbers(FRAMES_IOU)
    return _where(columns.flagged(INFERRED), ~(np.isnan(tubes) & np.isnan(frames)))


def grounded(answer: bool, place: bool) -> Callable[[Columns], FloatArray]:
    """Whether the what is (not) right and the where is (not) right."""

    def values(columns: Columns) -> FloatArray:
        what, where = columns.tri_state("answer_right"), columns.tri_state("place_right")
        return _where((what == answer) & (where == place), what >= 0)

    return values
