"""Every metric of Situs, declared once, in the order in which tables show them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from situs.facts import LEVELS
from situs.items import Boxes, Choice, Frames, Grades, Item, Number, Simple
from situs.score.metrics import boxes, over_rows
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
    SPEARMAN_WITHIN_STRUCTURE,
)
from situs.score.metrics.registry import Given, Metric, Shown, register
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
from situs.score.read import INFERRED
from situs.space import WorldBox

if TYPE_CHECKING:
    from fractions import Fraction

    from situs.score.columns import Columns

__all__ = ["LEVEL_WITHIN_ONE", "NOT_ANSWERABLE"]

LEVEL_WITHIN_ONE = "accuracy.within-one"
NOT_ANSWERABLE = "accuracy.not-answerable"

FloatArray = NDArray[np.float64]
_LEVEL_PLACES = {name: place for place, name in enumerate(LEVELS)}


def _shown(*places: str) -> frozenset[Shown]:
    return frozenset(map(Shown, places))


def _where(values: NDArray[np.generic], mask: NDArray[np.bool_]) -> FloatArray:
    """The values where the mask holds, else NaN."""
    return np.where(mask, values.astype(np.float64), np.nan)


def _right(columns: Columns) -> FloatArray:
    return columns.right.astype(np.float64)


def _right_if_answered(columns: Columns) -> FloatArray:
    return _where(columns.right, columns.has_state("answered"))


def _right_if_closed(columns: Columns) -> FloatArray:
    return _where(columns.right, ~np.isnan(columns.chance))


def _right_if_number(columns: Columns) -> FloatArray:
    return _where(columns.right, ~np.isnan(columns.truth))


def _answered(columns: Columns) -> FloatArray:
    return columns.has_state("answered").astype(np.float64)


def _beyond_chance(columns: Columns) -> FloatArray:
    return np.asarray((columns.right - columns.chance) / (1.0 - columns.chance))


def _right_though_hidden(columns: Columns) -> FloatArray:
    told = columns.tri_state("hidden_right")
    return _where(told == 1, told >= 0)


def _read_otherwise(columns: Columns) -> FloatArray:
    """Of answers with places, whether they were read otherwise than the profile declares."""
    tubes, frames = columns.numbers(BOX_TUBE_IOU), columns.numbers(FRAMES_IOU)
    return _where(columns.flagged(INFERRED), ~(np.isnan(tubes) & np.isnan(frames)))


def _grounded(answer: bool, place: bool) -> Callable[[Columns], FloatArray]:
    """Whether the what is (not) right and the where is (not) right."""

    def values(columns: Columns) -> FloatArray:
        what, where = columns.tri_state("answer_right"), columns.tri_state("place_right")
        return _where((what == answer) & (where == place), what >= 0)

    return values


def _is_level(item: Item, answer: Simple) -> bool:
    return isinstance(answer, Choice) and answer.value in _LEVEL_PLACES


def _within_one_level(given: Given) -> float:
    place = _LEVEL_PLACES.get(given.said)
    return float(place is not None and abs(place - _LEVEL_PLACES[given.truth]) <= 1)


def _is_not_zero(item: Item, answer: Simple) -> bool:
    return isinstance(answer, Number) and bool(answer.value)


def _of_number(
    score: Callable[[NumberLike, NumberLike], Fraction | None],
) -> Callable[[Given], float | None]:
    def value(given: Given) -> float | None:
        found = score(given.said, given.truth)
        return None if found is None else float(found)

    return value


def _is_range(item: Item, answer: Simple) -> bool:
    return isinstance(answer, Frames) and answer.contiguous


def _is_exact_box(item: Item, answer: Simple) -> bool:
    """Boxes from geometric thirds are kept out of everything that asks for an IoU of .5."""
    return "approximate" not in item.tags


def _is_solid(item: Item, answer: Simple) -> bool:
    return isinstance(answer, Boxes) and any(isinstance(box, WorldBox) for box in answer.boxes)


def _is_exact_solid(item: Item, answer: Simple) -> bool:
    return _is_solid(item, answer) and _is_exact_box(item, answer)


def _is_ordered(item: Item, answer: Simple) -> bool:
    return isinstance(answer, Grades) and any(not is_nominal(item, name) for name in answer.grades)


def _box(
    name: str,
    about: str,
    score: Callable[[Given], float],
    applies: Callable[[Item, Simple], bool],
    tagged: bool = False,
) -> Metric:
    places = _shown("comparison", *(("tag",) if tagged else ()))
    if name == BOX_TUBE_IOU:
        places |= _shown("breakdown")
    return Metric(
        id=name, about=about, forms=("boxes",), of_answer=score, applies=applies, shown=places
    )


def _boxes_on_pictures() -> Sequence[Metric]:
    def any_box(item: Item, answer: Simple) -> bool:
        return True

    return (
        *(
            _box(
                name,
                f"F1 of pairs of boxes with an IoU of {threshold:g} or more",
                lambda given, t=threshold: boxes.matches_of(given).f1_at(t),  # type: ignore[misc]
                _is_exact_box if threshold == 0.5 else any_box,
            )
            for threshold, name in BOX_F1.items()
        ),
        _box(
            BOX_PANOPTIC,
            "panoptic quality",
            lambda given: boxes.matches_of(given).panoptic_quality(),
            _is_exact_box,
        ),
        _box(
            BOX_TUBE_IOU,
            "area both mark by area either marks, over all pictures",
            lambda given: boxes.matches_of(given).tube_iou,
            any_box,
            tagged=True,
        ),
        _box(
            BOX_CENTRE_HIT,
            "F1 of boxes whose centre lies in a true one",
            lambda given: boxes.matches_of(given).centre_f1(),
            any_box,
        ),
        _box(
            BOX_FRAME_F1,
            "F1 of the pictures that are marked",
            lambda given: boxes.frame_f1(given.true_boxes, given.said_boxes),
            any_box,
        ),
        _box(
            BOX_FRAME_IOU,
            "IoU of the pictures that are marked",
            lambda given: boxes.frame_iou(given.true_boxes, given.said_boxes),
            any_box,
            tagged=True,
        ),
        _box(
            BOX_MEAN_IOU,
            "mean IoU of the true boxes with their best match",
            lambda given: boxes.matches_of(given).mean_iou(),
            any_box,
        ),
    )


def _boxes_in_space() -> Sequence[Metric]:
    return (
        _box(
            BOX_IOU_3D,
            "IoU in mm",
            lambda given: boxes.solids_of(given).iou(),
            _is_solid,
            tagged=True,
        ),
        *(
            _box(
                name,
                f"share of things with an IoU in mm of {threshold:g} or more",
                lambda given, t=threshold: boxes.solids_of(given).hit_at(t),  # type: ignore[misc]
                _is_exact_solid if threshold == 0.5 else _is_solid,
                tagged=True,
            )
            for threshold, name in BOX_HIT_3D.items()
        ),
        _box(
            BOX_CENTRE_HIT_3D,
            "share of things whose said centre lies in the true box",
            lambda given: boxes.solids_of(given).centre_hit(),
            _is_solid,
            tagged=True,
        ),
    )


register(
    Metric(
        id="accuracy",
        about="right by all answerable items",
        of_columns=_right,
        shown=_shown("terminal", "tag", "breakdown", "comparison", "report"),
    ),
    Metric(
        id="accuracy.answered",
        about="right by those that were read",
        of_columns=_right_if_answered,
        shown=_shown("terminal", "report"),
    ),
    Metric(
        id="accuracy.closed",
        about="right, of questions with options",
        of_columns=_right_if_closed,
        shown=_shown("comparison", "report"),
    ),
    Metric(
        id="coverage",
        about="share that was read",
        of_columns=_answered,
        shown=_shown("terminal", "report"),
    ),
    Metric(
        id="chance",
        about="what a uniform guess gets",
        over_rows=over_rows.chance,
        shown=_shown("terminal", "breakdown", "report"),
    ),
    Metric(
        id="accuracy.chance-adjusted",
        about="0 at chance, 1 if all is right",
        of_columns=_beyond_chance,
        bounds=(-1.0, 1.0),
        shown=_shown("breakdown", "comparison"),
    ),
    Metric(
        id="accuracy.balanced",
        about="mean over yes and no of the share that is right",
        forms=("yes_no",),
        over_rows=over_rows.balanced,
        shown=_shown("terminal"),
    ),
    Metric(
        id="accuracy.twin-groups",
        about="share of twin groups all of whose items are right",
        over_rows=over_rows.twin_groups,
        shown=_shown("terminal"),
    ),
    Metric(
        id=LEVEL_WITHIN_ONE,
        about="vertebral level right or next to it",
        forms=("choice",),
        of_answer=_within_one_level,
        applies=_is_level,
        shown=_shown("terminal", "comparison"),
    ),
    Metric(
        id=NOT_ANSWERABLE,
        about="right, of items that the profile hides",
        of_columns=_right_though_hidden,
        of_hidden=True,
        shown=_shown("terminal"),
    ),
    Metric(
        id=WITHIN_INTERVAL,
        about="inside the interval of the fact",
        forms=("number",),
        of_columns=_right_if_number,
        shown=_shown("terminal", "breakdown", "report", "leaderboard"),
    ),
    Metric(
        id=MRA_VSI_CODE,
        about="mean relative accuracy, as VSI-Bench's code has it",
        forms=("number",),
        of_answer=_of_number(mra_vsi_code),
        applies=_is_not_zero,
        shown=_shown("terminal", "breakdown", "comparison", "report", "leaderboard"),
    ),
    Metric(
        id=MRA_VSI_PAPER,
        about="mean relative accuracy, as VSI-Bench's paper has it",
        forms=("number",),
        of_answer=_of_number(mra_vsi_paper),
        applies=_is_not_zero,
        shown=_shown("comparison"),
    ),
    Metric(
        id=RELATIVE_ACCURACY,
        about="1 minus the relative error, not below 0",
        forms=("number",),
        of_answer=_of_number(relative_accuracy),
        applies=_is_not_zero,
        shown=_shown("comparison"),
    ),
    Metric(
        id=SKILL_OVER_MEAN,
        about="against the mean of other patients: 0 is no better",
        forms=("number",),
        over_rows=over_rows.skill,
        bounds=(-np.inf, 1.0),
        shown=_shown("terminal", "report", "leaderboard"),
    ),
    Metric(
        id=MEDIAN_ABS_LOG_RATIO,
        about="median of |ln(said / true)|",
        forms=("number",),
        over_rows=over_rows.log_ratio_median,
        bounds=(0.0, np.inf),
        higher_is_better=False,
        shown=_shown("breakdown", "report", "leaderboard"),
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
    *_boxes_on_pictures(),
    *_boxes_in_space(),
    Metric(
        id=FRAMES_IOU,
        about="IoU of the pictures named",
        forms=("frames",),
        of_answer=lambda given: set_iou(given.truth, given.said),
        shown=_shown("comparison"),
    ),
    Metric(
        id=FRAMES_F1,
        about="F1 of the pictures named",
        forms=("frames",),
        of_answer=lambda given: set_f1(given.truth, given.said),
        shown=_shown("comparison"),
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
        of_columns=_read_otherwise,
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
        shown=_shown("comparison"),
    ),
    Metric(
        id=GRADE_EXACT,
        about="share of sub-scores with the very grade",
        forms=("grades",),
        of_answer=lambda given: share_exact(given.truth, given.said),
        shown=_shown("tag", "sub-score", "comparison"),
    ),
    Metric(
        id=GRADE_WITHIN_ONE,
        about="share of ordered sub-scores within one grade",
        forms=("grades",),
        of_answer=lambda given: share_within_one(given.item, given.truth, given.said),
        applies=_is_ordered,
        shown=_shown("tag", "sub-score", "comparison"),
    ),
    Metric(
        id=GRADE_KAPPA,
        about="quadratically weighted κ, mean over sub-scores",
        forms=("grades",),
        over_rows=over_rows.over_grades(quadratic_kappa, (-1.0, 1.0), over_rows.ordered_grades),
        bounds=(-1.0, 1.0),
        shown=_shown("tag", "sub-score"),
    ),
    Metric(
        id=GRADE_MACRO_F1,
        about="macro F1, mean over sub-scores",
        forms=("grades",),
        over_rows=over_rows.over_grades(macro_f1, (0.0, 1.0)),
        shown=_shown("tag", "sub-score"),
    ),
    Metric(
        id=PRESENCE_SENSITIVITY,
        about="share of present signs that were graded as present",
        forms=("grades",),
        over_rows=over_rows.over_grades(presence_sensitivity, (0.0, 1.0), over_rows.presences),
        shown=_shown("tag", "sub-score"),
    ),
    Metric(
        id=PRESENCE_SPECIFICITY,
        about="share of absent signs that were graded as absent",
        forms=("grades",),
        over_rows=over_rows.over_grades(presence_specificity, (0.0, 1.0), over_rows.presences),
        shown=_shown("tag", "sub-score"),
    ),
    Metric(
        id="grounded.accuracy",
        about="both what and where are right",
        of_columns=_grounded(answer=True, place=True),
        shown=_shown("tag"),
    ),
    Metric(
        id="grounded.answer-only",
        about="right for no visible reason: what, not where",
        of_columns=_grounded(answer=True, place=False),
    ),
    Metric(
        id="grounded.place-only",
        about="where, not what",
        of_columns=_grounded(answer=False, place=True),
    ),
    Metric(
        id="grounded.neither",
        about="neither what nor where",
        of_columns=_grounded(answer=False, place=False),
    ),
)
