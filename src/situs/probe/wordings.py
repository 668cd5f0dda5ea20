"""How far a score depends on the words in which an answer is asked for."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from situs.probe.table import Interval
from situs.score import cluster_mean
from situs.score.explain import Answers, said_by

__all__ = ["Wording", "Wordings", "wordings_of"]


class Wording(msgspec.Struct, frozen=True):
    """One wording."""

    accuracy: float | None
    ci95: Interval
    unread: float
    """Share of answers that could not be read, or declined."""


class Wordings(msgspec.Struct, frozen=True):
    """The same items under all wordings."""

    n: int
    band: tuple[float, float] | None
    """The lowest and the highest accuracy over the wordings."""
    same_answer: float | None
    """The same answer under every wording."""
    by_wording: dict[str, Wording]


def wordings_of(runs: Mapping[str, Answers]) -> Wordings:
    """Compare the runs on the items that count in all of them;
    the first is the profile's own wording."""
    ids = sorted(
        set.intersection(
            *({i for i, one in run.by_id.items() if one.counts} for run in runs.values())
        )
    )
    if not ids:
        return Wordings(0, None, None, {})
    table = {}
    for name, run in runs.items():
        listed = [run.by_id[item_id] for item_id in ids]
        clusters = [one.item.patient_id for one in listed]
        accuracy = cluster_mean([float(one.right) for one in listed], clusters)
        unread = sum(one.scored.state != "answered" for one in listed) / len(listed)
        table[name] = Wording(accuracy.value, accuracy.ci95, unread)
    values = [wording.accuracy for wording in table.values() if wording.accuracy is not None]
    alike = 0
    for item_id in ids:
        replies = {said_by(run.by_id[item_id]) for run in runs.values()}
        alike += len(replies) == 1 and None not in replies
    return Wordings(len(ids), (min(values), max(values)), alike / len(ids), table)
