"""The ledger law: every answer is recomputed from the evidence files, never from stored values."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from situs import __version__
from situs.base.engines import HERE, Engine, map_on
from situs.base.workers import Lost
from situs.bench.checks.cohort import Arrangement, Tally
from situs.bench.folder import Bench, content_hash, open_bench
from situs.bench.ids import split_of
from situs.bench.integrity import item_problem
from situs.bench.locations import Locations
from situs.bench.sources import (
    SOURCES,
    Checking,
    CheckResult,
    StudyRows,
    check_belonging,
    check_rows,
)
from situs.bench.study import StudyRecord
from situs.errors import Problem, Severity, SitusError
from situs.facts import Fact
from situs.items import Item

__all__ = ["CheckResult", "check_bench"]

R = TypeVar("R", Item, Fact)

_DERIVED = tuple(name for source in SOURCES for name in source.builds)
"""Benches that assert no answer: every item must follow from facts."""


def check_bench(
    folder: Path,
    data: Path | None = None,
    engine: Engine = HERE,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> CheckResult:
    """Check a whole bench, study by study; `engine` works on the studies."""
    bench = open_bench(folder)
    if data is not None and not data.is_dir():
        raise SitusError("no such folder", where=data, fix="give the folder the volumes are in")
    result = CheckResult()
    if content_hash(folder) != bench.info.content_hash:
        result.error(
            "content",
            "bench.json",
            "the tables have changed since the build",
            "rebuild the bench",
        )
    items, facts = _Stream(bench.items(checked=False)), _Stream(bench.facts(checked=False))
    tally, arrangement = Tally(), Arrangement(bench.info.seed, bench.info.recipe.twins.fewest)
    drawn: deque[CheckResult] = deque()

    def rows_by_study() -> Iterator[StudyRows]:
        """What workers are given; what only the tables tell is noted on the way, in `drawn`."""
        for study in bench.studies():
            of_study, known = list(items.take(study.study_id)), list(facts.take(study.study_id))
            tally.add(study, of_study, len(known))
            noted = CheckResult(items=len(of_study))
            of_study = _sound(of_study, study, noted)
            derived = [item for item in of_study if item.fact_ids or bench.info.source in _DERIVED]
            noted.given = len(of_study) - len(derived)
            _check_split(bench, study, noted)
            for item in derived:
                arrangement.add(item)
            drawn.append(noted)
            yield StudyRows(study, derived, known)

    worker = partial(_open_study_check, folder.resolve(), data and data.resolve())
    with closing(map_on(engine, worker, rows_by_study())) as results:
        for done, checked in enumerate(results, start=1):
            _add(result, drawn.popleft())
            if isinstance(checked, Lost):
                fix = "give it more memory (fewer --jobs)"
                result.error("evidence", checked.job.study.study_id, checked.reason, fix)
            else:
                _add(result, checked)
            progress(done, bench.info.counts.get("studies", 0))
    for text in tally.problems(bench.info):
        result.error("counts", "bench.json", text, "rebuild the bench")
    for id_, text in arrangement.problems_of_twins():
        result.error("item", id_, text, "rebuild the bench")
    _note_leftovers(items, facts, result)
    if result.errors and bench.info.written_by != __version__:
        result.problems.insert(0, _of_another_version(bench.info.written_by))
    return result


def _note_leftovers(items: _Stream[Item], facts: _Stream[Fact], result: CheckResult) -> None:
    """Rows that no study claimed."""
    for item in items.rest():
        result.items += 1
        problem = f"study {item.study_id} is missing or out of order"
        result.error("study", item.item_id, problem, "rebuild the bench")
    for fact in facts.rest():
        problem = f"study {fact.study_id} is missing or out of order"
        result.error("study", fact.fact_id, problem, "rebuild the bench")


def _open_study_check(folder: Path, data: Path | None) -> Callable[[StudyRows], CheckResult]:
    """What a worker does with its studies: hold them against the evidence."""
    bench = open_bench(folder)
    noted = CheckResult()
    arrangement = Arrangement(bench.info.seed, bench.info.recipe.twins.fewest)
    checking = Checking(bench, Locations.read(folder, data), arrangement, noted)
    sources = [source(checking) for source in SOURCES]

    def check(rows: StudyRows) -> CheckResult:
        noted.recomputed, noted.problems = 0, []
        claiming = [source for source in sources if source.claims(rows.study)]
        if claiming:
            check_belonging(rows, noted)
        alone = next((source for source in claiming if source.alone), None)
        if alone is not None:
            alone.check(rows)
        else:
            check_rows(rows, noted)
            for source in claiming:
                source.check(rows)
        return CheckResult(recomputed=noted.recomputed, problems=noted.problems)

    return check


def _add(result: CheckResult, more: CheckResult) -> None:
    result.items += more.items
    result.recomputed += more.recomputed
    result.given += more.given
    result.problems += more.problems


def _of_another_version(written_by: str) -> Problem:
    """Definitions are sharpened from version to version:
    what differs need not have been tampered with."""
    problem = (
        f"was built by Situs {written_by}; this is {__version__}, which may measure and ask"
        " differently"
    )
    fix = (
        "rebuild the bench, or check it with the version that built it; scoring and resuming runs"
        " still work"
    )
    return Problem(Severity.ERROR, "version", "bench.json", problem, fix)


def _sound(items: list[Item], study: StudyRecord, result: CheckResult) -> list[Item]:
    """The items that do not contradict themselves; only those can be derived anew."""
    sound = []
    for item in items:
        problem = item_problem(item, {study.study_id})
        if problem is None:
            sound.append(item)
        else:
            result.error("item", item.item_id, problem, "rebuild the bench")
    return sound


class _Stream(Generic[R]):
    """Rows that come study by study, taken one study at a time,
    so that no cohort is held in memory."""

    def __init__(self, rows: Iterator[R]) -> None:
        self._rows: Iterator[R] = rows
        self._next: R | None = next(rows, None)

    def take(self, study_id: str) -> Iterator[R]:
        """The rows of this study, if they are next."""
        while self._next is not None and self._next.study_id == study_id:
            row, self._next = self._next, next(self._rows, None)
            yield row

    def rest(self) -> Iterator[R]:
        """What no study claimed."""
        while self._next is not None:
            row, self._next = self._next, next(self._rows, None)
            yield row


def _check_split(bench: Bench, study: StudyRecord, result: CheckResult) -> None:
    if bench.info.source == "items":
        return  # the imported file may say its own
    info = bench.info
    # A bench may hold fewer patients than the cohort that was split or not: those that could not be
    # used are left out.
    shares = (info.recipe.splits, info.recipe.splits_of(info.counts["patients"]))
    if study.split not in {split_of(study.patient_id, share, info.seed) for share in shares}:
        result.error(
            "split",
            study.study_id,
            f"is in split {study.split!r}, not its patient's",
            "rebuild the bench",
        )
