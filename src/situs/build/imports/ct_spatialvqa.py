"""The released questions of CT-SpatialVQA, with reports and categories where they are given."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from situs.agents import DIMENSIONS, dimensions_of, label_dimensions
from situs.base.files import digest, read_json
from situs.base.publish import new_folder
from situs.bench import IdRule, StudyRecord
from situs.build.scans import CT_RATE, Scan, find_scans
from situs.build.writer import BenchWriter, BuildOptions, BuildResult
from situs.errors import Problem, Severity, SitusError
from situs.items import Item, Text, imported_item_id
from situs.judges import AskedByID, Asker
from situs.run import Row, released_rows, volume_stem

__all__ = ["import_ct_spatialvqa"]

_ALIASES = {"Medial-Lateral Orientation": "Medial-Lateral Orientation (Centricity)"}
_SPLIT = "test"
_SCAN = re.compile(r"(?P<patient>.+?)_[a-z]+_\d+")
"""`valid_12_a_1`: patient, scan, reconstruction."""
_FORM = 'a JSON object {"volume.nii.gz": {"qa_pairs": [{"question", "answer"}]}}, or JSON Lines with case_id'


class _Report(msgspec.Struct, frozen=True):
    """One report of the released file."""

    findings: str | None = msgspec.field(name="Findings_EN", default=None)
    impressions: str | None = msgspec.field(name="Impressions_EN", default=None)


class _Question(msgspec.Struct, frozen=True):
    volume: str
    """As the source names it, with its suffix."""
    position: int
    question: str
    answer: str
    categories: tuple[str, ...] | None


def import_ct_spatialvqa(
    path: Path,
    out: Path,
    options: BuildOptions,
    *,
    reports: Path | None = None,
    images: Path | None = None,
    categories: str | None = None,
    labeller: Asker | None = None,
    ended: Callable[[AskedByID], None] = lambda asked: None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> BuildResult:
    """Build a bench of the released questions; `categories` is a file that has them, or `rules`.

    Volumes are found under `images` by name; `progress` counts them.

    A `labeller` is asked for them instead; its journal is kept in `OUT.asked`, and `ended` is called after it.

    Answers are free text and given, not proved. Patients are told by the volume's name. Patients who share a report
    text are one: their questions and answers are copies of each other, so nothing may learn or be resampled across.
    """
    questions = _questions(path)
    problems: list[Problem] = []
    if categories is not None:
        questions = _with_categories(questions, categories, problems)
    elif labeller is not None:
        questions = _labelled(questions, labeller, out, options, problems, ended)
    texts = (
        _report_texts(reports, problems, {q.volume for q in questions})
        if reports is not None
        else {}
    )
    patients = _merged_patients(questions, texts)
    for problem in _notes(questions, texts, patients):
        problems.append(problem)
    stems = {volume_stem(question.volume) for question in questions}
    scans = find_scans(images, stems, problems, skip_bad=options.skip_bad, progress=progress)
    # The whole set is for testing, as it was released.
    options = msgspec.structs.replace(
        options, recipe=msgspec.structs.replace(options.recipe, splits={_SPLIT: 1.0})
    )
    with new_folder(out, marker="bench.json", overwrite=options.overwrite) as scratch:
        with BenchWriter(scratch, "ct-spatialvqa", options, {}) as writer:
            _write(writer, questions, texts, patients, scans, options.ids)
        return writer.finish(problems)


def _questions(path: Path) -> list[_Question]:
    rows = released_rows(path)
    result, bad = [], []
    count: Counter[str] = Counter()
    for where, row in rows:
        volume = row.get("case_id") or row.get("image_path") or row.get("volume")
        missing = [name for name in ("question", "answer") if not str(row.get(name) or "").strip()]
        if not isinstance(volume, str) or not volume.strip() or missing:
            bad.append(f"{where}: {'no volume' if not missing else 'no ' + missing[0]}")
            continue
        name = volume.replace("\\", "/").rpartition("/")[2].partition("::")[0]
        held = _categories(row)
        result.append(_Question(name, count[name], str(row["question"]), str(row["answer"]), held))
        count[name] += 1
    if bad:
        more = f" (and {len(bad) - 1} more rows)" if len(bad) > 1 else ""
        raise SitusError(f"{bad[0]}{more}", where=path, fix=_FORM)
    return result


def _categories(row: Row) -> tuple[str, ...] | None:
    given: Any = row.get("category", row.get("categories"))
    if given is None:
        return None
    words = [given] if isinstance(given, str) else given
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise SitusError(
            "a category is not text", where=str(row.get("question"))[:60], fix="a list of names"
        )
    return tuple(
        dict.fromkeys(_ALIASES.get(word.strip(), word.strip()) for word in words if word.strip())
    )


def _with_categories(
    questions: list[_Question], source: str, problems: list[Problem]
) -> list[_Question]:
    """Labels from another file, joined by volume, question and answer; or by rule."""
    if source == "rules":
        return [
            msgspec.structs.replace(q, categories=dimensions_of(q.question, q.answer))
            for q in questions
        ]
    known: dict[tuple[str, str, str], deque[tuple[str, ...]]] = defaultdict(deque)
    for other in _questions(Path(source)):
        known[volume_stem(other.volume), other.question, other.answer].append(
            other.categories or ()
        )
    result = []
    for question in questions:
        queue = known[volume_stem(question.volume), question.question, question.answer]
        if not queue:
            where = f"{question.volume}::{question.position}"
            problems.append(
                Problem(
                    Severity.WARNING, "category", where, "has no category in the file", "add it"
                )
            )
        held = queue.popleft() if queue else question.categories
        result.append(msgspec.structs.replace(question, categories=held))
    left = sum(map(len, known.values()))
    if left:
        text = f"{left} of its questions are not in the bench"
        problems.append(
            Problem(
                Severity.WARNING, "category", Path(source).name, text, "is it of the same release?"
            )
        )
    return result


def _labelled(
    questions: list[_Question],
    labeller: Asker,
    out: Path,
    options: BuildOptions,
    problems: list[Problem],
    ended: Callable[[AskedByID], None],
) -> list[_Question]:
    """Labels by a model, each under its question's id. Equal questions with equal answers are asked once."""
    pairs = [(question.question, question.answer) for question in questions]
    ids = {pair: "q" + digest(*pair, size=8) for pair in dict.fromkeys(pairs)}
    journal = out.with_name(f"{out.name}.asked") / "labeller.jsonl"
    shown = [(id_, *pair) for pair, id_ in ids.items()]
    found, asked = label_dimensions(labeller, shown, journal, restricted=options.restricted)
    ended(asked)
    lacking = sum(id_ not in found for id_ in ids.values())
    if lacking:
        text = f"{lacking} questions got no label from {labeller.name}"
        problems.append(
            Problem(Severity.WARNING, "category", "questions", text, "they count in no category")
        )
    return [
        msgspec.structs.replace(q, categories=found.get(ids[pair], ()))
        for q, pair in zip(questions, pairs)
    ]


def _report_texts(path: Path, problems: list[Problem], volumes: set[str]) -> dict[str, str]:
    """Volume → report, its white space evened out."""
    held = read_json(path, dict[str, _Report])
    stems = {volume_stem(name): report for name, report in held.items()}
    result = {}
    for volume in sorted(volumes):
        report = stems.get(volume_stem(volume))
        if report is None:
            problems.append(
                Problem(Severity.WARNING, "report", volume, "has no report in the file", "add it")
            )
            continue
        text = " ".join(f"{report.findings or ''} {report.impressions or ''}".split())
        if text:
            result[volume] = text
    return result


def _patient(volume: str) -> str:
    match = _SCAN.fullmatch(volume_stem(volume))
    return match["patient"] if match else volume_stem(volume)


def _merged_patients(questions: list[_Question], texts: dict[str, str]) -> dict[str, str]:
    """Volume → patient, patients with a report text in common under the name of the first of them."""
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        while leader.setdefault(name, name) != name:
            leader[name] = leader[leader[name]]
            name = leader[name]
        return name

    seen: dict[str, str] = {}
    for volume, text in texts.items():
        first = find(seen.setdefault(text, _patient(volume)))
        second = find(_patient(volume))
        leader[max(first, second)] = min(first, second)
    return {question.volume: find(_patient(question.volume)) for question in questions}


def _notes(
    questions: list[_Question], texts: dict[str, str], patients: dict[str, str]
) -> Iterable[Problem]:
    """What is odd about the set itself, for whoever reads its scores."""
    asked = Counter(question.question for question in questions)
    repeated = sum(count for count in asked.values() if count > 1)
    if repeated:
        text = f"{repeated} of {len(questions)} questions occur more than once ({len(asked)} are distinct)"
        yield Problem(
            Severity.WARNING,
            "repeated-question",
            "questions",
            text,
            "tag `repeated question` marks them",
        )
    shared = Counter(texts.values())
    copies = sum(count for count in shared.values() if count > 1)
    if copies:
        before, after = len({_patient(volume) for volume in patients}), len(set(patients.values()))
        text = f"{copies} volumes share a report text with another; {before} patients are {after} clusters"
        yield Problem(
            Severity.WARNING, "shared-report", "reports", text, "tag `shared report` marks them"
        )
    unlabelled = sum(question.categories == () for question in questions)
    if unlabelled:
        text = f"{unlabelled} questions have no category"
        yield Problem(Severity.WARNING, "category", "questions", text, "they count in no category")
    odd = sorted({name for q in questions for name in q.categories or () if name not in DIMENSIONS})
    if odd:
        yield Problem(
            Severity.WARNING,
            "category",
            "questions",
            f"unknown category {odd[0]!r}",
            "kept as it is",
        )


def _write(
    writer: BenchWriter,
    questions: list[_Question],
    texts: dict[str, str],
    patients: dict[str, str],
    scans: dict[str, Scan],
    ids: IdRule,
) -> None:
    asked = Counter(question.question for question in questions)
    shared = Counter(texts.values())
    by_volume: dict[str, list[_Question]] = defaultdict(list)
    for question in questions:
        by_volume[question.volume].append(question)
    for volume, held in by_volume.items():
        stem = volume_stem(volume)
        public = bool(CT_RATE.fullmatch(stem))
        study_id = ids.study(stem, of_table=True, public=public)
        patient_name = patients[volume]
        public_patient = bool(CT_RATE.fullmatch(f"{patient_name}_a_1"))
        patient = ids.patient(patient_name, of_table=True, public=public_patient)
        source = volume if study_id == stem else study_id
        text, scan = texts.get(volume, ""), scans.get(stem)
        extra = ("shared report",) if shared[text] > 1 else ()
        repeats: Counter[str] = Counter()
        items = []
        for question in held:
            copies = ("repeated question",) if asked[question.question] > 1 else ()
            items.append(
                Item(
                    item_id=imported_item_id(stem, question.question, repeats[question.question]),
                    source_id=f"{source}::{question.position}",
                    study_id=study_id,
                    series=scan.series.series if scan else "",
                    patient_id=patient,
                    split=_SPLIT,
                    stratum="report",
                    task="report",
                    form="text",
                    question=question.question,
                    answer=Text((question.answer,)),
                    tags=(*(question.categories or ()), *copies, *extra),
                )
            )
            repeats[question.question] += 1
        evidence = {"report": digest(text)} if text else {}
        series, places = ((scan.series,), scan.places) if scan else ((), {})
        writer.add(StudyRecord(study_id, patient, _SPLIT, series, evidence), [], items, {}, places)
