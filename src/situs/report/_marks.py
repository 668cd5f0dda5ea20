"""What is drawn over a picture besides outlines, in the index coordinates of the patient-ordered grid."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from situs.facts import Fact, Ledger, number
from situs.items import Item
from situs.report._subjects import ItemSubject
from situs.space import AXES, Axis, Direction, Grid, WorldBox, WorldPoints

__all__ = ["BoxMark", "LineMark", "Marks", "MidlineMark", "marks_of"]

Point = tuple[float, float, float]


class LineMark(msgspec.Struct, frozen=True):
    """The step from one centre to another, and the margin it has to exceed."""

    start: Point
    end: Point
    text: str
    margin: tuple[Point, Point, Point] | None
    """A point on the margin's plane, and the world steps of 1 mm along the two axes of that plane."""
    axis: int
    margin_text: str


class MidlineMark(msgspec.Struct, frozen=True):
    """The patient's midline: a curve from feet to head, and the step of 1 mm towards the front."""

    points: list[Point]
    front: Point
    text: str


class BoxMark(msgspec.Struct, frozen=True):
    """The eight corners of a box, in the order of `itertools.product`."""

    label: str
    corners: list[Point]


class Marks(msgspec.Struct, frozen=True, omit_defaults=True):
    """All marks of one item."""

    boxes: list[BoxMark]
    line: LineMark | None = None
    midline: MidlineMark | None = None


def marks_of(
    item: Item,
    subjects: Sequence[ItemSubject],
    facts: Sequence[Fact],
    centroids: Mapping[str, Fact],
    grid: Grid,
    ledger: Ledger | None,
    margin_mm: float,
) -> Marks:
    """The item's marks on a patient-ordered grid. `centroids`: by structure; `ledger` if the midline is needed."""
    names = {box.label: subject.plain for box, subject in zip(item.boxes, subjects)}
    boxes = [
        BoxMark(names.get(box.label, box.label), _corners(box, grid)) for box in item.boxes if isinstance(box, WorldBox)
    ]
    gap = next((fact for fact in facts if fact.kind.startswith("gap.")), None)
    line = None if gap is None else _line(gap, centroids, grid, margin_mm)
    midline = None if ledger is None else _midline(ledger, grid)
    return Marks(boxes, line, midline)


def _points(grid: Grid, world: np.ndarray) -> list[Point]:
    return [(round(float(i), 2), round(float(j), 2), round(float(k), 2)) for i, j, k in _index(grid, world)]


def _index(grid: Grid, world: np.ndarray) -> np.ndarray:
    return np.asarray(grid.affine.to_index(WorldPoints(np.asarray(world, dtype=np.float64))))


def _steps(grid: Grid, world: np.ndarray) -> list[Point]:
    """World steps as index steps."""
    origin = _index(grid, np.zeros((1, 3)))
    i_j_k = _index(grid, world) - origin
    return [(round(float(i), 5), round(float(j), 5), round(float(k), 5)) for i, j, k in i_j_k]


def _corners(box: WorldBox, grid: Grid) -> list[Point]:
    return _points(grid, np.array(list(itertools.product(*zip(box.lo_mm, box.hi_mm)))))


def _line(gap: Fact, centroids: Mapping[str, Fact], grid: Grid, margin_mm: float) -> LineMark | None:
    a, b = (centroids.get(name) for name in gap.subjects)
    if a is None or b is None or not isinstance(a.value, tuple) or not isinstance(b.value, tuple):
        return None
    axis = Axis(gap.kind.partition(".")[2])
    step = number(gap)
    towards: Direction = axis.towards(step)
    start, end = np.array(b.value), np.array(a.value)
    edge = start.copy()
    edge[axis.world_index] += margin_mm * towards.sign
    across = [np.eye(3)[other.world_index] for other in AXES if other is not axis]
    first, second = _steps(grid, np.array(across))
    (on_edge,) = _points(grid, edge[None])
    from_b, to_a = _points(grid, np.array([start, end]))
    return LineMark(
        from_b,
        to_a,
        f"{abs(step):.0f} mm {towards.value}",
        (on_edge, first, second),
        axis.world_index,
        f"margin {margin_mm:g} mm",
    )


def _midline(ledger: Ledger, grid: Grid) -> MidlineMark | None:
    midline = ledger.midline
    if midline is None:
        return None
    corners = np.array(list(itertools.product(*((-0.5, n - 0.5) for n in grid.shape))))
    heights = (corners @ grid.affine.linear.T + grid.affine.matrix[:3, 3])[:, 2]
    z = np.linspace(heights.min(), heights.max(), 80)
    world = np.column_stack([midline.at(z), z])
    (front,) = _steps(grid, np.array([[0.0, 1.0, 0.0]]))
    return MidlineMark(_points(grid, world), front, f"midline ({midline.basis})")
