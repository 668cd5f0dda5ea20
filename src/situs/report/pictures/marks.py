"""What is drawn over a picture besides outlines,
in the index coordinates of the patient-ordered grid."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.facts import Fact, Ledger, number
from situs.items import Item
from situs.items import marks_of as lettered_points
from situs.report.pictures.evidence import Evidence
from situs.report.viewer.subjects import ItemSubject
from situs.space import AXES, Axis, Grid, WorldBox, WorldPoints

__all__ = ["BoxMark", "LineMark", "Marks", "MidlineMark", "PlaneMark", "Point", "marks_of"]

Point = tuple[float, float, float]
Array = NDArray[np.float64]


class LineMark(msgspec.Struct, frozen=True):
    """A measured line between two places."""

    kind: str
    """`centres`, `gap` (surface to surface) or `extent`."""
    start: Point
    end: Point
    text: str
    axis: int
    """The patient axis it is measured along; -1 for none."""
    colours: tuple[int, int]
    """Which structures its start and end belong to."""


class PlaneMark(msgspec.Struct, frozen=True):
    """A plane across a patient axis, seen as a short line: a margin, a third, a level."""

    at: Point
    steps: tuple[Point, Point]
    """1 mm along the two patient axes of the plane, in their order."""
    axis: int
    text: str


class MidlineMark(msgspec.Struct, frozen=True):
    """The patient's midline: a curve from feet to head, and the step of 1 mm towards the front."""

    points: list[Point]
    front: Point
    text: str


class BoxMark(msgspec.Struct, frozen=True):
    """The eight corners of a box, in the order of `itertools.product`."""

    label: str
    corners: list[Point]


class Marks(msgspec.Struct, frozen=True):
    """All marks of one item."""

    boxes: list[BoxMark]
    lines: list[LineMark]
    planes: list[PlaneMark]
    midline: MidlineMark | None
    letters: dict[str, Point] = {}
    """Where the marks lie that the question speaks of."""


def marks_of(
    item: Item,
    subjects: Sequence[ItemSubject],
    facts: Sequence[Fact],
    shapes: Mapping[tuple[str, str], Fact],
    evidence: Evidence,
) -> Marks:
    """The item's marks. `shapes`: centroid and box facts by (kind, structure)."""
    maker = _Maker(evidence, [s.structure for s in subjects], shapes)
    thresholds = {
        fact_id: s.value.threshold
        for s in item.steps
        if s.value is not None
        for fact_id in s.fact_ids
    }
    surface_gaps = [fact for fact in facts if fact.kind == "main_gap"]
    lines: list[LineMark | None] = []
    planes: list[PlaneMark | None] = []
    for fact in facts:
        name, _, detail = fact.kind.partition(".")
        if name == "gap":
            lines.append(maker.centres(fact, Axis(detail)))
            planes.append(maker.margin(fact, Axis(detail), thresholds.get(fact.fact_id)))
        elif name == "extent":
            lines.append(maker.extent(fact, Axis(detail)))
        elif name == "height_in":
            planes += maker.thirds(fact.subjects[1])
        elif name == "level":
            planes.append(maker.level(fact.subjects[0], detail))
    if surface_gaps:
        lines.append(maker.surface_gap(min(surface_gaps, key=number)))
    needs_midline = any(fact.kind == "right_share" for fact in facts)
    rough = "approximate box" if "approximate" in item.tags else ""
    lettered = lettered_points(item)
    boxes = [
        BoxMark(
            rough or box.label,
            maker.points(np.array(list(itertools.product(*zip(box.lo_mm, box.hi_mm))))),
        )
        for box in item.boxes
        if isinstance(box, WorldBox) and box not in lettered.values()
    ]
    return Marks(
        boxes,
        [line for line in lines if line is not None],
        [plane for plane in planes if plane is not None],
        _midline(evidence.ledger(), maker) if needs_midline else None,
        {
            letter: maker.points(np.array([box.lo_mm]))[0]
            for letter, box in lettered.items()
            if isinstance(box, WorldBox)
        },
    )


class _Maker:
    """Marks on one grid."""

    def __init__(
        self, evidence: Evidence, structures: Sequence[str], shapes: Mapping[tuple[str, str], Fact]
    ) -> None:
        self.grid: Grid = evidence.volume.grid
        self._evidence = evidence
        self._structures = list(structures)
        self._shapes = shapes

    def points(self, world: Array) -> list[Point]:
        """Millimetres as index points."""
        return [
            _rounded(point, 2)
            for point in np.asarray(self.grid.affine.to_index(WorldPoints(world)))
        ]

    def steps(self, world: Array) -> list[Point]:
        """World steps as index steps."""
        inverse = np.linalg.inv(self.grid.affine.linear)
        return [_rounded(inverse @ step, 5) for step in world]

    def centres(self, fact: Fact, axis: Axis) -> LineMark | None:
        """From the centre of the second structure to that of the first."""
        ends = [self._centre(name) for name in fact.subjects]
        if any(end is None for end in ends):
            return None
        a, b = self.points(np.array(ends))
        step = number(fact)
        text = f"{abs(step):.0f} mm {axis.towards(step).value}"
        return self._line(
            "centres", b, a, text, axis.world_index, (fact.subjects[1], fact.subjects[0])
        )

    def margin(self, fact: Fact, axis: Axis, threshold: float | None) -> PlaneMark | None:
        """Where the first structure's centre would have to pass."""
        centre = self._centre(fact.subjects[1])
        if centre is None or not threshold:
            return None
        return self._plane(
            centre + threshold * np.eye(3)[axis.world_index], axis, f"margin {abs(threshold):g} mm"
        )

    def extent(self, fact: Fact, axis: Axis) -> LineMark | None:
        """Through the middle of the structure's box, from end to end."""
        box = self._box(fact.subjects[0])
        if box is None:
            return None
        middle = box.mean(axis=0)
        ends = np.array([middle, middle])
        ends[:, axis.world_index] = box[:, axis.world_index]
        low, high = self.points(ends)
        name = fact.subjects[0]
        return self._line(
            "extent", low, high, f"{number(fact):.0f} mm", axis.world_index, (name, name)
        )

    def thirds(self, organ: str) -> list[PlaneMark | None]:
        """The two lines between the thirds of an organ."""
        box = self._box(organ)
        if box is None:
            return []
        (low, high), middle = box, box.mean(axis=0)
        heights = (low[2] + share * (high[2] - low[2]) for share in (1 / 3, 2 / 3))
        axis = Axis.SUPERIOR_INFERIOR
        return [
            self._plane(np.array([middle[0], middle[1], z]), axis, "thirds of the organ")
            for z in heights
        ]

    def level(self, structure: str, height: str) -> PlaneMark | None:
        """The height that is asked about."""
        centre, box = self._centre(structure), self._box(structure)
        if centre is None or box is None:
            return None
        z = {"top": box[1, 2], "bottom": box[0, 2]}.get(height, centre[2])
        words = {"top": "upper end", "bottom": "lower end"}.get(height, "centre")
        return self._plane(
            np.array([centre[0], centre[1], z]), Axis.SUPERIOR_INFERIOR, f"height of the {words}"
        )

    def surface_gap(self, fact: Fact) -> LineMark | None:
        """Between the two nearest voxel corners."""
        a, b = fact.subjects
        if number(fact) <= 0 or a not in self._evidence or b not in self._evidence:
            return None
        start, end = self._evidence.nearest_corners(a, b)
        return self._line(
            "gap", _rounded(start, 2), _rounded(end, 2), f"{number(fact):.0f} mm", -1, (a, b)
        )

    def _line(
        self, kind: str, start: Point, end: Point, text: str, axis: int, owners: tuple[str, str]
    ) -> LineMark:
        first, second = (
            self._structures.index(name) if name in self._structures else 0 for name in owners
        )
        return LineMark(kind, start, end, text, axis, (first, second))

    def _plane(self, world: Array, axis: Axis, text: str) -> PlaneMark:
        first, second = self.steps(
            np.array([np.eye(3)[a.world_index] for a in AXES if a is not axis])
        )
        (at,) = self.points(world[None])
        return PlaneMark(at, (first, second), axis.world_index, text)

    def _centre(self, structure: str) -> Array | None:
        fact = self._shapes.get(("centroid", structure))
        return np.array(fact.value) if fact is not None and isinstance(fact.value, tuple) else None

    def _box(self, structure: str) -> Array | None:
        fact = self._shapes.get(("box", structure))
        return (
            np.array(fact.value).reshape(2, 3)
            if fact is not None and isinstance(fact.value, tuple)
            else None
        )


def _rounded(point: Array, digits: int) -> Point:
    i, j, k = (round(float(v), digits) for v in point)
    return i, j, k


def _midline(ledger: Ledger, maker: _Maker) -> MidlineMark | None:
    midline = ledger.midline
    if midline is None:
        return None
    corners = np.array(list(itertools.product(*((-0.5, n - 0.5) for n in maker.grid.shape))))
    heights = (corners @ maker.grid.affine.linear.T + maker.grid.affine.matrix[:3, 3])[:, 2]
    z = np.linspace(heights.min(), heights.max(), 80)
    (front,) = maker.steps(np.array([[0.0, 1.0, 0.0]]))
    return MidlineMark(
        maker.points(np.column_stack([midline.at(z), z])), front, f"midline ({midline.basis})"
    )
