"""What files call a structure → what it is called here, by patterns that a user writes."""

from __future__ import annotations

import fnmatch
import functools
import re
from collections import defaultdict
from collections.abc import Mapping

import msgspec

from situs.anatomy.spelling import keys_of
from situs.anatomy.terms import Term, term
from situs.errors import SitusError

__all__ = ["NamePattern", "NameRules"]

_REGEX = "re:"


class NamePattern(msgspec.Struct, frozen=True):
    """One way files call a structure."""

    text: str
    """A glob (`GTV-*`), or a regular expression after `re:`;
    the whole name must match, in any case."""
    name: str

    @classmethod
    def checked(cls, text: str, name: str, *, where: object) -> NamePattern:
        """A pattern that can be matched; else an error that says what is wrong with it."""
        try:
            _compiled(text)
        except re.error as error:
            problem = f"the pattern {text!r} is not a regular expression ({error})"
            raise SitusError(
                problem, where=where, fix="fix it, or write a glob such as GTV-*"
            ) from error
        return cls(text, name)

    def matches(self, name: str) -> bool:
        """Whether a file's name for a structure is meant."""
        return _compiled(self.text).fullmatch(name) is not None


@functools.lru_cache(maxsize=1024)
def _compiled(text: str) -> re.Pattern[str]:
    is_regex = text.startswith(_REGEX)
    expression = text.removeprefix(_REGEX) if is_regex else fnmatch.translate(text)
    return re.compile(expression, re.IGNORECASE)


class NameRules(msgspec.Struct, frozen=True):
    """How a name map renames the structures of a study."""

    patterns: tuple[NamePattern, ...] = ()
    own_terms: dict[str, Term] = {}

    def renamed(self, names: Mapping[int, str]) -> dict[int, str]:
        """Label → new name, for the labels that the map calls otherwise than their file does.

        Lesions that come to share a name are numbered in the order of their labels; other
        structures are one.
        """
        meant = {label: self._meant(name) for label, name in sorted(names.items())}
        sharing: dict[str, list[int]] = defaultdict(list)
        for label, name in meant.items():
            if name is not None:
                sharing[name].append(label)
        result: dict[int, str] = {}
        for name, labels in sharing.items():
            is_lesion = term(name, self.own_terms).kind == "lesion"
            numbered = is_lesion and len(labels) > 1
            for number, label in enumerate(labels, start=1):
                new = f"{name}_{number}" if numbered else name
                if new != names[label]:
                    result[label] = new
        return result

    def _meant(self, name: str) -> str | None:
        """What the map calls it; None if the map does not speak of it."""
        if name in self.own_terms:
            return name
        matching = (pattern.name for pattern in self.patterns if pattern.matches(name))
        return next(matching, None) or self._by_spelling(name)

    def _by_spelling(self, name: str) -> str | None:
        wanted = set(keys_of(name))
        for own_name, entry in self.own_terms.items():
            for spelling in (own_name, *entry.synonyms):
                if wanted.intersection(keys_of(spelling)):
                    return own_name
        return None
