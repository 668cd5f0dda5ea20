"""What must hold within a bench before anything is made of it: tables that agree with each other.

A bench may come from anybody. Each item is looked at once as it is read; everything behind that
point may count on a known study, an answer among the options, references of a text and finite
numbers.
"""

from __future__ import annotations

from collections.abc import Collection

from situs.base.numbers import number_problems
from situs.bench.study import StudyRecord
from situs.errors import SitusError
from situs.facts import Fact, FactValue
from situs.items import Item, answer_problem
from situs.space import Axis

__all__ = ["Parameters", "fact_problem", "item_problem", "study_problem"]

_SUBJECTS = {
    **dict.fromkeys(
        (
            "volume",
            "centroid",
            "box",
            "extent",
            "level",
            "right_share",
            "largest",
            "second_largest",
        ),
        1,
    ),
    **dict.fromkeys(("gap", "main_gap", "height_in"), 2),
}
"""Kinds of facts that blind rows, tables and pictures are made from:
how many structures each speaks of."""


_ALONG_AXES = ("extent", "gap")
"""Kinds of facts that name the axis of the patient along which pictures draw them."""


class Parameters(dict[str, str]):
    """An item's parameters. Which of them a task reads is the task's affair:
    one that is missing is a user's error."""

    def __missing__(self, key: str) -> str:
        fix = "`situs check` lists all that is wrong; rebuild the bench"
        raise SitusError(f"an item lacks the parameter {key!r} of its task", fix=fix)


def fact_problem(fact: Fact, studies: Collection[str]) -> str | None:
    """What contradicts the rest of the bench, or cannot be measured; None if nothing does."""
    if fact.study_id not in studies:
        return f"study {fact.study_id} is not in studies.parquet"
    name, _, detail = fact.kind.partition(".")
    if len(fact.subjects) < _SUBJECTS.get(name, 0):
        return "does not say what it speaks of"
    if name in _ALONG_AXES and detail not in set(Axis):
        return f"is of no axis of the patient ({fact.kind})"
    if fact.interval is not None and len(fact.interval) not in _interval_sizes(fact.value):
        return f"has an interval of {len(fact.interval)} numbers"
    return next(number_problems((fact.value, fact.interval), "$"), None)


def _interval_sizes(value: FactValue) -> Collection[int]:
    """How many numbers bound a value: the lower bounds of all its numbers, then the upper ones."""
    return (2 * len(value),) if isinstance(value, tuple) else (2,)


def study_problem(study: StudyRecord) -> str | None:
    """What no volume can be; None if nothing is.

    What an affine must be beyond its size is said where its grid is made.
    """
    for series in study.series:
        if len(series.affine) not in (0, 16):
            return f"series {series.series!r} has an affine of {len(series.affine)} numbers, not 16"
        if min(series.shape) < 0:
            return f"series {series.series!r} has a negative size"
        grids = (series.shape, series.affine, series.grid_error_mm)
        odd = next(number_problems(grids, f"series {series.series!r}"), None)
        if odd is not None:
            return odd
    return None


def item_problem(item: Item, studies: Collection[str]) -> str | None:
    """What contradicts the rest of the bench, or itself; None if nothing does."""
    if item.study_id not in studies:
        return f"study {item.study_id} is not in studies.parquet"
    if not item.question.strip():
        return "asks nothing"
    values = [option.value for option in item.options] if item.options else []
    if len(set(values)) != len(values):
        return "an option occurs twice"
    return answer_problem(item.answer, values)
