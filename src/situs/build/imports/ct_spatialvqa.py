"""The released questions of CT-SpatialVQA, with reports and categories where they are given."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from situs.agents import DIMENSIONS, dimensions_of, label_dimensions
from situs.base.files import digest, read_json
from situs.base.publish import asked_beside
from situs.build.imports.frame import (
    ImportedQuestion,
    ImportedStudy,
    Importer,
    ImportRun,
    bad_row,
    import_bench,
)
from situs.build.scans import CT_RATE
from situs.build.writer import BuildOptions, BuildResult
from situs.errors import Problem, Severity, SitusError
from situs.items import Text
from situs.judges import AskedByID, Asker
from situs.run import Row, released_rows, volume_stem

__all__ = ["CategorySource", "import_ct_spatialvqa"]

_ALIASES = {"Medial-Lateral Orientation": "Medial-Lateral Orientation (Centricity)"}
_SPLIT = "test"
_SCAN = re.compile(r"(?P<patient>.+?)_[a-z]+_\d+")
"""`valid_12_a_1`: patient, scan, reconstruction."""
_FORM = (
    'give a JSON object {"volume.nii.gz": {"qa_pairs": [{"question", "answer"}]}}, or JSON Lines'
    " with case_id"
)


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


class CategorySource(msgspec.Struct, frozen=True):
    """Where the categories of the questions come from, if not from the questions' own file."""

    given: str | None = None
    """Another file that has them, or `rules` to label by wording."""
    labeller: Asker | None = None
    """A model that is asked for them; its journal is kept in `OUT.asked`."""
    ended: Callable[[AskedByID], None] = lambda asked: None
    """Called after the labeller; may end the program."""


def import_ct_spatialvqa(
    path: Path,
    out: Path,
    options: BuildOptions,
    *,
    reports: Path | None = None,
    images: Path | None = None,
    categories: CategorySource | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> BuildResult:
    """Build a bench of the released questions.

    Volumes are found under `images` by name; `progress` counts them.

    Answers are free text and given, not proved. Patients are told by the volume's name. Patients
    who share a report text are one: their questions and answers are copies of each other, so
    nothing may learn or be resampled across.
    """
    # The whole set is for testing, as it was released.
    recipe = msgspec.structs.replace(options.recipe, splits={_SPLIT: 1.0})
    options = msgspec.structs.replace(options, recipe=recipe)
    importer = _CtSpatialVqa(path, reports, categories or CategorySource())
    return import_bench(importer, out, options, images=images, progress=progress)


class _CtSpatialVqa(Importer[_Question]):
    source = "ct-spatialvqa"
    rows_noun = "rows"

    def __init__(self, path: Path, reports: Path | None, categories: CategorySource) -> None:
        self._path = path
        self._reports = reports
        self._categories = categories

    def rows(self) -> Iterator[_Question | Problem]:
        return _questions(self._path)

    def nothing(self) -> SitusError:
        return SitusError("no question in the file", where=self._path, fix=_FORM)

    def studies(self, rows: list[_Question], run: ImportRun) -> Iterator[ImportedStudy]:
        """In the order in which the file first names them."""
        questions = self._categorised(rows, run)
        texts: dict[str, str] = {}
        if self._reports is not None:
            volumes = {question.volume for question in questions}
            texts = _report_texts(self._reports, run.problems, volumes)
        patients = _merged_patients(questions, texts)
        run.problems.extend(_notes(questions, texts, patients))
        scans = run.scans({volume_stem(question.volume) for question in questions})
        asked = Counter(question.question for question in questions)
        reported = Counter(texts.values())
        by_volume: dict[str, list[_Question]] = defaultdict(list)
        for question in questions:
            by_volume[question.volume].append(question)
        for volume, about in by_volume.items():
            stem, text = volume_stem(volume), texts.get(volume, "")
            extra = ("shared report",) if reported[text] > 1 else ()
            yield ImportedStudy(
                name=stem,
                public=bool(CT_RATE.fullmatch(stem)),
                label=volume,
                patient=patients[volume],
                public_patient=bool(CT_RATE.fullmatch(f"{patients[volume]}_a_1")),
                split=_SPLIT,
                scan=scans.get(stem),
                evidence={"report": digest(text)} if text else {},
                questions=[_imported(one, asked[one.question] > 1, extra) for one in about],
            )

    def _categorised(self, questions: list[_Question], run: ImportRun) -> list[_Question]:
        if self._categories.given is not None:
            return _with_categories(questions, self._categories.given, run.problems)
        if self._categories.labeller is not None:
            return _labelled(questions, self._categories.labeller, self._categories.ended, run)
        return questions


def _imported(question: _Question, repeated: bool, extra: tuple[str, ...]) -> ImportedQuestion:
    copies = ("repeated question",) if repeated else ()
    return ImportedQuestion(
        question=question.question,
        answer=Text((question.answer,)),
        task="report",
        stratum="report",
        position=str(question.position),
        tags=(*(question.categories or ()), *copies, *extra),
    )


def _questions(path: Path) -> Iterator[_Question | Problem]:
    count: Counter[str] = Counter()
    for where, row in released_rows(path):
        volume = row.get("case_id") or row.get("image_path") or row.get("volume")
        missing = [name for name in ("question", "answer") if not str(row.get(name) or "").strip()]
        if not isinstance(volume, str) or not volume.strip():
            missing.append("volume")
        if missing:
            yield bad_row(where, f"no {missing[0]}", _FORM)
            continue
        name = str(volume).replace("\\", "/").rpartition("/")[2].partition("::")[0]
        question, answer = str(row["question"]), str(row["answer"])
        yield _Question(name, count[name], question, answer, _categories(row))
        count[name] += 1


def _categories(row: Row) -> tuple[str, ...] | None:
    stated: Any = row.get("category", row.get("categories"))
    if stated is None:
        return None
    words = [stated] if isinstance(stated, str) else stated
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise SitusError(
            "a category is not text",
            where=str(row.get("question"))[:60],
            fix="give a list of names",
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
        if isinstance(other, Problem):
            raise SitusError(other.problem, where=other.where, fix=other.fix)
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
        categories = queue.popleft() if queue else question.categories
        result.append(msgspec.structs.replace(question, categories=categories))
    left = sum(map(len, known.values()))
    if left:
        text = f"{left} of its questions are not in the bench"
        problems.append(
            Problem(
                Severity.WARNING,
                "category",
                Path(source).name,
                text,
                "is it from the same release?",
            )
        )
    return result


def _labelled(
    questions: list[_Question],
    labeller: Asker,
    ended: Callable[[AskedByID], None],
    run: ImportRun,
) -> list[_Question]:
    """Labels by a model, each under its question's id.

    Equal questions with equal answers are asked once.
    """
    pairs = [(question.question, question.answer) for question in questions]
    ids = {pair: "q" + digest(*pair, size=8) for pair in dict.fromkeys(pairs)}
    journal = asked_beside(run.out) / "labeller.jsonl"
    subjects = [(id_, *pair) for pair, id_ in ids.items()]
    labels, asked = label_dimensions(labeller, subjects, journal, restricted=run.options.restricted)
    ended(asked)
    lacking = sum(id_ not in labels for id_ in ids.values())
    if lacking:
        text = f"{lacking} questions got no label from {labeller.name}"
        run.problems.append(
            Problem(Severity.WARNING, "category", "questions", text, "they count in no category")
        )
    return [
        msgspec.structs.replace(q, categories=labels.get(ids[pair], ()))
        for q, pair in zip(questions, pairs)
    ]


def _report_texts(path: Path, problems: list[Problem], volumes: set[str]) -> dict[str, str]:
    """Volume → report, its white space evened out."""
    reports = read_json(path, dict[str, _Report])
    stems = {volume_stem(name): report for name, report in reports.items()}
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
    """Volume → patient, patients with a report text
    in common under the name of the first of them."""
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
        text = (
            f"{repeated} of {len(questions)} questions occur more than once ({len(asked)} are"
            " distinct)"
        )
        yield Problem(
            Severity.WARNING,
            "repeated-question",
            "questions",
            text,
            "they carry the tag `repeated question`",
        )
    shared = Counter(texts.values())
    copies = sum(count for count in shared.values() if count > 1)
    if copies:
        before, after = len({_patient(volume) for volume in patients}), len(set(patients.values()))
        text = (
            f"{copies} volumes share a report text with another; {before} patients are {after}"
            " clusters"
        )
        yield Problem(
            Severity.WARNING, "shared-report", "reports", text, "they carry the tag `shared report`"
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
