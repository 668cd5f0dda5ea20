"""The task `compose`: questions of several steps, written as programs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from situs.facts import Ledger
from situs.items.posed import NotAsked, Posed, Question
from situs.items.programs.conclude import pose_program
from situs.items.programs.enumerate import programs_of
from situs.items.programs.evaluate import names_of
from situs.items.programs.expression import Expr, can_be_written, read_program
from situs.items.programs.language import load_language
from situs.items.programs.other_tasks import COMPOSE, question_of
from situs.items.programs.proof import prove_text
from situs.items.subjects import Subject
from situs.items.tasks import NothingExpected, TaskRules, task_named

__all__ = ["Compose", "as_question", "form_of"]

_UNCLEAR = NotAsked("its wording could be read in another way")


class Compose(NothingExpected):
    """Asks what takes several steps: pick, filter, then compare, count or measure."""

    name = COMPOSE
    rules = TaskRules(
        quotas={
            "which": 24,
            "any": 12,
            "count": 6,
            "is_touching": 6,
            "is_within": 12,
            "is_on": 4,
            "is_beyond": 8,
            "same": 8,
            "larger": 6,
            "wider": 4,
            "closer": 24,
            "reaches_higher": 6,
            "reaches_lower": 6,
            "rank": 4,
            "volume": 2,
            "volume_exceeds": 6,
            "diameter": 3,
            "diameter_exceeds": 6,
            "length": 2,
            "gap": 3,
            "centre_distance": 2,
            "level": 4,
            "top_level": 2,
            "bottom_level": 2,
            "side": 4,
        },
        mix="lesion",
        units=("mm", "mL", ""),
        whole=False,
        decides=(),
        learns=(),
        group="lesions",
        ordered=("level", "top_level", "bottom_level"),
        on_request=True,
    )

    def questions(self, ledger: Ledger, subjects: list[Subject]) -> Iterator[Question]:
        """The programs of the patient; one that another task asks is that task's question."""
        others: dict[str, list[Question]] = {}
        for program in programs_of(ledger, subjects):
            question = as_question(program)
            if not all(map(can_be_written, program.names)):
                continue
            if question.task == COMPOSE:
                yield question
                continue
            if question.task not in others:
                others[question.task] = list(task_named(question.task).questions(ledger, subjects))
            for other in others[question.task]:
                if (other.form, other.parameters) == (question.form, question.parameters):
                    yield other

    def pose(self, ledger: Ledger, question: Question) -> Posed | NotAsked:
        """Asked if every step holds over the whole intervals of the facts,
        and the words can mean nothing else."""
        if question.task != COMPOSE:
            return task_named(question.task).pose(ledger, question)
        program = read_program(question.parameters["program"])
        posed = pose_program(ledger, program)
        if isinstance(posed, NotAsked):
            return posed
        names = names_of(ledger)
        return _UNCLEAR if prove_text(posed.text, program, names) is not None else posed


def form_of(program: Expr) -> str:
    """`yes_no`, `choice` or `number`."""
    return load_language().op[program.op].form


def as_question(program: Expr) -> Question:
    """The question of a program with what the arrangement must know of it."""
    question = question_of(program, form_of(program))
    if question.task != COMPOSE:
        return question
    # Another distance, or the number in place of yes and no, asks the same of a patient in another
    # guise.
    family = re.sub(r",[\d.]+\)", ")", str(program)).replace("any(", "count(", 1)
    named_only = not program.families
    return Question(
        COMPOSE, question.form, question.parameters, family=family, named_only=named_only
    )
