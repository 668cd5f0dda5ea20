"""Kernels: what can be computed from label volumes, with no language in it.

Everything is measured in the stored index order and only results go through the affine, so that the
order in which a file stores its axes cannot change a result. Labels are turned once into runs of
equal value; all else comes from the runs. Kernels are compiled on first use and kept on disk.
"""

from situs.base.verbs import make_callable
from situs.measure.components import LabelComponents, label_components
from situs.measure.diameters import AxialDiameter, Length, axial_diameter, length_3d
from situs.measure.directions import Histogram, Precedence, histograms, precedence, tilted_axes
from situs.measure.distances import (
    Nearest,
    boundary_distance_mm,
    gap_mm,
    nearest_boundaries,
    nearest_faces,
)
from situs.measure.ends import EndShape, FlatEnd, ends_bluntly, flat_ends
from situs.measure.midline import head_midline
from situs.measure.poses import axial_diameter_ratios, reach_mm, turned
from situs.measure.regions import Component, PrincipalAxes, Region, Regions
from situs.measure.sides import Midline, PairSymmetry, SymmetryPlane, pair_symmetry, right_shares
from situs.measure.spine import Spine, vertebral_body
from situs.measure.stacking import slices_out_of_place
from situs.measure.statistics import LabelStatistics, SliceBoxes, label_statistics
from situs.measure.touching import Contacts, borders, contacts, eroded_contact_mm2, label_contacts

__all__ = [
    "AxialDiameter",
    "Component",
    "Contacts",
    "EndShape",
    "FlatEnd",
    "Histogram",
    "LabelComponents",
    "LabelStatistics",
    "Length",
    "Midline",
    "Nearest",
    "PairSymmetry",
    "Precedence",
    "PrincipalAxes",
    "Region",
    "Regions",
    "SliceBoxes",
    "Spine",
    "SymmetryPlane",
    "axial_diameter",
    "axial_diameter_ratios",
    "borders",
    "boundary_distance_mm",
    "contacts",
    "ends_bluntly",
    "eroded_contact_mm2",
    "flat_ends",
    "gap_mm",
    "head_midline",
    "histograms",
    "label_components",
    "label_contacts",
    "label_statistics",
    "length_3d",
    "nearest_boundaries",
    "nearest_faces",
    "pair_symmetry",
    "precedence",
    "reach_mm",
    "right_shares",
    "slices_out_of_place",
    "tilted_axes",
    "turned",
    "vertebral_body",
]

make_callable(__name__)
