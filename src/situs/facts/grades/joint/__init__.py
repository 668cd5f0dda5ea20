"""Facts about a joint from its masks:
its directions, its subregions, and what they show of a graded sign."""

from situs.facts.grades.joint.frame import JointFrame, joint_frame, patient_frame
from situs.facts.grades.joint.geometry import (
    Cartilage,
    Measure,
    cartilage_loss,
    extrusion_mm,
    lesion_count,
    lesion_share,
)
from situs.facts.grades.joint.regions import JointMasks, Part, block_of, part_of, with_lesions
from situs.facts.grades.joint.scene import joint_suspicions

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
