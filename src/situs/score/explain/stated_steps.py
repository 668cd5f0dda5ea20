"""Faithfulness: whether the steps a model states hold, beside whether its answer does."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec

from situs.items import Number
from situs.score.explain.steps import Statement, StudyFacts, statements
from situs.score.read import base_value
from situs.score.scored_run import ScoredRun, open_replies, read_run
from situs.score.stats.estimates import cluster_mean

__all__ = ["Faithfulness", "FaithfulnessCell", "StepKind", "faithfulness", "faithfulness_of"]

ANSWERS = ("right", "wrong")
STEPS = ("right", "wrong", "none")


class FaithfulnessCell(msgspec.Struct, frozen=True):
    """One cell of the table."""

    answer: str
    """`right` or `wrong`."""
    steps: str
    """`right` if every checked step holds, `wrong` if one does not,
    `none` if there was nothing to check."""
    n: int
    share: float | None
    """Of all answers."""
    ci95: tuple[float, float] | None


class StepKind(msgspec.Struct, frozen=True):
    """Statements of one kind."""

    kind: str
    checked: int
    right: int
    share: float | None
    ci95: tuple[float, float] | None


class Faithfulness(msgspec.Struct, frozen=True):
    """Answers by whether they are right, and by whether the steps stated on the way hold."""

    answers: int
    """Answers that were read; refused and unparsed ones state no answer."""
    table: list[FaithfulnessCell]
    kinds: list[StepKind]
    steps: dict[str, list[Statement]]
    """Item → what was checked in its reply."""


def faithfulness(bench: Path | None, run: Path) -> Faithfulness:
    """The table of a run folder; `bench` if it is not where the run remembers it."""
    return faithfulness_of(read_run(open_replies(run, bench)))


def faithfulness_of(run: ScoredRun) -> Faithfulness:
    """The table of a scored run."""
    viewing = run.replies.viewing
    study, facts = "", StudyFacts(())
    stated_by_item: dict[str, list[Statement]] = {}
    places: list[tuple[str, str, str]] = []
    for item, scored in run.pairs():
        if scored.outcome.state != "answered" or scored.outcome.right is None:
            continue
        if item.study_id != study:
            study = item.study_id
            facts = StudyFacts(run.bench.facts(study_id=study), run.bench.info.terms)
        answered = None
        if isinstance(item.answer, Number) and scored.prediction is not None:
            base = base_value(float(scored.prediction), item.answer.unit)
            answered = base[0] if base is not None else None
        stated = statements(item, run.replies.rows[item.item_id].response, facts, viewing, answered)
        if stated:
            stated_by_item[item.item_id] = stated
        steps = "none" if not stated else "right" if all(one.right for one in stated) else "wrong"
        places.append((scored.cluster, "right" if scored.outcome.right else "wrong", steps))
    return Faithfulness(len(places), _table(places), _kinds(run, stated_by_item), stated_by_item)


def _table(places: list[tuple[str, str, str]]) -> list[FaithfulnessCell]:
    clusters = [cluster for cluster, _, _ in places]
    counts = Counter((answer, steps) for _, answer, steps in places)
    cells = []
    for answer in ANSWERS:
        for steps in STEPS:
            inside = [float((own, step) == (answer, steps)) for _, own, step in places]
            share = cluster_mean(inside, clusters)
            cells.append(
                FaithfulnessCell(answer, steps, counts[answer, steps], share.value, share.ci95)
            )
    return cells


def _kinds(run: ScoredRun, stated_by_item: dict[str, list[Statement]]) -> list[StepKind]:
    columns = run.columns
    patients = dict(zip(columns.item_ids, columns.table["patient_id"].to_pylist()))
    rows = [
        (one.kind, patients[item], one.right)
        for item, stated in stated_by_item.items()
        for one in stated
    ]
    result = []
    for kind in sorted({kind for kind, _, _ in rows}):
        of_kind = [(cluster, right) for name, cluster, right in rows if name == kind]
        share = cluster_mean(
            [float(right) for _, right in of_kind], [cluster for cluster, _ in of_kind]
        )
        result.append(
            StepKind(
                kind, len(of_kind), sum(right for _, right in of_kind), share.value, share.ci95
            )
        )
    return result
