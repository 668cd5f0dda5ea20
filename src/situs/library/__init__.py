"""Abstracts on this machine: what they say, word for word,
for questions that rest on the literature."""

from __future__ import annotations

from situs.library.build import LibraryCounts, build_library
from situs.library.folder import Hit, Library, open_library
from situs.library.record import Article, Citation, Section, Withdrawal

__all__ = [
    "Article",
    "Citation",
    "Hit",
    "Library",
    "LibraryCounts",
    "Section",
    "Withdrawal",
    "build_library",
    "open_library",
]
