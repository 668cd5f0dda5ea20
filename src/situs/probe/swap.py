"""The swap of real patients: the same words, another scan,
another right answer; from the run's own answers."""

from __future__ import annotations

from collections import defaultdict
from itertools import permutations

import msgspec
import numpy as np

from situs.items import answer_key
from situs.probe.flipped import looks_flipped
from situs.probe.table import Interval, ProbeRow, row_of
from situs.score import Estimate, cluster_bootstrap_of
from situs.score.explain import Answered, Answers, said_by

__all__ = ["swap_row"]


class _Pair(msgspec.Struct, frozen=True):
    """First and second scan of one question, by place among the items."""

    first: int
    second: int
    kept_old: bool
    weight: float
    """One by the number of pairs of the same question."""


def swap_row(answers: Answers, *, seed: int = 0) -> ProbeRow:
    """Every ordered pair of twins of different patients and answers: from the first scan to the
    second.

    `followed`, `kept_old` and `neither` are shares of the pairs whose first scan was answered
    rightly. Every question has the same weight: pairs grow with the square of the patients asked,
    and else a few questions asked of everybody would decide. A pair belongs to two patients; the
    interval resamples patients, and a pair counts as often as both of its items are drawn.
    """
    items = [one for _, one in sorted(answers.by_id.items()) if one.item.twin_group and one.counts]
    pairs = _pairs(items)
    if not pairs:
        note = "no twins with different answers were asked"
        return row_of("patient", [], note=note)
    first, second = (
        np.array([getattr(pair, name) for pair in pairs]) for name in ("first", "second")
    )
    right = np.array([one.right for one in items], dtype=np.float64)
    keeps_old = np.array([pair.kept_old for pair in pairs], dtype=np.float64)
    same = np.array(
        [_same_answer(items[pair.first], items[pair.second]) for pair in pairs], dtype=np.float64
    )
    by_text = np.array([pair.weight for pair in pairs])
    flipped = np.array(
        [one.row is not None and looks_flipped(one.row.response) for one in items], dtype=np.float64
    )
    before, after, always = right[first], right[second], np.ones(len(pairs))
    clusters = [one.item.patient_id for one in items]

    def share(hits: np.ndarray, among: np.ndarray) -> Estimate:
        def statistic(picked: np.ndarray) -> float | None:
            times = np.bincount(picked, minlength=len(items)).astype(np.float64)
            weights = times[first] * times[second] * by_text
            total = float(weights @ among)
            return float(weights @ (hits * among)) / total if total > 0 else None

        return cluster_bootstrap_of(statistic, clusters, n_boot=500, seed=seed, bounds=(0.0, 1.0))

    shares = {
        "original": share(before, always),
        "changed": share(after, always),
        "both_right": share(before * after, always),
        "followed": share(after, before),
        "kept_old": share(keeps_old, before),
        "neither": share((1 - after) * (1 - keeps_old), before),
        "same_answer": share(same, always),
        "looks_flipped": share(flipped[second], always),
    }
    intervals: dict[str, Interval] = {name: estimate.ci95 for name, estimate in shares.items()}
    return ProbeRow(
        kind="patient",
        original=shares["original"].value,
        changed=shares["changed"].value,
        both_right=shares["both_right"].value,
        followed=shares["followed"].value,
        kept_old=shares["kept_old"].value,
        neither=shares["neither"].value,
        same_answer=shares["same_answer"].value,
        looks_flipped=shares["looks_flipped"].value,
        n=len(pairs),
        ci95=intervals["changed"],
        intervals=intervals,
        difference=0.0,
        patients=len(set(clusters)),
        n_followed=int(before.sum()),
        patients_followed=len(
            {clusters[k] for k, right_before in zip(first, before) if right_before}
        ),
        n_changed=len(pairs),
        outcomes={"changed": len(pairs)},
        runs=("original",),
        note=shares["changed"].note,
    )


def _pairs(items: list[Answered]) -> list[_Pair]:
    groups: dict[str, list[int]] = defaultdict(list)
    for number, one in enumerate(items):
        if answer_key(one.item.answer) is not None:
            groups[one.item.twin_group].append(number)
    result = []
    for members in groups.values():
        paired = [(a, b) for a, b in permutations(members, 2) if _differ(items[a], items[b])]
        for a, b in paired:
            kept_old = not items[b].right and said_by(items[b]) == answer_key(items[a].item.answer)
            result.append(_Pair(a, b, kept_old, 1.0 / len(paired)))
    return result


def _differ(one: Answered, other: Answered) -> bool:
    """Whether two items are of different patients with different right answers."""
    if one.item.patient_id == other.item.patient_id:
        return False
    return answer_key(one.item.answer) != answer_key(other.item.answer)


def _same_answer(one: Answered, other: Answered) -> bool:
    """Whether both got the same answer."""
    return said_by(one) is not None and said_by(one) == said_by(other)
