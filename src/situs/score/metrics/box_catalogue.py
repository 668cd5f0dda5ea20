"""The metrics of boxes, declared once, in the order in which tables show them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from situs.items import Boxes, Item, Simple
from situs.score.metrics import boxes
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
    BOX_PRICED_IOU,
    BOX_TUBE_IOU,
)
from situs.score.metrics.registry import Given, Metric, always, shown_at
from situs.space import WorldBox

__all__ = ["boxes_in_space", "boxes_on_pictures"]


def _is_exact_box(item: Item, answer: Simple) -> bool:
    """Boxes from geometric thirds are kept out of everything that asks for an IoU of .5."""
    return "approximate" not in item.tags


def _is_solid(item: Item, answer: Simple) -> bool:
    if isinstance(answer, Boxes):
        for box in answer.boxes:
            if isinstance(box, WorldBox):
                return True
    return False


def _is_exact_solid(item: Item, answer: Simple) -> bool:
    return _is_solid(item, answer) and _is_exact_box(item, answer)


def _box(
    name: str,
    about: str,
    score: Callable[[Given], float],
    applies: Callable[[Item, Simple], bool],
    tagged: bool = False,
) -> Metric:
    places = shown_at("comparison", *(("tag",) if tagged else ()))
    if name == BOX_TUBE_IOU:
        places |= shown_at("breakdown")
    return Metric(
        id=name, about=about, forms=("boxes",), of_answer=score, applies=applies, shown=places
    )


def boxes_on_pictures() -> Sequence[Metric]:
    """Of boxes on the pictures shown."""

    return (
        *(
            _box(
                name,
                f"F1 of pairs of boxes with an IoU of {threshold:g} or more",
                lambda given, t=threshold: boxes.matches_of(given).f1_at(t),  # type: ignore[misc]
                _is_exact_box if threshold == 0.5 else always,
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
            always,
            tagged=True,
        ),
        _box(
            BOX_CENTRE_HIT,
            "F1 of boxes whose centre lies in a true one",
            lambda given: boxes.matches_of(given).centre_f1(),
            always,
        ),
        _box(
            BOX_FRAME_F1,
            "F1 of the pictures that are marked",
            lambda given: boxes.matches_of(given).frame_f1(),
            always,
        ),
        _box(
            BOX_FRAME_IOU,
            "IoU of the pictures that are marked",
            lambda given: boxes.matches_of(given).frame_iou(),
            always,
            tagged=True,
        ),
        _box(
            BOX_MEAN_IOU,
            "mean IoU of the true boxes with their best match",
            lambda given: boxes.matches_of(given).mean_iou(),
            always,
        ),
        _box(
            BOX_PRICED_IOU,
            "summed IoU of the best pairs by the larger number of said and true boxes",
            lambda given: boxes.matches_of(given).priced_iou(),
            always,
        ),
    )


def boxes_in_space() -> Sequence[Metric]:
    """Of boxes in millimetres."""
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
