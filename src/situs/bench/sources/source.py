"""A source of evidence: masks, boxes, reports or grades.

A source makes the ledger of a study anew from its files and tells what a bench says otherwise; what
holds for every item, whatever it was built from, is checked for all of them (`check_belonging`).
Each is one module of this folder; `SOURCES` lists them, and nothing else needs to know which there
are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from typing import ClassVar

import msgspec

from situs.bench.checks.cohort import Arrangement
from situs.bench.folder import Bench
from situs.bench.locations import Locations
from situs.bench.sources.images import LoadedImage, load_image
from situs.bench.study import SeriesRecord, StudyRecord
from situs.errors import Problem, Severity, SitusError
from situs.facts import Fact
from situs.items import Item, item_id

__all__ = [
    "CheckResult",
    "Checking",
    "Source",
    "StudyRows",
    "check_belonging",
    "check_repeated",
    "check_rows",
]


class CheckResult(msgspec.Struct):
    """What a check found."""

    items: int = 0
    recomputed: int = 0
    """Items whose answer was derived anew from evidence, whether or not it agreed."""
    given: int = 0
    """Items whose answer the source only asserts."""
    problems: list[Problem] = msgspec.field(default_factory=list)

    @property
    def errors(self) -> int:
        """Problems that make the bench wrong."""
        return sum(problem.severity is Severity.ERROR for problem in self.problems)

    def error(self, code: str, where: str, problem: str, fix: str) -> None:
        """Note an error."""
        self.problems.append(Problem(Severity.ERROR, code, where, problem, fix))


class Checking(msgspec.Struct, frozen=True):
    """A check of a bench that is under way."""

    bench: Bench
    locations: Locations
    arrangement: Arrangement
    result: CheckResult


class StudyRows(msgspec.Struct, frozen=True):
    """What a bench says of one study: items that must follow from its evidence, and facts."""

    study: StudyRecord
    items: list[Item]
    facts: list[Fact]

    def of(self, series: str) -> StudyRows:
        """The rows of one series."""
        return StudyRows(
            self.study,
            [item for item in self.items if item.series == series],
            [fact for fact in self.facts if fact.series == series],
        )


class Source(ABC):
    """One kind of evidence, in one check of one bench."""

    builds: ClassVar[tuple[str, ...]]
    """What `bench.json` calls the source of benches in which every answer follows from this
    evidence."""
    alone: ClassVar[bool]
    """Whether a study that it claims is held against this evidence only."""

    def __init__(self, checking: Checking) -> None:
        self.bench = checking.bench
        self.locations = checking.locations
        self.arrangement = checking.arrangement
        self.result = checking.result

    @abstractmethod
    def claims(self, study: StudyRecord) -> bool:
        """Whether a study has evidence of this kind."""

    @abstractmethod
    def check(self, rows: StudyRows) -> None:
        """Derive every fact and answer anew, and note what differs."""

    def check_image(self, study: StudyRecord, series: SeriesRecord) -> LoadedImage | None:
        """The image is what a model is shown and where the scan ends.

        Another one than the bench was built from is an error, none a warning.
        """
        if not series.image_hash:
            return None
        try:
            self.locations.find(series.image_hash)
        except SitusError as error:
            warning = Problem(Severity.WARNING, "image", study.study_id, error.problem, error.fix)
            self.result.problems.append(warning)
            return None
        try:
            return load_image(series, self.locations)
        except SitusError as error:
            self.result.error("image", study.study_id, error.problem, error.fix)
            return None

    def unusable(self, study: StudyRecord, error: SitusError) -> None:
        """Note that the evidence of a study is not at hand, or not what it was."""
        self.result.error(
            "evidence", study.study_id, error.problem, error.fix or "restore the evidence"
        )


def check_belonging(rows: StudyRows, result: CheckResult) -> None:
    """Every item is what its id says, of this study, and rests on facts that are there."""
    study, stored = rows.study, {fact.fact_id for fact in rows.facts}
    for item in rows.items:
        problems = []
        if item.item_id != item_id(item.study_id, item.task, item.form, item.parameters):
            problems.append("its id does not match its task, form and parameters")
        if (item.patient_id, item.split) != (study.patient_id, study.split):
            problems.append("its patient or split differs from its study's")
        missing = [fact_id for fact_id in item.fact_ids if fact_id not in stored]
        if missing:
            problems.append(f"names the fact {missing[0]}, which is not in the ledger")
        for problem in problems:
            result.error("item", item.item_id, problem, "rebuild the bench")


def check_rows(rows: StudyRows, result: CheckResult) -> None:
    """Every row belongs to a series of its study, and no fact stands there twice."""
    known = {series.series for series in rows.study.series}
    named = [(item.item_id, item.series) for item in rows.items]
    named += [(fact.fact_id, fact.series) for fact in rows.facts]
    for id_, series in named:
        if series not in known:
            problem = f"its series {series!r} is not in the study"
            result.error("series", id_, problem, "rebuild the bench")
    check_repeated(rows.facts, result)


def check_repeated(facts: list[Fact], result: CheckResult) -> None:
    """No fact stands in the ledger twice."""
    for id_, count in Counter(fact.fact_id for fact in facts).items():
        if count > 1:
            result.error("fact", id_, f"occurs {count} times", "rebuild the bench")
