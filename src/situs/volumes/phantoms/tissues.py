"""How bright each tissue is, on CT (Hounsfield
units) and on two MR weightings (arbitrary units)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from situs.volumes.phantoms.truth import Modality, PhantomTruth

__all__ = ["TISSUES", "brightness", "lively"]

_CT = {
    "air": (-1000, -1000), "fat": (-108, -95), "visceral_fat": (-105, -90), "muscle": (48, 60),
    "lung": (-860, -800),
    "bowel_wall": (55, 75), "bowel_content": (10, 40), "gas": (-920, -820), "disc": (75, 95),
    "canal": (15, 30),
    "rib": (320, 460), "cortex": (640, 760), "marrow": (210, 290), "liver": (60, 110),
    "spleen": (100, 130),
    "kidney": (160, 200), "medulla": (125, 150), "sinus": (-60, -20), "gallbladder": (2, 16),
    "stomach": (18, 42),
    "stomach_wall": (65, 85), "pancreas": (75, 105), "adrenal": (60, 85), "aorta": (195, 220),
    "cava": (155, 178),
}  # fmt: skip
_T1 = {
    "air": (3, 3), "fat": (820, 940), "visceral_fat": (780, 900), "muscle": (330, 380),
    "lung": (30, 50),
    "bowel_wall": (360, 420), "bowel_content": (220, 420), "gas": (10, 20), "disc": (260, 310),
    "canal": (170, 220),
    "rib": (330, 420), "cortex": (90, 120), "marrow": (480, 570), "liver": (500, 570),
    "spleen": (320, 370),
    "kidney": (420, 470), "medulla": (290, 330), "sinus": (700, 800), "gallbladder": (170, 260),
    "stomach": (190, 290),
    "stomach_wall": (380, 430), "pancreas": (560, 640), "adrenal": (370, 420), "aorta": (110, 170),
    "cava": (150, 230),
}  # fmt: skip
_T2 = {
    "air": (3, 3), "fat": (190, 240), "visceral_fat": (160, 200), "muscle": (110, 135),
    "lung": (25, 40),
    "bowel_wall": (240, 310), "bowel_content": (350, 900), "gas": (8, 15), "disc": (230, 420),
    "canal": (950, 1050),
    "rib": (70, 110), "cortex": (40, 60), "marrow": (190, 240), "liver": (290, 350),
    "spleen": (500, 580),
    "kidney": (560, 640), "medulla": (700, 780), "sinus": (280, 360), "gallbladder": (1000, 1150),
    "stomach": (750, 900), "stomach_wall": (240, 300), "pancreas": (370, 440),
    "adrenal": (290, 340),
    "aorta": (40, 70), "cava": (50, 90),
}  # fmt: skip
"""T2 with fat suppression, as usual in the abdomen."""

TISSUES = (*_CT, *(f"lesion_{n}" for n in (1, 2, 3)))
"""Every tissue; its place here is its code in the tissue map."""


def brightness(
    modality: Modality, truth: PhantomTruth, rng: np.random.Generator
) -> NDArray[np.float32]:
    """The brightness of each tissue code in one patient.

    A lesion stands out from its organ to either side.
    """
    table = _CT if modality == "ct" else (_T1, _T2)[int(rng.random() < 0.5)]
    values = {name: float(rng.uniform(lo, hi)) for name, (lo, hi) in table.items()}
    for n in (1, 2, 3):
        contrast, darker, wide = (
            float(rng.uniform(30.0, 60.0)),
            rng.random() < 0.7,
            float(rng.uniform(0.35, 0.7)),
        )
        holder = truth.lesions[n - 1].inside if n <= len(truth.lesions) else None
        around = [values[name] for name in _holding(holder)] or [0.0]
        if modality == "ct":
            values[f"lesion_{n}"] = min(around) - contrast if darker else max(around) + contrast
        elif darker == (table is _T1):
            values[f"lesion_{n}"] = min(around) * (1.0 - 0.8 * wide)
        else:
            values[f"lesion_{n}"] = max(around) * (1.0 + wide)
    return np.array([values[name] for name in TISSUES], dtype=np.float32)


def _holding(organ: str | None) -> tuple[str, ...]:
    """The tissues a lesion of that organ must stand out from."""
    if organ is None:
        return ()
    return ("kidney", "medulla") if organ.startswith("kidney") else (organ,)


def lively(modality: Modality) -> NDArray[np.float32]:
    """How much texture each tissue code shows, as a standard deviation in the unit of the image."""
    strength = dict.fromkeys(TISSUES, 4.0) | {
        "air": 0.0,
        "gas": 3.0,
        "lung": 30.0,
        "fat": 5.0,
        "visceral_fat": 9.0,
    }
    strength |= {
        "muscle": 7.0,
        "marrow": 30.0,
        "rib": 60.0,
        "cortex": 60.0,
        "bowel_content": 8.0,
        "bowel_wall": 8.0,
    }
    scale = 1.0 if modality == "ct" else 4.0
    quiet = {"air", "gas", "lung", "cortex"} if modality == "mr" else set()
    return np.array(
        [0.0 if name in quiet else scale * strength[name] for name in TISSUES], dtype=np.float32
    )
