"""What is known of a publication, and of a sentence in it."""

from __future__ import annotations

import re
from functools import cached_property

import msgspec

from situs.base.files import canonical_json, digest
from situs.base.text import normalized

__all__ = ["Article", "Citation", "Section", "Withdrawal", "normal_text"]

_SPACE = re.compile(r"\s+")
"""Line breaks and indents of a file are not part of what was written."""


def normal_text(text: str) -> str:
    """Text as it is stored, searched and cited: composed characters, one blank between words."""
    return _SPACE.sub(" ", normalized(text, "NFC")).strip()


class Section(msgspec.Struct, frozen=True):
    """One part of an abstract; an unstructured one has a single part without a label."""

    label: str
    text: str


class Article(msgspec.Struct, frozen=True, dict=True):
    """One publication."""

    pmid: int
    title: str
    sections: tuple[Section, ...]
    journal: str = ""
    year: int | None = None
    concern: bool = False
    """An expression of concern has been published, or a part of it was retracted."""
    version: int = 1
    """Of the record, where PubMed keeps several."""

    @cached_property
    def document(self) -> str:
        """Hash of all that can be cited; another wording is another document."""
        return digest(canonical_json([self.title, self.sections]))


class Withdrawal(msgspec.Struct, frozen=True):
    """A publication that must not be used:
    deleted, retracted, or itself the notice of a retraction."""

    pmid: int
    reason: str
    """`deleted`, `retracted` or `notice`."""


class Citation(msgspec.Struct, frozen=True):
    """Where a quote stands, word for word: characters `start` to `end` of a section's text."""

    pmid: int
    section: int
    """0-based; -1 is the title."""
    start: int
    end: int
    document: str
    """Hash of the publication's text when it was cited."""
    quote: str
