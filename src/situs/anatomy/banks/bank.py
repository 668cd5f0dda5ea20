"""A bank of graded questions: scales, regions,
the words of each family, and the questions, all data."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Literal

import msgspec

from situs.anatomy.banks.scale import Scale
from situs.base.files import canonical_json, digest, parse_toml, read_text
from situs.base.remote import named_file
from situs.errors import SitusError, did_you_mean

__all__ = [
    "Bank",
    "BankQuestion",
    "Chain",
    "Family",
    "Region",
    "SubScore",
    "ZeroRule",
    "levels_in",
    "load_bank",
    "shipped_banks",
]

_LEGEND = re.compile(r"^([^:\n]+): .*?\((?=-?\d+ = )(.*)\)\.$", re.MULTILINE)
"""A sub-score's line in the words of a question."""
_STEPS = ("find", "describe", "measure", "grade")
_AXES = {
    "medial_lateral": "from medial to lateral",
    "posterior_anterior": "from back to front",
    "inferior_superior": "from bottom to top",
}


class Region(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a question's box lies: a mask, a stated part of one, or a block placed by one."""

    text: str
    structure: str
    span: dict[str, tuple[float, float]] = {}
    """Axis → the fractions of the structure's own extent that it covers."""
    joint_mm: float | None = None
    """Only what lies within this distance of the joint line."""
    block: bool = False
    """Whether it is the block that the fractions span, filled or not: they may then reach beyond
    the structure.

    For places that have no mask of their own unless a finding fills them; they lie there whatever
    the grade.
    """

    @property
    def approximate(self) -> bool:
        """Whether it is got by dividing a mask by rule."""
        return bool(self.span) or self.joint_mm is not None

    @property
    def rule(self) -> str:
        """How the mask is divided, or the block placed by it, in words; empty for a whole mask."""
        to = " to " if self.block else "–"
        parts = [
            f"{100 * first:.0f}{to}{100 * last:.0f} % {_AXES[axis]}"
            for axis, (first, last) in self.span.items()
        ]
        if self.joint_mm is not None:
            parts.insert(0, f"within {self.joint_mm:g} mm of the joint")
        extent = "block by the extent of the " if self.block else ""
        subject = f"{extent}{self.structure.replace('_', ' ')}"
        return f"{subject}: {', '.join(parts)}" if parts else ""


class SubScore(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One grade of an answer, and what it was read on."""

    key: str
    text: str
    scale: str
    sequence: str
    plane: str
    shown_by: dict[str, Literal["yes", "partly", "no"]] = {}
    """Sequence of the given series (`dess`, …) → whether it shows the sign."""
    published: str = ""
    """Its name in the released answers."""
    measures: str = ""
    """The fact of geometry that can stand beside the reader's grade."""
    direction: str = ""
    """For an extrusion: `anterior` or `outward`."""


class Chain(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One step of how a reader gets to the grade."""

    kind: Literal["find", "describe", "measure", "grade"]
    text: str


class ZeroRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Grades that contradict each other: where one is 0, so are these."""

    zero: str
    then_zero: tuple[str, ...]


class Family(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The words that questions of one kind share."""

    question: str
    guide: str
    chain: tuple[Chain, ...]
    sub_scores: tuple[SubScore, ...]
    rules: tuple[ZeroRule, ...] = ()

    def broken_rules(self, grades: Mapping[str, int]) -> Iterator[ZeroRule]:
        """The rules that these grades break, as far as they are there."""
        for rule in self.rules:
            if grades.get(rule.zero) == 0 and any(grades.get(key, 0) > 0 for key in rule.then_zero):
                yield rule


class BankQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One question: a family at a region."""

    id: str
    family: str
    region: str
    published: str = ""
    """The name under which released answers hold its grades."""
    words: dict[str, str] = {}
    """What else the family's words ask for: {side}, {finding}, …"""


class Bank(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """A grading system."""

    name: str
    title: str
    body_part: str
    modality: str
    sequence: str
    """The sequence of the series that models are given (`dess`), unless a table says otherwise."""
    questions: int
    sub_scores: int
    scales: dict[str, Scale]
    regions: dict[str, Region]
    families: dict[str, Family]
    question: tuple[BankQuestion, ...]
    published: str = ""
    notes: tuple[str, ...] = ()

    @cached_property
    def hash(self) -> str:
        """Equal banks have equal hashes."""
        return digest(canonical_json(self))

    @cached_property
    def by_id(self) -> dict[str, BankQuestion]:
        """Question id → question."""
        return {question.id: question for question in self.question}

    def get(self, question_id: str) -> BankQuestion:
        """A question by id."""
        if question_id not in self.by_id:
            fix = did_you_mean(question_id, self.by_id)
            raise SitusError(f"bank {self.name} has no question {question_id!r}", fix=fix)
        return self.by_id[question_id]

    def sub_scores_of(self, question: BankQuestion) -> tuple[SubScore, ...]:
        """The grades its answer holds."""
        return self.families[question.family].sub_scores

    def words_of(
        self, question: BankQuestion, *, guided: bool, keys: Collection[str] | None = None
    ) -> str:
        """The question as it is asked, with the scales of all its sub-scores or of the named ones.

        It can be understood without the bank.
        """
        family = self.families[question.family]
        parts = [self._fill(family.question, question)]
        if guided:
            parts.append(self._fill(family.guide, question))
        for sub in family.sub_scores:
            if keys is None or sub.key in keys:
                scale = self.scales[sub.scale]
                levels = [
                    level for level in scale.levels if level.grade not in scale.follow_up_only
                ]
                legend = "; ".join(f"{level.grade} = {level.text}" for level in levels)
                parts.append(f"{sub.key}: {self._fill(sub.text, question)} ({legend}).")
        return "\n".join(parts)

    def chain_of(self, question: BankQuestion) -> tuple[Chain, ...]:
        """How a reader gets to the grade, in the words of this question."""
        chain = self.families[question.family].chain
        return tuple(Chain(step.kind, self._fill(step.text, question)) for step in chain)

    def _fill(self, text: str, question: BankQuestion) -> str:
        return text.format(region=self.regions[question.region].text, **question.words)


@lru_cache(2048)
def levels_in(question: str) -> Mapping[str, Mapping[int, str]]:
    """Sub-score → its grades with their words,
    as `Bank.words_of` put them into a question; empty if it did not."""
    levels_by_key = {}
    for key, legend in _LEGEND.findall(question):
        levels = (level.partition(" = ") for level in re.split(r"; (?=-?\d+ = )", legend))
        levels_by_key[key] = {int(grade): text for grade, _, text in levels}
    return levels_by_key


def shipped_banks() -> list[str]:
    """Names of the banks that come with Situs."""
    folder = files("situs.anatomy.banks").joinpath("data")
    return sorted(
        entry.name.removesuffix(".toml")
        for entry in folder.iterdir()
        if entry.name.endswith(".toml")
    )


def load_bank(spec: str) -> Bank:
    """A shipped bank by name, or the user's own TOML file; every problem in it is told at once."""
    if spec in shipped_banks():
        text = files("situs.anatomy.banks").joinpath("data", f"{spec}.toml").read_text("utf-8")
    elif (path := named_file(spec)).is_file():
        text = read_text(path)
    else:
        raise SitusError(
            "no such bank or file", where=spec, fix=did_you_mean(spec, shipped_banks())
        )
    try:
        bank = msgspec.convert(parse_toml(text), Bank)
    except (ValueError, RecursionError) as error:
        raise SitusError(
            str(error), where=spec, fix="compare it with the shipped bank moaks-knee"
        ) from error
    problems = _problems(bank)
    if problems:
        raise SitusError(
            "; ".join(problems), where=spec, fix="correct the bank: each question must be complete"
        )
    return bank


def _problems(bank: Bank) -> list[str]:
    problems = [
        f"scale {name}: {problem}"
        for name, scale in bank.scales.items()
        for problem in scale.problems()
    ]
    problems += [
        f"region {name}: {problem}"
        for name, region in bank.regions.items()
        for problem in _of_region(region)
    ]
    for name, family in bank.families.items():
        problems += [f"family {name}: {problem}" for problem in _of_family(family, bank)]
    ids = Counter(question.id for question in bank.question)
    problems += [
        f"question {number}: its id occurs {count} times"
        for number, count in ids.items()
        if count > 1
    ]
    for question in bank.question:
        problems += [
            f"question {question.id}: {problem}" for problem in _of_question(question, bank)
        ]
    if not problems:
        sub_score_count = sum(len(bank.sub_scores_of(question)) for question in bank.question)
        if (len(bank.question), sub_score_count) != (bank.questions, bank.sub_scores):
            declared = f"says {bank.questions} questions with {bank.sub_scores} sub-scores"
            problems.append(f"{declared}, has {len(bank.question)} with {sub_score_count}")
    for kind, names in (
        ("scale", bank.scales),
        ("region", bank.regions),
        ("family", bank.families),
    ):
        problems += [
            f"{kind} {name}: is not used" for name in names if name not in _used(bank)[kind]
        ]
    return problems


def _used(bank: Bank) -> dict[str, set[str]]:
    subs = [sub for family in bank.families.values() for sub in family.sub_scores]
    return {
        "scale": {sub.scale for sub in subs},
        "region": {question.region for question in bank.question},
        "family": {question.family for question in bank.question},
    }


def _of_region(region: Region) -> list[str]:
    problems = [f"unknown axis {axis!r}" for axis in region.span if axis not in _AXES]
    low, high = (-10.0, 10.0) if region.block else (0.0, 1.0)
    problems += [
        f"{axis} is not within {low:g} to {high:g}"
        for axis, (lo, hi) in region.span.items()
        if not low <= lo < hi <= high
    ]
    if region.block and set(region.span) != set(_AXES):
        problems.append(f"a block has a span along each of {', '.join(_AXES)}")
    if region.joint_mm is not None and not region.joint_mm > 0:
        problems.append("joint_mm is not a distance")
    return problems


def _of_family(family: Family, bank: Bank) -> list[str]:
    problems = [
        f"unknown scale {sub.scale!r}" for sub in family.sub_scores if sub.scale not in bank.scales
    ]
    keys = Counter(sub.key for sub in family.sub_scores)
    problems += [
        f"sub-score {key!r} occurs {count} times" for key, count in keys.items() if count > 1
    ]
    if not family.sub_scores:
        problems.append("has no sub-score")
    kinds = [step.kind for step in family.chain]
    if kinds != sorted(kinds, key=_STEPS.index) or kinds[:1] != ["find"] or kinds[-1:] != ["grade"]:
        problems.append("its chain must go from find over describe and measure to grade")
    for sub in family.sub_scores:
        scale = bank.scales.get(sub.scale)
        if sub.measures and scale is not None and not scale.quantity:
            problems.append(f"sub-score {sub.key!r} is measured but its scale has no quantity")
        if bank.sequence not in sub.shown_by:
            problems.append(f"sub-score {sub.key!r} does not say whether {bank.sequence} shows it")
    for rule in family.rules:
        problems += [
            f"a rule names {key!r}, which it does not have"
            for key in (rule.zero, *rule.then_zero)
            if key not in keys
        ]
    return problems


def _of_question(question: BankQuestion, bank: Bank) -> list[str]:
    if question.family not in bank.families:
        return [f"unknown family {question.family!r}"]
    if question.region not in bank.regions:
        return [f"unknown region {question.region!r}"]
    try:
        bank.words_of(question, guided=True)
        bank.chain_of(question)
    except (KeyError, IndexError, ValueError) as error:
        return [f"its words have a slot that is not filled ({error})"]
    return []
