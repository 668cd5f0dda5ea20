"""From evidence to facts: typed statements with value, interval and derivation, kept in a ledger."""

from situs.facts import _kinds_lesions as _kinds_lesions
from situs.facts import _kinds_shape as _kinds_shape
from situs.facts._box_ledger import ANY, BoxLedger, Middle, check_fits
from situs.facts._cut import stored_cuts
from situs.facts._doubts import ALL, Doubted
from situs.facts._findings import Tube, link, stable_count
from situs.facts._kinds import is_cut, number, span
from situs.facts._kinds_marks import mark_points, marked_structures
from situs.facts._kinds_slices import axial_spacing_mm, end_is_cut, has_axial_slices, spanned
from situs.facts._kinds_spine import LEVELS, has_anchor, level_name
from situs.facts._ledger import WHOLE, Ledger
from situs.facts._recipe import AnnotationError, Recipe, Truth, TwinRules, load_recipe
from situs.facts._recipe_boxes import BoxRules
from situs.facts._record import Cell, Derivation, Fact, FactValue, Interval, Measured, Quoted, fact_id
from situs.facts._report import MeasuredFile, MeasuredPair, MeasuredStructure, measure_file

__all__ = [
    "ALL",
    "ANY",
    "LEVELS",
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
    "Measured",
    "MeasuredFile",
    "MeasuredPair",
    "MeasuredStructure",
    "Middle",
    "Quoted",
    "Recipe",
    "Truth",
    "Tube",
    "TwinRules",
    "axial_spacing_mm",
    "check_fits",
    "end_is_cut",
    "fact_id",
    "has_anchor",
    "has_axial_slices",
    "is_cut",
    "level_name",
    "link",
    "load_recipe",
    "mark_points",
    "marked_structures",
    "measure_file",
    "number",
    "span",
    "spanned",
    "stable_count",
    "stored_cuts",
]
