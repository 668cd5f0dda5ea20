"""Analytic knees: bones, cartilage, menisci, fluid and lesions as blocks, so that every measurable
grade is known.

The knee's own frame is that of a right knee: x from medial to lateral, y from back to front, z from
foot to hip, the joint line at z = 0. A left knee is its mirror image. Bones are blocks, so that
thirds and halves of a bone are blocks too and the share a lesion takes of one is a ratio of
volumes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec
import numpy as np

from situs.volumes.phantoms.shapes import Cuboid, Cylinder, Ellipsoid, Shape, Vector, vector

__all__ = ["KneeAnatomy", "KneeSide", "KneeTruth", "PlateTruth", "RegionTruth", "plan_knee"]

KneeSide = Literal["left", "right"]

FEMUR = ((-38.0, -30.0, 5.0), (38.0, 30.0, 45.0))
TIBIA = ((-38.0, -24.0, -30.0), (38.0, 24.0, -5.0))
PATELLA = ((-21.0, 36.0, 8.0), (21.0, 52.0, 50.0))
"""First and last corner in mm; the joint holds 10 mm between femur and tibia."""
THIRDS = ((0.0, 1 / 3), (1 / 3, 2 / 3), (2 / 3, 1.0))
PLATE_MM = 4.0
"""Thickness of whole cartilage."""
THIN_MM = 1.6
"""Thickness where it is worn but not gone."""

Corners = tuple[Vector, Vector]


class RegionTruth(msgspec.Struct, frozen=True):
    """A subregion of a bone, and the lesions in it."""

    name: str
    corners_mm: Corners
    lesion_share: float
    """Percent of the subregion."""
    lesion_count: int


class PlateTruth(msgspec.Struct, frozen=True):
    """The cartilage of a subregion, and what it has lost."""

    name: str
    loss_share: float
    """Percent of its surface with any loss."""
    full_share: float
    """Percent of that loss that goes down to bone."""
    shut_in: bool = True
    """Whether there is whole cartilage on all sides of it,
    so that it is seen to be lost; else it reaches the edges."""


class KneeTruth(msgspec.Struct, frozen=True):
    """What is known by construction, in the knee's own words:
    it does not depend on side or pose."""

    regions: tuple[RegionTruth, ...]
    plates: tuple[PlateTruth, ...]
    extrusion_mm: dict[str, float]
    """`medial_anterior`, `medial_outward`, `lateral_anterior`, `lateral_outward`."""
    effusion_ml: float


class KneeAnatomy(msgspec.Struct, frozen=True):
    """The solids of each structure, in the frame of a right knee;
    those of one structure do not overlap."""

    structures: dict[str, tuple[Shape, ...]]
    lesions: tuple[Shape, ...]
    truth: KneeTruth


def plan_knee(rng: np.random.Generator, *, any_size: bool = False) -> KneeAnatomy:
    """Draw a knee: which subregions have lesions or lost cartilage, and how far each meniscus
    stands out.

    Sizes lie clearly inside the bins of their scales; with `any_size` anywhere, also at their
    edges.
    """
    regions, lesions = _draw_regions(rng, any_size=any_size)
    plates = tuple(_draw_plate(rng, name, any_size=any_size) for name in _PLATES)
    extrusion = {name: _draw_extrusion(rng, any_size=any_size) for name in _EXTRUSIONS}
    fluid = float(rng.uniform(6.0, 22.0))
    effusion = Ellipsoid((0.0, 34.0, 62.0), (fluid, 6.0, fluid * 0.6))
    structures: dict[str, tuple[Shape, ...]] = {
        "femur": (_block(FEMUR), Cylinder((0.0, 0.0, 55.0), (15.0, 15.0), 10.0)),
        "tibia": (_block(TIBIA), Cylinder((0.0, 0.0, -40.0), (14.0, 14.0), 10.0)),
        "patella": (_block(PATELLA),),
        "femoral_cartilage": tuple(
            s for p in plates if p.name.startswith("femur") for s in _plate_solids(p)
        ),
        "tibial_cartilage": tuple(
            s for p in plates if p.name.startswith("tibia") for s in _plate_solids(p)
        ),
        "patellar_cartilage": tuple(
            s for p in plates if p.name.startswith("patella") for s in _plate_solids(p)
        ),
        "medial_meniscus": _meniscus(-1, extrusion["medial_anterior"], extrusion["medial_outward"]),
        "lateral_meniscus": _meniscus(
            1, extrusion["lateral_anterior"], extrusion["lateral_outward"]
        ),
        "joint_fluid": (effusion,),
    }
    return KneeAnatomy(
        structures, tuple(lesions), KneeTruth(tuple(regions), plates, extrusion, effusion.volume_ml)
    )


_EXTRUSIONS = ("medial_anterior", "medial_outward", "lateral_anterior", "lateral_outward")
_SIDES = (("medial", (0.0, 0.5)), ("lateral", (0.5, 1.0)))
_PLATEAUS = (("medial", (0.0, 0.4)), ("lateral", (0.6, 1.0)))


def _part(bone: Corners, x: tuple[float, float], y: tuple[float, float]) -> Corners:
    """A block of a bone by fractions from medial to lateral and from back to front."""
    lo, size = np.array(bone[0]), np.subtract(bone[1], bone[0])
    return vector(lo + size * (x[0], y[0], 0.0)), vector(lo + size * (x[1], y[1], 1.0))


def subregions() -> dict[str, Corners]:
    """The fifteen subregions of bone by name, in the order of the knee score."""
    result = {f"patella_{side}": _part(PATELLA, x, (0.0, 1.0)) for side, x in _SIDES}
    for side, x in _SIDES:
        for third, y in zip(("trochlea", "central", "posterior"), THIRDS[::-1]):
            result[f"femur_{side}_{third}"] = _part(FEMUR, x, y)
    for side, x in _PLATEAUS:
        for third, y in zip(("anterior", "central", "posterior"), THIRDS[::-1]):
            result[f"tibia_{side}_{third}"] = _part(TIBIA, x, y)
    return result | {"tibia_subspinous": _part(TIBIA, (0.4, 0.6), (0.0, 1.0))}


_PLATES = tuple(name for name in subregions() if name != "tibia_subspinous")


def _block(corners: Corners) -> Cuboid:
    lo, hi = np.array(corners[0]), np.array(corners[1])
    return Cuboid(vector((lo + hi) / 2), vector((hi - lo) / 2))


def _draw_regions(
    rng: np.random.Generator, *, any_size: bool
) -> tuple[list[RegionTruth], list[Shape]]:
    """Lesions as slabs side by side, away from the subregion's faces."""
    regions: list[RegionTruth] = []
    lesions: list[Shape] = []
    for name, corners in subregions().items():
        count = int(rng.choice(4, p=[0.55, 0.2, 0.15, 0.1]))
        share = float(rng.choice([rng.uniform(8.0, 25.0), rng.uniform(40.0, 58.0)]))
        if count == 1 and rng.random() < 0.3:
            share = float(rng.uniform(72.0, 76.0))
        if any_size:
            share = float(rng.uniform(3.0, _most_share(corners, count)))
        slabs = list(_slabs(corners, count, share)) if count else []
        region_mm3 = _block(corners).volume_mm3
        lesion_percent = 100.0 * sum(slab.volume_mm3 for slab in slabs) / region_mm3
        regions.append(RegionTruth(name, corners, lesion_percent, len(slabs)))
        lesions.extend(slabs)
    return regions, lesions


_WIDEST = 0.95
_GAP_MM = 3.0


def _most_share(corners: Corners, count: int) -> float:
    """Percent of a subregion that so many slabs can fill."""
    height = corners[1][2] - corners[0][2]
    return 100.0 * _WIDEST**2 * (height - _GAP_MM * (count + 1)) / height


def _slabs(corners: Corners, count: int, share: float) -> Iterator[Cuboid]:
    """`count` equal blocks along z, at least 3 mm apart,
    filling `share` percent of the subregion in all."""
    lo, hi = np.array(corners[0]), np.array(corners[1])
    size = hi - lo
    room = size[2] - _GAP_MM * (count + 1)
    across = np.minimum(np.sqrt(share / 100.0 * size[2] / room), _WIDEST)
    height = share / 100.0 * size[2] / across**2
    each = height / count
    gap = (size[2] - height) / (count + 1)
    for n in range(count):
        bottom = lo[2] + gap * (n + 1) + each * n
        half = np.array([size[0] * across / 2, size[1] * across / 2, each / 2])
        yield Cuboid(vector((*((lo + hi) / 2)[:2], bottom + each / 2)), vector(half))


_STRIP_MM = 4.0
"""Worn cartilage and bare bone are at least so wide, and so is the rim around them:
five voxels of a DESS of 0.8 mm."""


def _plate_plane(name: str) -> tuple[int, int, int]:
    """Axes of a plate: its longer one, its shorter one, and the one through it."""
    through = 1 if name.startswith("patella") else 2
    lo, hi = subregions()[name]
    short, long = sorted({0, 1, 2} - {through}, key=lambda axis: hi[axis] - lo[axis])
    return long, short, through


def _draw_plate(rng: np.random.Generator, name: str, *, any_size: bool) -> PlateTruth:
    """Half of them whole; a third of the others has lost all but a strip at one end."""
    if rng.random() < 0.5:
        return PlateTruth(name, 0.0, 0.0)
    lo, hi = subregions()[name]
    long, short, _ = _plate_plane(name)
    size = np.array([hi[axis] - lo[axis] for axis in (long, short)])
    shut_in = bool(rng.random() < 2 / 3)
    if any_size:
        most = (size - 2 * _STRIP_MM).prod() / size.prod() if shut_in else 1.0 - _STRIP_MM / size[0]
        share = float(rng.uniform(0.5 * most, most))
        length = (
            size[0] * share if not shut_in else (size[0] - 2 * _STRIP_MM) * np.sqrt(share / most)
        )
        bare = (
            rng.uniform(_STRIP_MM, length - _STRIP_MM) / length if length > 2 * _STRIP_MM else 0.0
        )
        return PlateTruth(name, 100.0 * share, 100.0 * float(rng.choice([0.0, bare, 1.0])), shut_in)
    share = float(rng.uniform(18.0, 33.0) if shut_in else rng.uniform(84.0, 90.0))
    return PlateTruth(
        name, share, float(rng.choice([0.0, rng.uniform(40.0, 60.0), 100.0])), shut_in
    )


def _lost_patch(plate: PlateTruth) -> Corners:
    """Where cartilage is lost: a rectangle like the plate within its rim,
    or a strip over the plate's whole width."""
    lo, hi = (np.array(corner) for corner in subregions()[plate.name])
    long, short, _ = _plate_plane(plate.name)
    share = plate.loss_share / 100.0
    first, last = lo.copy(), hi.copy()
    if not plate.shut_in:
        last[long] = lo[long] + share * (hi[long] - lo[long])
        return vector(first), vector(last)
    plane = [long, short]
    size = (hi - lo)[plane]
    half = (size - 2 * _STRIP_MM) / 2
    half = half * np.sqrt(share * size.prod() / (4.0 * half.prod()))
    first[plane], last[plane] = ((lo + hi) / 2)[plane] - half, ((lo + hi) / 2)[plane] + half
    return vector(first), vector(last)


def _plate_solids(plate: PlateTruth) -> list[Shape]:
    """Whole cartilage around the patch,
    worn cartilage in a part of it, and bare bone in the rest."""
    lo, hi = (np.array(corner) for corner in subregions()[plate.name])
    long, short, through = _plate_plane(plate.name)
    base, up = (hi[through], 1.0) if plate.name.startswith("tibia") else (lo[through], -1.0)
    first, last = (
        (np.array(corner) for corner in _lost_patch(plate)) if plate.loss_share else (lo, lo)
    )
    middle = first[long] + (last[long] - first[long]) * plate.full_share / 100.0
    blocks = [
        ((lo[long], first[long]), (lo[short], hi[short]), PLATE_MM),
        ((last[long], hi[long]), (lo[short], hi[short]), PLATE_MM),
        ((first[long], last[long]), (lo[short], first[short]), PLATE_MM),
        ((first[long], last[long]), (last[short], hi[short]), PLATE_MM),
        ((middle, last[long]), (first[short], last[short]), THIN_MM),
    ]
    solids: list[Shape] = []
    for along, across, thick in blocks:
        if min(along[1] - along[0], across[1] - across[0]) > 1e-6:
            corners = np.zeros((2, 3))
            corners[:, long], corners[:, short] = along, across
            corners[:, through] = sorted((base, base + up * thick))
            solids.append(_block((vector(corners[0]), vector(corners[1]))))
    return solids


def _draw_extrusion(rng: np.random.Generator, *, any_size: bool) -> float:
    """Clearly inside a bin of [0,2), [2,3), [3,5), [5,∞) mm, or anywhere."""
    if any_size:
        return float(rng.uniform(0.0, 8.0))
    low, high = ((0.0, 0.5), (2.45, 2.55), (3.95, 4.05), (6.5, 7.5))[
        int(rng.choice(4, p=[0.4, 0.2, 0.2, 0.2]))
    ]
    return float(rng.uniform(low, high))


def _meniscus(side: int, anterior_mm: float, outward_mm: float) -> tuple[Shape, ...]:
    """A C open to the middle of the joint, 2 mm high at the joint line:
    front horn, body at the rim, back horn."""
    rim = 38.0 + outward_mm
    front = 24.0 + anterior_mm
    low, high = -1.0, 1.0

    def piece(near: float, far: float, back: float, ahead: float) -> Cuboid:
        x = sorted((side * near, side * far))
        return _block(((x[0], back, low), (x[1], ahead, high)))

    return (
        piece(12.0, 28.0, front - 9.0, front),
        piece(28.0, rim, -22.0, front),
        piece(12.0, 28.0, -22.0, -13.0),
    )
