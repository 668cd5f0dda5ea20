"""Analytic phantoms: synthetic patients whose every volume, centroid, box and many distances are
known exactly.

A phantom is a CT-like or MR-like image of an abdomen made of solids in closed form, posed, scanned
on any grid, with masks in which a voxel belongs to a shape if and only if its centre lies inside
the shape.
"""

from situs.volumes.phantoms.distance import surface_distance_mm
from situs.volumes.phantoms.files import write_patient
from situs.volumes.phantoms.knee import KneeTruth
from situs.volumes.phantoms.knee_files import KNEE_MASKS, write_knee
from situs.volumes.phantoms.knee_patient import KNEE_LABELS, PhantomKnee, make_knee
from situs.volumes.phantoms.patient import PhantomPatient, make_patient
from situs.volumes.phantoms.plan import PatientPlan, plan_patient
from situs.volumes.phantoms.raster import rasterize
from situs.volumes.phantoms.shapes import Capsule, Cuboid, Cylinder, Ellipsoid, Shape, Sphere
from situs.volumes.phantoms.truth import Modality, PairTruth, PhantomTruth, Pose, StructureTruth

__all__ = [
    "KNEE_LABELS",
    "KNEE_MASKS",
    "Capsule",
    "Cuboid",
    "Cylinder",
    "Ellipsoid",
    "KneeTruth",
    "Modality",
    "PairTruth",
    "PatientPlan",
    "PhantomKnee",
    "PhantomPatient",
    "PhantomTruth",
    "Pose",
    "Shape",
    "Sphere",
    "StructureTruth",
    "make_knee",
    "make_patient",
    "plan_patient",
    "rasterize",
    "surface_distance_mm",
    "write_knee",
    "write_patient",
]
