"""How each kind of fact follows from the voxels or from other facts."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from situs.anatomy import Doubt
from situs.errors import SitusError
from situs.facts.masks.cut import clearance_mm
from situs.facts.masks.ledger import DOUBT_OF_AXIS, EVERYTHING, NOTHING, SIZE, Ledger, kind
from situs.facts.record import Fact
from situs.measure import (
    boundary_distance_mm,
    eroded_contact_mm2,
    gap_mm,
    precedence,
    reach_mm,
    right_shares,
    turned,
)
from situs.space import AXES, Axis, Side

__all__ = ["box_slack_mm", "is_cut", "number", "numbers", "span"]

_STAIRCASE = 1.5
"""Mean ratio of a voxel staircase's area to the smooth surface it stands for,
over all directions."""


def number(fact: Fact) -> float:
    """The value of a numeric fact."""
    if isinstance(fact.value, bool) or not isinstance(fact.value, int | float):
        raise SitusError(
            f"fact {fact.fact_id} ({fact.kind}) is not a number", fix="rebuild the bench"
        )
    return float(fact.value)


def numbers(fact: Fact) -> tuple[float, ...]:
    """The values of a fact of several numbers."""
    if not isinstance(fact.value, tuple):
        raise SitusError(
            f"fact {fact.fact_id} ({fact.kind}) is not several numbers", fix="rebuild the bench"
        )
    return fact.value


def is_cut(fact: Fact) -> bool:
    """Whether the structure goes on beyond the scan, so that its size is only a lower bound."""
    return "cut" in fact.flags


def span(fact: Fact) -> tuple[float, float]:
    """Low and high end of a numeric fact; a cut size has no upper end."""
    value = number(fact)
    low, high = fact.interval if fact.interval is not None else (value, value)
    return low, (math.inf if is_cut(fact) and fact.kind == "volume" else high)


@kind("voxels", hangs_on=NOTHING)
def _voxels(ledger: Ledger, name: str) -> Fact:
    return ledger.record("voxels", (name,), ledger.regions[name].voxels)


@kind("components", hangs_on=NOTHING)
def _components(ledger: Ledger, name: str) -> Fact:
    count = len(ledger.regions[name].component_voxels)
    return ledger.record("components", (name,), count, parameters={"connectivity": 26.0})


@kind("touches_border", hangs_on=NOTHING)
def _touches_border(ledger: Ledger, name: str) -> Fact:
    cut = ledger.regions[name].touches_border
    return ledger.record("touches_border", (name,), cut, flags=ledger.cut_flags(name))


@kind("volume", hangs_on=SIZE)
def _volume(ledger: Ledger, name: str) -> Fact:
    region, error = ledger.regions[name], ledger.annotation
    surface_mm2 = region.face_area_mm2 / _STAIRCASE
    by_sampling = region.half_voxel_ml + ledger.grid_error_mm * surface_mm2 / 1000.0
    by_surface = error.surface_mm * surface_mm2 / 1000.0
    by_share = error.volume_percent / 100.0 * region.volume_ml
    slack = max(by_sampling, by_surface, by_share)
    return ledger.record(
        "volume",
        (name,),
        region.volume_ml,
        unit="mL",
        interval=(max(0.0, region.volume_ml - slack), region.volume_ml + slack),
        parameters={"surface_mm": error.surface_mm, "volume_percent": error.volume_percent},
        flags=ledger.cut_flags(name),
    )


@kind("centroid", hangs_on=NOTHING)
def _centroid(ledger: Ledger, name: str) -> Fact:
    centre, slack = ledger.main_region(name).centroid_mm, ledger.slack_mm()
    return ledger.record(
        "centroid",
        (name,),
        tuple(float(v) for v in centre),
        unit="mm",
        interval=(*(centre - slack), *(centre + slack)),
        parameters={"surface_mm": ledger.annotation.surface_mm},
        flags=ledger.cut_flags(name),
    )


def box_slack_mm(ledger: Ledger) -> tuple[np.ndarray, np.ndarray]:
    """How far a face of a box may truly lie further in and further out, along x, y, z.

    In by half a voxel, out by a whole one: a tip that passes between voxel centres leaves no voxel
    behind.
    """
    half, error = ledger.half_voxel_mm, ledger.annotation.surface_mm
    outward = half + ledger.regions.grid.affine.half_voxel_mm
    return np.maximum(half, error), np.maximum(outward, error)


@kind("box", hangs_on=NOTHING)
def _box(ledger: Ledger, name: str) -> Fact:
    """Box of the main part; `islands` if those that were set aside lie outside it."""
    inwards, outwards = box_slack_mm(ledger)
    (lo, hi), (all_lo, all_hi) = (
        (np.array(region.box_mm.lo_mm), np.array(region.box_mm.hi_mm))
        for region in (ledger.main_region(name), ledger.regions[name])
    )
    stray = bool((all_lo < lo - outwards).any() or (all_hi > hi + outwards).any())
    return ledger.record(
        "box",
        (name,),
        tuple(float(v) for v in (*lo, *hi)),
        unit="mm",
        interval=(*(lo - outwards), *(hi - inwards), *(lo + inwards), *(hi + outwards)),
        parameters={"surface_mm": ledger.annotation.surface_mm},
        flags=(*ledger.cut_flags(name), *(("islands",) if stray else ())),
    )


def _by_size(ledger: Ledger, family: str) -> list[Fact]:
    """Volumes of a patient's lesions of one family (`*`: of all), the largest first."""
    names = [
        name
        for other_family, members in ledger.families.items()
        if family in (other_family, "*")
        for name in members
    ]
    return sorted(
        (ledger.fact("volume", name) for name in names), key=lambda f: (-number(f), f.subjects)
    )


@kind("largest", hangs_on=NOTHING)
def _largest(ledger: Ledger, family: str) -> Fact:
    """Which of a patient's lesions of one family (`*`:
    of all) is the largest; `unstable` if another may be."""
    volumes = _by_size(ledger, family)
    unstable = len(volumes) > 1 and span(volumes[0])[0] <= max(span(v)[1] for v in volumes[1:])
    return ledger.record(
        "largest",
        (family,),
        volumes[0].subjects[0],
        inputs=tuple(volumes),
        flags=("unstable",) if unstable else (),
    )


@kind("second_largest", hangs_on=NOTHING)
def _second_largest(ledger: Ledger, family: str) -> Fact:
    """Which lesion comes after the largest; `unstable` if the largest or a third one may be it."""
    volumes = _by_size(ledger, family)
    first, second, others = (
        span(volumes[0]),
        span(volumes[1]),
        [span(volume) for volume in volumes[2:]],
    )
    unstable = first[0] <= second[1] or any(second[0] <= high for _, high in others)
    flags = ("unstable",) if unstable else ()
    return ledger.record(
        "second_largest", (family,), volumes[1].subjects[0], inputs=tuple(volumes), flags=flags
    )


@kind("volume_ratio", hangs_on=SIZE)
def _volume_ratio(ledger: Ledger, a: str, b: str) -> Fact:
    first, second = ledger.fact("volume", a), ledger.fact("volume", b)
    (a_low, a_high), (b_low, b_high) = span(first), span(second)
    high = a_high / b_low if b_low > 0 and math.isfinite(a_high) else math.inf
    low = a_low / b_high if math.isfinite(b_high) else 0.0
    flags = ("unbounded",) if math.isinf(high) else ()
    return ledger.record(
        "volume_ratio",
        (a, b),
        number(first) / number(second),
        interval=(low, min(high, 1e9)),
        inputs=(first, second),
        flags=flags,
    )


def _step_mm(ledger: Ledger, a: str, b: str) -> NDArray[np.float64]:
    """From the centroid of b's main part to that of a's."""
    step: NDArray[np.float64] = (
        ledger.main_region(a).centroid_mm - ledger.main_region(b).centroid_mm
    )
    return step


@kind("centre_distance", hangs_on=SIZE)
def _centre_distance(ledger: Ledger, a: str, b: str) -> Fact:
    first, second = ledger.fact("centroid", a), ledger.fact("centroid", b)
    step = _step_mm(ledger, a, b)
    distance = float(np.linalg.norm(step))
    along = np.abs(step) / distance if distance > 0 else np.ones(3) / math.sqrt(3.0)
    slack = 2.0 * float(along @ ledger.slack_mm())
    return ledger.record(
        "centre_distance",
        (a, b),
        distance,
        unit="mm",
        interval=(max(0.0, distance - slack), distance + slack),
        inputs=(first, second),
    )


@kind("touching", hangs_on=SIZE)
def _touching(ledger: Ledger, a: str, b: str) -> Fact:
    return ledger.record("touching", (a, b), ledger.contacts.touching(a, b))


@kind("contact_area", hangs_on=SIZE)
def _contact_area(ledger: Ledger, a: str, b: str) -> Fact:
    return ledger.record("contact_area", (a, b), ledger.contacts.area_mm2(a, b), unit="mm²")


@kind("eroded_contact", hangs_on=EVERYTHING)
def _eroded_contact(ledger: Ledger, a: str, b: str) -> Fact:
    """Area of contact of the main parts that is left when either of them loses a voxel all around.

    Masks that only abut, as labels that exclude each other do, have none left: half a voxel decides
    on their contact.
    """
    first, second = ledger.main_region(a), ledger.main_region(b)
    touching = ledger.fact("touching", a, b)
    area = eroded_contact_mm2(first, second) if touching.value else 0.0
    return ledger.record("eroded_contact", (a, b), area, unit="mm²", inputs=(touching,))


def _boundary_slack(ledger: Ledger) -> float:
    """Two boundaries, each off by half a voxel or the annotation's surface error,
    along the worst direction."""
    return 2.0 * max(ledger.half_diagonal_mm, ledger.annotation.surface_mm)


@kind("boundary_distance", hangs_on=SIZE)
def _boundary_distance(ledger: Ledger, a: str, b: str) -> Fact:
    distance = boundary_distance_mm(ledger.regions[a], ledger.regions[b])
    slack = _boundary_slack(ledger)
    bounds = (max(0.0, distance - slack), distance + slack)
    return ledger.record("boundary_distance", (a, b), distance, unit="mm", interval=bounds)


@kind("surface_gap", hangs_on=SIZE)
def _surface_gap(ledger: Ledger, a: str, b: str) -> Fact:
    gap = 0.0 if ledger.contacts.touching(a, b) else gap_mm(ledger.regions[a], ledger.regions[b])
    slack = _boundary_slack(ledger)
    return ledger.record(
        "surface_gap", (a, b), gap, unit="mm", interval=(max(0.0, gap - slack), gap + slack)
    )


@kind("main_gap", hangs_on=SIZE)
def _main_gap(ledger: Ledger, a: str, b: str) -> Fact:
    """As `surface_gap`, after islands under 1 % of each structure's volume are set aside."""
    surface_gap = ledger.fact("surface_gap", a, b)
    first, second = ledger.main_region(a), ledger.main_region(b)
    if first is ledger.regions[a] and second is ledger.regions[b]:
        gap = number(surface_gap)
    else:
        gap = 0.0 if ledger.contacts.shared_voxels(a, b) else gap_mm(first, second)
    slack = _boundary_slack(ledger)
    interval = (max(0.0, gap - slack), gap + slack)
    flags = () if gap == number(surface_gap) else ("islands",)
    return ledger.record(
        "main_gap", (a, b), gap, unit="mm", interval=interval, inputs=(surface_gap,), flags=flags
    )


@kind("unseen_gap", hangs_on=SIZE)
def _unseen_gap(ledger: Ledger, a: str, b: str) -> Fact:
    """How near to each other two structures, of which one is cut, may come where the scan does not
    show them.

    If the one is whole and the other lacks only what lies beyond the faces of the scan, the missing
    part is at least as far from the first as these faces are. In all other cases nothing is known:
    0.
    """
    known = ledger.known_unseen_mm(a, b)
    if known is None:
        known = 0.0
        uncut = [name for name in (a, b) if not ledger.is_cut(name)]
        cut = [name for name in (a, b) if ledger.is_cut(name)]
        if len(uncut) == 1 and ledger.only_leaves_scan(cut[0]):
            room = clearance_mm(ledger.regions[uncut[0]], ledger.recipe.cut)
            known = max(0.0, room - 2.0 * _boundary_slack(ledger))
    # A lower bound, which the value is.
    return ledger.record("unseen_gap", (a, b), known, unit="mm", interval=(known, known))


@kind("enveloping", hangs_on=NOTHING)
def _enveloping(ledger: Ledger, a: str, b: str) -> Fact:
    """Whether one structure's box holds the other's,
    so that no direction between them makes sense."""
    regions = [ledger.main_region(name) for name in (a, b)]
    boxes = [np.array([region.box_mm.lo_mm, region.box_mm.hi_mm]) for region in regions]

    def holds(outer: np.ndarray, inner: np.ndarray) -> bool:
        return bool((outer[0] <= inner[0]).all() and (outer[1] >= inner[1]).all())

    value = holds(boxes[0], boxes[1]) or holds(boxes[1], boxes[0])
    return ledger.record(
        "enveloping", (a, b), value, inputs=(ledger.fact("box", a), ledger.fact("box", b))
    )


@kind("right_share", hangs_on={Doubt.LEFT_RIGHT})
def _right_share(ledger: Ledger, name: str) -> Fact:
    """Share of the volume right of the midline, over turns of the patient about the long axis."""
    if ledger.midline is None:
        raise SitusError(
            f"no midline for {name}: fewer than two vertebrae or paired organs are annotated"
        )
    degrees = ledger.recipe.truth.rotation_degrees
    share, low, high = right_shares(ledger.regions[name], ledger.midline, degrees)
    return ledger.record(
        "right_share",
        (name,),
        share,
        unit="fraction",
        interval=(low, high),
        parameters={
            "midline": ledger.midline.basis,
            "rotation_degrees": degrees,
            "side_basis": ledger.side_basis,
        },
        flags=ledger.cut_flags(name),
    )


@kind("side", hangs_on={Doubt.LEFT_RIGHT})
def _side(ledger: Ledger, name: str) -> Fact:
    share = ledger.fact("right_share", name)
    low, high = share.interval or (0.0, 1.0)
    needed = ledger.recipe.truth.side_share
    posed = number(share)
    side = Side.RIGHT if posed >= needed else Side.LEFT if 1.0 - posed >= needed else Side.BOTH
    stable = (side is Side.RIGHT and low >= needed) or (side is Side.LEFT and 1.0 - high >= needed)
    return ledger.record(
        "side",
        (name,),
        side.value,
        inputs=(share,),
        flags=() if stable or side is Side.BOTH else ("unstable",),
    )


def _register_axis(axis: Axis) -> None:
    @kind(f"extent.{axis}", hangs_on=SIZE | {DOUBT_OF_AXIS[axis]})
    def _extent(ledger: Ledger, name: str) -> Fact:
        """Length of the main part along the axis, over turns of the patient."""
        box, region = ledger.fact("box", name), ledger.main_region(name)
        degrees = ledger.recipe.truth.rotation_degrees
        widths = np.diff(reach_mm(region, turned(np.eye(3)[axis.world_index], degrees)), axis=1)
        inwards, outwards = (2.0 * float(slack[axis.world_index]) for slack in box_slack_mm(ledger))
        return ledger.record(
            f"extent.{axis}",
            (name,),
            region.box_mm.extent_mm[axis.world_index],
            unit="mm",
            interval=(max(0.0, float(widths.min()) - inwards), float(widths.max()) + outwards),
            parameters={"rotation_degrees": degrees},
            inputs=(box,),
        )

    @kind(f"gap.{axis}", hangs_on={DOUBT_OF_AXIS[axis]})
    def _gap(ledger: Ledger, a: str, b: str) -> Fact:
        """Signed step from b's centroid to a's along the axis;
        positive is right, anterior, superior."""
        first, second = ledger.fact("centroid", a), ledger.fact("centroid", b)
        step = _step_mm(ledger, a, b)
        value = float(step[axis.world_index])
        slack = 2.0 * float(ledger.slack_mm()[axis.world_index])
        length = float(np.linalg.norm(step))
        angle = math.acos(max(-1.0, min(1.0, value / length))) if length > 0 else 0.0
        turn = math.radians(ledger.recipe.truth.rotation_degrees)
        turned = [
            length * math.cos(min(math.pi, angle + turn)),
            length * math.cos(max(0.0, angle - turn)),
        ]
        return ledger.record(
            f"gap.{axis}",
            (a, b),
            value,
            unit="mm",
            interval=(min(value - slack, *turned), max(value + slack, *turned)),
            parameters={"rotation_degrees": ledger.recipe.truth.rotation_degrees},
            inputs=(first, second),
        )

    @kind(f"precedence.{axis}", hangs_on={DOUBT_OF_AXIS[axis]})
    def _precedence(ledger: Ledger, a: str, b: str) -> Fact:
        """P(random voxel of a lies further along the axis than a random voxel of b),
        over turns of the patient."""
        order = precedence(ledger.histograms(a, axis), ledger.histograms(b, axis))
        return ledger.record(
            f"precedence.{axis}",
            (a, b),
            order.value,
            unit="fraction",
            interval=(order.lowest, order.highest),
            parameters={"rotation_degrees": ledger.recipe.truth.rotation_degrees},
            flags=ledger.cut_flags(a, b),
        )

    @kind(f"angle.{axis}", hangs_on={DOUBT_OF_AXIS[axis]})
    def _angle(ledger: Ledger, a: str, b: str) -> Fact:
        """Angle between the step from b to a and the axis, 0–90°."""
        first, second = ledger.fact("centroid", a), ledger.fact("centroid", b)
        step = _step_mm(ledger, a, b)
        length = float(np.linalg.norm(step))
        value = (
            math.degrees(math.acos(min(1.0, abs(step[axis.world_index]) / length)))
            if length > 0
            else 90.0
        )
        turn = ledger.recipe.truth.rotation_degrees
        interval = (max(0.0, value - turn), min(90.0, value + turn))
        return ledger.record(
            f"angle.{axis}", (a, b), value, unit="°", interval=interval, inputs=(first, second)
        )

    @kind(f"direction.{axis}", hangs_on={DOUBT_OF_AXIS[axis]})
    def _direction(ledger: Ledger, a: str, b: str) -> Fact:
        """Where a lies from b along the axis, by gap and precedence; None inside the dead band.

        Flagged `unstable` if it does not hold over the intervals of both.
        """
        truth = ledger.recipe.truth
        gap, share = ledger.fact(f"gap.{axis}", a, b), ledger.fact(f"precedence.{axis}", a, b)
        around = ledger.fact("enveloping", a, b)
        inputs = (gap, share, around)
        value, chance = number(gap), number(share)
        is_ahead = value > 0
        beyond = chance if is_ahead else 1.0 - chance
        if (
            around.value
            or abs(value) <= truth.direction_margin_mm
            or beyond < truth.direction_probability
        ):
            return ledger.record(f"direction.{axis}", (a, b), None, inputs=inputs)
        (gap_low, gap_high), (low, high) = span(gap), span(share)
        nearest = gap_low if is_ahead else -gap_high
        least = low if is_ahead else 1.0 - high
        stable = nearest > truth.direction_margin_mm and least >= truth.direction_probability
        flags = () if stable else ("unstable",)
        towards = axis.towards(1 if is_ahead else -1)
        return ledger.record(f"direction.{axis}", (a, b), towards.value, inputs=inputs, flags=flags)


for _axis in AXES:
    _register_axis(_axis)
