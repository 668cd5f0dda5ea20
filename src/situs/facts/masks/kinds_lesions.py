"""Where a lesion lies in the organs around it."""

from __future__ import annotations

import numpy as np

from situs.anatomy import Doubt, Naming
from situs.facts.masks.kinds import number
from situs.facts.masks.ledger import NOTHING, Ledger, kind
from situs.facts.record import Fact
from situs.measure import reach_mm, turned
from situs.space import Axis

__all__: list[str] = []


@kind("inside_share", hangs_on=NOTHING)
def _inside_share(ledger: Ledger, inner: str, outer: str) -> Fact:
    """Share of one structure's voxels that the other holds too (overlapping masks)."""
    shared = sum(ledger.contacts.shared_voxels(inner, part) for part in ledger.parts_of(outer))
    share = min(1.0, shared / ledger.regions[inner].voxels)
    return ledger.record("inside_share", (inner, outer), share, unit="fraction")


@kind("surface_share", hangs_on=NOTHING)
def _surface_share(ledger: Ledger, inner: str, outer: str) -> Fact:
    """Share of one structure's surface that borders the other (masks that exclude each other)."""
    area = sum(ledger.contacts.area_mm2(inner, part) for part in ledger.parts_of(outer))
    share = area / ledger.regions[inner].face_area_mm2
    return ledger.record("surface_share", (inner, outer), min(1.0, share), unit="fraction")


@kind("organ_of", version=2, hangs_on=NOTHING)
def _organ_of(ledger: Ledger, lesion: str) -> Fact:
    """The organ that holds a lesion; None if no organ clearly does.

    At least 95 % of its voxels inside overlapping masks, or 60 % of its surface on one organ and at
    most 20 % on the next where masks exclude each other. A part of an organ is none: in a lobe is
    in the lung.
    """
    return _holder(ledger, "organ_of", lesion, ledger.organs)


@kind("organ_part_of", hangs_on=NOTHING)
def _organ_part_of(ledger: Ledger, lesion: str) -> Fact:
    """The part of an organ (a lobe) that holds a lesion, by the same rule;
    None if no part clearly does."""
    organs = [name for name in ledger.structures if ledger.terms[name].kind == "organ"]
    return _holder(
        ledger, "organ_part_of", lesion, [name for name in organs if name not in ledger.organs]
    )


def _holder(ledger: Ledger, kind_name: str, lesion: str, candidates: list[str]) -> Fact:
    """Which of the candidates clearly holds the lesion."""
    truth = ledger.recipe.truth
    organs = [name for name in candidates if name != lesion]
    inside = {name: ledger.fact("inside_share", lesion, name) for name in organs}
    holding = [name for name, fact in inside.items() if number(fact) >= truth.inside_share]
    if len(holding) == 1:
        return ledger.record(kind_name, (lesion,), holding[0], inputs=(inside[holding[0]],))
    shares = {name: ledger.fact("surface_share", lesion, name) for name in organs}
    order = sorted(organs, key=lambda name: (-number(shares[name]), name))
    if not holding and order:
        most = [shares[name] for name in order[:2]]
        clear = number(most[0]) >= truth.surface_share
        if clear and all(number(other) <= truth.surface_share_next for other in most[1:]):
            return ledger.record(kind_name, (lesion,), order[0], inputs=tuple(most))
    return ledger.record(kind_name, (lesion,), None, flags=("unstable",))


@kind("holder_side", hangs_on={Doubt.LEFT_RIGHT})
def _holder_side(ledger: Ledger, lesion: str) -> Fact:
    """Side of the paired organ that a lesion belongs to,
    from that organ's name; None if there is none."""
    holder = ledger.fact("organ_of", lesion)
    positional = [name for name in ledger.organs if ledger.terms[name].naming is Naming.POSITIONAL]
    sided = [name for name in positional if ledger.lies_in(lesion, name)]
    side = ledger.terms[sided[0]].side if len(sided) == 1 else None
    parameters: dict[str, float | str] = (
        {"organ": sided[0], "side_basis": ledger.side_basis} if side else {}
    )
    return ledger.record(
        "holder_side",
        (lesion,),
        None if side is None else side.value,
        parameters=parameters,
        inputs=(holder,),
    )


@kind("height_in", hangs_on={Doubt.UP_DOWN})
def _height_in(ledger: Ledger, inner: str, outer: str) -> Fact:
    """How high a structure's centre lies in another: 0 at its lowest point, 1 at its highest; over
    turns of the patient."""
    z = Axis.SUPERIOR_INFERIOR.world_index
    box, centre = ledger.fact("box", outer), ledger.fact("centroid", inner)
    directions = turned(np.eye(3)[z], ledger.recipe.truth.rotation_degrees)
    low, high = reach_mm(ledger.main_region(outer), directions).T
    heights = (directions @ ledger.main_region(inner).centroid_mm - low) / (high - low)
    slack = 2.0 * float(ledger.slack_mm()[z]) / float((high - low).min())
    return ledger.record(
        "height_in",
        (inner, outer),
        float(heights[0]),
        unit="fraction",
        interval=(float(heights.min()) - slack, float(heights.max()) + slack),
        parameters={"rotation_degrees": ledger.recipe.truth.rotation_degrees},
        inputs=(box, centre),
    )
