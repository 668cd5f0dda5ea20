"""What structures and kinds of lesions are called in a text, and which they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, cached_property

from situs.anatomy import Term, family_term, shipped_terms, term
from situs.items.masks.shared import plural
from situs.items.programs.expression import Expr, name_of

__all__ = ["Names", "Tokens", "shipped_names", "tokens_of"]

Tokens = tuple[str, ...]

_TOKEN = re.compile(r"\{[a-z]s?\}|'s|\d+(?:\.\d+)?|[^\W\d_]+|[.?!]")
"""A slot, a possessive, a number, a word, or the end of a sentence; all else separates words."""
_SHORT_IS = re.compile(r"(?<=\bwhat)'s\b|(?<=\bwhere)'s\b")
"""Elsewhere `'s` is a possessive."""


def tokens_of(text: str) -> Tokens:
    """The words of a text, in small letters, without commas, colons and hyphens."""
    return tuple(_TOKEN.findall(_SHORT_IS.sub(" is", text.lower().replace("’", "'"))))


class Names:
    """Names of structures and of kinds of lesions;
    a structure is called by its plain name, with its article."""

    def __init__(self, structures: Mapping[str, str], families: Mapping[str, str]) -> None:
        """`structures`: name → plain name without its article;
        `families`: kind of lesion → one of them."""
        self._structures = structures
        self._families = families

    @classmethod
    def of_terms(cls, terms: Iterable[Term], families: Mapping[str, Term]) -> Names:
        """The names of a study's own terms."""
        structures = {entry.name: entry.plain for entry in terms if not entry.is_pathology}
        return cls(structures, {name: entry.plain for name, entry in families.items()})

    def thing(self, name: str) -> str:
        """A structure with its article."""
        return f"the {self._structures.get(name) or term(name).plain}"

    def lesion(self, family: str) -> str:
        """One lesion of a kind, without an article."""
        return self._families.get(family) or family_term(family, ()).plain

    def lesions(self, family: str) -> str:
        """Several of them."""
        return plural(self.lesion(family))

    @cached_property
    def things_by_words(self) -> dict[Tokens, list[Expr]]:
        """Words with their article → the structures so called;
        slots of shapes stand for themselves."""
        things: dict[Tokens, list[Expr]] = {
            (f"{{{slot.lower()}}}",): [Expr("slot", (slot,))] for slot in "ABCDE"
        }
        for name in self._structures:
            things.setdefault(tokens_of(self.thing(name)), []).append(name_of(name))
        return things

    @cached_property
    def lesions_by_words(self) -> dict[Tokens, list[Expr | str]]:
        """Words for one lesion → the kinds so called."""
        return self._families_by("{f}", self.lesion)

    @cached_property
    def plurals_by_words(self) -> dict[Tokens, list[Expr | str]]:
        """Words for several lesions → the kinds so called."""
        return self._families_by("{fs}", self.lesions)

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of a name."""
        called = (*self.things_by_words, *self.lesions_by_words, *self.plurals_by_words)
        return frozenset(word for tokens in called for word in tokens)

    def _families_by(self, slot: str, called: object) -> dict[Tokens, list[Expr | str]]:
        assert callable(called)
        families: dict[Tokens, list[Expr | str]] = {(slot,): [Expr("slot", ("F",))]}
        for family in self._families:
            families.setdefault(tokens_of(called(family)), []).append(family)
        return families


@cache
def shipped_names() -> Names:
    """All structures and kinds of lesions that Situs knows."""
    terms = shipped_terms()
    families = {name: entry for name, entry in terms.items() if entry.kind == "lesion"}
    return Names.of_terms(terms.values(), families)
