"""Vocabularies as data files, and the look-ups on them."""

from situs.anatomy._findings import NORMAL, Finding, finding_name, finding_of, known_findings, organ_of_volume
from situs.anatomy._relevance import compared, is_sided_lesion, measured, near_lesion, ranked
from situs.anatomy._terms import Naming, Term, canonical_name, is_head, is_spine, lesion_family, term
from situs.anatomy._vocabulary import Vocabulary, load_vocabulary, shipped_vocabularies
from situs.anatomy._wholes import are_akin, is_part, organs_in_parts, wholes
from situs.anatomy.plausible import Doubt, Suspect, Suspicion, expected_side, neighbours, plausible_range, suspects

__all__ = [
    "NORMAL",
    "Doubt",
    "Finding",
    "Naming",
    "Suspect",
    "Suspicion",
    "Term",
    "Vocabulary",
    "are_akin",
    "canonical_name",
    "compared",
    "expected_side",
    "finding_name",
    "finding_of",
    "is_head",
    "is_part",
    "is_sided_lesion",
    "is_spine",
    "known_findings",
    "lesion_family",
    "load_vocabulary",
    "measured",
    "near_lesion",
    "neighbours",
    "organ_of_volume",
    "organs_in_parts",
    "plausible_range",
    "ranked",
    "shipped_vocabularies",
    "suspects",
    "term",
    "wholes",
]
