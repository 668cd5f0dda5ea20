"""Vocabularies as data files, and the look-ups on them."""

from situs.anatomy._terms import Naming, Term, is_spine, lesion_family, term
from situs.anatomy._vocabulary import Vocabulary, load_vocabulary, shipped_vocabularies

__all__ = [
    "Naming",
    "Term",
    "Vocabulary",
    "is_spine",
    "lesion_family",
    "load_vocabulary",
    "shipped_vocabularies",
    "term",
]
