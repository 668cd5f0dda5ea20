"""Readers' files back into the project: a run like a model's, or verdicts on the key."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from situs.bench import Bench, KeyReading, KeyVerdict, open_bench, read_readings, write_readings
from situs.errors import SitusError
from situs.items import Boxes, Compound, Frames, Grades, Item, Simple
from situs.review.answers import QuizAnswers, Said, SaidAnswer, read_answers
from situs.run import (
    AnswerRow,
    Covered,
    Journal,
    Spec,
    Viewing,
    list_boxes,
    speakable_boxes,
    start_run,
)
from situs.score import KeyErrors, key_errors
from situs.space import FrameBox

__all__ = ["Imported", "import_answers", "spoken_answer"]


class Imported(msgspec.Struct, frozen=True):
    """What came of a reader's file."""

    reader: str
    mode: str
    items: int
    states: dict[str, int]
    key_errors: KeyErrors | None = None
    """Over all readings of the bench so far, after verdicts on the key."""


def import_answers(bench: Path, file: Path, out: Path | None) -> Imported:
    """Answers become a run at `out`; verdicts on the key go into the bench and onto its card."""
    opened, quiz_answers = open_bench(bench), read_answers(file)
    if quiz_answers.quiz.bench_hash != opened.info.content_hash:
        raise SitusError(
            "is of another bench", where=file, fix="give the bench the quiz was made from"
        )
    states: dict[str, int] = dict(
        sorted(Counter(str(answer.state) for answer in quiz_answers.answers).items())
    )
    if quiz_answers.quiz.mode == "verify":
        if out is not None:
            raise SitusError(
                "verdicts on the key cannot become a run", where="--out", fix="leave --out out"
            )
        errors = _keep_verdicts(opened, quiz_answers)
        return Imported(quiz_answers.reader, "verify", len(quiz_answers.answers), states, errors)
    if out is None:
        raise SitusError("a reader's answers become a run", where="--out", fix="give --out RUN")
    _write_run(opened, quiz_answers, out)
    return Imported(quiz_answers.reader, "answer", len(quiz_answers.answers), states)


def _keep_verdicts(bench: Bench, quiz_answers: QuizAnswers) -> KeyErrors | None:
    """Add the reader's verdicts;
    a second file of the same reader and sample takes the place of the first."""
    verdicts: dict[str, KeyVerdict] = {
        a.item_id: a.state for a in quiz_answers.answers if a.state != "answered"
    }
    quiz = quiz_answers.quiz
    new = KeyReading(quiz_answers.reader, quiz.profile.name, quiz.seed, len(quiz.items), verdicts)
    other_readings = [
        old
        for old in read_readings(bench.folder)
        if (old.reader, old.profile, old.seed) != (new.reader, new.profile, new.seed)
    ]
    readings = [*other_readings, new]
    errors = key_errors(readings)
    write_readings(bench.folder, readings, errors.words if errors is not None else "")
    return errors


def _write_run(bench: Bench, quiz_answers: QuizAnswers, out: Path) -> None:
    answer_of = {answer.item_id: answer for answer in quiz_answers.answers}
    items = {
        item.item_id: item for item in bench.items() if item.item_id in set(quiz_answers.quiz.items)
    }
    strangers = sorted(set(quiz_answers.quiz.items) - items.keys())
    if strangers:
        raise SitusError(
            f"the bench has no item {strangers[0]}", fix="give the bench the quiz was made from"
        )
    if (out / "run.json").exists():
        raise SitusError("holds a run already", where=out, fix="choose another --out")
    viewing = Viewing(bench, quiz_answers.quiz.profile)
    rows = [
        _row(items[key], answer_of[key], viewing)
        for key in quiz_answers.quiz.items
        if key in answer_of
    ]
    spec = Spec("human", quiz_answers.reader)
    start_run(
        out,
        bench,
        spec,
        quiz_answers.quiz.profile,
        Covered(sample=tuple(quiz_answers.quiz.items)),
    )
    with Journal(out / "answers.jsonl") as journal:
        for row in rows:
            journal.add(row)


def _row(item: Item, answer: SaidAnswer, viewing: Viewing) -> AnswerRow:
    if answer.state != "answered":
        return AnswerRow(
            item.item_id, "refused", answer.state.replace("_", " "), seconds=answer.seconds
        )
    parts = answer.parts if isinstance(item.answer, Compound) else {"": answer.said}
    return AnswerRow(
        item.item_id, "answered", spoken_answer(item, parts, viewing), seconds=answer.seconds
    )


def spoken_answer(item: Item, said_parts: Mapping[str, Said], viewing: Viewing) -> str:
    """What a reader said of an item, by part, in the words in which a model would say it."""
    if not isinstance(item.answer, Compound):
        return _words(item, item.answer, said_parts.get("", Said()), viewing)
    parts = {
        name: _part(item, part, said_parts.get(name, Said()), viewing)
        for name, part in item.answer.parts.items()
    }
    return json.dumps(parts)


def _words(item: Item, answer: Simple, reader_answer: Said, viewing: Viewing) -> str:
    match answer:
        case Boxes():
            return list_boxes(_boxes(reader_answer), viewing.space, viewing.sizes(item))
        case Grades():
            return json.dumps(reader_answer.grades)
        case Frames() if not reader_answer.text:
            return "None."
        case _:
            return reader_answer.text


def _part(item: Item, answer: Simple, reader_answer: Said, viewing: Viewing) -> object:
    if isinstance(answer, Boxes):
        return speakable_boxes(_boxes(reader_answer), viewing.space, viewing.sizes(item))
    return (
        dict(reader_answer.grades)
        if isinstance(answer, Grades)
        else _words(item, answer, reader_answer, viewing)
    )


def _boxes(reader_answer: Said) -> Sequence[FrameBox]:
    return [
        FrameBox(
            b.frame, min(b.x0, b.x1), min(b.y0, b.y1), max(b.x0, b.x1), max(b.y0, b.y1), b.label
        )
        for b in reader_answer.boxes
    ]
