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
from situs.run import AnswerRow, Journal, Spec, Viewing, list_boxes, speakable_boxes, start_run
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
    opened, found = open_bench(bench), read_answers(file)
    if found.quiz.bench_hash != opened.info.content_hash:
        raise SitusError(
            "is of another bench", where=file, fix="give the bench the quiz was made from"
        )
    states: dict[str, int] = dict(
        sorted(Counter(str(answer.state) for answer in found.answers).items())
    )
    if found.quiz.mode == "verify":
        if out is not None:
            raise SitusError(
                "verdicts on the key cannot become a run", where="--out", fix="leave --out out"
            )
        errors = _keep_verdicts(opened, found)
        return Imported(found.reader, "verify", len(found.answers), states, errors)
    if out is None:
        raise SitusError("a reader's answers become a run", where="--out", fix="give --out RUN")
    _write_run(opened, found, out)
    return Imported(found.reader, "answer", len(found.answers), states)


def _keep_verdicts(bench: Bench, found: QuizAnswers) -> KeyErrors | None:
    """Add the reader's verdicts; a second file of the same reader and sample takes the place of the first."""
    verdicts: dict[str, KeyVerdict] = {
        a.item_id: a.state for a in found.answers if a.state != "answered"
    }
    quiz = found.quiz
    new = KeyReading(found.reader, quiz.profile.name, quiz.seed, len(quiz.items), verdicts)
    kept = [
        old
        for old in read_readings(bench.folder)
        if (old.reader, old.profile, old.seed) != (new.reader, new.profile, new.seed)
    ]
    readings = [*kept, new]
    errors = key_errors(readings)
    write_readings(bench.folder, readings, errors.words if errors is not None else "")
    return errors


def _write_run(bench: Bench, found: QuizAnswers, out: Path) -> None:
    said = {answer.item_id: answer for answer in found.answers}
    items = {item.item_id: item for item in bench.items() if item.item_id in set(found.quiz.items)}
    strangers = sorted(set(found.quiz.items) - items.keys())
    if strangers:
        raise SitusError(
            f"the bench has no item {strangers[0]}", fix="give the bench the quiz was made from"
        )
    if (out / "run.json").exists():
        raise SitusError("holds a run already", where=out, fix="choose another --out")
    shown = Viewing(bench, found.quiz.profile)
    rows = [_row(items[key], said[key], shown) for key in found.quiz.items if key in said]
    spec = Spec("human", found.reader)
    start_run(out, bench, spec, found.quiz.profile, None, None, sample=tuple(found.quiz.items))
    with Journal(out / "answers.jsonl") as journal:
        for row in rows:
            journal.add(row)


def _row(item: Item, answer: SaidAnswer, shown: Viewing) -> AnswerRow:
    if answer.state != "answered":
        return AnswerRow(
            item.item_id, "refused", answer.state.replace("_", " "), seconds=answer.seconds
        )
    said = answer.parts if isinstance(item.answer, Compound) else {"": answer.said}
    return AnswerRow(
        item.item_id, "answered", spoken_answer(item, said, shown), seconds=answer.seconds
    )


def spoken_answer(item: Item, said: Mapping[str, Said], shown: Viewing) -> str:
    """What a reader said of an item, by part, in the words in which a model would say it."""
    if not isinstance(item.answer, Compound):
        return _words(item, item.answer, said.get("", Said()), shown)
    parts = {
        name: _part(item, part, said.get(name, Said()), shown)
        for name, part in item.answer.parts.items()
    }
    return json.dumps(parts)


def _words(item: Item, answer: Simple, said: Said, shown: Viewing) -> str:
    match answer:
        case Boxes():
            return list_boxes(_boxes(said), shown.space, shown.sizes(item))
        case Grades():
            return json.dumps(said.grades)
        case Frames() if not said.text:
            return "None."
        case _:
            return said.text


def _part(item: Item, answer: Simple, said: Said, shown: Viewing) -> object:
    if isinstance(answer, Boxes):
        return speakable_boxes(_boxes(said), shown.space, shown.sizes(item))
    return dict(said.grades) if isinstance(answer, Grades) else _words(item, answer, said, shown)


def _boxes(said: Said) -> Sequence[FrameBox]:
    return [
        FrameBox(
            b.frame, min(b.x0, b.x1), min(b.y0, b.y1), max(b.x0, b.x1), max(b.y0, b.y1), b.label
        )
        for b in said.boxes
    ]
