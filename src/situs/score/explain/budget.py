"""The error budget of a run: for every wrong answer the causes that fit it, and for every cause
what chance would give.

A cause fits an answer if undoing it makes the answer right (or, for the prior, if the answer is
what other patients suggest). With few options a random error often fits one too, so a cause counts
as found only where it is seen more often than chance explains:

- Options: a wrong answer at random is any of the wrong options. Where there is only one wrong
  answer (yes/no, two
  options) it always fits, and tells nothing; there, the answers right and wrong are compared with a
  guess: a reader who guesses shows the cause half of the time, one who exchanges left and right
  more often.
- Numbers: how densely the run's own wrong numbers lie beside the window in which a slip lands.
- Frames and boxes: the same answer at other places.

The p value is the larger of two: the exact upper tail for independent answers, and the test over
patients, which holds where a patient's answers share a fate. Options and numbers need more: who
says one thing per question whatever is shown has as many opinions as there are questions, not
patients. There the cause must also show over questions, or in the patient's own answer more often
than it would in those of others who were asked the same. Corrected after Holm over the causes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np

from situs.base.text import counted
from situs.run import Prior, Spec, Viewing
from situs.score.explain.answers import judged_in
from situs.score.explain.causes import STATES, Cause, Exposures, Suspicion
from situs.score.explain.gathering import (
    ExpectsAnswers,
    FactsOfItems,
    Gathered,
    closed_exposures,
    gather,
    may_be_luck,
    number_chances,
)
from situs.score.explain.readings import JudgedAnswer
from situs.score.explain.study_facts import StudyFactsById
from situs.score.explain.tails import beyond_opinions, upper_tail
from situs.score.scored_run import ScoredRun, open_replies, read_run
from situs.score.stats.estimates import paired_difference
from situs.score.stats.paired import holm

__all__ = [
    "Budget",
    "BudgetRow",
    "WrongAnswer",
    "budget_from",
    "budget_of",
    "signatures",
]

_TOO_FEW = 10
"""Under so many patients nothing is tested."""
_LEVEL = 0.05
UNEXPLAINED = "unexplained"


class WrongAnswer(msgspec.Struct, frozen=True):
    """One answer that is not right, with every cause that fits it."""

    item_id: str
    causes: tuple[Suspicion, ...]
    """The least likely by chance first; empty if none fits."""


class BudgetRow(msgspec.Struct, frozen=True):
    """One cause over the whole run."""

    cause: str
    first: int
    """Wrong answers that it explains best; over all rows they add up to all wrong answers."""
    fits: int
    """Wrong answers that it fits at all."""
    could: int
    """Answers in which it could have shown."""
    expected: float | None
    """How many of these chance alone would show;
    None where chance plays no part or cannot be computed."""
    excess: float | None = None
    """Shown minus expected, as a share of `could`."""
    ci95: tuple[float, float] | None = None
    """Of the excess, over patients."""
    p: float | None = None
    p_holm: float | None = None
    beyond_chance: bool | None = None
    """None where it was not tested."""
    patients: int = 0
    """Patients that `could` rests on."""


class Budget(msgspec.Struct, frozen=True):
    """What a run's errors look like."""

    items: int
    """Answerable items that a rule can judge; free text is left out."""
    wrong: int
    rows: list[BudgetRow]
    answers: list[WrongAnswer]
    warnings: list[str] = []


def signatures(bench: Path | None, run: Path) -> Budget:
    """The error budget of a run folder; `bench` if it is not where the run remembers it."""
    return budget_of(read_run(open_replies(run, bench)))


def budget_of(run: ScoredRun, shown: Viewing | None = None, prior: Prior | None = None) -> Budget:
    """The error budget of a scored run. Runs of one bench and profile share what is `shown` and
    what the `prior` learned."""
    columns, shown = run.columns, shown or run.replies.viewing
    counted = columns.tri_state("right") >= 0
    counted &= ~columns.has_state("unjudged")
    prior = prior or Prior(run.bench, Spec("prior"), shown)
    gathered = Gathered(int(counted.sum()), int((counted & ~columns.right).sum()))
    answers = judged_in(run, lambda item, right: not right or may_be_luck(item))
    gather(answers, StudyFactsById(run.bench), shown, prior, gathered)
    return _budget(gathered)


def budget_from(
    answered: Iterable[JudgedAnswer], facts: FactsOfItems, viewing: Viewing, prior: ExpectsAnswers
) -> Budget:
    """The error budget of scored answers."""
    gathered = Gathered()
    gather(_counted(answered, gathered), facts, viewing, prior, gathered)
    return _budget(gathered)


def _counted(answered: Iterable[JudgedAnswer], gathered: Gathered) -> Iterator[JudgedAnswer]:
    """The answers that count, on their way to somebody else."""
    for one in answered:
        if one.judgement.right is not None and one.judgement.state != "unjudged":
            gathered.counted += 1
            gathered.wrong += not one.judgement.right
            yield one


def _budget(gathered: Gathered) -> Budget:
    number_chances(gathered)
    closed_exposures(gathered)
    answers = _answers(gathered)
    rows = _rows(gathered, answers)
    return Budget(gathered.counted, gathered.wrong, rows, answers, _warnings(gathered))


def _answers(found: Gathered) -> list[WrongAnswer]:
    order = {cause: place for place, cause in enumerate(Cause)}

    def rank(pair: tuple[Cause, float | None]) -> tuple[float, int]:
        cause, chance = pair
        unknown = 0.0 if cause in STATES else 0.5
        return (unknown if chance is None else chance), order[cause]

    return [
        WrongAnswer(item_id, tuple(Suspicion(*pair) for pair in sorted(causes.items(), key=rank)))
        for item_id, causes in sorted(found.suspicions.items())
    ]


def _rows(found: Gathered, answers: Sequence[WrongAnswer]) -> list[BudgetRow]:
    first = Counter(
        answer.causes[0].cause.value if answer.causes else UNEXPLAINED for answer in answers
    )
    fits = Counter(one.cause for answer in answers for one in answer.causes)
    exposed, none = found.exposures, Exposures()
    rows = [
        _row(cause, first[cause.value], fits[cause], exposed.get(cause, none)) for cause in Cause
    ]
    possible = [row for row in rows if row.fits or row.could]
    corrected = holm([row.p for row in possible])
    possible = [
        msgspec.structs.replace(row, p_holm=p, beyond_chance=None if p is None else p < _LEVEL)
        for row, p in zip(possible, corrected)
    ]
    return [
        *possible,
        BudgetRow(UNEXPLAINED, first[UNEXPLAINED], first[UNEXPLAINED], len(answers), None),
    ]


def _row(cause: Cause, first: int, fits: int, exposed: Exposures) -> BudgetRow:
    if not len(exposed):
        return BudgetRow(cause.value, first, fits, fits, None)
    seen = np.frombuffer(exposed.seen, dtype=np.uint8).astype(np.float64)
    expected = np.array(exposed.expected)
    estimate = paired_difference(seen, expected, exposed.clusters)
    p = None
    if estimate.clusters >= _TOO_FEW:
        more = estimate.value is not None and estimate.value > 0 and estimate.p is not None
        p = max(
            upper_tail(expected, int(seen.sum())),
            estimate.p if more and estimate.p is not None else 1.0,
        )
        if exposed.texts:
            p = max(p, beyond_opinions(exposed))
    return BudgetRow(
        cause.value,
        first,
        fits,
        len(exposed),
        float(expected.sum()),
        estimate.value,
        estimate.ci95,
        p,
        patients=estimate.clusters,
    )


def _warnings(found: Gathered) -> list[str]:
    clusters = {cluster for one in found.exposures.values() for cluster in one.clusters}
    patients = len(clusters)
    if patients and patients < _TOO_FEW:
        return [
            f"only {counted(patients, 'patient')}: no cause is tested against chance (at least"
            f" {_TOO_FEW}"
            " needed)"
        ]
    return []
