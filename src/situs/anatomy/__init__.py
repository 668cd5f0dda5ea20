"""Vocabularies as data files, and the look-ups on them."""

from situs.anatomy.findings import (
    NORMAL,
    Finding,
    finding_name,
    finding_of,
    known_findings,
    organ_of_volume,
    protocol_of_volume,
)
from situs.anatomy.listing import KnownName, list_names
from situs.anatomy.part_whole import are_akin, is_head, is_part, is_spine, organs_in_parts, wholes
from situs.anatomy.patterns import NamePattern, NameRules
from situs.anatomy.plausible import (
    Doubt,
    Suspect,
    Suspicion,
    expected_side,
    neighbours,
    plausible_range,
    suspects,
)
from situs.anatomy.relevance import compared, is_sided_lesion, measured, near_lesion, ranked
from situs.anatomy.terms import (
    COLUMNS,
    KINDS,
    Naming,
    Term,
    canonical_name,
    family_term,
    lesion_family,
    shipped_terms,
    term,
    without_number,
)
from situs.anatomy.vocabulary import Vocabulary, load_vocabulary, shipped_vocabularies

__all__ = [
    "COLUMNS",
    "KINDS",
    "NORMAL",
    "Doubt",
    "Finding",
    "KnownName",
    "NamePattern",
    "NameRules",
    "Naming",
    "Suspect",
    "Suspicion",
    "Term",
    "Vocabulary",
    "are_akin",
    "canonical_name",
    "compared",
    "expected_side",
    "family_term",
    "finding_name",
    "finding_of",
    "is_head",
    "is_part",
    "is_sided_lesion",
    "is_spine",
    "known_findings",
    "lesion_family",
    "list_names",
    "load_vocabulary",
    "measured",
    "near_lesion",
    "neighbours",
    "organ_of_volume",
    "organs_in_parts",
    "plausible_range",
    "protocol_of_volume",
    "ranked",
    "shipped_terms",
    "shipped_vocabularies",
    "suspects",
    "term",
    "wholes",
    "without_number",
]
