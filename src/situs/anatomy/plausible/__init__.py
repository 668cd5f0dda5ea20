"""What is plausible of a patient: sizes, sides, order and numbering, and what to suspect where a study differs."""

from situs.anatomy.plausible._judge import judge
from situs.anatomy.plausible._masks import BITTEN
from situs.anatomy.plausible._numbering import VERTEBRAE, vertebra_number
from situs.anatomy.plausible._ranges import Range, plausible_range
from situs.anatomy.plausible._scene import Anchor, Doubt, Geometry, Scene, Sighting, Suspect, Suspicion
from situs.anatomy.plausible._sides import expected_side, neighbours, suspects

__all__ = [
    "BITTEN",
    "VERTEBRAE",
    "Anchor",
    "Doubt",
    "Geometry",
    "Range",
    "Scene",
    "Sighting",
    "Suspect",
    "Suspicion",
    "expected_side",
    "judge",
    "neighbours",
    "plausible_range",
    "suspects",
    "vertebra_number",
]
