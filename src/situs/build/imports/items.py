"""Questions of another set, from a generic JSON Lines file; their answers are given, not proved."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from situs.base.files import check_regular
from situs.base.numbers import number_problems
from situs.base.publish import new_folder
from situs.bench import StudyRecord, split_of
from situs.build.scans import Scan, find_scans
from situs.build.writer import BenchWriter, BuildOptions, BuildResult
from situs.errors import Problem, Severity, SitusError
from situs.items import Answer, Choice, Choices, Item, Number, Option, Text, YesNo, imported_item_id
from situs.run import volume_stem

__all__ = ["GivenItem", "import_items"]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class GivenItem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the file. Only `study`, `question` and `answer` are needed."""

    study: str
    """The volume or study the question is about."""
    question: str
    answer: bool | int | float | str | list[str]
    """yes/no or true/false; a letter or the text of an option, or several; a number; else free text."""
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
    """Build a bench of given items; all that is wrong with the files is counted, the first is told.

    Volumes are found under `images` by the study's name; `progress` counts them.
    """
    rows: list[tuple[str, GivenItem]] = []
    problems: list[Problem] = []
    for path in paths:
        for where, line in _lines(path):
            try:
                row = msgspec.json.decode(line, type=GivenItem)
                odd = next(number_problems(_answer(row)[0], "$.answer"), None)
                if odd is not None:
                    raise SitusError(odd)
                rows.append((where, row))
            except (msgspec.DecodeError, SitusError, RecursionError, UnicodeDecodeError) as error:
                problems.append(
                    Problem(Severity.ERROR, "item", where, str(error), "mend this line")
                )
    if problems and (not options.skip_bad or not rows):
        more = f" (and {len(problems) - 1} more lines)" if len(problems) > 1 else ""
        raise SitusError(
            problems[0].problem + more, where=problems[0].where, fix="mend them, or add --skip-bad"
        )
    if not rows:
        raise SitusError("no item in the file", where=paths[0], fix="one JSON object a line")
    seen = Counter(row.id for _, row in rows if row.id)
    twice = next((where for where, row in rows if seen[row.id] > 1), None)
    if twice is not None:
        raise SitusError(
            "an id occurs twice", where=twice, fix="give every item an id of its own, or none"
        )
    stems = {volume_stem(row.study) for _, row in rows}
    scans = find_scans(images, stems, problems, skip_bad=options.skip_bad, progress=progress)
    _check_splits(rows)
    with new_folder(out, marker="bench.json", overwrite=options.overwrite) as scratch:
        with BenchWriter(scratch, "items", options, {}) as writer:
            _write(writer, [row for _, row in rows], options, scans)
        return writer.finish(problems)


def _check_splits(rows: list[tuple[str, GivenItem]]) -> None:
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
        raw = path.read_bytes()
    except OSError as error:
        raise SitusError(
            f"cannot be read ({error.strerror})", where=path, fix="check the path"
        ) from error
    return [
        (f"{path.name}:{n}", line)
        for n, line in enumerate(raw.splitlines(), start=1)
        if line.strip()
    ]


def _write(
    writer: BenchWriter, rows: list[GivenItem], options: BuildOptions, scans: Mapping[str, Scan]
) -> None:
    by_study: dict[str, list[GivenItem]] = defaultdict(list)
    for row in rows:
        by_study[row.study].append(row)
    for study, asked in by_study.items():
        patient = asked[0].patient or study
        study_id = options.ids.study(study, of_table=True)
        patient_id = options.ids.patient(patient, of_table=True)
        split = asked[0].split or split_of(patient_id, options.recipe.splits, options.seed)
        scan = scans.get(volume_stem(study))
        series = (scan.series,) if scan is not None else ()
        record = StudyRecord(study_id, patient_id, split, series)
        repeats: Counter[str] = Counter()
        items = []
        for row in asked:
            row_id = imported_item_id(study, row.question, repeats[row.question])
            item = _item(row, record)
            items.append(
                msgspec.structs.replace(item, item_id=row_id, source_id=options.ids.item(row.id))
            )
            repeats[row.question] += 1
        writer.add(record, [], items, {}, scan.places if scan is not None else {})


def _item(row: GivenItem, study: StudyRecord) -> Item:
    answer, shown = _answer(row)
    form = {"yes_no": "yes_no", "choice": "choice", "choices": "choices", "number": "number"}.get(
        _tag(answer), "text"
    )
    return Item(
        item_id="",
        source_id="",
        study_id=study.study_id,
        series=study.series[0].series if study.series else "",
        patient_id=study.patient_id,
        task=row.task,
        form=form,
        question=row.question,
        answer=answer,
        options=shown,
        split=study.split,
        stratum="imported",
        tags=tuple(row.tags),
    )


def _tag(answer: Answer) -> str:
    tag = type(answer).__struct_config__.tag
    return str(tag)


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
        raise SitusError("$.options are not two to 26 different texts", fix="mend the options")
    shown = tuple(Option(text, text) for text in texts)
    given = row.answer if isinstance(row.answer, list) else [str(row.answer)]
    values = []
    for word in given:
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
    return (Choices(tuple(values)) if isinstance(row.answer, list) else Choice(values[0])), shown
