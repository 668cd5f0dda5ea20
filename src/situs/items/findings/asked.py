"""Which questions a study is asked: the tasks, and the recipe's mix of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar, Protocol

from situs.base.files import digest
from situs.errors import SitusError, did_you_mean
from situs.facts import BoxLedger
from situs.items.findings.captioning import Captioning
from situs.items.findings.classification import Classification
from situs.items.findings.composed import frame_of, same_for_all
from situs.items.findings.counting import Counting
from situs.items.findings.detection import Detection
from situs.items.findings.diagnosis import Diagnosis
from situs.items.findings.localization import Localization
from situs.items.posed import NotAsked, Question
from situs.items.record import Item, item_id
from situs.items.tasks import OTHER_TASKS, OtherTask

__all__ = [
    "FINDING_TASKS",
    "FindingTask",
    "choose_finding_tasks",
    "finding_mix",
    "pose_finding",
    "questions_of",
]

_NEAR = 6
"""Negatives so few frames away are taken first: they look more like the slices with the finding."""


class FindingTask(Protocol):
    """A kind of question about boxes on frames."""

    name: str
    quotas: ClassVar[dict[str, int]]
    """Level (`slice`, `volume`) → at most so many questions a study."""

    def questions(self, ledger: BoxLedger) -> Iterator[Question]:
        """Every question that could be put to the study."""

    def pose(
        self, ledger: BoxLedger, question: Question, patient_id: str, seed: int
    ) -> Item | NotAsked:
        """Put one. KeyError if a finding it names is not there."""


FINDING_TASKS: dict[str, FindingTask] = {
    task.name: task
    for task in (
        Detection(),
        Localization(),
        Counting(),
        Classification(),
        Diagnosis(),
        Captioning(),
    )
}
OTHER_TASKS |= dict.fromkeys(FINDING_TASKS, OtherTask())


def choose_finding_tasks(names: str | None) -> list[FindingTask]:
    """The tasks named, comma-separated; all if none is."""
    chosen = [name.strip() for name in names.split(",")] if names else list(FINDING_TASKS)
    for name in chosen:
        if name not in FINDING_TASKS:
            raise SitusError(
                f"unknown task {name!r}", where="--tasks", fix=did_you_mean(name, FINDING_TASKS)
            )
    return [FINDING_TASKS[name] for name in dict.fromkeys(chosen)]


def pose_finding(
    ledger: BoxLedger, question: Question, patient_id: str, seed: int
) -> Item | NotAsked:
    """Put a question of any task."""
    return FINDING_TASKS[question.task].pose(ledger, question, patient_id, seed)


def questions_of(
    ledger: BoxLedger,
    tasks: Iterable[FindingTask],
    mix: Mapping[str, int],
    seed: int,
    per_study: int | None = None,
) -> tuple[list[Question], Counter[str]]:
    """The questions a study is asked, at most as many of each task and level as it allows, or `mix`
    instead.

    Within a quota the kinds of a question (yes and no; boxes, frames and sides) take turns, and the
    seed picks.
    """
    asked: list[Question] = []
    left_out: Counter[str] = Counter()
    quotas = finding_mix(mix)
    for task in tasks:
        by_level: dict[str, list[Question]] = defaultdict(list)
        for question in task.questions(ledger):
            by_level[f"{task.name}.{'volume' if frame_of(question) is None else 'slice'}"].append(
                question
            )
        for quota, questions in sorted(by_level.items()):
            within_quota = _in_turn(ledger, questions, seed)[: _allowed(quota, quotas)]
            left_out["beyond the quota per study"] += len(questions) - len(within_quota)
            asked += within_quota
    if per_study is not None and len(asked) > per_study:
        turns = _in_turn(ledger, asked, seed, by_task=True)
        left_out["beyond the quota per study"] += len(asked) - per_study
        asked = turns[:per_study]
    return asked, left_out


def finding_mix(changed: Mapping[str, int]) -> dict[str, int]:
    """Task and level → at most so many questions a study: as the tasks declare, unless changed."""
    declared = {
        f"{task.name}.{level}": most
        for task in FINDING_TASKS.values()
        for level, most in task.quotas.items()
    }
    odd = next((name for name in changed if name not in declared), None)
    if odd is not None:
        problem = f"no task about boxes asks {odd!r}"
        raise SitusError(problem, where="boxes.mix", fix=did_you_mean(odd, declared))
    return declared | dict(changed)


def _allowed(quota: str, mix: Mapping[str, int]) -> int:
    if quota not in mix:
        name, _, level = quota.partition(".")
        raise SitusError(f"task {name!r} asks about a {level}, for which it declares no quota")
    return mix[quota]


def _in_turn(
    ledger: BoxLedger, questions: list[Question], seed: int, *, by_task: bool = False
) -> list[Question]:
    groups: dict[str, list[tuple[bool, str, Question]]] = defaultdict(list)
    for question in questions:
        own_id = item_id(ledger.study_id, question.task, question.form, question.parameters)
        if question.task == "detection":
            # Two patients are of use to each other where both could be asked about the same slice.
            own_id = same_for_all(question)
        draw = digest(str(seed), own_id)
        if by_task:
            groups[question.task].append((False, draw, question))
        else:
            kind, far = _kind(ledger, question)
            groups[kind].append((far, draw, question))
    ranked = []
    for members in groups.values():
        members.sort(key=lambda entry: entry[:2])
        ranked += [(rank, draw, question) for rank, (_, draw, question) in enumerate(members)]
    ranked.sort(key=lambda entry: entry[:2])
    return [question for _, _, question in ranked]


def _kind(ledger: BoxLedger, question: Question) -> tuple[str, bool]:
    """Which kind of its task a question is, and whether it is a negative far from the finding."""
    frame = frame_of(question)
    if question.task != "detection":
        return question.parameters.get("ask", ""), False
    name = question.parameters["finding"]
    if frame is None or frame in ledger.frames_of(name):
        return "yes", False
    distance = ledger.distance(name, frame)
    return "no", distance is not None and distance > _NEAR
