"""What an item is about, derived from its tags, boxes and facts when it is scored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from situs.anatomy import term
from situs.bench import Bench
from situs.facts import Fact
from situs.items import Box, Choice, Item, boxes_in
from situs.run import Viewing
from situs.score.stats.sources import source_of
from situs.space import FrameBox, Grid, WorldBox

__all__ = [
    "FACETS",
    "SIZES",
    "Facets",
    "categories_in",
    "facets_of",
    "side_of_value",
    "size_of",
    "structures_of",
    "volumes_ml",
]

FACETS = (
    "task",
    "stratum",
    "structure",
    "system",
    "side",
    "size",
    "span",
    "difficulty",
    "category",
    "modality",
    "sequence",
    "level",
    "source",
)
"""Everything a result can be broken down by."""

Facets = dict[str, tuple[str, ...]]
"""Facet → the groups an item belongs to; none where it does not apply."""

_SIZES_ML = ((10.0, "under 10 mL"), (100.0, "10 to 100 mL"), (1000.0, "100 to 1000 mL"))
_LARGEST = "1000 mL or more"
SIZES = (*(name for _, name in _SIZES_ML), _LARGEST)
"""Buckets of volume, small to large."""
_SPANS = ((5, "1 to 4 slices"), (17, "5 to 16 slices"), (65, "17 to 64 slices"))
_LONGEST = "65 slices or more"
_MARGINS = ((2.0, "1 to 2 (barely provable)"), (5.0, "2 to 5"), (20.0, "5 to 20"))
_EASIEST = "20 or more"
_OWN_FACETS = ("structure:", "system:", "source:", "dataset:")
_ROLES = {"largest": "largest:", "second_largest": "second:"}


def facets_of(
    bench: Bench, items: Iterable[Item], shown: Viewing | None = None
) -> dict[str, Facets]:
    """Item → its facets."""
    viewing = shown or Viewing(bench)
    modality = {
        (study.study_id, one.series): one.modality
        for study in bench.studies()
        for one in study.series
    }
    sizes = volumes_ml(bench)
    result = {}
    for item in items:
        structures = structures_of(item)
        kind = modality.get((item.study_id, item.series), "")
        result[item.item_id] = {
            "task": (item.task,),
            "stratum": (item.stratum,) if item.stratum else (),
            "structure": structures,
            "system": _tagged(item, "system:"),
            "side": _sides(item, structures),
            "size": size_of(item, structures, sizes),
            "span": _span(item, viewing),
            "difficulty": ()
            if item.difficulty is None
            else (_bucket(item.difficulty, _MARGINS, _EASIEST),),
            "category": categories_in(item.tags),
            "modality": (kind,) if kind else (),
            "sequence": (item.series,) if item.series else (),
            "level": (item.level,),
            "source": (source,) if (source := source_of(item)) else (),
        }
    return result


def side_of_value(value: str) -> str:
    """`left` or `right` if an answer value names exactly one of them, else empty."""
    words = set(value.lower().replace("_", " ").replace(":", " ").split())
    named = words & {"left", "right"}
    return named.pop() if len(named) == 1 else ""


def structures_of(item: Item) -> tuple[str, ...]:
    """The structures an item is about, or the findings."""
    return _tagged(item, "structure:") or _tagged(item, "finding:")


def categories_in(tags: Iterable[str]) -> tuple[str, ...]:
    """The tags that are no facet of their own."""
    return tuple(tag for tag in tags if not tag.startswith(_OWN_FACETS))


def volumes_ml(bench: Bench) -> dict[tuple[str, str], float]:
    """(study, structure or role) → mL, of every structure whose volume was measured."""
    return _volumes(bench.facts(kind=("volume", *_ROLES)))


def _tagged(item: Item, prefix: str) -> tuple[str, ...]:
    return tuple(tag.removeprefix(prefix) for tag in item.tags if tag.startswith(prefix))


def _sides(item: Item, structures: Iterable[str]) -> tuple[str, ...]:
    """The true side where it is asked for, else those that the names of its structures say."""
    if isinstance(item.answer, Choice) and side_of_value(item.answer.value):
        return (side_of_value(item.answer.value),)
    named = {
        str(side) for name in structures if (side := term(name.rpartition(":")[2]).side) is not None
    }
    return tuple(sorted(named)) or ("unsided",)


def _volumes(facts: Iterable[Fact]) -> dict[tuple[str, str], float]:
    """(study, structure or role) → mL."""
    found: dict[tuple[str, str], float] = {}
    roles: list[tuple[str, str, str]] = []
    for fact in facts:
        if fact.kind == "volume" and isinstance(fact.value, int | float):
            found[fact.study_id, fact.subjects[0]] = float(fact.value)
        elif fact.kind in _ROLES:
            roles.append((fact.study_id, _ROLES[fact.kind] + fact.subjects[0], str(fact.value)))
    for study, role, structure in roles:
        if (study, structure) in found:
            found[study, role] = found[study, structure]
    return found


def size_of(
    item: Item, structures: tuple[str, ...], sizes: Mapping[tuple[str, str], float]
) -> tuple[str, ...]:
    """Of the first structure it names whose volume was measured."""
    known = next(
        (sizes[item.study_id, name] for name in structures if (item.study_id, name) in sizes), None
    )
    return () if known is None else (_bucket(known, _SIZES_ML, _LARGEST),)


def _span(item: Item, shown: Viewing) -> tuple[str, ...]:
    """Over how many axial slices (or stored frames) the first thing it is about reaches."""
    boxes = [
        box for box in (*item.boxes, *_answer_boxes(item)) if not box.label.startswith("mark:")
    ]
    if not boxes:
        return ()
    first = boxes[0]
    if isinstance(first, FrameBox):
        frames = {
            box.frame for box in boxes if isinstance(box, FrameBox) and box.label == first.label
        }
        return (_bucket(len(frames), _SPANS, _LONGEST),)
    grid = shown.grid(item)
    if not isinstance(grid, Grid):
        return ()
    return (_bucket(_slices(first, grid), _SPANS, _LONGEST),)


def _answer_boxes(item: Item) -> list[Box]:
    return boxes_in(item.answer)


def _slices(box: WorldBox, grid: Grid) -> int:
    """Height over the spacing of the axis that runs most from feet to head."""
    steps = np.abs(grid.affine.matrix[2, :3])
    return max(1, round(box.extent_mm[2] / float(steps.max())))


def _bucket(value: float, edges: Iterable[tuple[float, str]], last: str) -> str:
    return next((name for edge, name in edges if value < edge), last)
