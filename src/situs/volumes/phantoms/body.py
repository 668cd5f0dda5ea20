"""The anatomy plan: where the organs of one synthetic patient lie and how large they are.

Everything here is in the patient's own frame, in mm: origin at the centre of the vertebral body L1,
x to the patient's right, y to the front, z to the head. Liver right, spleen left (situs solitus),
always. Sizes and places vary so that most comparisons between organs go either way over patients.
"""

from __future__ import annotations

import msgspec
import numpy as np

from situs.errors import SitusError
from situs.volumes.phantoms.pack import Packing
from situs.volumes.phantoms.rotations import turned
from situs.volumes.phantoms.shapes import (
    Capsule,
    Cuboid,
    Cylinder,
    Ellipsoid,
    FloatArray,
    Shape,
    rotation_rows,
    vector,
)

__all__ = ["STRUCTURES", "VERTEBRAE", "Anatomy", "plan_anatomy"]

VERTEBRAE = ("T11", "T12", "L1", "L2", "L3", "L4", "L5")
STRUCTURES = (
    "spleen",
    "kidney_right",
    "kidney_left",
    "gallbladder",
    "liver",
    "stomach",
    "pancreas",
    "adrenal_gland_right",
    "adrenal_gland_left",
    "aorta",
    "inferior_vena_cava",
    "iliopsoas_left",
    "iliopsoas_right",
    *(f"vertebrae_{name}" for name in reversed(VERTEBRAE)),
    "sacrum",
    "rib_left_12",
    "rib_right_12",
)
"""Every organ a phantom may show, in the order of its label values (1, 2, …);
names of TotalSegmentator v2."""

_MARGIN_MM = 2.0
_ATTEMPTS = 40


class Anatomy(msgspec.Struct, frozen=True):
    """One patient in the patient's own frame (mm)."""

    organs: dict[str, Shape]
    body: Cylinder
    """The whole trunk; it reaches beyond any field of view above and below."""
    cavity: Cylinder
    """The space inside the abdominal wall."""
    scale: float
    """Size of the skeleton, 1 for an average adult."""


def plan_anatomy(rng: np.random.Generator) -> Anatomy:
    """Draw one patient. Organs are disjoint, at least 2 mm apart, and inside the abdominal wall."""
    volumes = _volumes_ml(rng)  # drawn once: attempts that redrew them would favour small organs
    for attempt in range(_ATTEMPTS):
        anatomy = _draw(rng, volumes, spare_mm=0.6 * attempt)
        if anatomy is not None:
            return anatomy
    raise SitusError("no room for the organs of this phantom", fix="choose another seed")


def _draw(
    rng: np.random.Generator, volumes: dict[str, float], *, spare_mm: float
) -> Anatomy | None:
    """One attempt; `spare_mm` widens the trunk, so that large organs find room in the end."""
    scale = float(rng.uniform(0.92, 1.08))
    body, cavity = _trunk(rng, scale, volumes, spare_mm)
    organs = _spine(rng, scale)
    packing = Packing(cavity, _MARGIN_MM)
    organs |= (
        _vessels(rng, scale) | _psoas(rng, scale) | _last_ribs(organs["vertebrae_T12"], cavity)
    )
    if not all(packing.add(shape) for shape in organs.values()):
        return None
    wishes = _wishes(rng, scale, cavity, volumes)
    for name, (shape, wish, reach_mm) in wishes.items():
        if name.startswith("adrenal"):
            wish = _above_kidney(organs[name.replace("adrenal_gland", "kidney")], name, wish)
        placed = packing.place(shape, wish, rng, reach_mm=reach_mm)
        if placed is None:
            return None
        organs[name] = placed
    return Anatomy({name: organs[name] for name in STRUCTURES}, body, cavity, scale)


def _volumes_ml(rng: np.random.Generator) -> dict[str, float]:
    """Organ volumes; log-uniform in the adult range.

    Kidneys: 40 % left larger, 40 % right, 20 % alike.
    """

    def between(lo: float, hi: float) -> float:
        return float(np.exp(rng.uniform(np.log(lo), np.log(hi))))

    which = rng.random()
    ratio = float(rng.uniform(1.32, 2.1)) if which < 0.8 else float(rng.uniform(1.0, 1.18))
    smaller = between(82.0, 278.0 / ratio)
    left_is_larger = which < 0.4 or which > 0.9
    pair = (smaller * ratio, smaller) if left_is_larger else (smaller, smaller * ratio)
    return {
        "kidney_left": pair[0],
        "kidney_right": pair[1],
        "liver": between(920.0, 2050.0),
        "spleen": between(82.0, 445.0),
        "stomach": between(102.0, 490.0),
        "gallbladder": between(15.5, 69.0),
        "pancreas": between(41.0, 118.0),
        "adrenal_gland_left": between(2.8, 6.5),
        "adrenal_gland_right": between(2.8, 6.5),
    }


def _trunk(
    rng: np.random.Generator, scale: float, volumes: dict[str, float], spare_mm: float
) -> tuple[Cylinder, Cylinder]:
    roomy = max(0.0, volumes["liver"] + volumes["spleen"] + volumes["stomach"] - 1900.0) / 1000.0
    cavity_a = scale * rng.uniform(144.0, 154.0) + 8.0 * roomy + spare_mm
    cavity_b = scale * rng.uniform(97.0, 104.0) + 6.0 * roomy + spare_mm
    wall, fat = rng.uniform(8.0, 11.0), rng.uniform(5.0, 18.0)
    back = -56.0 * scale
    centre = (0.0, float(back + cavity_b), -20.0 * scale)
    body = Cylinder(
        centre, (float(cavity_a + wall + fat), float(cavity_b + wall + 0.8 * fat)), 260.0 * scale
    )
    return body, Cylinder(centre, (float(cavity_a), float(cavity_b)), 255.0 * scale)


def _spine(rng: np.random.Generator, scale: float) -> dict[str, Shape]:
    """Blocks along a gently curved line, convex to the front (lordosis) and slightly to one side.

    The sacrum, from which vertebrae are numbered, is the next block of the row, wider and without
    chance.
    """
    pitch = scale * rng.uniform(32.0, 35.0)
    bend, sway = rng.uniform(0.00015, 0.0005), rng.uniform(-0.0003, 0.0003)
    middle = -50.0 * scale
    shapes: dict[str, Shape] = {}
    for step, name in enumerate((*VERTEBRAE, "sacrum")):
        z = (2 - step) * pitch
        grow = 0.9 + 0.035 * step
        last = name == "sacrum"
        chance = np.array([1.15, 0.9, 0.9]) if last else rng.uniform(0.97, 1.03, 3)
        half = scale * grow * np.array([22.0, 16.0, 12.8]) * chance
        tilt_x = np.degrees(np.arctan(2.0 * bend * (z - middle)))
        tilt_y = np.degrees(np.arctan(2.0 * sway * z))
        centre = np.array([sway * z * z, bend * (middle**2 - (z - middle) ** 2), z])
        turn = 0.0 if last else rng.uniform(-3.0, 3.0)
        shapes[name if last else f"vertebrae_{name}"] = Cuboid(
            vector(centre), vector(half), rotation_rows(turned(tilt_x, tilt_y, turn))
        )
    return shapes


def _last_ribs(vertebra: Shape, cavity: Cylinder) -> dict[str, Shape]:
    """The twelfth ribs: bars in the back wall,
    from beside their vertebra outwards and down, clear of the cavity."""
    radius, (a, b), height = 3.0, cavity.semi_axes_mm, vertebra.centroid_mm[2]

    def behind(x: float) -> float:
        return float(cavity.centre_mm[1] - b * np.sqrt(1.0 - (x / a) ** 2))

    near, far = 0.3 * a, 0.6 * a
    # The wall is convex: the middle of a chord lies nearest to the cavity.
    sag = behind((near + far) / 2.0) - (behind(near) + behind(far)) / 2.0
    back = radius + _MARGIN_MM + max(0.0, -sag)
    return {
        name: Capsule(
            (sign * near, behind(near) - back, height - 6.0),
            (sign * far, behind(far) - back, height - 34.0),
            radius,
        )
        for name, sign in (("rib_left_12", -1.0), ("rib_right_12", 1.0))
    }


def _vessels(rng: np.random.Generator, scale: float) -> dict[str, Shape]:
    """Aorta left of the midline and vena cava right of it: parallel tubes in front of the spine."""
    aorta_r, cava_r = rng.uniform(8.0, 12.0), rng.uniform(8.5, 12.0)
    front = 19.0 * scale + 3.5 + rng.uniform(0.0, 2.0)
    shift = rng.uniform(-2.0, 2.0)
    slope = np.array([rng.uniform(-0.03, 0.03), rng.uniform(-0.05, -0.02), 1.0])
    along = slope / np.linalg.norm(slope)

    def tube(x: float, radius: float, top: float, bottom: float) -> Capsule:
        at = np.array([x + shift, front + radius, 0.0])
        return Capsule(vector(at + along * bottom), vector(at + along * top), float(radius))

    top, bottom = rng.uniform(62.0, 80.0) * scale, rng.uniform(-112.0, -92.0) * scale
    return {
        "aorta": tube(-(aorta_r + 1.5 + rng.uniform(0.0, 3.0)), aorta_r, top, bottom),
        "inferior_vena_cava": tube(
            cava_r + 1.5 + rng.uniform(0.0, 4.0), cava_r, top - 4.0, bottom - 6.0
        ),
    }


def _psoas(rng: np.random.Generator, scale: float) -> dict[str, Shape]:
    """Tubes beside the lower lumbar spine that diverge downwards."""
    radius, top = rng.uniform(11.5, 15.5) * scale, rng.uniform(-60.0, -45.0) * scale
    shapes: dict[str, Shape] = {}
    for name, sign in (("iliopsoas_left", -1.0), ("iliopsoas_right", 1.0)):
        start = (sign * (29.0 * scale + radius), 0.0, float(top))
        end = (sign * (35.0 * scale + radius), float(rng.uniform(4.0, 14.0)), -140.0 * scale)
        shapes[name] = Capsule(start, end, float(radius))
    return shapes


def _sized(volume_ml: float, proportions: FloatArray, rotation: FloatArray) -> Ellipsoid:
    """An ellipsoid about the origin with the given volume and proportions of its semi-axes."""
    unit = np.cbrt(volume_ml * 1000.0 / (4.0 / 3.0 * np.pi * np.prod(proportions)))
    return Ellipsoid((0.0, 0.0, 0.0), vector(unit * proportions), rotation_rows(rotation))


def _wishes(
    rng: np.random.Generator, scale: float, cavity: Cylinder, volumes: dict[str, float]
) -> dict[str, tuple[Shape, FloatArray, float]]:
    """Each organ about its own centre, where it would like to lie,
    and how far it may be moved; in order."""

    def vary(proportions: tuple[float, float, float], percent: float) -> FloatArray:
        return np.array(proportions) * rng.uniform(1.0 - percent / 100.0, 1.0 + percent / 100.0, 3)

    def tilted(x: float, y: float, z: float, spread: float) -> FloatArray:
        return turned(*(np.array([x, y, z]) + rng.uniform(-spread, spread, 3)))

    def near(x: float, y: float, z: float, spread: tuple[float, float, float]) -> FloatArray:
        return scale * (np.array([x, y, z]) + rng.uniform(-1.0, 1.0, 3) * spread)

    shapes = {
        "kidney_left": _sized(
            volumes["kidney_left"], vary((0.54, 0.5, 1.0), 6), tilted(-8, 10, 0, 6)
        ),
        "kidney_right": _sized(
            volumes["kidney_right"], vary((0.54, 0.5, 1.0), 6), tilted(-8, -10, 0, 6)
        ),
        "adrenal_gland_left": _sized(
            volumes["adrenal_gland_left"], vary((0.42, 0.75, 1.0), 8), tilted(0, 0, 25, 10)
        ),
        "adrenal_gland_right": _sized(
            volumes["adrenal_gland_right"], vary((0.42, 0.75, 1.0), 8), tilted(0, 0, -25, 10)
        ),
        "liver": _sized(volumes["liver"], vary((1.12, 0.72, 1.05), 6), tilted(-8, 12, -36, 6)),
        "spleen": _sized(volumes["spleen"], vary((0.5, 0.82, 1.0), 9), tilted(12, 0, 28, 12)),
        "pancreas": _sized(volumes["pancreas"], vary((1.0, 0.26, 0.27), 8), tilted(0, 14, 14, 10)),
        "stomach": _sized(volumes["stomach"], vary((0.62, 0.6, 1.0), 9), tilted(-20, -42, 0, 14)),
        "gallbladder": _sized(
            volumes["gallbladder"], vary((0.52, 0.52, 1.0), 8), tilted(-35, 0, 0, 15)
        ),
    }
    kidney_z, lean = rng.uniform(-44.0, -30.0), rng.uniform(-17.0, 17.0)
    right_wall, front_wall = cavity.semi_axes_mm[0], cavity.centre_mm[1] + cavity.semi_axes_mm[1]
    liver_x = right_wall - shapes["liver"].box_mm[1][0] - 8.0
    liver_z = 118.0 * scale - shapes["liver"].box_mm[1][2]
    free = np.zeros(3)
    return {
        "kidney_left": (shapes["kidney_left"], near(-74, -12, kidney_z + lean, (5, 4, 3)), 30.0),
        "kidney_right": (shapes["kidney_right"], near(74, -12, kidney_z - lean, (5, 4, 3)), 30.0),
        "liver": (shapes["liver"], np.array([liver_x, 58.0 * scale, liver_z]), 55.0),
        "adrenal_gland_left": (shapes["adrenal_gland_left"], free, 30.0),
        "adrenal_gland_right": (shapes["adrenal_gland_right"], free, 30.0),
        "spleen": (shapes["spleen"], near(-104, 2, 48, (6, 12, 18)), 40.0),
        "pancreas": (shapes["pancreas"], near(-18, 62, -2, (14, 6, 14)), 45.0),
        "stomach": (
            shapes["stomach"],
            np.append(near(-58, 0, 0, (14, 0, 0))[:1], [front_wall - 50.0, 32.0 * scale])
            + rng.uniform(-1, 1, 3) * np.array([0.0, 12.0, 22.0]),
            60.0,
        ),
        "gallbladder": (shapes["gallbladder"], near(62, 92, -32, (20, 14, 14)), 60.0),
    }


def _above_kidney(kidney: Shape, name: str, free: FloatArray) -> FloatArray:
    """In front of and medial to the upper pole of the kidney on the same side."""
    axes, centre = kidney.frame()
    half = np.array(kidney.semi_axes_mm) if isinstance(kidney, Ellipsoid) else np.ones(3)
    medial = 1.0 if name.endswith("left") else -1.0
    wish: FloatArray = free + centre + axes @ np.array([medial * 12.0, 6.0, half[2] + 2.0])
    return wish
