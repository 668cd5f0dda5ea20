"""The ledger law: every answer is recomputed from the evidence files, never from stored values."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from situs.bench._check_anatomy import anatomy_problems
from situs.bench._check_cohort import Arrangement, Tally
from situs.bench._evidence import load_image, load_labels, load_ledger
from situs.bench._folder import Bench, content_hash, open_bench
from situs.bench._ids import split_of
from situs.bench._locations import Locations
from situs.bench._study import SeriesRecord, StudyRecord
from situs.errors import Problem, Severity, SitusError
from situs.facts import Fact, Ledger
from situs.items import (
    TASKS,
    Boxes,
    Choice,
    Choices,
    Item,
    NotAsked,
    Number,
    Question,
    item_id,
    lettered,
    marks_of,
)
from situs.volumes import Volume

__all__ = ["CheckResult", "check_bench"]

R = TypeVar("R", Item, Fact)

_RELATIVE = 1e-9
"""Two measurements of the same voxels may differ by this, and no more."""

_MEASURED = ("phantoms", "masks")
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
        result.error("content", "bench.json", "the tables are not the ones that were built", "rebuild the bench")
    locations = Locations.read(folder, data)
    items, facts = _Stream(bench.items()), _Stream(bench.facts())
    tally, arrangement = Tally(), Arrangement(bench.info.seed)
    for study in bench.studies():
        of_study, known = list(items.take(study.study_id)), list(facts.take(study.study_id))
        tally.add(study, of_study, len(known))
        result.items += len(of_study)
        derived = [item for item in of_study if item.fact_ids or bench.info.source in _MEASURED]
        result.given += len(of_study) - len(derived)
        _check_study(bench, study, derived, known, locations, arrangement, result)
    for text in tally.problems(bench.info):
        result.error("counts", "bench.json", text, "rebuild the bench")
    for id_, text in arrangement.problems_of_twins():
        result.error("item", id_, text, "rebuild the bench")
    for item in items.rest():
        result.items += 1
        result.error("study", item.item_id, f"study {item.study_id} is missing or out of order", "rebuild the bench")
    for fact in facts.rest():
        result.error("study", fact.fact_id, f"study {fact.study_id} is missing or out of order", "rebuild the bench")
    return result


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


def _check_study(
    bench: Bench,
    study: StudyRecord,
    items: list[Item],
    facts: list[Fact],
    locations: Locations,
    arrangement: Arrangement,
    result: CheckResult,
) -> None:
    if study.split != split_of(study.patient_id, bench.info.recipe.splits, bench.info.seed):
        result.error("split", study.study_id, f"is in split {study.split!r}, not its patient's", "rebuild the bench")
    _check_rows(study, items, facts, result)
    for series in study.series:
        of_series = [item for item in items if item.series == series.series]
        try:
            labels = load_labels(series, locations)
        except SitusError as error:
            result.error("evidence", study.study_id, error.problem, error.fix or "restore the evidence")
            for item in of_series:
                arrangement.leave_out(item)
            continue
        found = {s.name: s.label for s in labels.structures if s.name in series.structures}
        if found != series.structures:
            result.error("structures", study.study_id, "structures differ from the evidence", "rebuild the bench")
        image = _check_image(study, series, locations, result)
        ledger = load_ledger(bench, study, series, labels, image)
        _check_series(study, series, ledger, result)
        stored = {fact.fact_id: fact for fact in facts if fact.series == series.series}
        for fact in stored.values():
            for text in _fact_problems(fact, ledger):
                result.error("fact", fact.fact_id, text, "the stored fact does not follow from the voxels; rebuild")
        for item in of_series:
            result.recomputed += 1
            for text in _item_problems(item, study, ledger, stored, arrangement):
                result.error("item", item.item_id, text, "the stored item does not follow from the facts; rebuild")


def _check_rows(study: StudyRecord, items: list[Item], facts: list[Fact], result: CheckResult) -> None:
    """Every row belongs to a series of its study, and no fact stands there twice."""
    known = {series.series for series in study.series}
    rows = [(item.item_id, item.series) for item in items] + [(fact.fact_id, fact.series) for fact in facts]
    for id_, series in rows:
        if series not in known:
            result.error("series", id_, f"its series {series!r} is not in the study", "rebuild the bench")
    for id_, count in Counter(fact.fact_id for fact in facts).items():
        if count > 1:
            result.error("fact", id_, f"occurs {count} times", "rebuild the bench")


def _check_image(study: StudyRecord, series: SeriesRecord, locations: Locations, result: CheckResult) -> Volume | None:
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


def _check_series(study: StudyRecord, series: SeriesRecord, ledger: Ledger, result: CheckResult) -> None:
    grid = ledger.regions.grid
    if grid.shape != series.shape or tuple(grid.affine.matrix.ravel()) != series.affine:
        result.error("grid", study.study_id, "shape or affine differs from the evidence", "rebuild the bench")
    result.problems.extend(anatomy_problems(study.study_id, ledger))


def _fact_problems(fact: Fact, ledger: Ledger) -> Iterator[str]:
    try:
        anew = ledger.fact(fact.kind, *fact.subjects)
    except (SitusError, KeyError, IndexError, TypeError):
        yield f"{fact.kind} of {', '.join(fact.subjects)} cannot be derived"
        return
    if anew.fact_id != fact.fact_id:
        yield "its id is not that of its kind and subjects"
    if not _same(anew.value, fact.value):
        yield f"{fact.kind} of {', '.join(fact.subjects)} is {anew.value}, stored as {fact.value}"
    if not _same(anew.interval, fact.interval):
        yield f"interval of {fact.kind} of {', '.join(fact.subjects)} is {anew.interval}, stored as {fact.interval}"
    if (anew.unit, anew.flags, anew.derivation) != (fact.unit, fact.flags, fact.derivation):
        yield f"unit, flags or derivation of {fact.kind} of {', '.join(fact.subjects)} differ"


def _item_problems(
    item: Item, study: StudyRecord, ledger: Ledger, stored: dict[str, Fact], arrangement: Arrangement
) -> Iterator[str]:
    if item.item_id != item_id(item.study_id, item.task, item.form, item.parameters):
        yield "its id is not that of its task, form and parameters"
    if (item.patient_id, item.split) != (study.patient_id, study.split):
        yield "its patient or split is not that of its study"
    missing = [fact for fact in item.fact_ids if fact not in stored]
    if missing:
        yield f"names the fact {missing[0]}, which is not in the ledger"
    task = TASKS.get(item.task)
    if task is None:
        arrangement.leave_out(item)
        yield f"its task {item.task!r} is unknown"
        return
    try:
        posed = task.pose(ledger, Question(item.task, item.form, item.parameters))
    except (SitusError, KeyError, ValueError) as error:
        arrangement.leave_out(item)
        yield f"cannot be posed to this patient ({type(error).__name__} {error})"
        return
    if isinstance(posed, NotAsked):
        arrangement.leave_out(item)
        yield f"would not be asked: {posed.reason}"
        return
    canonical = posed.item(Question(item.task, item.form, item.parameters), ledger, study.patient_id)
    anew = _as_lettered(canonical, item)
    if not _same_answer(anew, item):
        yield f"the answer is {_shown(anew)}, stored as {_shown(item)}"
    for name in ("question", "fact_ids", "needs", "tags", "level", "frames", "twin_of"):
        if getattr(anew, name) != getattr(item, name):
            yield f"its {name} is not what the task writes"
    for name in ("steps", "boxes"):
        if not _same(msgspec.to_builtins(getattr(anew, name)), msgspec.to_builtins(getattr(item, name))):
            yield f"its {name} are not what the facts give"
    if not _same(anew.difficulty, item.difficulty):
        yield "its difficulty is not what the facts give"
    yield from _option_problems(item, anew)
    yield from arrangement.problems_of(item, canonical)


def _as_lettered(canonical: Item, item: Item) -> Item:
    """The question posed anew with its marks at the letters the item gives them, if it has marks."""
    letters = [option.value for option in item.options]
    if not marks_of(canonical) or not isinstance(item.answer, Choice) or item.answer.value not in letters:
        return canonical
    offered = tuple(option for option in canonical.options if option.value in letters)
    return lettered(msgspec.structs.replace(canonical, options=offered), item.answer.value)


def _option_problems(item: Item, anew: Item) -> Iterator[str]:
    possible = {option.value: option.text for option in anew.options}
    values = [option.value for option in item.options]
    for option in item.options:
        if possible.get(option.value) != option.text:
            yield f"option {option.value!r} reads {option.text!r}, which the task does not offer"
    if len(set(values)) != len(values):
        yield "an option occurs twice"
    wanted = {item.answer.value} if isinstance(item.answer, Choice) else set()
    wanted |= set(item.answer.values) if isinstance(item.answer, Choices) else set()
    if not wanted <= set(values):
        yield "its answer is not among its options"
    if anew.options and len(values) < 2:
        yield "has fewer than two options"


def _same_answer(anew: Item, item: Item) -> bool:
    a, b = anew.answer, item.answer
    if isinstance(a, Number) and isinstance(b, Number):
        return a.unit == b.unit and _same(a.value, b.value) and _same(a.interval, b.interval)
    if isinstance(a, Boxes) and isinstance(b, Boxes):
        return _same(msgspec.to_builtins(a.boxes), msgspec.to_builtins(b.boxes))
    return a == b


def _shown(item: Item) -> str:
    return msgspec.json.encode(item.answer).decode()


def _same(a: object, b: object) -> bool:
    """Equal, numbers to within rounding; true and 1 are different."""
    if isinstance(a, float | int) and isinstance(b, float | int) and not (isinstance(a, bool) or isinstance(b, bool)):
        return math.isclose(a, b, rel_tol=_RELATIVE, abs_tol=1e-9)
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    return type(a) is type(b) and a == b
