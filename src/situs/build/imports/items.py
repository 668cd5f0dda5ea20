"""Questions of another set, from a generic JSON Lines file; their answers are given, not proved."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from situs.base.files import bounded_lines, check_regular
from situs.base.numbers import number_problems
from situs.build.imports.frame import (
    ImportedQuestion,
    ImportedStudy,
    Importer,
    ImportRun,
    bad_row,
    import_bench,
)
from situs.build.writer import BuildOptions, BuildResult
from situs.errors import Problem, SitusError
from situs.items import Answer, Choice, Choices, Number, Option, Text, YesNo
from situs.run import volume_stem

__all__ = ["GivenItem", "ItemsImporter", "import_items"]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class GivenItem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the file. Only `study`, `question` and `answer` are needed."""

    study: str
    """The volume or study the question is about."""
    question: str
    answer: bool | int | float | str | list[str]
    """yes/no or true/false; a letter or the text of an option, or several;
    a number; else free text."""
    options: list[str] = []
    unit: str = ""
    """With a number: mm, cm, mL, … or empty for a count."""
    tolerance: tuple[float, float] | None = None
    """With a number: answers from the first to the second are right."""
    patient: str = ""
    task: str = "imported"
    id: str = ""
    split: str = ""
    tags: list[str] = []


def import_items(
    paths: list[Path],
    out: Path,
    options: BuildOptions,
    *,
    images: Path | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> BuildResult:
    """Build a bench of given items; volumes are found under `images` by the study's name."""
    return import_bench(ItemsImporter(paths), out, options, images=images, progress=progress)


_Row = tuple[str, GivenItem]
"""Where it stands, and what it says."""


class ItemsImporter(Importer[_Row]):
    """Reads JSON Lines files of `GivenItem`."""

    source = "items"
    rows_noun = "lines"

    def __init__(self, paths: list[Path]) -> None:
        self._paths = paths

    def rows(self) -> Iterator[_Row | Problem]:
        """The lines of all files."""
        for path in self._paths:
            for where, line in _lines(path):
                yield _read(where, line)

    def nothing(self) -> SitusError:
        """The error for empty files."""
        return SitusError(
            "no item in the file", where=self._paths[0], fix="one JSON object per line"
        )

    def studies(self, rows: list[_Row], run: ImportRun) -> Iterator[ImportedStudy]:
        """In the order in which the files first name them."""
        _check_ids(rows)
        _check_splits(rows)
        by_study: dict[str, list[GivenItem]] = defaultdict(list)
        for _, row in rows:
            by_study[row.study].append(row)
        scans = run.scans({volume_stem(study) for study in by_study})
        for study, lines in by_study.items():
            yield ImportedStudy(
                name=study,
                patient=lines[0].patient or study,
                split=lines[0].split,
                scan=scans.get(volume_stem(study)),
                questions=[_question(row) for row in lines],
            )


def _read(where: str, line: bytes) -> _Row | Problem:
    try:
        row = msgspec.json.decode(line, type=GivenItem)
        odd = next(number_problems(_answer(row)[0], "$.answer"), None)
    except (msgspec.DecodeError, SitusError, RecursionError, UnicodeDecodeError) as error:
        odd = str(error)
    return (where, row) if odd is None else bad_row(where, odd, "correct this line")


def _check_ids(rows: list[_Row]) -> None:
    counts = Counter(row.id for _, row in rows if row.id)
    twice = next((where for where, row in rows if counts[row.id] > 1), None)
    if twice is not None:
        raise SitusError(
            "an id occurs twice", where=twice, fix="give every item an id of its own, or none"
        )


def _check_splits(rows: list[_Row]) -> None:
    """A patient belongs to one split, or what is learned of one half is asked of the other."""
    split_of_patient: dict[str, str] = {}
    for where, row in rows:
        patient = row.patient or row.study
        if split_of_patient.setdefault(patient, row.split) != row.split:
            fix = "give all questions of a patient the same split"
            raise SitusError(
                "$.split differs from that of the patient's other questions", where=where, fix=fix
            )


def _lines(path: Path) -> list[tuple[str, bytes]]:
    check_regular(path)
    try:
        with path.open("rb") as stream:
            lines = [part for line in bounded_lines(stream, path) for part in line.splitlines()]
    except OSError as error:
        raise SitusError(
            f"cannot be read ({error.strerror})", where=path, fix="check the path"
        ) from error
    return [(f"{path.name}:{n}", line) for n, line in enumerate(lines, start=1) if line.strip()]


def _question(row: GivenItem) -> ImportedQuestion:
    answer, options = _answer(row)
    return ImportedQuestion(
        question=row.question,
        answer=answer,
        options=options,
        task=row.task,
        source_id=row.id,
        tags=tuple(row.tags),
    )


def _answer(row: GivenItem) -> tuple[Answer, tuple[Option, ...]]:
    """The typed answer and the options; what does not fit is an error that names the field."""
    if row.options:
        return _chosen(row)
    if isinstance(row.answer, list):
        return Text(tuple(row.answer)), ()
    if isinstance(row.answer, bool) or (
        isinstance(row.answer, str) and row.answer.strip().lower() in ("yes", "no")
    ):
        value = row.answer if isinstance(row.answer, bool) else row.answer.strip().lower() == "yes"
        return YesNo(value), ()
    if isinstance(row.answer, int | float):
        return Number(float(row.answer), row.unit, row.tolerance), ()
    if not row.answer.strip():
        raise SitusError("$.answer is empty", fix="give the answer")
    return Text((row.answer,)), ()


def _chosen(row: GivenItem) -> tuple[Answer, tuple[Option, ...]]:
    texts = [
        re.sub(rf"^\(?{letter}[).:]\s+", "", text.strip())
        for letter, text in zip(_LETTERS, row.options)
    ]
    if len(set(texts)) != len(row.options) or not 2 <= len(texts) <= len(_LETTERS):
        raise SitusError("$.options must be 2 to 26 different texts", fix="correct the options")
    options = tuple(Option(text, text) for text in texts)
    answer_words = row.answer if isinstance(row.answer, list) else [str(row.answer)]
    values = []
    for word in answer_words:
        mark = re.fullmatch(r"\(?([A-Za-z])[).]?", word.strip())
        if word.strip() in texts:
            values.append(word.strip())
        elif mark and mark[1].upper() in _LETTERS[: len(texts)]:
            values.append(texts[_LETTERS.index(mark[1].upper())])
        else:
            raise SitusError(
                f"$.answer {word[:40]!r} is none of the options",
                fix="give a letter or an option's text",
            )
    return (Choices(tuple(values)) if isinstance(row.answer, list) else Choice(values[0])), options
