"""Facts from tables of readers' grades, and beside them,
from masks, what geometry says of the same signs."""

from situs.facts.grades.box_file import GivenBoxes, RegionBox, RegionBoxes
from situs.facts.grades.columns import ColumnMap, load_columns
from situs.facts.grades.ledger import GEOMETRY, READER, REGION_BOX, GradeLedger, masks_for
from situs.facts.grades.published import from_published, sagittal_axis, to_published
from situs.facts.grades.table import CONTRADICTORY, FOLLOW_UP, GradedStudy, GradeTable

__all__ = [
    "CONTRADICTORY",
    "FOLLOW_UP",
    "GEOMETRY",
    "READER",
    "REGION_BOX",
    "ColumnMap",
    "GivenBoxes",
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
