"""What a question may speak of: a named structure,
or a lesion by its role (`largest:`, `second:liver_lesion`)."""

from __future__ import annotations

from collections.abc import Iterable
from weakref import WeakKeyDictionary

import msgspec

from situs.anatomy import Term
from situs.facts import Fact, Ledger
from situs.space import WorldBox

__all__ = [
    "ANY_LESION",
    "Subject",
    "including_lesions",
    "resolve",
    "second",
    "sized",
    "subjects",
    "world_box",
]

_LARGEST = "largest:"
_WITH_LESIONS = " including its lesions"
_SECOND = "second:"
ANY_LESION = "largest:*"
"""The largest lesion of the patient, whatever organ it is in."""
_RESOLVED: WeakKeyDictionary[Ledger, dict[str, Subject]] = WeakKeyDictionary()


class Subject(msgspec.Struct, frozen=True):
    """A thing that can be asked about."""

    key: str
    """How parameters name it: the structure's name, `largest:<family>` or `second:<family>`."""
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
        return self.key.startswith((_LARGEST, _SECOND))

    @property
    def opening(self) -> str:
        """The phrase as a sentence begins with it."""
        return self.phrase[0].upper() + self.phrase[1:]

    @property
    def short(self) -> str:
        """The phrase without the remark that lesions count,
        where that is said once for several subjects."""
        return self.phrase.removesuffix(_WITH_LESIONS)

    @property
    def bare(self) -> str:
        """The short phrase without its article, as it stands in an option."""
        return self.short.removeprefix("the ")


def subjects(ledger: Ledger) -> list[Subject]:
    """Every structure and lesion role of a series, in a stable order."""
    names = [name for name in ledger.structures if ledger.family(name) is None]
    return [
        resolve(ledger, key) for key in [*names, *(_LARGEST + family for family in ledger.families)]
    ]


def resolve(ledger: Ledger, key: str) -> Subject:
    """The subject a parameter names, in this patient. KeyError if the patient has none."""
    known = _RESOLVED.setdefault(ledger, {})
    if key not in known:
        known[key] = _resolve(ledger, key)
    return known[key]


def _resolve(ledger: Ledger, key: str) -> Subject:
    if key.startswith(_LARGEST):
        family = key.removeprefix(_LARGEST)
        if not (ledger.families if key == ANY_LESION else family in ledger.families):
            raise KeyError(key)
        fact = ledger.fact("largest", family)
        if key == ANY_LESION:
            lesion = Term(name="lesion", plain="lesion", kind="lesion", ask_size=True)
            return Subject(key, "the largest lesion", str(fact.value), lesion, (fact,))
        entry = ledger.family_term(family)
        return Subject(key, f"the largest {entry.plain}", str(fact.value), entry, (fact,))
    if key.startswith(_SECOND):
        family = key.removeprefix(_SECOND)
        if len(ledger.families.get(family, ())) < 2:
            raise KeyError(key)
        fact = ledger.fact("second_largest", family)
        entry = ledger.family_term(family)
        return Subject(key, f"the second largest {entry.plain}", str(fact.value), entry, (fact,))
    if key not in ledger.structures and key not in ledger.organs_in_parts:
        raise KeyError(key)
    entry = ledger.terms[key]
    return Subject(key, f"the {entry.plain}", key, entry)


def second(ledger: Ledger, largest: Subject) -> Subject | None:
    """The second largest lesion of the same family, if there is one."""
    try:
        return resolve(ledger, _SECOND + largest.key.removeprefix(_LARGEST))
    except KeyError:
        return None


def sized(ledger: Ledger, subject: Subject) -> Subject:
    """The subject as its size is asked for:
    an organ with the lesions its mask leaves out, and said so."""
    with_lesions = ledger.whole(subject.structure)
    if with_lesions == subject.structure:
        return subject
    phrase = subject.phrase + _WITH_LESIONS
    return msgspec.structs.replace(subject, phrase=phrase, structure=with_lesions)


def including_lesions(asked: Iterable[Subject]) -> str:
    """The remark after several subjects that their lesions count, if those of any do."""
    return (
        ", including their lesions" if any(s.phrase.endswith(_WITH_LESIONS) for s in asked) else ""
    )


def world_box(ledger: Ledger, subject: Subject) -> WorldBox:
    """The tight box of the subject's main part, labelled with its key."""
    box = ledger.main_region(subject.structure).box_mm
    return WorldBox(box.lo_mm, box.hi_mm, subject.key)
