"""What a spoilt study asks, held against the patient."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import msgspec
import numpy as np

from attacks._study import Study, mask_of
from situs.anatomy import term
from situs.facts import (
    Ledger,
    MaskedSeries,
    ScanValues,
    load_recipe,
)
from situs.items import TASKS, NotAsked, Number, Question
from situs.items.gate import pose
from situs.items.posed import Posed
from situs.items.subjects import subjects


class Outcome(msgspec.Struct, frozen=True):
    """Of one attack on one study."""

    asked: int
    wrong: tuple[str, ...]
    """Questions whose answer the patient contradicts."""
    unknown: tuple[str, ...]
    """Questions that the unharmed study leaves open,
    so that nothing tells whether they are right."""
    doubts: tuple[str, ...]


def ledger_of_study(study: Study, annotation: str = "manual") -> Ledger:
    """The ledger that `build` would make of it, without files."""
    return Ledger(
        study.labels,
        MaskedSeries(
            study_id="study",
            series="ct",
            labels_hash="unused",
            annotation=annotation,
            side_basis="affine",
        ),
        recipe=load_recipe(),
        terms={s.name: term(s.name) for s in study.labels.structures},
        scan=ScanValues(image=study.image, ct=study.image if study.modality == "ct" else None),
    )


def asked_of(ledger: Ledger, *, pictured: bool = True) -> Iterator[tuple[Question, Posed]]:
    """Every question that the gate lets pass, without quotas."""
    about = subjects(ledger)
    for task in TASKS.values():
        if task.rules.drawn and not pictured:
            continue
        for question in task.questions(ledger, about):
            posed = pose(ledger, task, question)
            if isinstance(posed, Posed):
                yield question, posed


def trial(
    study: Study, spoilt: Study, annotation: str = "manual", truth: Ledger | None = None
) -> Outcome:
    """What is asked of a spoilt study, and what of it is wrong."""
    ledger = ledger_of_study(spoilt, annotation)
    truth = truth or ledger_of_study(study, annotation)
    asked, wrong, unknown = 0, [], []
    for question, posed in asked_of(ledger, pictured=spoilt.image is not None):
        asked += 1
        right = _is_right(truth, spoilt, question, posed)
        if right is None:
            unknown.append(posed.text)
        elif not right:
            wrong.append(posed.text)
    found = [f"{one.doubt}:{one.code}:{','.join(one.structures[:3])}" for one in ledger.doubts]
    return Outcome(asked, tuple(wrong), tuple(unknown), tuple(found))


def _is_right(truth: Ledger, spoilt: Study, question: Question, posed: Posed) -> bool | None:
    if question.task == "marks":
        return _marks_are_right(spoilt, question, posed)
    try:
        true = TASKS[question.task].pose(
            truth, Question(question.task, question.form, question.parameters)
        )
    except KeyError:  # a name that only the wrong files have
        return False
    if isinstance(true, NotAsked):
        return None
    if isinstance(posed.answer, Number) and isinstance(true.answer, Number):
        low, high = true.answer.interval or (true.answer.value, true.answer.value)
        return low <= posed.answer.value <= high
    return posed.answer == true.answer


def _marks_are_right(spoilt: Study, question: Question, posed: Posed) -> bool | None:
    """Marks are voxels: what the patient has there is looked up, whatever the header says."""
    placed = next(fact for fact in posed.facts if fact.kind.startswith("marks."))
    points = np.array(placed.value, dtype=float).reshape(-1, 3)
    matrix = np.linalg.inv(spoilt.labels.grid.affine.matrix)
    index = np.rint(points @ matrix[:3, :3].T + matrix[:3, 3]).astype(int)
    truth = spoilt.truth
    if question.parameters.get("ask") == "organ":
        name = question.parameters["of"]
        if name not in {s.name for s in truth.structures}:
            return False
        inside = [bool(mask_of(truth, name)[tuple(i)]) for i in index]
        return inside[0] and not any(inside[1:])
    if question.parameters.get("ask") == "same":
        holds = [
            {
                s.name
                for s in truth.structures
                if s.name != "body" and mask_of(truth, s.name)[tuple(i)]
            }
            for i in index
        ]
        claimed = str(placed.derivation.parameters["inside"]).split("+")  # type: ignore[union-attr]
        pairs = list(itertools.combinations(range(len(claimed)), 2))
        (one, two) = next((i, j) for i, j in pairs if claimed[i] == claimed[j])
        others = [held for k, held in enumerate(holds) if k not in (one, two)]
        return bool(holds[one] & holds[two]) and not any(
            (holds[one] | holds[two]) & held for held in others
        )
    return None
