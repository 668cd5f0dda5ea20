"""Every metric of Situs, declared once, in the order in which tables show them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from situs.facts import LEVELS
from situs.items import Choice, Frames, Grades, Item, Number, Simple
from situs.score.metrics import over_rows, row_values
from situs.score.metrics.box_catalogue import boxes_in_space, boxes_on_pictures
from situs.score.metrics.grades import (
    GRADE_EXACT,
    GRADE_KAPPA,
    GRADE_MACRO_F1,
    GRADE_WITHIN_ONE,
    PRESENCE_SENSITIVITY,
    PRESENCE_SPECIFICITY,
    is_nominal,
    macro_f1,
    presence_sensitivity,
    presence_specificity,
    quadratic_kappa,
    share_exact,
    share_within_one,
)
from situs.score.metrics.number import (
    MRA_VSI_CODE,
    MRA_VSI_PAPER,
    RELATIVE_ACCURACY,
    WITHIN_INTERVAL,
    NumberLike,
    mra_vsi_code,
    mra_vsi_paper,
    relative_accuracy,
)
from situs.score.metrics.numbers import (
    MEDIAN_ABS_LOG_RATIO,
    SKILL_OVER_MEAN,
    SKILL_OVER_PRIOR,
    SPEARMAN_WITHIN_STRUCTURE,
)
from situs.score.metrics.registry import Given, Metric, register, shown_at
from situs.score.metrics.sets import (
    CHOICES_EXACT,
    CHOICES_F1,
    FRAMES_ENDS_WITHIN_ONE,
    FRAMES_F1,
    FRAMES_IOU,
    ends_within_one,
    set_f1,
    set_iou,
)

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["LEVEL_WITHIN_ONE", "NOT_ANSWERABLE"]

LEVEL_WITHIN_ONE = "accuracy.within-one"
NOT_ANSWERABLE = "accuracy.not-answerable"

_LEVEL_PLACES = {name: place for place, name in enumerate(LEVELS)}


def _is_level(item: Item, answer: Simple) -> bool:
    return isinstance(answer, Choice) and answer.value in _LEVEL_PLACES


def _within_one_level(given: Given) -> float:
    level = _LEVEL_PLACES.get(given.said)
    return float(level is not None and abs(level - _LEVEL_PLACES[given.truth]) <= 1)


def _is_not_zero(item: Item, answer: Simple) -> bool:
    return isinstance(answer, Number) and bool(answer.value)


def _of_number(
    score: Callable[[NumberLike, NumberLike], Fraction | None],
) -> Callable[[Given], float | None]:
    def value(given: Given) -> float | None:
        computed = score(given.said, given.truth)
        return None if computed is None else float(computed)

    return value


def _is_range(item: Item, answer: Simple) -> bool:
    return isinstance(answer, Frames) and answer.contiguous


def _is_ordered(item: Item, answer: Simple) -> bool:
    return isinstance(answer, Grades) and any(
        not is_nominal(item.tags, name) for name in answer.grades
    )


register(
    Metric(
        id="accuracy",
        about="right by all answerable items",
        of_columns=row_values.right,
        shown=shown_at("terminal", "tag", "breakdown", "comparison", "report"),
    ),
    Metric(
        id="accuracy.answered",
        about="right by those that were read",
        of_columns=row_values.right_if_answered,
        shown=shown_at("terminal", "report"),
    ),
    Metric(
        id="accuracy.closed",
        about="right, of questions with options",
        of_columns=row_values.right_if_closed,
        shown=shown_at("comparison", "report"),
    ),
    Metric(
        id="coverage",
        about="share that was read",
        of_columns=row_values.answered,
        shown=shown_at("terminal", "report"),
    ),
    Metric(
        id="chance",
        about="what a uniform guess gets",
        over_rows=over_rows.chance,
        shown=shown_at("terminal", "breakdown", "report"),
    ),
    Metric(
        id="accuracy.chance-adjusted",
        about="0 at chance, 1 if all is right",
        of_columns=row_values.beyond_chance,
        bounds=(-1.0, 1.0),
        shown=shown_at("breakdown", "comparison"),
    ),
    Metric(
        id="accuracy.balanced",
        about="mean over yes and no of the share that is right",
        forms=("yes_no",),
        over_rows=over_rows.balanced,
        shown=shown_at("terminal"),
    ),
    Metric(
        id="accuracy.twin-groups",
        about="share of twin groups all of whose items are right",
        over_rows=over_rows.twin_groups,
        shown=shown_at("terminal"),
    ),
    Metric(
        id=LEVEL_WITHIN_ONE,
        about="vertebral level right or next to it",
        forms=("choice",),
        of_answer=_within_one_level,
        applies=_is_level,
        shown=shown_at("terminal", "comparison"),
    ),
    Metric(
        id=NOT_ANSWERABLE,
        about="right, of items that the profile hides",
        of_columns=row_values.right_though_hidden,
        of_hidden=True,
        shown=shown_at("terminal"),
    ),
    Metric(
        id=WITHIN_INTERVAL,
        about="inside the interval of the fact",
        heading="In interval",
        forms=("number",),
        of_columns=row_values.right_if_number,
        shown=shown_at("terminal", "breakdown", "report", "leaderboard"),
    ),
    Metric(
        id=MRA_VSI_CODE,
        about="mean relative accuracy, as VSI-Bench's code has it",
        heading="MRA",
        forms=("number",),
        of_answer=_of_number(mra_vsi_code),
        applies=_is_not_zero,
        shown=shown_at("terminal", "breakdown", "comparison", "report", "leaderboard"),
    ),
    Metric(
        id=MRA_VSI_PAPER,
        about="mean relative accuracy, as VSI-Bench's paper has it",
        forms=("number",),
        of_answer=_of_number(mra_vsi_paper),
        applies=_is_not_zero,
        shown=shown_at("comparison"),
    ),
    Metric(
        id=RELATIVE_ACCURACY,
        about="1 minus the relative error, not below 0",
        forms=("number",),
        of_answer=_of_number(relative_accuracy),
        applies=_is_not_zero,
        shown=shown_at("comparison"),
    ),
    Metric(
        id=SKILL_OVER_MEAN,
        about="against the mean of other patients: 0 is no better",
        forms=("number",),
        over_rows=over_rows.skill,
        bounds=(-math.inf, 1.0),
        shown=shown_at("terminal", "report"),
    ),
    Metric(
        id=SKILL_OVER_PRIOR,
        about="against the best prior of other patients: 0 is no better",
        heading="Skill",
        forms=("number",),
        over_rows=over_rows.skill_over_prior,
        bounds=(-math.inf, 1.0),
        shown=shown_at("terminal", "report", "leaderboard"),
    ),
    Metric(
        id=MEDIAN_ABS_LOG_RATIO,
        about="median of |ln(said / true)|",
        heading="|log ratio|",
        forms=("number",),
        over_rows=over_rows.log_ratio_median,
        bounds=(0.0, math.inf),
        higher_is_better=False,
        shown=shown_at("breakdown", "report", "leaderboard"),
    ),
    Metric(
        id=SPEARMAN_WITHIN_STRUCTURE,
        about="rank correlation within each question",
        forms=("number",),
        over_rows=over_rows.spearman,
        bounds=(-1.0, 1.0),
        # A leave-one-out mean falls as the left-out truth rises, so its rank correlation is an
        # artefact near -1.
        blind=False,
    ),
    *boxes_on_pictures(),
    *boxes_in_space(),
    Metric(
        id=FRAMES_IOU,
        about="IoU of the pictures named",
        forms=("frames",),
        of_answer=lambda given: set_iou(given.truth, given.said),
        shown=shown_at("comparison"),
    ),
    Metric(
        id=FRAMES_F1,
        about="F1 of the pictures named",
        forms=("frames",),
        of_answer=lambda given: set_f1(given.truth, given.said),
        shown=shown_at("comparison"),
    ),
    Metric(
        id=FRAMES_ENDS_WITHIN_ONE,
        about="both ends of a range within one picture",
        forms=("frames",),
        of_answer=lambda given: float(ends_within_one(given.truth, given.said)),
        applies=_is_range,
    ),
    Metric(
        id="places.inferred",
        about="share read in another scale, order or frame base than the profile declares",
        forms=("boxes", "frames"),
        of_columns=row_values.read_otherwise,
        higher_is_better=False,
    ),
    Metric(
        id=CHOICES_EXACT,
        about="exactly the true set of options",
        forms=("choices",),
        of_answer=lambda given: float(set(given.said) == set(given.truth)),
    ),
    Metric(
        id=CHOICES_F1,
        about="F1 of the options named",
        forms=("choices",),
        of_answer=lambda given: set_f1(given.truth, given.said),
        shown=shown_at("comparison"),
    ),
    Metric(
        id=GRADE_EXACT,
        about="share of sub-scores with the very grade",
        forms=("grades",),
        of_answer=lambda given: share_exact(given.truth, given.said),
        shown=shown_at("tag", "sub-score", "comparison"),
    ),
    Metric(
        id=GRADE_WITHIN_ONE,
        about="share of ordered sub-scores within one grade",
        forms=("grades",),
        of_answer=lambda given: share_within_one(given.item, given.truth, given.said),
        applies=_is_ordered,
        shown=shown_at("tag", "sub-score", "comparison"),
    ),
    Metric(
        id=GRADE_KAPPA,
        about="quadratically weighted κ, mean over sub-scores",
        forms=("grades",),
        over_rows=over_rows.over_grades(quadratic_kappa, (-1.0, 1.0), over_rows.ordered_grades),
        bounds=(-1.0, 1.0),
        shown=shown_at("tag", "sub-score"),
    ),
    Metric(
        id=GRADE_MACRO_F1,
        about="macro F1, mean over sub-scores",
        forms=("grades",),
        over_rows=over_rows.over_grades(macro_f1, (0.0, 1.0)),
        shown=shown_at("tag", "sub-score"),
    ),
    Metric(
        id=PRESENCE_SENSITIVITY,
        about="share of present signs that were graded as present",
        forms=("grades",),
        over_rows=over_rows.over_grades(presence_sensitivity, (0.0, 1.0), over_rows.presences),
        shown=shown_at("tag", "sub-score"),
    ),
    Metric(
        id=PRESENCE_SPECIFICITY,
        about="share of absent signs that were graded as absent",
        forms=("grades",),
        over_rows=over_rows.over_grades(presence_specificity, (0.0, 1.0), over_rows.presences),
        shown=shown_at("tag", "sub-score"),
    ),
    Metric(
        id="grounded.accuracy",
        about="both what and where are right",
        of_columns=row_values.grounded(answer=True, place=True),
        shown=shown_at("tag"),
    ),
    Metric(
        id="grounded.answer-only",
        about="right for no visible reason: what, not where",
        of_columns=row_values.grounded(answer=True, place=False),
    ),
    Metric(
        id="grounded.place-only",
        about="where, not what",
        of_columns=row_values.grounded(answer=False, place=True),
    ),
    Metric(
        id="grounded.neither",
        about="neither what nor where",
        of_columns=row_values.grounded(answer=False, place=False),
    ),
)
