"""What the tasks have in common:
reasons, wording of steps, and checks every question begins with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from situs.anatomy import is_part, near_lesion
from situs.facts import Fact, Ledger
from situs.items.posed import NotAsked, Posed, find_step, measured
from situs.items.record import Answer, Box, Option, Step
from situs.items.subjects import Subject

__all__ = [
    "ALIKE",
    "BEYOND",
    "CANNOT_TELL",
    "CUT",
    "FAR",
    "ISLANDS",
    "NO_LONGER",
    "OWN_ORGAN",
    "UNDECLARED",
    "by_canonical",
    "compose",
    "end_facts",
    "measure_step",
    "obstacle",
    "own_organ",
    "plural",
    "relevant_to",
]

CANNOT_TELL = "cut"
"""Value of the option that one of the structures is cut off by the scan,
so that the answer cannot be told."""
BEYOND = {"or": CANNOT_TELL}
"""Parameter of a question that offers that option."""

ALIKE = NotAsked("two lesions too alike in size to say which is the largest")
CUT = NotAsked("structure cut off by the scan")
FAR = NotAsked("too far apart to be asked about")
ISLANDS = NotAsked("stray parts of its mask would change the answer")
NO_LONGER = NotAsked("this question is no longer asked")
OWN_ORGAN = NotAsked("it is the lesion's own organ, or its partner")
UNDECLARED = NotAsked("the file declares no orientation, so sides are unknown")


_BESIDE_LARGEST = 0.1
"""Share of the largest part up to which a few voxels apart from it may be stray ones."""


def _may_be_stray(ledger: Ledger, name: str) -> bool:
    """Whether a part of its main part is a few voxels: of a small lesion, one stray voxel is more
    than the hundredth that counts as an island, and would make distances and places those of
    nothing."""
    parts = ledger.main_region(name).component_voxels
    few = min(parts) < ledger.recipe.truth.count_fewest_voxels
    return few and min(parts) <= _BESIDE_LARGEST * max(parts)


def obstacle(
    ledger: Ledger, subjects: Iterable[Subject], *, whole: bool, oriented: bool
) -> NotAsked | None:
    """Why nothing can be asked of these subjects, if so:
    an unclear role, a cut structure, unknown sides."""
    asked = list(subjects)
    if any("unstable" in fact.flags for s in asked for fact in s.evidence):
        return ALIKE
    if any(s.is_lesion and _may_be_stray(ledger, s.structure) for s in asked):
        return ISLANDS
    if whole and any(ledger.is_cut(s.structure) for s in asked):
        return CUT
    if oriented and ledger.side_basis == "undeclared":
        return UNDECLARED
    return None


def by_canonical(subjects: Iterable[Subject]) -> dict[str, Subject]:
    """The named structures of a patient by canonical name, as the table of relevance has them."""
    return {s.term.canonical: s for s in subjects if s.term.canonical and not s.is_lesion}


def relevant_to(ledger: Ledger, lesion: Subject, others: Iterable[Subject]) -> list[Subject]:
    """Those of the others that a lesion of this organ is held against;
    all of them if its organ is not known."""
    near = near_lesion(ledger.terms[lesion.structure])
    return [s for s in others if near is None or s.term.canonical in near or not s.term.canonical]


def own_organ(ledger: Ledger, lesion: Subject, other: Subject) -> bool:
    """Whether the other is the organ of a lesion, or that organ's partner:
    the lesion's name tells as much."""
    part_of, entry = ledger.terms[lesion.structure].part_of, ledger.terms[other.structure]
    if part_of is not None and part_of in (entry.canonical, entry.part_of):
        return True
    holder = ledger.fact("organ_of", lesion.structure).value
    if holder is None:
        return False
    organ = ledger.terms[str(holder)]
    return other.structure == organ.partner or is_part(entry, organ, ledger.terms)


def measure_step(words: str, fact: Fact, threshold: float | None = None) -> Step:
    """One measured number, with the threshold it is held against."""
    return Step("measure", words, (fact.fact_id,), (), measured(fact, threshold))


def end_facts(ledger: Ledger, subject: Subject) -> tuple[Fact, ...]:
    """What proves that an end is the true one: of a structure that is cut elsewhere, or that has
    islands beside it."""
    name = subject.structure
    facts = [ledger.fact("ends_cut", name)] if ledger.is_cut(name) else []
    if "islands" in ledger.fact("box", name).flags:
        facts.append(ledger.fact("ends_stray", name))
    return tuple(facts)


def compose(
    ledger: Ledger,
    subjects: Sequence[Subject],
    *,
    text: str,
    answer: Answer,
    facts: Sequence[Fact],
    steps: Sequence[Step],
    conclusion: str,
    needs: Sequence[str] = (),
    tags: Sequence[str] = (),
    difficulty: float | None = None,
    pool: tuple[Option, ...] = (),
    marks: Sequence[Box] = (),
) -> Posed:
    """A posed question: find the subjects, then the given steps,
    then the conclusion; `marks` are to be drawn."""
    boxes = tuple(ledger.fact("box", s.structure) for s in subjects)
    finding = [find_step(ledger, s) for s in subjects]
    evidence = tuple(fact for s in subjects for fact in s.evidence)
    last = Step("conclude", conclusion, tuple(fact.fact_id for fact in facts[:1]))
    systems = {f"system:{s.term.system}" for s in subjects if s.term.system}
    return Posed(
        text=text,
        answer=answer,
        facts=(*facts, *evidence, *boxes),
        steps=(*finding, *steps, last),
        boxes=(*(box for step in finding for box in step.boxes), *marks),
        needs=(*needs, *(f"sees:{s.key}" for s in subjects)),
        tags=(*(f"structure:{s.key}" for s in subjects), *sorted(systems), *tags),
        difficulty=difficulty,
        pool=pool,
    )


def plural(noun: str) -> str:
    """More than one of it: `metastases`, `masses`, `biopsies`, `lesions`."""
    if noun.endswith("is"):
        return noun[:-2] + "es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")
