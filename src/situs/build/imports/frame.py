"""The frame of every import: an importer reads a published set, the frame makes a bench of it.

An importer is one file. It yields the rows of the set, a `Problem` in place of each row that cannot
be used, and groups the usable rows into `ImportedStudy` records. Refusing or skipping bad rows,
ids, splits, the new folder, the tables and the card are the frame's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from situs.base.plugins import load_offered
from situs.base.publish import new_folder
from situs.bench import StudyRecord, split_of
from situs.build.scans import Scan, find_scans
from situs.build.writer import BenchWriter, BuildOptions, BuildResult
from situs.errors import Problem, Severity, SitusError
from situs.items import Answer, Box, Item, Option, Step, imported_item_id

__all__ = [
    "IMPORTERS",
    "ImportRun",
    "ImportedQuestion",
    "ImportedStudy",
    "Importer",
    "bad_row",
    "import_bench",
    "offered_importer",
]

IMPORTERS = "situs.importers"
"""The group under which installed packages offer importers:
each a class that is made with a list of paths."""

Row = TypeVar("Row")


class ImportedQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A question with its answer, both as the set gives them."""

    question: str
    answer: Answer
    options: tuple[Option, ...] = ()
    task: str = "imported"
    stratum: str = "imported"
    part: str | None = None
    """What of the study it is about, e.g. a slice: the same words may be asked of each part."""
    key: str = ""
    """What tells it from the other questions about the study, if not its words."""
    source_id: str = ""
    """The id that the set gave it; hashed unless the names of its study may be shown."""
    position: str = ""
    """Its place in the study, where the set calls its questions `study::position`."""
    level: str = "volume"
    frames: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    boxes: tuple[Box, ...] = ()
    parameters: dict[str, str] = {}


class ImportedStudy(msgspec.Struct, frozen=True, kw_only=True):
    """A study of the set, with the questions about it."""

    name: str
    """As the set calls it;
    hashed unless it is `public` or the user keeps such names (`--ids table`)."""
    questions: Sequence[ImportedQuestion]
    patient: str = ""
    """As the set calls the patient; empty where it does not tell:
    the study's id then stands for the patient."""
    public: bool = False
    """Whether the study's name was published with the images."""
    public_patient: bool = False
    label: str = ""
    """What `study::position` begins with where the study's name may be shown; its id if empty."""
    split: str = ""
    """As the set gives it; empty: drawn by patient, with the recipe's shares."""
    scan: Scan | None = None
    series: str = ""
    """The name of the series the questions are about, where there is no scan to tell it."""
    evidence: dict[str, str] = {}
    time: str = ""
    not_asked: Mapping[str, int] = {}


class ImportRun(msgspec.Struct, frozen=True):
    """What an importer may ask for while it groups its rows."""

    out: Path
    options: BuildOptions
    problems: list[Problem]
    """What the user should be told; importers add to it."""
    images: Path | None = None
    progress: Callable[[int, int], None] = lambda done, total: None

    def scans(self, names: Collection[str], *, frames: bool = False) -> dict[str, Scan]:
        """Name → scan, for the volumes of these names under the user's folder of images.

        With `frames` they are stacks of frames: fastMRI's HDF5 files, or pictures.
        """
        return find_scans(
            self.images,
            names,
            self.problems,
            frames=frames,
            skip_bad=self.options.skip_bad,
            progress=self.progress,
        )


class Importer(ABC, Generic[Row]):
    """Reads one kind of published set."""

    source: str
    """What `bench.json` calls the set."""
    notes: tuple[str, ...] = ()
    """What a reader of the card must know of it."""
    rows_noun: str = "entries"

    @abstractmethod
    def rows(self) -> Iterator[Row | Problem]:
        """The rows of the files; in place of one that cannot be used,
        what is wrong with it (`bad_row`)."""

    @abstractmethod
    def studies(self, rows: list[Row], run: ImportRun) -> Iterator[ImportedStudy]:
        """The studies, in the order in which the bench has them."""

    def nothing(self) -> SitusError:
        """The error for files without a single row."""
        return SitusError("no question in the files", fix="check that these are the right files")


def offered_importer(name: str, paths: Sequence[Path]) -> Importer[Any]:
    """The importer that an installed package offers under a name, for these files.

    Raises:
        SitusError: no package offers it, it cannot be imported, or it is no `Importer`.
    """
    made = load_offered(IMPORTERS, name, where=f"situs import {name}")
    if not (isinstance(made, type) and issubclass(made, Importer)):
        fix = "offer a class that derives from situs.build.Importer"
        raise SitusError("is not an importer", where=f"{IMPORTERS} {name}", fix=fix)
    make: Callable[[list[Path]], Importer[Any]] = made
    return make(list(paths))


def bad_row(where: str, problem: str, fix: str) -> Problem:
    """A row that cannot be used."""
    return Problem(Severity.ERROR, "item", where, problem, fix)


def import_bench(
    importer: Importer[Row],
    out: Path,
    options: BuildOptions,
    *,
    images: Path | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> BuildResult:
    """Make a bench of a published set; its answers are given, not proved.

    All that is wrong with the files is counted, and the first of it is shown; with `skip_bad` such
    rows are left out. Volumes are found under `images` by the study's name; `progress` counts them.
    """
    rows: list[Row] = []
    problems: list[Problem] = []
    for row in importer.rows():
        if isinstance(row, Problem):
            problems.append(row)
        else:
            rows.append(row)
    if problems and (not options.skip_bad or not rows):
        raise _refused(problems, importer.rows_noun)
    if not rows:
        raise importer.nothing()
    run = ImportRun(out, options, problems, images, progress)
    with new_folder(out, marker="bench.json", overwrite=options.overwrite) as scratch:
        with BenchWriter(scratch, importer.source, options, {}) as writer:
            for study in importer.studies(rows, run):
                _add(writer, study, options)
        return writer.finish(problems, importer.notes)


def _refused(problems: Sequence[Problem], noun: str) -> SitusError:
    first = problems[0]
    more = f" (and {len(problems) - 1} more {noun})" if len(problems) > 1 else ""
    return SitusError(
        first.problem + more, where=first.where, fix=f"{first.fix}; or add --skip-bad"
    )


def _add(writer: BenchWriter, study: ImportedStudy, options: BuildOptions) -> None:
    """Write one study with its questions."""
    ids = options.ids
    study_id = ids.study(study.name, of_table=True, public=study.public)
    patient_id = study_id
    if study.patient:
        patient_id = ids.patient(study.patient, of_table=True, public=study.public_patient)
    split = study.split or split_of(patient_id, options.recipe.splits, options.seed)
    series = () if study.scan is None else (study.scan.series,)
    places = {} if study.scan is None else study.scan.places
    record = StudyRecord(study_id, patient_id, split, series, study.evidence, study.time)
    repeats: Counter[tuple[str | None, str]] = Counter()
    items = []
    for question in study.questions:
        asked = question.part, question.key or question.question
        items.append(_item(question, study, record, options, repeats[asked]))
        repeats[asked] += 1
    writer.add(record, [], items, study.not_asked, places)


def _item(
    question: ImportedQuestion,
    study: ImportedStudy,
    record: StudyRecord,
    options: BuildOptions,
    repeat: int,
) -> Item:
    volume = study.name if question.part is None else f"{study.name}|{question.part}"
    source_id = options.ids.item(question.source_id, public=study.public)
    if question.position:
        label = study.label if study.label and record.study_id == study.name else record.study_id
        source_id = f"{label}::{question.position}"
    return Item(
        item_id=imported_item_id(volume, question.key or question.question, repeat),
        source_id=source_id,
        study_id=record.study_id,
        series=record.series[0].series if record.series else study.series,
        patient_id=record.patient_id,
        split=record.split,
        stratum=question.stratum,
        task=question.task,
        form=str(type(question.answer).__struct_config__.tag),
        question=question.question,
        answer=question.answer,
        options=question.options,
        level=question.level,
        frames=question.frames,
        tags=question.tags,
        steps=question.steps,
        boxes=question.boxes,
        parameters=question.parameters,
    )
