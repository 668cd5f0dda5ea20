"""Facts about a joint from its masks: its directions, its subregions, and what they show of a graded sign."""

from situs.facts.joint._frame import JointFrame, joint_frame, patient_frame
from situs.facts.joint._geometry import (
    Cartilage,
    Measure,
    cartilage_loss,
    extrusion_mm,
    lesion_count,
    lesion_share,
)
from situs.facts.joint._regions import JointMasks, Part, block_of, part_of, with_lesions
from situs.facts.joint._scene import joint_suspicions

__all__ = [
    "Cartilage",
    "JointFrame",
    "JointMasks",
    "Measure",
    "Part",
    "block_of",
    "cartilage_loss",
    "extrusion_mm",
    "joint_frame",
    "joint_suspicions",
    "lesion_count",
    "lesion_share",
    "part_of",
    "patient_frame",
    "with_lesions",
]
