"""Kernels: what can be computed from label volumes, with no language in it.

Everything is measured in the stored index order and only results go through the affine, so that the
order in which a file stores its axes cannot change a result.
"""

from situs.measure._directions import Precedence, precedence, tilted_axes
from situs.measure._distances import boundary_distance_mm, gap_mm
from situs.measure._regions import Region, Regions
from situs.measure._sides import Midline, right_shares
from situs.measure._touching import Contacts, contacts

__all__ = [
    "Contacts",
    "Midline",
    "Precedence",
    "Region",
    "Regions",
    "boundary_distance_mm",
    "contacts",
    "gap_mm",
    "precedence",
    "right_shares",
    "tilted_axes",
]
