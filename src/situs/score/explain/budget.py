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

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec
import numpy as np

from situs.base.text import counted
from situs.facts import Fact
from situs.items import Boxes, Choice, Compound, Frames, Item, Number, YesNo
from situs.run import Prior, Spec, Viewing
from situs.score.compound.parts import meant_part
from situs.score.explain.answers import judged_in
from situs.score.explain.causes import STATES, Cause, Exposures, Suspicion
from situs.score.explain.closed import closed_tests, wrong_values
from situs.score.explain.numbers import Windows, chance_in, holds, windows_of
from situs.score.explain.places import PlaceTest, box_tests, frame_tests
from situs.score.explain.readings import JudgedAnswer, Reading, readings
from situs.score.explain.study_facts import StudyFactsById
from situs.score.metrics.registry import Given
from situs.score.scored_run import ScoredRun, open_replies, read_run
from situs.score.stats.estimates import cluster_of, paired_difference
from situs.score.stats.paired import holm
from situs.space import Grid

__all__ = [
    "Budget",
    "BudgetRow",
    "ExpectsAnswers",
    "WrongAnswer",
    "budget_from",
    "budget_of",
    "signatures",
    "upper_tail",
]

_TOO_FEW = 10
"""Under so many patients nothing is tested."""
_EXACT = 3000
"""Up to so many answers the tail is exact; beyond, normal."""
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


class _NumberCase(NamedTuple):
    """A wrong number, and where a cause would have put it."""

    item_id: str
    cluster: str
    text: str
    truth: Number
    windows: Windows
    stated: float


class _ClosedCase(NamedTuple):
    """An answer to a question with options, and which wrong answers would show a cause."""

    cluster: str
    text: str
    said: str
    shows: frozenset[str]
    expected: float | None
    """How likely chance shows it;
    None where the answer is right and chance would have been another wrong one."""


@dataclass(slots=True)
class _Found:
    """What is gathered while going through the answers."""

    counted: int = 0
    """Answers that count."""
    wrong: int = 0
    suspicions: dict[str, dict[Cause, float | None]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    exposures: dict[Cause, Exposures] = field(default_factory=lambda: defaultdict(Exposures))
    numbers: dict[Cause, list[_NumberCase]] = field(default_factory=lambda: defaultdict(list))
    closed: dict[Cause, list[_ClosedCase]] = field(default_factory=lambda: defaultdict(list))


def signatures(bench: Path | None, run: Path) -> Budget:
    """The error budget of a run folder; `bench` if it is not where the run remembers it."""
    return budget_of(read_run(open_replies(run, bench)))


def budget_of(run: ScoredRun) -> Budget:
    """The error budget of a scored run."""
    columns, shown = run.columns, run.replies.viewing
    counted = columns.tri_state("right") >= 0
    counted &= ~columns.has_state("unjudged")
    prior = Prior(run.bench, Spec("prior"), shown)
    gathered = _Found(int(counted.sum()), int((counted & ~columns.right).sum()))
    facts = StudyFactsById(run.bench)
    for one in judged_in(run, lambda item, right: not right or _may_be_luck(item)):
        _gather(one, facts, shown, prior, gathered)
    return _budget(gathered)


class ExpectsAnswers(Protocol):
    """What is known of a question from other patients."""

    def left_open(self, item: Item) -> list[str]:
        """The answers that other patients leave open."""

    def number(self, item: Item) -> float | None:
        """The number that other patients suggest."""

    def meant_by(self, item: Item, name: str) -> Any:
        """What they suggest of one part of the answer (`Speaker.meant_by`); None if nothing."""


class FactsOfItems(Protocol):
    """Where the facts of an item are found."""

    def of(self, item: Item) -> dict[str, Fact]:
        """The item's own facts by id."""


def budget_from(
    answered: Iterable[JudgedAnswer], facts: FactsOfItems, viewing: Viewing, prior: ExpectsAnswers
) -> Budget:
    """The error budget of scored answers."""
    gathered = _Found()
    for one in answered:
        if one.judgement.right is not None and one.judgement.state != "unjudged":
            gathered.counted += 1
            gathered.wrong += not one.judgement.right
            _gather(one, facts, viewing, prior, gathered)
    return _budget(gathered)


def _budget(gathered: _Found) -> Budget:
    _number_chances(gathered)
    _closed_exposures(gathered)
    answers = _answers(gathered)
    rows = _rows(gathered, answers)
    return Budget(gathered.counted, gathered.wrong, rows, answers, _warnings(gathered))


def _may_be_luck(item: Item) -> bool:
    """Whether a right answer says something as well: with options, how often a guess is right."""
    parts = item.answer.parts.values() if isinstance(item.answer, Compound) else (item.answer,)
    return any(isinstance(part, YesNo | Choice) for part in parts)


def _gather(
    one: JudgedAnswer,
    facts: FactsOfItems,
    viewing: Viewing,
    prior: ExpectsAnswers,
    gathered: _Found,
) -> None:
    """Gather the causes of one answer, if it counts."""
    item, judgement = one.item, one.judgement
    if judgement.right is None or judgement.state == "unjudged":
        return
    if not judgement.right:
        gathered.suspicions[item.item_id]  # an entry even if no cause fits
    if judgement.state != "answered":
        gathered.suspicions[item.item_id][Cause(judgement.state)] = None
        return
    for reading in readings(one, viewing):
        _look(item, reading, facts, viewing, prior, gathered)


def _look(
    item: Item,
    reading: Reading,
    facts: FactsOfItems,
    viewing: Viewing,
    prior: ExpectsAnswers,
    gathered: _Found,
) -> None:
    """Gather the causes of one part of an answer."""
    if reading.part.state != "answered":
        gathered.suspicions[item.item_id][Cause(reading.part.state)] = None
        return
    match reading.truth:
        case YesNo() | Choice():
            _look_closed(item, reading, facts.of(item), prior, gathered)
        case Number() if not reading.part.right:
            _look_number(item, reading, viewing, prior, gathered)
        case Frames() if not reading.part.right:
            prior_answer = _prior_said(item, reading, viewing, prior)
            _keep_places(
                item,
                frame_tests(item, reading.truth, reading.said, viewing, prior_answer),
                gathered,
            )
        case Boxes() if not reading.part.right:
            prior_answer = _prior_said(item, reading, viewing, prior)
            _keep_places(
                item, box_tests(item, reading.truth, reading.said, viewing, prior_answer), gathered
            )
        case _:
            return


def _look_closed(
    item: Item, reading: Reading, facts: Mapping[str, Fact], prior: ExpectsAnswers, gathered: _Found
) -> None:
    answer = (
        reading.said if isinstance(reading.truth, Choice) else ("yes" if reading.said else "no")
    )
    others = wrong_values(item, reading.truth)
    cluster = cluster_of(item)
    right = reading.part.right
    for cause, test in closed_tests(item, reading.truth, facts, prior.left_open(item)).items():
        shows = frozenset(filter(test, others))
        share = len(shows) / len(others) if others else 0.0
        if answer in shows:
            gathered.suspicions[item.item_id][cause] = share
        expected = 0.5 if len(others) == 1 else None if right else share
        if shows:
            gathered.closed[cause].append(
                _ClosedCase(cluster, item.question, answer, shows, expected)
            )


def _look_number(
    item: Item, reading: Reading, viewing: Viewing, prior: ExpectsAnswers, gathered: _Found
) -> None:
    assert isinstance(reading.truth, Number)
    answer = float(reading.said)
    if "unit_missing" in reading.part.flags:
        gathered.suspicions[item.item_id][Cause.UNIT_MISSING] = None
    if answer <= 0:
        return
    lengths, volumes = _spacings(item, viewing)
    windows = windows_of(reading.truth, lengths, volumes, prior.number(item))
    for cause, where in windows.items():
        case = _NumberCase(
            item.item_id, cluster_of(item), item.question, reading.truth, where, answer
        )
        gathered.numbers[cause].append(case)


def _spacings(item: Item, shown: Viewing) -> tuple[list[float], list[float]]:
    """Lengths in mm of one voxel and of one pixel shown,
    and the volumes of one voxel in mm³ made of them."""
    grid = shown.grid(item)
    if not isinstance(grid, Grid):
        return [], []
    voxel = sorted(grid.affine.spacing_mm)
    lengths, volumes = list(voxel), [float(np.prod(voxel))]
    if not shown.obstacle(item):
        frame = shown.layout(item).frames[0]
        across, down = frame.mm_per_pixel
        lengths += [across, down]
        volumes.append(across * down * max(voxel))
    return lengths, volumes


def _prior_said(
    item: Item, reading: Reading, shown: Viewing, prior: ExpectsAnswers
) -> Sequence[Any] | None:
    """What the prior says of the same part."""
    meant = prior.meant_by(item, reading.name)
    if meant is None:
        return None
    part = meant_part(item, reading.truth, meant, shown)
    return part.said if isinstance(part, Given) and part.said else None


def _keep_places(item: Item, tests: Mapping[Cause, PlaceTest], found: _Found) -> None:
    for cause, (seen, share) in tests.items():
        if seen:
            found.suspicions[item.item_id][cause] = share
        found.exposures[cause].add(cluster_of(item), seen, share)


def _number_chances(found: _Found) -> None:
    for cause, cases in found.numbers.items():
        chances = chance_in([(case.truth, case.windows, case.stated) for case in cases])
        by_text: dict[str, list[_NumberCase]] = defaultdict(list)
        for case in cases:
            by_text[case.text].append(case)
        for case, chance in zip(cases, chances):
            seen = holds(case.windows, case.stated)
            if seen:
                found.suspicions[case.item_id][cause] = chance
            elsewhere = _elsewhere(case, by_text[case.text])
            found.exposures[cause].add_asked(case.cluster, seen, chance, case.text, elsewhere)


def _elsewhere(case: _NumberCase, alike: Sequence[_NumberCase]) -> float | None:
    """How often the same number would show the cause in other patients; None if there are none."""
    hits = [holds(other.windows, case.stated) for other in alike if other.cluster != case.cluster]
    return sum(hits) / len(hits) if hits else None


def _closed_exposures(found: _Found) -> None:
    """What each answer shows, beside how often it would
    show it in other patients who were asked the same."""
    for cause, cases in found.closed.items():
        others = _OtherPatients(cases)
        for case in cases:
            if case.expected is None:
                continue
            seen = case.said in case.shows
            found.exposures[cause].add_asked(
                case.cluster, seen, case.expected, case.text, others.share(case)
            )


class _OtherPatients:
    """Of the patients who were asked the same text, how many an answer would show the cause in.

    Counts are kept by text and by text and patient, so that the patient's own are taken away and
    not gone through.
    """

    def __init__(self, cases: Sequence[_ClosedCase]) -> None:
        self._asked: Counter[tuple[str, ...]] = Counter()
        self._shown: Counter[tuple[str, ...]] = Counter()
        for case in cases:
            for key in ((case.text,), (case.text, case.cluster)):
                self._asked[key] += 1
                self._shown.update((*key, value) for value in case.shows)

    def share(self, case: _ClosedCase) -> float | None:
        """None if nobody else was asked."""
        text, of_patient = (case.text,), (case.text, case.cluster)
        asked = self._asked[text] - self._asked[of_patient]
        showing = self._shown[*text, case.said] - self._shown[*of_patient, case.said]
        return showing / asked if asked else None


def _answers(found: _Found) -> list[WrongAnswer]:
    order = {cause: place for place, cause in enumerate(Cause)}

    def rank(pair: tuple[Cause, float | None]) -> tuple[float, int]:
        cause, chance = pair
        unknown = 0.0 if cause in STATES else 0.5
        return (unknown if chance is None else chance), order[cause]

    return [
        WrongAnswer(item_id, tuple(Suspicion(*pair) for pair in sorted(causes.items(), key=rank)))
        for item_id, causes in sorted(found.suspicions.items())
    ]


def _rows(found: _Found, answers: Sequence[WrongAnswer]) -> list[BudgetRow]:
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
            p = max(p, _beyond_opinions(exposed))
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


def _beyond_opinions(exposed: Exposures) -> float:
    """p of the better of two proofs that answers are more than one opinion per question
    (Bonferroni).

    Over questions, each one try; or over patients, against the windows of others who were asked the
    same.
    """
    by_text: dict[str, list[int]] = defaultdict(list)
    for row, text in enumerate(exposed.texts):
        by_text[text].append(row)
    groups = by_text.values()
    chances = np.array([np.mean([exposed.expected[row] for row in rows]) for rows in groups])
    texts_showing = sum(np.mean([exposed.seen[row] for row in rows]) > 0.5 for rows in groups)
    over_texts = upper_tail(chances, int(texts_showing))
    pairs = [
        (float(seen), elsewhere, cluster)
        for seen, elsewhere, cluster in zip(exposed.seen, exposed.elsewhere, exposed.clusters)
        if elsewhere is not None
    ]
    # Without others who were asked the same there is no such proof, and an empty difference has no
    # p.
    difference = paired_difference(
        [seen for seen, _, _ in pairs], [other for _, other, _ in pairs], [c for *_, c in pairs]
    )
    ahead = difference.p is not None and difference.value is not None and difference.value > 0
    over_patients = difference.p if ahead and difference.p is not None else 1.0
    return min(1.0, 2.0 * min(over_texts, over_patients))


def upper_tail(chances: np.ndarray, seen: int) -> float:
    """P(at least `seen`) of independent tries with these chances (Poisson-binomial)."""
    if len(chances) > _EXACT:
        # The normal distribution's tail; `scipy.stats`, which has it too, takes a second to load.
        from scipy.special import ndtr

        spread = float(np.sqrt((chances * (1 - chances)).sum()))
        return (
            float(ndtr(-((seen - 0.5 - chances.sum()) / spread)))
            if spread
            else float(seen <= chances.sum())
        )
    mass = np.zeros(len(chances) + 1)
    mass[0] = 1.0
    for number, chance in enumerate(np.clip(chances, 0.0, 1.0), start=1):
        mass[1 : number + 1] = mass[1 : number + 1] * (1 - chance) + mass[:number] * chance
        mass[0] *= 1 - chance
    return float(min(1.0, mass[seen:].sum()))


def _warnings(found: _Found) -> list[str]:
    clusters = {cluster for one in found.exposures.values() for cluster in one.clusters}
    patients = len(clusters)
    if patients and patients < _TOO_FEW:
        return [
            f"only {counted(patients, 'patient')}: no cause is tested against chance (at least"
            f" {_TOO_FEW}"
            " needed)"
        ]
    return []
