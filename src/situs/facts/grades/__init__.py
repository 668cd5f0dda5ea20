"""Facts from tables of readers' grades, and beside them, from masks, what geometry says of the same signs."""

from situs.facts.grades._box_file import RegionBox, RegionBoxes
from situs.facts.grades._columns import ColumnMap, load_columns
from situs.facts.grades._ledger import GEOMETRY, READER, REGION_BOX, GradeLedger, masks_for
from situs.facts.grades._published import from_published, sagittal_axis, to_published
from situs.facts.grades._table import CONTRADICTORY, FOLLOW_UP, GradedStudy, GradeTable

__all__ = [
    "CONTRADICTORY",
    "FOLLOW_UP",
    "GEOMETRY",
    "READER",
    "REGION_BOX",
    "ColumnMap",
    "GradeLedger",
    "GradeTable",
    "GradedStudy",
    "RegionBox",
    "RegionBoxes",
    "from_published",
    "load_columns",
    "masks_for",
    "sagittal_axis",
    "to_published",
]
