"""What a question may speak of: a named structure, or a lesion by its role (`largest:liver_lesion`)."""

from __future__ import annotations

import msgspec

from situs.anatomy import Term, lesion_family, term
from situs.facts import Fact, Ledger
from situs.space import WorldBox

__all__ = ["ANY_LESION", "Subject", "resolve", "subjects", "world_box"]

_LARGEST = "largest:"
ANY_LESION = "largest:*"
"""The largest lesion of the patient, whatever organ it is in."""


class Subject(msgspec.Struct, frozen=True):
    """A thing that can be asked about."""

    key: str
    """How parameters name it: the structure's name, or `largest:<family>`."""
    phrase: str
    """With its article: `the left kidney`, `the largest liver lesion`."""
    structure: str
    """The structure of this patient that it stands for."""
    term: Term
    evidence: tuple[Fact, ...] = ()
    """Facts that make the role hold (which lesion is the largest)."""

    @property
    def is_lesion(self) -> bool:
        """Whether it is a lesion, known by its role only."""
        return self.key.startswith(_LARGEST)

    @property
    def opening(self) -> str:
        """The phrase as a sentence begins with it."""
        return self.phrase[0].upper() + self.phrase[1:]

    @property
    def bare(self) -> str:
        """The phrase without its article, as it stands in an option."""
        return self.phrase.removeprefix("the ")


def subjects(ledger: Ledger) -> list[Subject]:
    """Every structure and lesion role of a series, in a stable order."""
    names = [name for name in ledger.structures if lesion_family(name) is None]
    families = sorted({family for name in ledger.structures if (family := lesion_family(name))})
    return [resolve(ledger, key) for key in [*names, *(_LARGEST + family for family in families)]]


def resolve(ledger: Ledger, key: str) -> Subject:
    """The subject a parameter names, in this patient. KeyError if the patient has none."""
    if key.startswith(_LARGEST):
        family = key.removeprefix(_LARGEST)
        families = [lesion_family(name) for name in ledger.structures]
        if not (any(families) if key == ANY_LESION else family in families):
            raise KeyError(key)
        fact = ledger.fact("largest", family)
        if key == ANY_LESION:
            lesion = Term(name="lesion", plain="lesion", kind="lesion", ask_size=True)
            return Subject(key, "the largest lesion", str(fact.value), lesion, (fact,))
        return Subject(key, f"the largest {term(family).plain}", str(fact.value), term(family), (fact,))
    if key not in ledger.regions:
        raise KeyError(key)
    entry = ledger.terms[key]
    return Subject(key, f"the {entry.plain}", key, entry)


def world_box(ledger: Ledger, subject: Subject) -> WorldBox:
    """The subject's tight box, labelled with its key."""
    box = ledger.regions[subject.structure].box_mm
    return WorldBox(box.lo_mm, box.hi_mm, subject.key)
