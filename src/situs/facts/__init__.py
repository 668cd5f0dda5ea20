"""From evidence to facts: typed statements with value,
interval and derivation, kept in a ledger."""

from situs.facts.boxes.ledger import ANY, BoxLedger, Middle, check_fits, is_finding
from situs.facts.boxes.tubes import Tube, link, stable_count
from situs.facts.doubts import ALL, Doubted
from situs.facts.literature import LITERATURE, literature_fact, literature_problems
from situs.facts.masks import kinds_lesions as kinds_lesions
from situs.facts.masks import kinds_shape as kinds_shape
from situs.facts.masks.cut import stored_cuts
from situs.facts.masks.kinds import is_cut, number, span
from situs.facts.masks.kinds_slices import (
    axial_spacing_mm,
    end_is_cut,
    end_is_stray,
    has_axial_slices,
    spanned,
)
from situs.facts.masks.kinds_spine import LEVELS, has_anchor, level_name
from situs.facts.masks.ledger import (
    DOUBT_OF_AXIS,
    SIZE,
    WHOLE,
    Ledger,
    MaskedSeries,
    ScanValues,
    hangs_on,
    kind,
)
from situs.facts.masks.marks.kinds import mark_points, marked_structures
from situs.facts.measured import MeasuredFile, MeasuredPair, MeasuredStructure, measure_file
from situs.facts.measured_cohort import MeasuredStudy, is_table, measure_cohort
from situs.facts.recipe import AnnotationError, Recipe, Truth, TwinRules, load_recipe
from situs.facts.recipe_boxes import BoxRules
from situs.facts.record import (
    Cell,
    Derivation,
    Fact,
    FactValue,
    Interval,
    Measured,
    Quoted,
    fact_id,
)
from situs.facts.shown import measured_tables

__all__ = [
    "ALL",
    "ANY",
    "DOUBT_OF_AXIS",
    "LEVELS",
    "LITERATURE",
    "SIZE",
    "WHOLE",
    "AnnotationError",
    "BoxLedger",
    "BoxRules",
    "Cell",
    "Derivation",
    "Doubted",
    "Fact",
    "FactValue",
    "Interval",
    "Ledger",
    "MaskedSeries",
    "Measured",
    "MeasuredFile",
    "MeasuredPair",
    "MeasuredStructure",
    "MeasuredStudy",
    "Middle",
    "Quoted",
    "Recipe",
    "ScanValues",
    "Truth",
    "Tube",
    "TwinRules",
    "axial_spacing_mm",
    "check_fits",
    "end_is_cut",
    "end_is_stray",
    "fact_id",
    "hangs_on",
    "has_anchor",
    "has_axial_slices",
    "is_cut",
    "is_finding",
    "is_table",
    "kind",
    "level_name",
    "link",
    "literature_fact",
    "literature_problems",
    "load_recipe",
    "mark_points",
    "marked_structures",
    "measure_cohort",
    "measure_file",
    "measured_tables",
    "number",
    "span",
    "spanned",
    "stable_count",
    "stored_cuts",
]
