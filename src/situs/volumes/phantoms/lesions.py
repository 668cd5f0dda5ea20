"""Round lesions wholly inside an organ, anywhere in it, named without giving away the side."""

from __future__ import annotations

import msgspec
import numpy as np

from situs.volumes.phantoms.pack import directions
from situs.volumes.phantoms.shapes import Ellipsoid, FloatArray, Shape, Sphere, vector

__all__ = ["LESION_NAMES", "Lesion", "plan_lesions"]

_ORGANS = {"liver": 0.5, "kidney_left": 0.15, "kidney_right": 0.15, "spleen": 0.2}
_RIM_MM = 6.0
"""Least organ tissue around a lesion: 1.5 voxels of the thickest default slice (4 mm)."""
_APART_MM = 6.0
_RADIUS_MM = (5.0, 15.0)
_DIFFERENCE_MM = 1.5
"""Least difference in radius within an organ, so that "the largest" stays true on any grid."""

LESION_NAMES = tuple(
    f"{organ}_lesion_{n}" for organ in ("liver", "kidney", "spleen") for n in (1, 2, 3)
)


class Lesion(msgspec.Struct, frozen=True):
    """A lesion in the patient's own frame."""

    name: str
    organ: str
    """The organ structure that holds it, with its side."""
    shape: Sphere


def plan_lesions(organs: dict[str, Shape], rng: np.random.Generator) -> tuple[Lesion, ...]:
    """None to three lesions; per kind of organ numbered from the largest down."""
    count = int(rng.choice(4, p=[0.15, 0.3, 0.3, 0.25]))
    chosen: list[tuple[str, Sphere]] = []
    for organ in rng.choice(list(_ORGANS), size=count, p=list(_ORGANS.values())):
        sphere = _inside(
            organs[str(organ)], [(o, s) for o, s in chosen if _kind(o) == _kind(str(organ))], rng
        )
        if sphere is not None:
            chosen.append((str(organ), sphere))
    chosen.sort(key=lambda pair: -pair[1].radius_mm)
    kinds = [_kind(organ) for organ, _ in chosen]
    return tuple(
        Lesion(f"{kind}_lesion_{kinds[: n + 1].count(kind)}", organ, sphere)
        for n, (kind, (organ, sphere)) in enumerate(zip(kinds, chosen))
    )


def _kind(organ: str) -> str:
    return organ.split("_")[0]


def _inside(
    organ: Shape, others: list[tuple[str, Sphere]], rng: np.random.Generator
) -> Sphere | None:
    """A sphere whose rim lies inside the organ, away from the lesions of the same kind;
    None if there is no room."""
    if not isinstance(organ, Ellipsoid):
        return None
    largest = min(_RADIUS_MM[1], min(organ.semi_axes_mm) - _RIM_MM - 3.0)
    if largest <= _RADIUS_MM[0]:
        return None
    axes, centre = organ.frame()
    for _ in range(200):
        radius = float(rng.uniform(_RADIUS_MM[0], largest))
        centre_in_organ = _point_in_ball(rng) * np.array(organ.semi_axes_mm)
        at = centre + axes @ centre_in_organ
        if any(abs(radius - s.radius_mm) < _DIFFERENCE_MM for _, s in others):
            continue
        if any(
            np.linalg.norm(at - s.centre_mm) < radius + s.radius_mm + _APART_MM for _, s in others
        ):
            continue
        if _depth_mm(centre_in_organ, np.array(organ.semi_axes_mm)) >= radius + _RIM_MM:
            return Sphere(vector(at), radius)
    return None


def _point_in_ball(rng: np.random.Generator) -> FloatArray:
    point = rng.normal(size=3)
    scaled: FloatArray = point * (rng.random() ** (1.0 / 3.0) / np.linalg.norm(point))
    return scaled


def _depth_mm(point: FloatArray, semi_axes_mm: FloatArray) -> float:
    """Distance from an inside point (own coordinates) to the surface of an ellipsoid, within 1 %.

    It is the smallest slack of the ellipsoid's supporting planes: convex bodies lie inside each of
    them.
    """
    d = directions()
    slack = np.sqrt(((d * semi_axes_mm) ** 2).sum(axis=1)) - d @ point
    return float(slack.min())
