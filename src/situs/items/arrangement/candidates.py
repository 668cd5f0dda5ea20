"""All questions one patient allows, posed and proved, within the recipe's quotas."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

import msgspec

from situs.base.files import canonical_json, digest
from situs.facts import Ledger
from situs.items.gate import pose
from situs.items.kinds import answer_key
from situs.items.posed import NotAsked, Question
from situs.items.record import Item
from situs.items.subjects import subjects
from situs.items.tasks import Task, quota_of

__all__ = ["Candidate", "candidates"]


NO_PICTURE = NotAsked("it would be drawn into pictures, and the study has no image")


class Candidate(msgspec.Struct, frozen=True):
    """An item whose stratum, options and twins are not yet decided; what that decision needs."""

    item: Item
    """With all possible options, in a fixed order."""
    family: str
    primary: bool
    named_only: bool
    textbook: bool
    must_offer: str = ""

    @property
    def key(self) -> str | None:
        """The answer as a value to balance; None for a number."""
        return answer_key(self.item.answer)


def candidates(
    ledger: Ledger,
    patient_id: str,
    tasks: Iterable[Task],
    *,
    seed: int,
    per_study: int | None = None,
    pictured: bool = True,
) -> tuple[list[Candidate], Counter[str]]:
    """Candidates of one series, and how often each reason kept a question from being asked.

    Which questions fill a quota depends on the seed and the question, not on the patient, so that
    different patients are asked the same and twins can form. `pictured`: whether the series has an
    image, into which something can be drawn.
    """
    posed: dict[str, dict[str, list[Candidate]]] = defaultdict(lambda: defaultdict(list))
    quotas: dict[str, int] = {}
    not_asked: Counter[str] = Counter()
    about = subjects(ledger)
    known: set[str] = set()
    for task in tasks:
        for question in task.questions(ledger, about):
            drawable = pictured or not task.rules.drawn
            outcome = pose(ledger, task, question) if drawable else NO_PICTURE
            if isinstance(outcome, NotAsked):
                not_asked[outcome.reason] += 1
                continue
            item = outcome.item(question, ledger, patient_id)
            if item.item_id in known:
                continue  # `compose` asks it, and the task whose question it is
            known.add(item.item_id)
            family = question.family or digest(canonical_json(question.parameters))
            entry = Candidate(
                item,
                f"{question.task}|{family}",
                question.primary,
                question.named_only,
                question.textbook,
                question.must_offer,
            )
            quotas[_quota(question)] = quota_of(question, ledger.recipe)
            posed[_quota(question)][entry.family].append(entry)
    within_quota: list[Candidate] = []
    for quota, families in posed.items():
        allowed = quotas[quota]
        order = sorted(families, key=lambda family: digest(str(seed), family))
        for rank, family in enumerate(order):
            if rank < allowed:
                within_quota.extend(families[family])
            else:
                not_asked["beyond the quota per study"] += len(families[family])
    return (
        within_quota if per_study is None else _limit(within_quota, per_study, seed, not_asked)
    ), not_asked


def _quota(question: Question) -> str:
    return f"{question.quota}|{'textbook' if question.textbook else 'sight'}"


def _limit(
    within_quota: list[Candidate], per_study: int, seed: int, not_asked: Counter[str]
) -> list[Candidate]:
    """At most `per_study` families, drawn in turn from every task so that none is crowded out."""
    by_task: dict[str, list[str]] = defaultdict(list)
    for candidate in within_quota:
        kind = f"{candidate.item.task}|{candidate.item.form}|{candidate.textbook}"
        if candidate.family not in by_task[kind]:
            by_task[kind].append(candidate.family)
    ranked = [pair for families in by_task.values() for pair in enumerate(families)]
    turns = sorted((rank, digest(str(seed), family), family) for rank, family in ranked)
    chosen = set(list(dict.fromkeys(family for _, _, family in turns))[:per_study])
    not_asked["beyond the quota per study"] += sum(
        candidate.family not in chosen for candidate in within_quota
    )
    return [candidate for candidate in within_quota if candidate.family in chosen]
