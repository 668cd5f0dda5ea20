"""Tables of readers' grades: what each study was given,
and what cannot be used, with the reason."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from situs.anatomy.banks import Bank
from situs.base.files import canonical_json, digest
from situs.errors import SitusError
from situs.facts.grades.columns import ColumnMap
from situs.facts.grades.grouped import GroupedTable

__all__ = ["CONTRADICTORY", "FOLLOW_UP", "GradeTable", "GradedStudy"]

_MISSING = frozenset({"", "na", "n/a", "nan", "null", "."})
_SIDES = {"left": "left", "l": "left", "right": "right", "r": "right"}
_OF_STUDY = ("patient", "side", "time", "image", "labels", "shape", "affine")

NO_GRADE = "no grade in the table"
TWO_GRADES = "two different grades in the table"
NOT_ON_SCALE = "its grade is not on the scale"
FOLLOW_UP = "its grade compares two time points"
CONTRADICTORY = "its grades contradict each other"


class GradedStudy(msgspec.Struct, frozen=True):
    """What the table says of one study."""

    study: str
    patient: str
    side: Literal["left", "right", ""]
    time: str
    image: str
    labels: str
    shape: tuple[int, ...]
    affine: tuple[float, ...]
    grades: dict[str, dict[str, int]]
    """Question → sub-score → grade, of those that can be used."""
    not_asked: dict[str, int]
    """Reason → sub-scores."""
    problems: tuple[str, ...]
    hash: str
    """Of side, time, grid and grades as the table has them; no name or path enters it."""


class GradeTable:
    """A table of grades, read study by study."""

    def __init__(self, path: Path, bank: Bank, columns: ColumnMap) -> None:
        self.path = path
        self._bank = bank
        self._map = columns
        self._rows = GroupedTable(path, columns.column("study"))
        self._places = {
            field: self._rows.columns.index(columns.column(field))
            for field in (*_OF_STUDY, "question", "sub_score", "grade")
            if columns.column(field) in self._rows.columns
        }
        if not columns.is_wide:
            lacking = [
                field for field in ("question", "sub_score", "grade") if field not in self._places
            ]
            if lacking:
                fix = (
                    "a long table has study, question, sub_score and grade; map others with"
                    " --columns"
                )
                raise SitusError(f"has no column {' and '.join(lacking)}", where=path, fix=fix)
        subs = {
            family: {sub.key: sub for sub in family_entry.sub_scores}
            for family, family_entry in bank.families.items()
        }
        self._keys = {
            (question.id, name): (sub.key, bank.scales[sub.scale])
            for question in bank.question
            for sub in subs[question.family].values()
            for name in {sub.key, sub.published}
            if name
        }
        self._wide = self._wide_places() if columns.is_wide else []
        self._expected = sum(len(bank.sub_scores_of(question)) for question in bank.question)

    @property
    def studies(self) -> list[str]:
        """In the order in which they first occur."""
        return self._rows.keys

    def read(self, study: str) -> GradedStudy:
        """All of one study's rows; a row that cannot belong to the bank is an error."""
        study_fields: dict[str, str] = {}
        cells: dict[tuple[str, str], set[str]] = defaultdict(set)
        for number, row in self._rows.rows(study):
            where = f"{self.path.name}:{number}"
            for field in _OF_STUDY:
                column = self._places.get(field)
                cell = row[column].strip() if column is not None else ""
                if study_fields.setdefault(field, cell) != cell:
                    problem = (
                        f"{study} has {field} {cell!r}, and {study_fields[field]!r} on an"
                        " earlier row"
                    )
                    raise SitusError(
                        problem,
                        where=where,
                        fix="a study is one volume of one knee; correct the table",
                    )
            for key, value in self._graded(row, where):
                cells[key].add(value)
        if not study_fields:
            raise SitusError("is not in the table", where=study, fix="check the study's name")
        return self._study(study, study_fields, cells)

    def _wide_places(self) -> list[tuple[tuple[str, str], int]]:
        places = []
        for name, column in self._map.grades.items():
            question, _, key = name.partition(".")
            self._key(question, key, "--columns")
            if column not in self._rows.columns:
                raise SitusError(
                    f"has no column {column!r}",
                    where=self.path,
                    fix=f"correct [grades] {name!r} in the map",
                )
            places.append(((question, key), self._rows.columns.index(column)))
        return places

    def _graded(self, row: Sequence[str], where: str) -> Iterator[tuple[tuple[str, str], str]]:
        if self._wide:
            for (question, key), column in self._wide:
                yield (question, self._key(question, key, where)), row[column].strip()
            return
        question = row[self._places["question"]].strip()
        key = row[self._places["sub_score"]].strip()
        yield (question, self._key(question, key, where)), row[self._places["grade"]].strip()

    def _key(self, question: str, key: str, where: str) -> str:
        known_key = self._keys.get((question, key))
        if known_key is None:
            if question not in self._bank.by_id:
                fix = (
                    f"its questions are {', '.join(list(self._bank.by_id)[:3])} …"
                    f" {self._bank.question[-1].id}"
                )
                raise SitusError(
                    f"bank {self._bank.name} has no question {question!r}", where=where, fix=fix
                )
            known = ", ".join(sub.key for sub in self._bank.sub_scores_of(self._bank.get(question)))
            problem = f"question {question} has no sub-score {key!r}"
            raise SitusError(problem, where=where, fix=f"it has {known}")
        return known_key[0]

    def _study(
        self, study: str, study_fields: dict[str, str], cells: dict[tuple[str, str], set[str]]
    ) -> GradedStudy:
        where = f"{self.path.name}, study {study}"
        grades: dict[str, dict[str, int]] = defaultdict(dict)
        left_out: Counter[str] = Counter()
        problems: list[str] = []
        missing = _MISSING | {code.strip().lower() for code in self._map.missing}
        for (question, key), values in cells.items():
            stated = {value for value in values if value.lower() not in missing}
            grade = self._grade(question, key, stated)
            if isinstance(grade, int):
                grades[question][key] = grade
            elif grade != NO_GRADE:
                left_out[grade] += 1
                listed = ", ".join(sorted(stated))
                problems.append(f"question {question}, {key}: {grade} ({listed}); not asked")
        for question in list(grades):
            family = self._bank.families[self._bank.by_id[question].family]
            for rule in family.broken_rules(grades[question]):
                contradicted = grades.pop(question)
                left_out[CONTRADICTORY] += len(contradicted)
                listed = ", ".join(f"{key} {grade}" for key, grade in contradicted.items())
                problems.append(
                    f"question {question}: {CONTRADICTORY} ({listed}: {rule.zero} is 0); not asked"
                )
                break
        absent = self._expected - sum(map(len, grades.values())) - sum(left_out.values())
        if absent:
            left_out[NO_GRADE] = absent
        shape, affine = _grid(study_fields, where)
        raw = sorted((q, key, *sorted(values)) for (q, key), values in cells.items())
        side = self._side(study_fields.get("side", ""), where)
        return GradedStudy(
            study=study,
            patient=study_fields.get("patient") or study,
            side=side,
            time=study_fields.get("time", ""),
            image=study_fields.get("image", ""),
            labels=study_fields.get("labels", ""),
            shape=shape,
            affine=affine,
            grades=dict(grades),
            not_asked=dict(left_out),
            problems=tuple(problems),
            hash=digest(
                canonical_json(
                    [self._bank.hash, side, study_fields.get("time", ""), shape, affine, raw]
                )
            ),
        )

    def _grade(self, question: str, key: str, stated: set[str]) -> int | str:
        """The grade, or why there is none."""
        scale = self._keys[question, key][1]
        if not stated:
            return NO_GRADE
        numbers = {_integer(value) for value in stated}
        if len(numbers) > 1:
            return TWO_GRADES
        (number,) = numbers
        if number is None or number not in scale.grades:
            return NOT_ON_SCALE
        return FOLLOW_UP if number in scale.follow_up_only else number

    def _side(self, stated: str, where: str) -> Literal["left", "right", ""]:
        name = self._map.sides.get(stated) or _SIDES.get(stated.lower(), stated)
        if name not in ("left", "right", ""):
            fix = "write left or right, or map it under [sides] in the column map"
            raise SitusError(f"unknown side {stated!r}", where=where, fix=fix)
        return "left" if name == "left" else "right" if name == "right" else ""


def _integer(value: str) -> int | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return int(number) if number == int(min(max(number, -1.0), 1e6)) else None


def _grid(study_fields: dict[str, str], where: str) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Shape and affine, where the table states them for want of an image."""
    if not study_fields.get("shape") and not study_fields.get("affine"):
        return (), ()
    try:
        shape = tuple(int(part) for part in study_fields.get("shape", "").split())
        affine = tuple(float(part) for part in study_fields.get("affine", "").split())
    except ValueError:
        shape, affine = (), ()
    if len(shape) != 3 or len(affine) != 16 or min(shape) < 1:
        fix = (
            "write shape as three and affine as sixteen numbers (RAS+ mm, row by row) with spaces"
            " between them"
        )
        raise SitusError("shape or affine cannot be read", where=where, fix=fix)
    return shape, affine
