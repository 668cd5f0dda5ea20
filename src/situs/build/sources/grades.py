"""From a table of grades, and masks or boxes, to a bench of graded questions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec
import numpy as np

from situs.anatomy import load_vocabulary
from situs.anatomy.banks import Bank, load_bank, shipped_banks
from situs.base.files import digest
from situs.base.publish import new_folder
from situs.bench import (
    SeriesRecord,
    StudyRecord,
    SuspectStudy,
    anatomy_problems,
    split_of,
    suspect_studies,
    visit_of,
)
from situs.build.frame import Progress, StudyWork, facts_behind, finished_studies
from situs.build.spool import resume_key
from situs.build.trust import trusted_studies
from situs.build.writer import BenchWriter, BuildOptions, BuildResult
from situs.errors import Problem, Severity, SitusError, did_you_mean
from situs.facts import Fact
from situs.facts.grades import (
    GivenBoxes,
    GradedStudy,
    GradeLedger,
    GradeTable,
    RegionBoxes,
    load_columns,
    masks_for,
)
from situs.facts.grades.joint import JointMasks
from situs.items import Item, NotAsked, graded_questions, pose_grades
from situs.space import Affine, Grid
from situs.volumes import open_labels, open_volume

__all__ = ["GradeSource", "build_grades", "write_graded"]

BASES = ("reader", "geometry")


class GradeSource(msgspec.Struct, frozen=True):
    """Where grades, masks and boxes come from, and how they are asked about."""

    table: Path
    bank: str = "moaks-knee"
    columns: Path | None = None
    label_map: str | None = None
    boxes: Path | None = None
    words: tuple[str, ...] = ("plain",)
    by: tuple[str, ...] = BASES
    annotation: str = "manual"


class _Outcome(msgspec.Struct, frozen=True):
    study: StudyRecord
    facts: list[Fact]
    items: list[Item]
    not_asked: dict[str, int]
    problems: list[Problem]
    places: dict[str, str]
    compared: tuple[int, int]
    """Sub-scores for which both reader and geometry speak,
    and of these those on which they agree."""
    suspects: list[SuspectStudy] = []


class _GradeJob(msgspec.Struct, frozen=True):
    study_id: str

    @property
    def where(self) -> str:
        """How messages on the terminal call it."""
        return self.study_id


def _files_of(_: _GradeJob, outcome: _Outcome) -> list[Path]:
    return sorted(set(map(Path, outcome.places.values())))


def build_grades(
    source: GradeSource,
    out: Path,
    options: BuildOptions,
    progress: Progress = lambda done, total: None,
) -> BuildResult:
    """Build a bench, study by study; memory holds one stretch of studies."""
    reader = _Reader(source, options)
    key = resume_key("grades", source, *_plan(options))
    with new_folder(
        out, marker="bench.json", overwrite=options.overwrite, resume_key=key
    ) as scratch:
        return write_graded(scratch, "grades", reader.studies, source, options, progress)


def _plan(options: BuildOptions) -> tuple[object, ...]:
    """What of the options decides a study's outcome."""
    return (
        options.recipe,
        options.seed,
        options.tasks,
        options.per_study,
        options.ids,
        options.trust,
    )


def write_graded(
    scratch: Path,
    kind: str,
    studies: Sequence[str],
    source: GradeSource,
    options: BuildOptions,
    progress: Progress,
) -> BuildResult:
    """Write the tables of a bench of graded studies into an open folder."""
    options.recipe.annotation_error(source.annotation)
    problems: list[Problem] = []
    compared = agreed = 0
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    jobs = [_GradeJob(study) for study in sorted(studies)]
    work = StudyWork(jobs, partial(_open_reader, source, options), _Outcome, _files_of)
    with BenchWriter(scratch, kind, options, {}) as writer:
        writer.trust(_trusted(studies, options))
        for _, outcome in finished_studies(work, scratch, options, problems, progress):
            writer.add(
                outcome.study, outcome.facts, outcome.items, outcome.not_asked, outcome.places
            )
            writer.add_suspects(outcome.suspects)
            problems += outcome.problems
            compared, agreed = compared + outcome.compared[0], agreed + outcome.compared[1]
            for item in outcome.items:
                forms[item.parameters["question"]][item.form] += 1
    return writer.finish([*problems, *_two_forms(forms)], _notes(source, compared, agreed))


def _trusted(studies: Sequence[str], options: BuildOptions) -> dict[str, tuple[str, ...]]:
    """Study id → what the user vouches for;
    a study may be called by its id or by its name in the table."""
    ids = {name: options.ids.study(name, of_table=True) for name in studies}
    return trusted_studies(options.trust, ids | {study_id: study_id for study_id in ids.values()})


def _two_forms(forms: dict[str, Counter[str]]) -> Iterator[Problem]:
    """Questions whose words differ with what is known of a joint."""
    for question, form_counts in forms.items():
        if len(form_counts) > 1:
            text = (
                f"asked with a box {form_counts['compound']:,} times, without"
                f" {form_counts['grades']:,}: that may give the grade away"
            )
            fix = (
                "give masks (or boxes) of its region in every study, or name the masks with"
                " --label-map"
            )
            yield Problem(Severity.WARNING, "form", f"question {question}", text, fix)


def _notes(source: GradeSource, compared: int, agreed: int) -> tuple[str, ...]:
    bank = load_bank(source.bank)
    notes = [f"{bank.title}: {len(bank.question)} questions with {bank.sub_scores} sub-scores."]
    notes += bank.notes
    if compared:
        notes.append(
            f"Geometry and the reader give the same grade for {agreed:,} of {compared:,}"
            " sub-scores."
        )
    return tuple(notes)


def _open_reader(source: GradeSource, options: BuildOptions) -> Callable[[_GradeJob], _Outcome]:
    """What a worker does with its studies; the evidence is opened once."""
    return _Reader(source, options).outcome


class _Reader:
    """The evidence of a source, opened once."""

    def __init__(self, source: GradeSource, options: BuildOptions) -> None:
        self._source = source
        self._options = options
        self._bank = load_bank(source.bank)
        self._columns = load_columns(source.columns)
        self._table = GradeTable(source.table, self._bank, self._columns)
        self._boxes = RegionBoxes(source.boxes, self._bank) if source.boxes is not None else None
        self._names = (
            load_vocabulary(source.label_map).labels if source.label_map is not None else {}
        )
        if self._boxes is not None and not set(self._boxes.studies) & set(self._table.studies):
            fix = "its column study must name the studies of the table"
            raise SitusError("has boxes of no study of the table", where=source.boxes, fix=fix)
        self._families = _chosen(options.tasks, self._bank)
        self._fixed_places = self._shared_places()
        self._trusted = _trusted(self._table.studies, options)

    @property
    def studies(self) -> list[str]:
        return self._table.studies

    def _shared_places(self) -> dict[str, str]:
        places = {}
        if self._source.columns is not None:
            places[self._columns.hash] = str(self._source.columns)
        if self._source.bank not in shipped_banks():
            places[self._bank.hash] = str(self._source.bank)
        return places

    def outcome(self, job: _GradeJob) -> _Outcome:
        """The facts and questions of one study."""
        name = job.study_id
        graded = self._table.read(name)
        series, masks, places, warnings = self._series(graded)
        grid = series.grid
        assert isinstance(grid, Grid)
        evidence = {"grades": graded.hash, "bank": self._bank.hash}
        places |= {graded.hash: str(self._source.table)} | self._fixed_places
        boxes, boxes_hash = self._boxes.read(name, grid) if self._boxes is not None else ({}, "")
        if boxes_hash:
            evidence["region_boxes"] = boxes_hash
            places[boxes_hash] = str(self._source.boxes)
        if self._source.columns is not None:
            evidence["columns"] = self._columns.hash
        ids = self._options.ids
        study_id = ids.study(name, of_table=True)
        patient_id = ids.patient(graded.patient, of_table=True)
        split = split_of(patient_id, self._options.recipe.splits, self._options.seed)
        record = StudyRecord(
            study_id, patient_id, split, (series,), evidence, visit_of(graded.time)
        )
        ledger = GradeLedger(
            graded,
            self._bank,
            study_id=study_id,
            series=series.series,
            masks=masks,
            labels_hash=series.labels_hash,
            boxes=GivenBoxes(
                boxes, boxes_hash, self._boxes.regions if self._boxes is not None else ()
            ),
            trusted=self._trusted.get(study_id, ()),
        )
        items, not_asked = self._items(ledger, record)
        problems = [
            Problem(Severity.WARNING, "grade", name, text, "check the table")
            for text in graded.problems
        ]
        problems += [Problem(Severity.WARNING, "file", name, text, "") for text in warnings]
        if masks is not None and series.side_basis != "affine":
            text = "its header declares no orientation; medial and lateral rest on an assumed one"
            problems.append(Problem(Severity.WARNING, "side", name, text, "check the header"))
        facts = facts_behind(ledger.known_facts(), (), items)
        problems += anatomy_problems(study_id, ledger)
        suspects = suspect_studies(study_id, ledger)
        return _Outcome(
            record, facts, items, not_asked, problems, places, _compared(ledger), suspects
        )

    def _items(self, ledger: GradeLedger, record: StudyRecord) -> tuple[list[Item], dict[str, int]]:
        not_asked: Counter[str] = Counter(ledger.graded.not_asked)
        by = (
            self._source.by
            if record.series[0].labels_hash
            else tuple(b for b in self._source.by if b == "reader")
        )
        items = []
        for question in graded_questions(ledger, self._source.words, by):
            if question.task not in self._families:
                continue
            item = pose_grades(ledger, question, record.patient_id, record.split)
            if isinstance(item, NotAsked):
                not_asked[item.reason] += 1
            else:
                items.append(item)
        most = self._options.per_study
        if most is not None and len(items) > most:
            seed = str(self._options.seed)
            chosen_ids = {
                item.item_id
                for item in sorted(items, key=lambda item: digest(seed, item.item_id))[:most]
            }
            not_asked["more questions than --per-study"] += len(items) - most
            items = [item for item in items if item.item_id in chosen_ids]
        return items, dict(not_asked)

    def _series(
        self, graded: GradedStudy
    ) -> tuple[SeriesRecord, JointMasks | None, dict[str, str], tuple[str, ...]]:
        """The series' record, its masks if there are any,
        where the files lie, and what to say of them."""
        base = self._source.table.parent
        places: dict[str, str] = {}
        image = open_volume(base / graded.image) if graded.image else None
        masks, labels_hash, names, structures = None, "", {}, {}
        warnings: tuple[str, ...] = ()
        grid_error_mm = 0.0
        basis = image.orientation_basis if image is not None else "affine"
        grid = image.grid if image is not None else _stated(graded)
        if graded.labels:
            path = base / graded.labels
            source = open_labels(path, self._names, reference=image)
            labels = source.load()
            if image is not None:
                image = image.onto(labels.grid)
                labels = labels.beside(image.grid)
            warnings = (*labels.warnings, *(image.warnings if image is not None else ()))
            grid_error_mm = labels.grid_error_mm
            names = {name: label for label, name in self._names.items()}
            masks = masks_for(self._bank, labels, names)
            labels_hash, grid, basis = labels.hash, labels.grid, source.orientation_basis
            structures = {s.name: s.label for s in labels.structures if s.name in masks}
            places[labels_hash] = str(path)
        if grid is None:
            fix = "give image or labels, or shape and affine, in the table"
            raise SitusError("its grid is unknown", where=graded.study, fix=fix)
        image_hash = image.content_hash() if image is not None else ""
        if image is not None:
            places[image_hash] = str(base / graded.image)
        record = SeriesRecord(
            series=self._bank.sequence,
            modality=self._bank.modality,
            image_hash=image_hash,
            labels_hash=labels_hash,
            shape=grid.shape,
            affine=tuple(float(v) for v in grid.affine.matrix.ravel()),
            side_basis=basis,
            annotation=self._source.annotation,
            structures=structures,
            names=names,
            grid_error_mm=grid_error_mm,
        )
        return record, masks, places, warnings


def _stated(graded: GradedStudy) -> Grid | None:
    if not graded.shape:
        return None
    i, j, k = graded.shape
    return Grid((i, j, k), Affine(np.array(graded.affine).reshape(4, 4), where=graded.study))


def _chosen(tasks: str | None, bank: Bank) -> set[str]:
    """The tasks asked for: `grade.bml`,
    or a family for both its tasks, or `grade` or `geometry`."""
    known = {f"{basis}.{family}" for basis in ("grade", "geometry") for family in bank.families}
    if tasks is None:
        return known
    chosen: set[str] = set()
    for name in (part.strip() for part in tasks.split(",")):
        matches = {task for task in known if name in (task, *task.split(".", 1))}
        if not matches:
            raise SitusError(
                f"unknown task {name!r}", where="--tasks", fix=did_you_mean(name, known)
            )
        chosen |= matches
    return chosen


def _compared(ledger: GradeLedger) -> tuple[int, int]:
    """Sub-scores with both a reader's and a geometric grade, and those on which they agree."""
    grades: dict[tuple[str, ...], list[object]] = {}
    for fact in ledger.known_facts():
        if fact.kind.startswith("grade.") and fact.value is not None:
            grades.setdefault(fact.subjects, []).append(fact.value)
    pairs = [values for values in grades.values() if len(values) == 2]
    return len(pairs), sum(a == b for a, b in pairs)
