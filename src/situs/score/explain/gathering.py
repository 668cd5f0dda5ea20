"""What is gathered while going through the answers of a run: which causes fit each, and in which
answers each cause could have shown."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from situs.facts import Fact
from situs.items import Boxes, Choice, Compound, Frames, Item, Number, YesNo
from situs.run import Viewing
from situs.score.compound.parts import meant_part
from situs.score.explain.causes import Cause, Exposures
from situs.score.explain.closed import closed_tests, wrong_values
from situs.score.explain.numbers import WindowCounts, Windows, chance_in, holds, windows_of
from situs.score.explain.places import BoxCase, PlaceTest, box_tests, frame_tests
from situs.score.explain.readings import JudgedAnswer, Reading, readings
from situs.score.metrics.registry import Given
from situs.score.stats.estimates import cluster_of
from situs.space import Grid

__all__ = [
    "ExpectsAnswers",
    "FactsOfItems",
    "Gathered",
    "closed_exposures",
    "gather",
    "may_be_luck",
    "number_chances",
]

_BATCH = 2000
"""Answers looked at together."""


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
class Gathered:
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


def may_be_luck(item: Item) -> bool:
    """Whether a right answer says something as well: with options, how often a guess is right."""
    parts = item.answer.parts.values() if isinstance(item.answer, Compound) else (item.answer,)
    return any(isinstance(part, YesNo | Choice) for part in parts)


class _Read(NamedTuple):
    """One part of an answer, which waits until others like it are looked at."""

    item: Item
    reading: Reading
    boxes: BoxCase | None
    """Boxes drawn wrongly; None of any other answer."""


def gather(
    answers: Iterable[JudgedAnswer],
    facts: FactsOfItems,
    viewing: Viewing,
    prior: ExpectsAnswers,
    gathered: Gathered,
) -> None:
    """Gather the causes of the answers that count, many at a time: boxes are moved about as rows
    of one array."""
    waiting: list[_Read] = []
    for one in answers:
        waiting += _counting(one, viewing, prior, gathered)
        if len(waiting) >= _BATCH:
            _look_at_all(waiting, facts, viewing, prior, gathered)
            waiting = []
    _look_at_all(waiting, facts, viewing, prior, gathered)


def _counting(
    one: JudgedAnswer, viewing: Viewing, prior: ExpectsAnswers, gathered: Gathered
) -> list[_Read]:
    """The parts of an answer whose causes are asked for, if it counts."""
    item, judgement = one.item, one.judgement
    if judgement.right is None or judgement.state == "unjudged":
        return []
    if not judgement.right:
        gathered.suspicions[item.item_id]  # an entry even if no cause fits
    if judgement.state != "answered":
        gathered.suspicions[item.item_id][Cause(judgement.state)] = None
        return []
    return [
        _Read(item, reading, _wrong_boxes(item, reading, viewing, prior))
        for reading in readings(one, viewing)
    ]


def _wrong_boxes(
    item: Item, reading: Reading, viewing: Viewing, prior: ExpectsAnswers
) -> BoxCase | None:
    truth, part = reading.truth, reading.part
    if not isinstance(truth, Boxes) or part.right or part.state != "answered":
        return None
    prior_answer = _prior_said(item, reading, viewing, prior)
    return BoxCase.of(item, truth, reading.said, viewing, prior_answer)


def _look_at_all(
    waiting: Sequence[_Read],
    facts: FactsOfItems,
    viewing: Viewing,
    prior: ExpectsAnswers,
    gathered: Gathered,
) -> None:
    tests = iter(box_tests([one.boxes for one in waiting if one.boxes is not None]))
    for item, reading, boxes in waiting:
        if boxes is not None:
            _keep_places(item, next(tests), gathered)
        else:
            _look(item, reading, facts, viewing, prior, gathered)


def _look(
    item: Item,
    reading: Reading,
    facts: FactsOfItems,
    viewing: Viewing,
    prior: ExpectsAnswers,
    gathered: Gathered,
) -> None:
    """Gather the causes of one part of an answer that is not boxes."""
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
        case _:
            return


def _look_closed(
    item: Item,
    reading: Reading,
    facts: Mapping[str, Fact],
    prior: ExpectsAnswers,
    gathered: Gathered,
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
    item: Item, reading: Reading, viewing: Viewing, prior: ExpectsAnswers, gathered: Gathered
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


def _keep_places(item: Item, tests: Mapping[Cause, PlaceTest], found: Gathered) -> None:
    for cause, (seen, share) in tests.items():
        if seen:
            found.suspicions[item.item_id][cause] = share
        found.exposures[cause].add(cluster_of(item), seen, share)


def number_chances(found: Gathered) -> None:
    for cause, cases in found.numbers.items():
        chances = chance_in([(case.truth, case.windows, case.stated) for case in cases])
        by_text: dict[str, list[_NumberCase]] = defaultdict(list)
        for case in cases:
            by_text[case.text].append(case)
        alike = {text: _AskedAlike(of_text) for text, of_text in by_text.items()}
        for case, chance in zip(cases, chances):
            seen = holds(case.windows, case.stated)
            if seen:
                found.suspicions[case.item_id][cause] = chance
            elsewhere = alike[case.text].elsewhere(case)
            found.exposures[cause].add_asked(case.cluster, seen, chance, case.text, elsewhere)


class _AskedAlike:
    """The patients who were asked the same text for a number.

    Ten thousands may be: windows are counted in their order, and only the patient's own are gone
    through.
    """

    def __init__(self, cases: Sequence[_NumberCase]) -> None:
        self._windows = WindowCounts([case.windows for case in cases])
        self._by_patient: dict[str, list[_NumberCase]] = defaultdict(list)
        for case in cases:
            self._by_patient[case.cluster].append(case)
        self._cases = len(cases)

    def elsewhere(self, case: _NumberCase) -> float | None:
        """How often the same number would show the cause in other patients; None if there are
        none."""
        own = self._by_patient[case.cluster]
        asked = self._cases - len(own)
        if not asked:
            return None
        hits = self._windows.holding(case.stated) - sum(holds(o.windows, case.stated) for o in own)
        return hits / asked


def closed_exposures(found: Gathered) -> None:
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
