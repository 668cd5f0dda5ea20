"""Relations between two structures that hold over the whole interval,
do not hold, or cannot be told."""

from __future__ import annotations

from typing import NamedTuple

from situs.facts import Fact, Ledger, number, span
from situs.items.masks.shared import CUT
from situs.items.posed import NotAsked
from situs.space import Direction, Side

__all__ = ["Decided", "beyond", "on_side", "touches", "unseen_facts", "within"]


class Decided(NamedTuple):
    """What is the case, and the facts that prove it, the decisive one first."""

    holds: bool
    facts: tuple[Fact, ...]
    margin: float | None = None
    """Distance to the threshold over the half-width of the interval; None where there is none."""


def touches(ledger: Ledger, a: str, b: str) -> Decided | NotAsked:
    """Yes on a clear area of contact that a voxel of erosion leaves,
    no on a gap that a voxel does not close."""
    kinds = ("contact_area", "main_gap", "eroded_contact")
    area, gap, eroded = (ledger.fact(kind, a, b) for kind in kinds)
    truth, faces = ledger.recipe.truth, ledger.regions.grid.affine.face_areas_mm2
    clear = max(truth.contact_mm2, truth.contact_faces * max(faces))
    if number(eroded) >= clear and number(gap) == 0:
        return Decided(True, (area, gap, eroded))
    if span(gap)[0] <= 0:
        return NotAsked("contact too close to call")
    unseen = unseen_facts(ledger, a, b, beyond_mm=0.0)
    if unseen is None:
        return CUT
    return Decided(False, (area, gap, eroded, *unseen))


def within(ledger: Ledger, a: str, b: str, limit_mm: float) -> Decided | NotAsked:
    """Whether the surfaces come within so many mm of each other."""
    if max(ledger.regions.grid.affine.spacing_mm) > limit_mm / 3:
        return NotAsked("slices too thick for this distance")
    fact = ledger.fact("main_gap", a, b)
    value, (low, high) = number(fact), span(fact)
    if low <= limit_mm <= high:
        return NotAsked("distance too close to the limit")
    unseen = unseen_facts(ledger, a, b, beyond_mm=limit_mm) if value > limit_mm else ()
    if unseen is None:
        return CUT
    margin = abs(value - limit_mm) / max(1e-6, (high - low) / 2)
    return Decided(high < limit_mm, (fact, *unseen), margin)


def unseen_facts(ledger: Ledger, a: str, b: str, *, beyond_mm: float) -> tuple[Fact, ...] | None:
    """What proves that the two are farther apart than this where the scan does not show them;
    None if nothing does."""
    if not (ledger.is_cut(a) or ledger.is_cut(b)):
        return ()
    fact = ledger.fact("unseen_gap", a, b)
    return (fact,) if number(fact) > beyond_mm else None


def beyond(ledger: Ledger, direction: Direction, a: str, b: str) -> Decided | NotAsked:
    """Whether a lies in this direction from b; no only where it lies in the opposite one."""
    if ledger.side_basis == "undeclared":
        return NotAsked("the file declares no orientation, so sides are unknown")
    if ledger.is_cut(a) or ledger.is_cut(b):
        return CUT
    axis = direction.axis
    proved = ledger.fact(f"direction.{axis}", a, b)
    if proved.value is None or "unstable" in proved.flags:
        return NotAsked("direction too close to call")
    gap = ledger.fact(f"gap.{axis}", a, b)
    return Decided(proved.value == direction.value, (gap, proved))


def on_side(ledger: Ledger, side: Side, a: str) -> Decided | NotAsked:
    """Whether nearly all of a lies on this side of the midline."""
    if ledger.side_basis == "undeclared":
        return NotAsked("the file declares no orientation, so sides are unknown")
    if ledger.is_cut(a):
        return CUT
    if ledger.midline is None:
        return NotAsked("no midline: fewer than two vertebrae or paired organs annotated")
    fact, share = ledger.fact("side", a), ledger.fact("right_share", a)
    if fact.value == Side.BOTH or "unstable" in fact.flags:
        return NotAsked("lesion too near the midline")
    return Decided(fact.value == side.value, (share, fact))
