"""The ledger law: every answer is recomputed from the evidence files, never from stored values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from situs import __version__
from situs.bench.checks.anatomy import anatomy_problems
from situs.bench.checks.boxes import box_problems
from situs.bench.checks.cohort import Arrangement, Tally
from situs.bench.checks.comparison import fact_problems, item_differences
from situs.bench.checks.grades import grade_problems
from situs.bench.checks.reports import report_problems
from situs.bench.folder import Bench, content_hash, open_bench
from situs.bench.ids import split_of
from situs.bench.integrity import item_problem
from situs.bench.locations import Locations
from situs.bench.sources.boxes import BoxEvidence
from situs.bench.sources.grades import GradeEvidence
from situs.bench.sources.masks import load_image, load_labels, load_ledger
from situs.bench.sources.reports import ReportEvidence
from situs.bench.study import SeriesRecord, StudyRecord
from situs.errors import Problem, Severity, SitusError
from situs.facts import Fact, Ledger
from situs.items import (
    Choice,
    Item,
    NotAsked,
    Question,
    item_id,
    lettered,
    marks_of,
    pose,
    task_of_masks,
)
from situs.volumes import FrameStack, Volume

__all__ = ["CheckResult", "check_bench"]

R = TypeVar("R", Item, Fact)

_MEASURED = ("phantoms", "masks", "boxes", "reports", "grades")
"""Sources that assert no answer: every item must follow from facts."""


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


def check_bench(folder: Path, data: Path | None = None) -> CheckResult:
    """Check a whole bench, study by study."""
    bench = open_bench(folder)
    if data is not None and not data.is_dir():
        raise SitusError("no such folder", where=data, fix="give the folder the volumes are in")
    result = CheckResult()
    if content_hash(folder) != bench.info.content_hash:
        result.error(
            "content",
            "bench.json",
            "the tables are not the ones that were built",
            "rebuild the bench",
        )
    locations = Locations.read(folder, data)
    items, facts = _Stream(bench.items(checked=False)), _Stream(bench.facts(checked=False))
    tally, arrangement = Tally(), Arrangement(bench.info.seed, bench.info.recipe.twins.fewest)
    boxes, reports = BoxEvidence(bench, locations), ReportEvidence(locations)
    grades = GradeEvidence(locations, bench.info.trusted)
    for study in bench.studies():
        of_study, known = list(items.take(study.study_id)), list(facts.take(study.study_id))
        tally.add(study, of_study, len(known))
        result.items += len(of_study)
        of_study = _sound(of_study, study, result)
        derived = [item for item in of_study if item.fact_ids or bench.info.source in _MEASURED]
        result.given += len(of_study) - len(derived)
        _check_split(bench, study, result)
        for item in derived:
            arrangement.add(item)
        if bench.info.source == "reports":
            _check_report(bench, study, derived, known, reports, arrangement, result)
            for series in study.series:
                _check_image(study, series, locations, result)
            continue
        if "grades" in study.evidence:
            _check_grades(study, derived, known, locations, grades, result)
            continue
        _check_study(bench, study, derived, known, locations, arrangement, result)
        _check_frames(bench, study, derived, known, locations, boxes, result)
    for text in tally.problems(bench.info):
        result.error("counts", "bench.json", text, "rebuild the bench")
    for id_, text in arrangement.problems_of_twins():
        result.error("item", id_, text, "rebuild the bench")
    for item in items.rest():
        result.items += 1
        result.error(
            "study",
            item.item_id,
            f"study {item.study_id} is missing or out of order",
            "rebuild the bench",
        )
    for fact in facts.rest():
        result.error(
            "study",
            fact.fact_id,
            f"study {fact.study_id} is missing or out of order",
            "rebuild the bench",
        )
    if result.errors and bench.info.written_by != __version__:
        result.problems.insert(0, _of_another_version(bench.info.written_by))
    return result


def _of_another_version(written_by: str) -> Problem:
    """Definitions are sharpened from version to version: what differs need not have been tampered with."""
    problem = (
        f"was built by Situs {written_by}; this is {__version__}, which measures and asks otherwise"
    )
    fix = "rebuild the bench, or check it with the version that built it; scoring and resuming runs work as they are"
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
    """Rows that come study by study, taken one study at a time, so that no cohort is held in memory."""

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
    # A bench may hold fewer patients than the cohort that was split or not: those that could not be used are left out.
    shares = (info.recipe.splits, info.recipe.splits_of(info.counts["patients"]))
    if study.split not in {split_of(study.patient_id, share, info.seed) for share in shares}:
        result.error(
            "split",
            study.study_id,
            f"is in split {study.split!r}, not its patient's",
            "rebuild the bench",
        )


def _check_study(
    bench: Bench,
    study: StudyRecord,
    items: list[Item],
    facts: list[Fact],
    locations: Locations,
    arrangement: Arrangement,
    result: CheckResult,
) -> None:
    _check_rows(study, items, facts, result)
    for series in (own for own in study.series if own.affine):
        of_series = [item for item in items if item.series == series.series]
        if not series.labels_hash and not of_series:
            _check_image(study, series, locations, result)
            continue
        try:
            labels = load_labels(series, locations)
        except SitusError as error:
            result.error(
                "evidence", study.study_id, error.problem, error.fix or "restore the evidence"
            )
            continue
        found = {s.name: s.label for s in labels.structures if s.name in series.structures}
        if found != series.structures:
            result.error(
                "structures",
                study.study_id,
                "structures differ from the evidence",
                "rebuild the bench",
            )
        image = _check_image(study, series, locations, result)
        stored = {fact.fact_id: fact for fact in facts if fact.series == series.series}
        volume = image if isinstance(image, Volume) else None
        ledger = load_ledger(bench, study, series, labels, volume, stored.values())
        _check_series(study, series, ledger, result)
        for fact in stored.values():
            for text in fact_problems(fact, ledger):
                result.error(
                    "fact",
                    fact.fact_id,
                    text,
                    "the stored fact does not follow from the voxels; rebuild",
                )
        for item in of_series:
            result.recomputed += 1
            for text in _item_problems(item, study, ledger, stored, arrangement):
                result.error(
                    "item",
                    item.item_id,
                    text,
                    "the stored item does not follow from the facts; rebuild",
                )


def _check_report(
    bench: Bench,
    study: StudyRecord,
    items: list[Item],
    facts: list[Fact],
    reports: ReportEvidence,
    arrangement: Arrangement,
    result: CheckResult,
) -> None:
    """A study whose answers rest on the words of its report."""
    try:
        ledger = reports.ledger(study)
    except (SitusError, KeyError) as error:
        problem = error.problem if isinstance(error, SitusError) else "it has no report"
        result.error(
            "evidence", study.study_id, problem, "restore the report file, or give --data ROOT"
        )
        return
    for id_, count in Counter(fact.fact_id for fact in facts).items():
        if count > 1:
            result.error("fact", id_, f"occurs {count} times", "rebuild the bench")
    result.recomputed += len(items)
    for code, id_, text in report_problems(study, ledger, items, facts, arrangement):
        result.error(code, id_, text, f"the stored {code} does not follow from the report; rebuild")


def _check_frames(
    bench: Bench,
    study: StudyRecord,
    items: list[Item],
    facts: list[Fact],
    locations: Locations,
    boxes: BoxEvidence,
    result: CheckResult,
) -> None:
    """Series without millimetres: stacks of frames with boxes."""
    for series in (own for own in study.series if not own.affine):
        of_series = [item for item in items if item.series == series.series]
        image = _check_image(study, series, locations, result)
        try:
            ledger = boxes.ledger(study, series, image if isinstance(image, FrameStack) else None)
        except SitusError as error:
            result.error(
                "evidence", study.study_id, error.problem, error.fix or "restore the evidence"
            )
            continue
        result.recomputed += len(of_series)
        stored = [fact for fact in facts if fact.series == series.series]
        for code, id_, text in box_problems(study, ledger, of_series, stored, bench.info.seed):
            result.error(
                code, id_, text, f"the stored {code} does not follow from the annotations; rebuild"
            )


def _check_grades(
    study: StudyRecord,
    items: list[Item],
    facts: list[Fact],
    locations: Locations,
    grades: GradeEvidence,
    result: CheckResult,
) -> None:
    """A graded joint: its table, masks or boxes file."""
    _check_rows(study, items, facts, result)
    if not study.series:
        result.error("series", study.study_id, "its study has no series", "rebuild the bench")
        return
    series = study.series[0]
    _check_image(study, series, locations, result)
    try:
        ledger = grades.ledger(study, series)
    except SitusError as error:
        result.error("evidence", study.study_id, error.problem, error.fix or "restore the evidence")
        return
    result.recomputed += len(items)
    result.problems.extend(anatomy_problems(study.study_id, ledger))
    for code, id_, text in grade_problems(study, ledger, items, facts):
        result.error(
            code, id_, text, f"the stored {code} does not follow from table and masks; rebuild"
        )


def _check_rows(
    study: StudyRecord, items: list[Item], facts: list[Fact], result: CheckResult
) -> None:
    """Every row belongs to a series of its study, and no fact stands there twice."""
    known = {series.series for series in study.series}
    rows = [(item.item_id, item.series) for item in items] + [
        (fact.fact_id, fact.series) for fact in facts
    ]
    for id_, series in rows:
        if series not in known:
            result.error(
                "series", id_, f"its series {series!r} is not in the study", "rebuild the bench"
            )
    for id_, count in Counter(fact.fact_id for fact in facts).items():
        if count > 1:
            result.error("fact", id_, f"occurs {count} times", "rebuild the bench")


def _check_image(
    study: StudyRecord, series: SeriesRecord, locations: Locations, result: CheckResult
) -> Volume | FrameStack | None:
    """The image is what a model is shown and where the scan ends: another one is an error, none a warning."""
    if not series.image_hash:
        return None
    try:
        locations.find(series.image_hash)
    except SitusError as error:
        warning = Problem(Severity.WARNING, "image", study.study_id, error.problem, error.fix)
        result.problems.append(warning)
        return None
    try:
        return load_image(series, locations)
    except SitusError as error:
        result.error("image", study.study_id, error.problem, error.fix)
        return None


def _check_series(
    study: StudyRecord, series: SeriesRecord, ledger: Ledger, result: CheckResult
) -> None:
    grid = ledger.regions.grid
    if grid.shape != series.shape or tuple(grid.affine.matrix.ravel()) != series.affine:
        result.error(
            "grid", study.study_id, "shape or affine differs from the evidence", "rebuild the bench"
        )
    if ledger.grid_error_mm != series.grid_error_mm:
        problem = "the grids of its files differ by another amount than the bench says"
        result.error("grid", study.study_id, problem, "rebuild the bench")
    result.problems.extend(anatomy_problems(study.study_id, ledger))


def _item_problems(
    item: Item,
    study: StudyRecord,
    ledger: Ledger,
    stored: dict[str, Fact],
    arrangement: Arrangement,
) -> Iterator[str]:
    if item.item_id != item_id(item.study_id, item.task, item.form, item.parameters):
        yield "its id is not that of its task, form and parameters"
    if (item.patient_id, item.split) != (study.patient_id, study.split):
        yield "its patient or split is not that of its study"
    missing = [fact for fact in item.fact_ids if fact not in stored]
    if missing:
        yield f"names the fact {missing[0]}, which is not in the ledger"
    task = task_of_masks(item.task)
    if task is None:
        yield f"its task {item.task!r} is unknown"
        return
    try:
        posed = pose(ledger, task, Question(item.task, item.form, item.parameters))
    except (SitusError, KeyError, ValueError) as error:
        yield f"cannot be posed to this patient ({type(error).__name__} {error})"
        return
    if isinstance(posed, NotAsked):
        yield f"would not be asked: {posed.reason}"
        return
    canonical = posed.item(
        Question(item.task, item.form, item.parameters), ledger, study.patient_id
    )
    yield from item_differences(item, _as_lettered(canonical, item))
    yield from arrangement.problems_of(item, canonical)


def _as_lettered(canonical: Item, item: Item) -> Item:
    """The question posed anew with its marks at the letters the item gives them, if it has marks."""
    letters = [option.value for option in item.options]
    if (
        not marks_of(canonical)
        or not isinstance(item.answer, Choice)
        or item.answer.value not in letters
    ):
        return canonical
    offered = tuple(option for option in canonical.options if option.value in letters)
    return lettered(msgspec.structs.replace(canonical, options=offered), item.answer.value)
