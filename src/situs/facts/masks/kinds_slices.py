"""On which axial slices a structure is seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from situs.anatomy import Doubt
from situs.facts.masks.cut import ALL_FACES, Face, cut_through, grazed_slices
from situs.facts.masks.kinds import box_slack_mm, numbers
from situs.facts.masks.ledger import SIZE, Ledger, kind
from situs.facts.record import Fact
from situs.measure import Region, reach_mm, turned
from situs.space import Axis, Grid

__all__ = [
    "axial_axis",
    "axial_spacing_mm",
    "end_is_cut",
    "end_is_stray",
    "has_axial_slices",
    "spanned",
]

_ALIKE = 1.2
"""A scan whose other spacings exceed that of its axial
slices by more was not acquired in axial slices."""


def axial_axis(grid: Grid) -> tuple[int, bool]:
    """The stored axis across axial slices, and whether it runs from the head down."""
    directions = grid.affine.directions
    axis = next(
        n for n, direction in enumerate(directions) if direction.axis is Axis.SUPERIOR_INFERIOR
    )
    return axis, directions[axis].sign < 0


def axial_spacing_mm(grid: Grid) -> float:
    """How far apart neighbouring axial slices lie."""
    return grid.affine.spacing_mm[axial_axis(grid)[0]]


def has_axial_slices(grid: Grid) -> bool:
    """Whether axial slices were acquired: no other axis is sampled clearly more coarsely."""
    return max(grid.affine.spacing_mm) <= _ALIKE * axial_spacing_mm(grid)


@kind("slice_span", hangs_on=SIZE | {Doubt.UP_DOWN})
def _slice_span(ledger: Ledger, name: str) -> Fact:
    """First and last axial slice that show its main part, counted from 0 at the feet, over turns of
    the patient about its own centre; `gaps` if it is missing in between, `islands` if those that
    were set aside lie on other slices."""
    region, grid = ledger.main_region(name), ledger.regions.grid
    axis, downwards = axial_axis(grid)
    (first, end), (all_first, all_end) = (
        _from_the_feet(one.slice_span(axis), grid, axis, downwards=downwards)
        for one in (region, ledger.regions[name])
    )
    spacing = axial_spacing_mm(grid)
    by_grid = ledger.grid_error_mm / spacing
    inwards, outwards = (
        max(least + by_grid, ledger.annotation.surface_mm / spacing) for least in (0.5, 1.0)
    )
    shorter, longer = _turned_ends(ledger, name)
    stray = all_first < first - outwards or all_end > end + outwards
    flags = [flag for flag, holds in (("gaps", _gaps(region, axis)), ("islands", stray)) if holds]
    return ledger.record(
        "slice_span",
        (name,),
        (float(first), float(end - 1)),
        unit="slice",
        interval=(
            first - outwards - longer[0],
            end - 1 - inwards - shorter[1],
            first + inwards + shorter[0],
            end - 1 + outwards + longer[1],
        ),
        parameters={
            "surface_mm": ledger.annotation.surface_mm,
            "rotation_degrees": ledger.recipe.truth.rotation_degrees,
        },
        flags=(*ledger.cut_flags(name), *flags),
    )


def _from_the_feet(
    slices: tuple[int, int], grid: Grid, axis: int, *, downwards: bool
) -> tuple[int, int]:
    first, end = slices
    return (grid.shape[axis] - end, grid.shape[axis] - first) if downwards else (first, end)


def _upwards(grid: Grid) -> NDArray[np.float64]:
    """Unit vector across the axial slices, towards the head."""
    axis, downwards = axial_axis(grid)
    normal: NDArray[np.float64] = np.linalg.inv(grid.affine.linear)[axis] * (
        -1.0 if downwards else 1.0
    )
    return normal / np.linalg.norm(normal)


def _turned_ends(ledger: Ledger, name: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """By how many slices the lower and the upper end may lie nearer to the centre, and farther from
    it, when the patient turns."""
    region = ledger.main_region(name)
    directions = turned(_upwards(region.grid), ledger.recipe.truth.rotation_degrees)
    reach = reach_mm(region, directions) - (directions @ region.centroid_mm)[:, None]
    below, above = -reach[:, 0], reach[:, 1]
    spacing = axial_spacing_mm(region.grid)
    shorter = tuple(float(end[0] - end.min()) / spacing for end in (below, above))
    longer = tuple(float(end.max() - end[0]) / spacing for end in (below, above))
    return (shorter[0], shorter[1]), (longer[0], longer[1])


def _gaps(region: Region, axis: int) -> bool:
    return bool(np.any(np.diff(region.slice_boxes(axis).index) > 1))


@kind("ends_beyond", hangs_on=SIZE | {Doubt.UP_DOWN})
def _ends_beyond(ledger: Ledger, name: str) -> Fact:
    """Which ends of a structure the scan does not show: `top`, `bottom`, `top+bottom`, or empty.

    Only where the first or last slice cuts through it at a large section: an organ whose tip grazes
    the slice may end there."""
    region = ledger.main_region(name)
    axis, downwards = axial_axis(region.grid)
    low, high = cut_through(region, axis, ledger.recipe.cut)
    top, bottom = (low, high) if downwards else (high, low)
    ends = [word for word, beyond in (("top", top), ("bottom", bottom)) if beyond]
    return ledger.record("ends_beyond", (name,), "+".join(ends))


@kind("ends_cut", hangs_on=SIZE | {Doubt.UP_DOWN})
def _ends_cut(ledger: Ledger, name: str) -> Fact:
    """Which ends of a structure may not be its true ones: `top`, `bottom`, `top+bottom`, or empty.

    What is missing beyond the uppermost slice lies above all that is seen, so that a structure cut
    there and nowhere else has its true lower end, however the patient lies; and the reverse."""
    known = ledger.known_cut_ends(name)
    ends = [] if known is None else [known]
    if known is None and ledger.is_cut(name):
        ends = [end for end in ("top", "bottom") if _may_lack(ledger, name, end)]
    return ledger.record("ends_cut", (name,), "+".join(ends))


@kind("ends_stray", hangs_on=SIZE | {Doubt.UP_DOWN})
def _ends_stray(ledger: Ledger, name: str) -> Fact:
    """Which ends would lie elsewhere if the islands that were set aside counted: `top`, `bottom`,
    `top+bottom`, or empty. An island beside an organ leaves both of its ends where they are."""
    axis = Axis.SUPERIOR_INFERIOR.world_index
    slack = float(box_slack_mm(ledger)[1][axis])
    main, whole = (region.box_mm for region in (ledger.main_region(name), ledger.regions[name]))
    stray = {
        "top": whole.hi_mm[axis] > main.hi_mm[axis] + slack,
        "bottom": whole.lo_mm[axis] < main.lo_mm[axis] - slack,
    }
    ends = "+".join(end for end, holds in stray.items() if holds)
    box = ledger.fact("box", name)
    return ledger.record("ends_stray", (name,), ends, inputs=(box,))


def end_is_stray(ledger: Ledger, name: str, end: str) -> bool:
    """Whether the `top` or the `bottom` of a structure, or its `centre`, would lie elsewhere if its
    islands counted."""
    if end == "centre" or "islands" not in ledger.fact("box", name).flags:
        return False
    return end in str(ledger.fact("ends_stray", name).value).split("+")


def _register_end(end: str) -> None:
    @kind(f"end_gap.{end}", hangs_on=SIZE | {Doubt.UP_DOWN})
    def _end_gap(ledger: Ledger, a: str, b: str) -> Fact:
        """By how much a's end lies higher than b's, over turns of the patient; `islands` if stray
        parts of the one that reaches less far reach beyond it: those of the other reach further
        still.

        A turn moves the ends of structures that lie side by side past each other: what is 15 cm
        apart needs ends that differ by 26 mm.
        """
        directions = turned(
            np.eye(3)[Axis.SUPERIOR_INFERIOR.world_index], ledger.recipe.truth.rotation_degrees
        )
        side = 1 if end == "top" else 0
        heights = [reach_mm(ledger.main_region(name), directions)[:, side] for name in (a, b)]
        gaps = heights[0] - heights[1]
        # One end may lie further in and the other further out than its mask says.
        axis = Axis.SUPERIOR_INFERIOR.world_index
        slack = sum(float(one[axis]) for one in box_slack_mm(ledger))
        less_far = b if (gaps[0] > 0) == (end == "top") else a
        flags = ["islands"] if end_is_stray(ledger, less_far, end) else []
        if end_is_cut(ledger, a, end) or end_is_cut(ledger, b, end):
            flags.append("cut")
        return ledger.record(
            f"end_gap.{end}",
            (a, b),
            float(gaps[0]),
            unit="mm",
            interval=(float(gaps.min()) - slack, float(gaps.max()) + slack),
            parameters={"rotation_degrees": ledger.recipe.truth.rotation_degrees},
            # Not by way of the boxes: a structure that is cut above has its true lower end.
            flags=tuple(flags),
        )


for _end in ("top", "bottom"):
    _register_end(_end)


def _may_lack(ledger: Ledger, name: str, end: str) -> bool:
    """Whether this end of a structure that is cut may be missing."""
    region, grid = ledger.main_region(name), ledger.regions.grid
    axis, downwards = axial_axis(grid)
    opposite = (end == "bottom") is not downwards  # whether the far face is the last slice
    sides = _harmless_sides(ledger, name, axis, far_is_last=opposite)
    if ledger.cut_but_for(name, (axis, opposite), *sides):
        return True
    if sides and not ledger.cut_but_for(name, *sides):
        return False
    # Of a patient who lies turned, what is beyond the far face may hang down by the width of the
    # scan times the tilt.
    first, after = region.slice_span(axis)
    seen = (grid.shape[axis] - first if opposite else after) * grid.affine.spacing_mm[axis]
    widest = max(
        n * mm for k, (n, mm) in enumerate(zip(grid.shape, grid.affine.spacing_mm)) if k != axis
    )
    return bool(seen <= widest * np.tan(np.radians(ledger.recipe.truth.rotation_degrees)))


def _harmless_sides(ledger: Ledger, name: str, axis: int, *, far_is_last: bool) -> list[Face]:
    """The faces beside the axial slices that the structure only grazes, so far from the end that is
    asked for that what is missing there cannot be that end, however the patient lies.

    A kidney whose flank leaves the scan by a voxel has its true poles.
    """
    whole, spacing = ledger.regions[name], ledger.regions.grid.affine.spacing_mm
    first, after = ledger.main_region(name).slice_span(axis)
    tilt = np.tan(np.radians(ledger.recipe.truth.rotation_degrees))
    near_mm = ledger.recipe.cut.near_mm
    faces = []
    for face in ALL_FACES:
        grazed = None if face[0] == axis else grazed_slices(whole, face, axis, ledger.recipe.cut)
        if grazed is None:
            continue
        between = (grazed[0] - first if far_is_last else after - grazed[1]) * spacing[axis]
        box = whole.box_index
        width = (box.hi[face[0]] - box.lo[face[0]]) * spacing[face[0]]
        if between > (width + near_mm) * tilt + near_mm:
            faces.append(face)
    return faces


def end_is_cut(ledger: Ledger, name: str, end: str) -> bool:
    """Whether the `top` or the `bottom` of a structure,
    or its `centre`, cannot be relied on because it is cut."""
    if end == "centre" or not ledger.is_cut(name):
        return ledger.is_cut(name)
    return end in str(ledger.fact("ends_cut", name).value).split("+")


def spanned(fact: Fact) -> tuple[int, int]:
    """First and last slice of a `slice_span`."""
    first, last = numbers(fact)
    return int(first), int(last)
