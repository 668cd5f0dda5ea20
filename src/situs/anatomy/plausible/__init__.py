"""What is plausible of a patient:
sizes, sides, order and numbering, and what to suspect where a study differs."""

from situs.anatomy.plausible.doubts import judge, unsure_names
from situs.anatomy.plausible.masks import BITTEN, ONE_FLANK, PLUMP, SHARP
from situs.anatomy.plausible.numbering import VERTEBRAE, vertebra_number
from situs.anatomy.plausible.places import UsualPlace, absent_places
from situs.anatomy.plausible.ranges import Range, beside_pairs, plausible_range
from situs.anatomy.plausible.scene import (
    Anchor,
    Doubt,
    Geometry,
    Scene,
    Sighting,
    Suspect,
    Suspicion,
)
from situs.anatomy.plausible.sides import expected_side, neighbours, suspects
from situs.anatomy.plausible.sizes import patient_size

__all__ = [
    "BITTEN",
    "ONE_FLANK",
    "PLUMP",
    "SHARP",
    "VERTEBRAE",
    "Anchor",
    "Doubt",
    "Geometry",
    "Range",
    "Scene",
    "Sighting",
    "Suspect",
    "Suspicion",
    "UsualPlace",
    "absent_places",
    "beside_pairs",
    "expected_side",
    "judge",
    "neighbours",
    "patient_size",
    "plausible_range",
    "suspects",
    "unsure_names",
    "vertebra_number",
]
