"""The file a quiz exports: what one reader said, validated at the border."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import msgspec

from situs.base.files import read_json
from situs.errors import SitusError
from situs.profiles import Profile

__all__ = ["FORMAT", "QuizAnswers", "QuizHead", "Said", "SaidAnswer", "SaidBox", "read_answers"]

FORMAT = "situs-quiz-1"
_READER = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,39}")

Mode = Literal["answer", "verify"]
State = Literal["answered", "agree", "disagree", "unsure", "not_visible"]
_STATES: dict[str, tuple[str, ...]] = {
    "answer": ("answered", "unsure", "not_visible"),
    "verify": ("agree", "disagree", "unsure", "not_visible"),
}


class SaidBox(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A rectangle the reader drew, in pixels of a picture; `frame` is its position from 0."""

    frame: int
    x0: float
    y0: float
    x1: float
    y1: float
    label: str = ""


class Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A simple answer, in the form its question asks for."""

    text: str = ""
    boxes: tuple[SaidBox, ...] = ()
    grades: dict[str, int] = {}


class SaidAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the reader said of one item."""

    item_id: str
    state: State
    said: Said = Said()
    parts: dict[str, Said] = {}
    """Of a question that asks for several things."""
    comment: str = ""
    seconds: float = 0.0


class QuizHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a quiz is about; it comes back with the answers."""

    format: str
    mode: Mode
    bench: str
    bench_hash: str
    profile: Profile
    seed: int
    items: tuple[str, ...]


class QuizAnswers(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One reader's file."""

    quiz: QuizHead
    reader: str
    answers: tuple[SaidAnswer, ...]


def read_answers(path: Path) -> QuizAnswers:
    """A reader's file, refused with all that is wrong with it."""
    quiz_answers = read_json(path, QuizAnswers)
    problems = []
    if quiz_answers.quiz.format != FORMAT:
        problems.append(f"$.quiz.format is {quiz_answers.quiz.format!r}, not {FORMAT!r}")
    if not _READER.fullmatch(quiz_answers.reader):
        problems.append("$.reader is not a name of letters, digits, spaces, dots and dashes")
    drawn, seen = set(quiz_answers.quiz.items), set[str]()
    for number, answer in enumerate(quiz_answers.answers):
        if answer.item_id not in drawn:
            problems.append(
                f"$.answers[{number}].item_id {answer.item_id!r} is not an item of the quiz"
            )
        if answer.item_id in seen:
            problems.append(f"$.answers[{number}].item_id {answer.item_id!r} occurs twice")
        if answer.state not in _STATES[quiz_answers.quiz.mode]:
            problems.append(
                f"$.answers[{number}].state {answer.state!r} does not belong to a quiz to"
                f" {quiz_answers.quiz.mode}"
            )
        seen.add(answer.item_id)
    if problems:
        raise SitusError(
            "; ".join(problems), where=path, fix="export the answers from the quiz again"
        )
    return quiz_answers
