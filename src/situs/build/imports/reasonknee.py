"""3DReasonKnee's split table and released answers as a bench; the answers are given, not proved.

The table's columns are published; the fields of the answers are not, so a field map names them, and
says whether anybody has compared it with the files.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from situs.anatomy.banks import Bank, BankQuestion, load_bank
from situs.base.files import parse_toml, read_csv, read_text
from situs.bench import SeriesRecord, visit_of
from situs.build.imports.frame import (
    ImportedQuestion,
    ImportedStudy,
    Importer,
    ImportRun,
    bad_row,
    import_bench,
)
from situs.build.scans import Scan
from situs.build.writer import BuildOptions, BuildResult
from situs.errors import Problem, SitusError
from situs.facts.grades import CONTRADICTORY, FOLLOW_UP, from_published, sagittal_axis
from situs.items import Boxes, Compound, Grades, Step, scale_tags
from situs.score import Offered, Parsed, parse_grades
from situs.space import Grid, WorldBox
from situs.volumes import Volume, open_volume

__all__ = ["FieldMap", "KneeRow", "import_3dreasonknee", "load_fields", "read_split"]

_COLUMNS = (
    "patient_id",
    "time",
    "study_folder",
    "series_folder",
    "knee_side",
    "image_filepath",
    "label_filepath",
)
_SIDES = {"left": "left", "l": "left", "right": "right", "r": "right", "": ""}
_LARGEST = 4 << 30
_SLICES = 160
"""Sagittal slices of the released volumes."""
_SHIPPED = "3dreasonknee-fields.toml"
_AS_RELEASED = (
    "Answers are as released; boxes are read as voxel indices of the sagittal-first array, "
    "ends included."
)
_UNVERIFIED = "The field map is unverified: nobody has compared it with the released files."


class KneeRow(msgspec.Struct, frozen=True):
    """One row of the split table."""

    patient_id: str
    time: str
    study_folder: str
    series_folder: str
    knee_side: str
    image_filepath: str
    label_filepath: str

    @property
    def name(self) -> str:
        """What tells this volume from others."""
        return "|".join(
            (self.patient_id, self.time, self.study_folder, self.series_folder, self.knee_side)
        )


class FieldMap(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where an answer's record holds what; dots step into objects."""

    verified: bool
    image: str
    question: str
    answer: str
    box: str = ""
    reasoning: str = ""


class _Entry(msgspec.Struct, frozen=True):
    where: str
    image: str
    question: BankQuestion
    grades: dict[str, int]
    box: tuple[float, ...]
    reasoning: str
    left_out: tuple[str, ...]
    """What is not asked of it, and why."""


def read_split(path: Path) -> list[KneeRow]:
    """The split table; every row that cannot be used is named."""
    header, lines = read_csv(path)
    missing = [name for name in _COLUMNS if name not in header]
    if missing:
        raise SitusError(
            f"has no column {missing[0]!r}",
            where=path,
            fix=f"the columns are {', '.join(_COLUMNS)}",
        )
    rows = []
    seen: set[str] = set()
    for number, row in lines:
        cells = {name: row.get(name, "").strip() for name in _COLUMNS}
        if not cells["patient_id"] or not cells["image_filepath"]:
            problem = "has no patient_id or no image_filepath"
            raise SitusError(problem, where=f"{path}:{number}", fix="fill the cell")
        if cells["knee_side"].lower() not in _SIDES:
            problem = f"unknown knee_side {cells['knee_side']!r}"
            raise SitusError(
                problem, where=f"{path}:{number}", fix="write left or right, or leave it empty"
            )
        if cells["image_filepath"] in seen:
            problem = f"{cells['image_filepath']} occurs twice"
            raise SitusError(problem, where=f"{path}:{number}", fix="give each image one row")
        seen.add(cells["image_filepath"])
        rows.append(KneeRow(**cells))
    if not rows:
        raise SitusError("has no rows", where=path, fix="give a split table")
    return rows


def load_fields(path: Path | None) -> FieldMap:
    """The user's field map, or the shipped guess."""
    text = (
        files("situs.build").joinpath("data", _SHIPPED).read_text("utf-8")
        if path is None
        else read_text(path)
    )
    try:
        return msgspec.convert(parse_toml(text), FieldMap)
    except (ValueError, RecursionError) as error:
        fix = "it has verified, image, question, answer, and may have box and reasoning"
        raise SitusError(str(error), where=path or _SHIPPED, fix=fix) from error


def import_3dreasonknee(
    table: Path,
    answers: Path,
    out: Path,
    options: BuildOptions,
    *,
    images: Path | None = None,
    fields: Path | None = None,
) -> BuildResult:
    """Build a bench of given items, in the numbering of the shipped bank."""
    importer = _ReasonKnee(read_split(table), answers, load_fields(fields))
    return import_bench(importer, out, options, images=images)


class _ReasonKnee(Importer["_Entry"]):
    source = "3dreasonknee"

    def __init__(self, table: list[KneeRow], answers: Path, fields: FieldMap) -> None:
        self._bank = load_bank("moaks-knee")
        self._volumes = {row.image_filepath: row for row in table}
        self._answers = answers
        self._fields = fields
        self.notes = (_AS_RELEASED,) if fields.verified else (_AS_RELEASED, _UNVERIFIED)

    def rows(self) -> Iterator[_Entry | Problem]:
        for number, record in enumerate(_records(self._answers)):
            where = f"{self._answers.name} $[{number}]"
            try:
                image = str(_field(record, self._fields.image))
                if image not in self._volumes:
                    raise SitusError(
                        f"its {self._fields.image} is not in the table",
                        fix="give the split it belongs to",
                    )
                yield _entry(record, self._fields, self._bank, image, where)
            except SitusError as error:
                yield bad_row(where, error.problem, error.fix or "correct this entry")

    def nothing(self) -> SitusError:
        return SitusError(
            "holds no answer about a volume of the table",
            where=self._answers,
            fix="check the field map",
        )

    def studies(self, rows: list[_Entry], run: ImportRun) -> Iterator[ImportedStudy]:
        """In the order of their ids; one volume is open at a time."""
        by_image: dict[str, list[_Entry]] = defaultdict(list)
        for entry in rows:
            by_image[entry.image].append(entry)

        def study_id(image: str) -> str:
            return run.options.ids.study(self._volumes[image].name, of_table=True)

        for image in sorted(by_image, key=study_id):
            yield self._study(self._volumes[image], by_image[image], run)

    def _study(self, row: KneeRow, entries: list[_Entry], run: ImportRun) -> ImportedStudy:
        path = None if run.images is None else run.images / row.image_filepath
        image = open_volume(path) if path is not None and path.exists() else None
        not_asked: Counter[str] = Counter()
        questions = []
        for entry in _one_each(entries, not_asked):
            not_asked.update(entry.left_out)
            if not entry.grades:
                continue
            try:
                box = _region_box(entry, image, self._bank)
            except SitusError as error:
                if not run.options.skip_bad:
                    raise
                run.problems.append(bad_row(entry.where, error.problem, error.fix))
                continue
            if box is None and entry.box:
                not_asked["its box: the image is not here, so voxels have no millimetres"] += 1
            questions.append(_question(entry, row, box, self._bank))
        return ImportedStudy(
            name=row.name,
            patient=row.patient_id,
            questions=questions,
            scan=None if image is None else _scan(image, self._bank),
            series=self._bank.sequence,
            time=visit_of(row.time),
            not_asked=not_asked,
        )


def _question(entry: _Entry, row: KneeRow, box: WorldBox | None, bank: Bank) -> ImportedQuestion:
    grades = Grades(entry.grades)
    answer = grades if box is None else Compound({"box": Boxes((box,)), "grades": grades})
    return ImportedQuestion(
        question=_words(bank, entry, row, boxed=box is not None),
        answer=answer,
        task=f"grade.{entry.question.family}",
        key=entry.question.id,
        position=entry.question.id,
        tags=_tags(bank, entry),
        steps=(Step("given", entry.reasoning),) if entry.reasoning else (),
        boxes=() if box is None else (box,),
        parameters={"question": entry.question.id},
    )


def _records(path: Path) -> list[Any]:
    text = read_text(path, limit_bytes=_LARGEST)
    try:
        if text.lstrip().startswith("["):
            content: Any = msgspec.json.decode(text)
        else:
            content = [msgspec.json.decode(line) for line in text.splitlines() if line.strip()]
            if len(content) == 1 and isinstance(content[0], dict):
                lists = [value for value in content[0].values() if isinstance(value, list)]
                content = lists[0] if len(lists) == 1 else content
    except (msgspec.DecodeError, RecursionError) as error:
        raise SitusError(
            f"is not valid JSON ({error})", where=path, fix="give a JSON list or JSON Lines"
        ) from error
    return list(content)


def _field(record: Any, name: str) -> Any:
    value = record
    for part in name.split("."):
        if not isinstance(value, dict) or part not in value:
            raise SitusError(f"lacks the field {name!r}", fix="name the fields with --fields")
        value = value[part]
    return value


def _entry(record: Any, fields: FieldMap, bank: Bank, image: str, where: str) -> _Entry:
    question = bank.get(_question_id(_field(record, fields.question)))
    grades, left_out = _grades(_field(record, fields.answer), question, bank)
    box = _box(record, fields.box) if fields.box else ()
    if fields.box and not box:
        left_out.append("its box: the entry has none")
    reasons = _optional(record, fields.reasoning) if fields.reasoning else ""
    if fields.reasoning and not reasons:
        left_out.append("its reasoning: the entry has none")
    reasoning = "\n".join(map(str, reasons)) if isinstance(reasons, list) else str(reasons or "")
    return _Entry(where, image, question, grades, box, reasoning, tuple(left_out))


def _grades(answer: Any, question: BankQuestion, bank: Bank) -> tuple[dict[str, int], list[str]]:
    """The grades that are asked for, by sub-score, and what is not asked of the entry and why."""
    keys = {sub.published: sub.key for sub in bank.sub_scores_of(question)}
    text = answer if isinstance(answer, str) else json.dumps(answer)
    # Once with the scales, since words depend on them, and once without, to name what is not on
    # them.
    results = (parse_grades(text, list(keys), scales) for scales in ({}, _offered(bank, question)))
    any_grade, on_scale = (one.value if isinstance(one, Parsed) else {} for one in results)
    for name in any_grade:
        if name not in on_scale:
            problem = f"{keys[name]} has grade {any_grade[name]}, which is not on its scale"
            raise SitusError(problem, fix="correct this entry")
    if not on_scale:
        raise SitusError(
            f"no grade of question {question.id} can be read from its answer",
            fix="check the field map",
        )
    grades = {keys[name]: grade for name, grade in on_scale.items()}
    left_out = [] if len(grades) == len(keys) else ["a sub-score that the answer does not tell"]
    for sub in bank.sub_scores_of(question):
        if grades.get(sub.key) in bank.scales[sub.scale].follow_up_only:
            left_out.append(FOLLOW_UP)
            del grades[sub.key]
    if any(bank.families[question.family].broken_rules(grades)):
        left_out.append(CONTRADICTORY)
        grades = {}
    return grades, left_out


def _offered(bank: Bank, question: BankQuestion) -> dict[str, Offered]:
    scales = {sub.published: bank.scales[sub.scale] for sub in bank.sub_scores_of(question)}
    return {
        name: Offered({level.grade: level.text for level in scale.levels}, scale.absent_grade)
        for name, scale in scales.items()
    }


def _question_id(value: Any) -> str:
    """`1` of 1, 1.0, "1" and "Q1"."""
    number = int(value) if isinstance(value, float) and value == int(value) else value
    return str(number).strip().lstrip("Qq")


def _optional(record: Any, name: str) -> Any:
    """A field that an entry may lack."""
    try:
        return _field(record, name)
    except SitusError:
        return None


def _box(record: Any, name: str) -> tuple[float, ...]:
    box = _optional(record, name)
    if box is None:
        return ()
    if (
        not isinstance(box, list)
        or len(box) != 6
        or not all(isinstance(v, int | float) for v in box)
    ):
        raise SitusError(
            f"its {name} is not a list of six numbers", fix="correct this entry, or the field map"
        )
    return tuple(float(v) for v in box)


def _one_each(entries: list[_Entry], not_asked: Counter[str]) -> Iterator[_Entry]:
    """One entry a question; several that differ are left out,
    since none of them is known to be right."""
    by_question: dict[str, list[_Entry]] = defaultdict(list)
    for entry in entries:
        by_question[entry.question.id].append(entry)
    for same in by_question.values():
        first = same[0]
        if any((entry.grades, entry.box) != (first.grades, first.box) for entry in same):
            not_asked["two different answers to one question"] += len(same)
            continue
        if len(same) > 1:
            not_asked["an entry that occurs twice"] += len(same) - 1
        yield first


def _words(bank: Bank, entry: _Entry, row: KneeRow, *, boxed: bool) -> str:
    side = _SIDES[row.knee_side.lower()]
    lines = [f"This is a {side} knee."] if side else []
    lines.append(bank.words_of(entry.question, guided=False, keys=entry.grades))
    if boxed:
        lines.append(f"box: the box around the {bank.regions[entry.question.region].text}.")
    return "\n".join(lines)


def _tags(bank: Bank, entry: _Entry) -> tuple[str, ...]:
    subs = {sub.key: sub for sub in bank.sub_scores_of(entry.question)}
    scales = scale_tags({key: bank.scales[subs[key].scale] for key in entry.grades})
    structure = bank.regions[entry.question.region].structure
    return (
        f"family:{entry.question.family}",
        f"region:{entry.question.region}",
        f"structure:{structure}",
        *scales,
    )


def _region_box(entry: _Entry, image: Volume | None, bank: Bank) -> WorldBox | None:
    if image is None or not entry.box:
        return None
    _refuse_other_slices(image.grid, entry.where)
    try:
        box = from_published(entry.box, image.grid)
    except SitusError as error:
        raise SitusError(error.problem, where=entry.where, fix="correct this entry") from error
    return WorldBox(box.lo_mm, box.hi_mm, bank.regions[entry.question.region].text)


def _refuse_other_slices(grid: Grid, where: str) -> None:
    """Stop where the released rule and the header disagree on which axis counts the slices: the
    boxes fit only one.

    The rule: an array that begins with 160 is sagittal-first, any other is transposed by (2, 0, 1).
    """
    ruled, in_header = 0 if grid.shape[0] == _SLICES else 2, sagittal_axis(grid)
    if _SLICES in grid.shape and ruled != in_header:
        shape = "×".join(str(n) for n in grid.shape)
        problem = (
            f"its box counts slices on axis {ruled} of {shape} voxels "
            f"({_SLICES} first, else last); the header has "
        )
        fix = "correct the orientation in the image's header, or leave the image out (grades alone)"
        raise SitusError(f"{problem}the sagittal slices on axis {in_header}", where=where, fix=fix)


def _scan(image: Volume, bank: Bank) -> Scan:
    record = SeriesRecord(
        series=bank.sequence,
        modality=bank.modality,
        image_hash=image.content_hash(),
        labels_hash="",
        shape=image.grid.shape,
        affine=tuple(float(v) for v in image.grid.affine.matrix.ravel()),
        side_basis=image.orientation_basis,
        annotation="manual",
        structures={},
    )
    return Scan(record, image.path)
