"""Solvers that never see a picture: they know the bench, and the answers of some other patients.

Each is fitted on some patients and tried on the rest, either way round (`sign`): one who is right
less often than chance is as bad as one who is right more often, since a model that learnt the same
would be pushed below chance, and noise would read as sight.
"""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from situs.base.files import digest
from situs.items import Item, answer_key

LIMIT = 3.29
"""Of a standard normal, for 99.9 % on both sides together."""


@dataclass(frozen=True)
class Asked:
    """What an attacker knows of one question, and its answer."""

    item_id: str
    patient: str
    split: str
    task: str
    text: str
    options: tuple[str, ...]
    answer: str
    words: tuple[str, ...] = ()
    """Whatever else is known, as words:
    where it stands in the file, which slice it shows, its group."""
    numbers: tuple[float, ...] = ()
    """The same as numbers."""
    beside: tuple[str, ...] = field(default=(), compare=False)
    """What the bench asks of this patient: a model is shown one question at a time, but whoever
    holds the bench, or answers all of it in one session, knows."""


_NUMBER_AT_END = re.compile(r"\d+$")
"""What a public id tells besides its number: part of the body, sequence, scanner."""


def asked_of(items: Iterable[Item]) -> list[Asked]:
    """The closed questions of the headline, in the order of the bench.

    Tags, steps, facts, boxes and difficulty are part of the key: they name what is right or how far
    it is from wrong.
    """
    every = list(items)
    found = [
        item for item in every if item.stratum == "headline" and item.form in ("yes_no", "choice")
    ]
    groups = Counter(item.twin_group for item in found)
    texts = Counter(item.question for item in found)
    beside: dict[str, list[str]] = defaultdict(list)
    for item in every:
        beside[item.patient_id].append(f"{item.task} {item.form} {item.stratum} {item.question}")
    result = []
    for place, item in enumerate(found):
        options = tuple(option.value for option in item.options) or ("yes", "no")
        numbers = (
            place / len(found),
            float(item.frames[0] if item.frames else -1),
            float(len(options)),
            float(groups[item.twin_group]),
            float(texts[item.question]),
            int(item.item_id[-4:], 36) / 36**4 if item.item_id[-4:].isalnum() else 0.0,
            *_mark_places(item),
        )
        words = (
            f"id {item.item_id[:2]}",
            f"group {item.twin_group}",
            f"twins {groups[item.twin_group]}",
            f"split {item.split}",
            f"level {item.level}",
            f"series {item.series}",
            f"frames {len(item.frames)}",
            f"frame {item.frames[0] if item.frames else -1}",
            f"needs {' '.join(item.needs)}",
            f"named {re.sub(_NUMBER_AT_END, '', item.study_id)}",
        )
        result.append(
            Asked(
                item.item_id,
                item.patient_id,
                item.split,
                f"{item.task}.{item.form}.{item.level}",
                item.question,
                options,
                str(answer_key(item.answer)),
                words,
                numbers,
                tuple(beside[item.patient_id]),
            )
        )
    return result


def _mark_places(item: Item) -> tuple[float, float]:
    """Where the first box that is drawn into the picture lies; a fixed place if there is none."""
    from situs.items import marks_of
    from situs.space import WorldBox

    marks = list(marks_of(item).values())
    if not marks:
        return -1.0, -1.0
    box = marks[0]
    return (box.lo_mm[0], box.lo_mm[1]) if isinstance(box, WorldBox) else (box.x0, box.y0)


# --- how far from chance ---


@dataclass(frozen=True)
class Outcome:
    """What a solver got."""

    n: int
    right: int
    chance: float
    z: float
    """Standard errors from chance, patients taken as clusters."""

    @property
    def accuracy(self) -> float:
        return self.right / self.n if self.n else float("nan")


def outcome(asked: Sequence[Asked], right: Sequence[bool]) -> Outcome:
    """Right answers against chance.

    The variance is the larger of that of independent guesses and that between patients: whoever has
    a finding has it on every slice, so that a solver is right or wrong on all of a patient's
    questions together.
    """
    excess: dict[str, float] = defaultdict(float)
    tried = Counter(one.patient for one in asked)
    variance = chance = 0.0
    for one, hit in zip(asked, right):
        share = 1.0 / len(one.options)
        excess[one.patient] += hit - share
        variance += share * (1.0 - share)
        chance += share
    count, total = max(1, len(asked)), sum(excess.values())
    between = sum(
        (value - tried[patient] * total / count) ** 2 for patient, value in excess.items()
    )
    return Outcome(
        len(asked), sum(right), chance / count, total / (math.sqrt(max(variance, between)) or 1.0)
    )


@cache
def _drawn(*words: str) -> int:
    return int(digest(*words, size=8), 16)


Learns = Callable[[Asked], bool]
HALVES: dict[str, Learns] = {
    "training split": lambda one: one.split == "train",
    "one half": lambda one: _drawn("half", one.patient) % 2 == 0,
    "a fifth": lambda one: _drawn("fifth", one.patient) % 5 == 0,
    "all but a tenth": lambda one: _drawn("tenth", one.patient) % 10 > 0,
}
"""Which patients' answers are known; the solver is tried on the others."""


# --- those who count ---


def by_text(one: Asked) -> Hashable:
    return one.text, tuple(sorted(one.options))


def by_words(one: Asked) -> Hashable:
    return one.text


def by_task(one: Asked) -> Hashable:
    return one.task, tuple(sorted(one.options))


def by_opening(one: Asked) -> Hashable:
    return " ".join(one.text.split()[:4]), tuple(sorted(one.options))


def by_ending(one: Asked) -> Hashable:
    return " ".join(one.text.split()[-3:]), tuple(sorted(one.options))


KEYS: tuple[Callable[[Asked], Hashable], ...] = (by_text, by_words, by_task, by_opening, by_ending)


def counted(
    asked: Sequence[Asked], learns: Learns | None, sign: int, key: Callable[[Asked], Hashable]
) -> Outcome:
    """The commonest (1) or rarest (−1) answer of the others;
    without `learns`, of all but the patient asked."""
    counts: dict[Hashable, Counter[str]] = defaultdict(Counter)
    own: dict[Hashable, Counter[str]] = defaultdict(Counter)
    for one in asked:
        if learns is None or learns(one):
            counts[key(one)][one.answer] += 1
            own[key(one), one.patient][one.answer] += 1
    tried = asked if learns is None else [one for one in asked if not learns(one)]
    right = []
    for one in tried:
        scores = [sign * (counts[key(one)][v] - own[key(one), one.patient][v]) for v in one.options]
        right.append(_pick(one, scores) == one.answer)
    return outcome(tried, right)


PARTS = (2, 5, 20)
"""In how many parts patients are taken, of which one at a time is guessed from the others."""


def in_parts(
    asked: Sequence[Asked], parts: int, sign: int, key: Callable[[Asked], Hashable], draws: int = 5
) -> Outcome:
    """The commonest (1) or rarest (−1) answer of all patients in other parts than the one asked;
    the middle one of several draws of the parts, by how far it is from chance."""
    found = []
    for draw in range(draws):
        part = {one.patient: _drawn("part", str(draw), one.patient) % parts for one in asked}
        counts: dict[Hashable, Counter[str]] = defaultdict(Counter)
        own: dict[Hashable, Counter[str]] = defaultdict(Counter)
        for one in asked:
            counts[key(one)][one.answer] += 1
            own[key(one), part[one.patient]][one.answer] += 1
        right = []
        for one in asked:
            inside = own[key(one), part[one.patient]]
            scores = [sign * (counts[key(one)][v] - inside[v]) for v in one.options]
            right.append(_pick(one, scores) == one.answer)
        found.append(outcome(asked, right))
    return sorted(found, key=lambda got: got.z)[draws // 2]


def _pick(one: Asked, scores: Sequence[float]) -> str:
    top = max(scores)
    best = [value for value, score in zip(one.options, scores) if score >= top - 1e-12]
    return best[0] if len(best) == 1 else best[_drawn("tie", one.item_id) % len(best)]


# --- those who weigh words: a conditional logit on hashed features ---

_BUCKETS = 1 << 14
_WORD = re.compile(r"[\w().-]+")
Features = Callable[[Asked, str, int], Iterator[str]]


def prompt_words(one: Asked, value: str, place: int) -> Iterator[str]:
    """What a model reads: words and pairs of the question beside the option,
    its letter and neighbours."""
    words = _WORD.findall(one.text.lower())
    yield from (f"{value}|{word}" for word in words)
    yield from (f"{value}|{a} {b}" for a, b in pairwise(words))
    yield f"letter {place}"
    yield f"{value}|letter {place}"
    yield f"{value}|{one.task}"
    yield from (f"{value}|beside {other}" for other in one.options)


def record_words(one: Asked, value: str, place: int) -> Iterator[str]:
    """What the bench's files tell besides: groups, ids, slices, tags, the order of options."""
    yield from (f"{value}|{word}" for word in one.words)
    yield f"{value}|{one.task}"
    yield f"order {' '.join(one.options)}|{value}"


def _kinds_beside(one: Asked) -> Counter[str]:
    """How many questions of each task, form and stratum the bench asks of the same patient."""
    return Counter(" ".join(text.split(" ", 3)[:3]) for text in one.beside)


def by_number_beside(one: Asked) -> Hashable:
    return by_task(one), len(one.beside)


def by_text_and_number_beside(one: Asked) -> Hashable:
    return by_text(one), len(one.beside)


def by_kinds_beside(one: Asked) -> Hashable:
    return by_task(one), tuple(sorted(_kinds_beside(one).items()))


def by_words_beside(one: Asked) -> Hashable:
    return by_text(one), tuple(sorted(set(one.beside)))


BESIDE_KEYS: tuple[Callable[[Asked], Hashable], ...] = (
    by_number_beside,
    by_text_and_number_beside,
    by_kinds_beside,
    by_words_beside,
)


def counts_beside(asked: Sequence[Asked]) -> list[Asked]:
    """The questions with numbers about what else is asked of the patient: how many of each kind,
    how many with the same words, and where among them this one stands, in the file and by id."""
    kinds = sorted({kind for one in asked for kind in _kinds_beside(one)})
    own: dict[str, list[str]] = defaultdict(list)
    for one in asked:
        own[one.patient].append(one.item_id)
    result = []
    for one in asked:
        counts, ids = _kinds_beside(one), own[one.patient]
        numbers = (
            float(len(one.beside)),
            float(len(ids)),
            ids.index(one.item_id) / len(ids),
            float(sorted(ids).index(one.item_id)),
            float(sum(text.endswith(one.text) for text in one.beside)),
            *(float(counts[kind]) for kind in kinds),
        )
        result.append(replace(one, numbers=numbers))
    return result


def by_more_than_half(asked: Sequence[Asked]) -> Outcome:
    """Yes if more is asked of the patient than of the middle one: it knows no answer at all."""
    tried = [one for one in asked if set(one.options) == {"yes", "no"}]
    middle = float(np.median([len(one.beside) for one in tried])) if tried else 0.0
    return outcome(tried, [(one.answer == "yes") == (len(one.beside) > middle) for one in tried])


def battery_beside(
    asked: Sequence[Asked], *, learners: bool = True
) -> Iterator[tuple[str, Outcome]]:
    """Every solver that looks at how many and which questions else a patient is asked."""
    yield "yes if much is asked", by_more_than_half(asked)
    for name in ("training split", "one half"):
        learns = HALVES[name]
        if not any(map(learns, asked)):
            continue
        for key in BESIDE_KEYS:
            for sign, way in ((1, "commonest"), (-1, "rarest")):
                yield f"{way} of {name}, {key.__name__}", counted(asked, learns, sign, key)
        if learners:
            yield f"boosting on counts, {name}", boosted(counts_beside(asked), learns, 1)
            yield f"logit on other words, {name}", weighed(asked, learns, 1, beside_words)


def beside_words(one: Asked, value: str, place: int) -> Iterator[str]:
    """What else the bench asks of the same patient."""
    yield f"{value}|{one.task}"
    yield f"{value}|count {min(9, len(one.beside) // 5)}"
    yield from (f"{value}|{text}" for text in set(one.beside))
    yield from (f"{value}|{one.task}|{text}" for text in set(one.beside))


def weighed(asked: Sequence[Asked], learns: Learns, sign: int, features: Features) -> Outcome:
    """A conditional logit fitted on the patients who are known, with a ridge of 1."""
    train = [one for one in asked if learns(one)]
    test = [one for one in asked if not learns(one)]
    if not train or not test:
        return outcome([], [])
    matrix, starts, truth = _design(train, features)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scores = matrix @ weights
        scores -= np.repeat(np.maximum.reduceat(scores, starts[:-1]), np.diff(starts))
        odds = np.exp(scores)
        odds /= np.repeat(np.add.reduceat(odds, starts[:-1]), np.diff(starts))
        value = -np.log(odds[truth]).sum() + 0.5 * weights @ weights
        odds[truth] -= 1.0
        return float(value), matrix.T @ odds + weights

    fitted = minimize(
        loss, np.zeros(_BUCKETS), jac=True, method="L-BFGS-B", options={"maxiter": 40}
    ).x
    matrix, starts, truth = _design(test, features)
    scores = sign * (matrix @ fitted)
    right = [
        _pick(one, scores[first:last].tolist()) == one.answer
        for one, (first, last) in zip(test, pairwise(starts))
    ]
    return outcome(test, right)


def _design(
    asked: Sequence[Asked], features: Features
) -> tuple[csr_matrix, NDArray[np.int64], NDArray[np.int64]]:
    """A row an option; where each question's rows start, and the row that is right."""
    ends, columns, starts, truth = [0], list[int](), [0], list[int]()
    for one in asked:
        truth.append(starts[-1] + one.options.index(one.answer))
        for place, value in enumerate(one.options):
            columns += {
                zlib.crc32(word.encode()) % _BUCKETS for word in features(one, value, place)
            }
            ends.append(len(columns))
        starts.append(len(ends) - 1)
    shape = (len(ends) - 1, _BUCKETS)
    return (
        csr_matrix((np.ones(len(columns)), columns, ends), shape=shape),
        np.array(starts),
        np.array(truth),
    )


# --- those who split numbers: gradient boosting of small trees ---

_TREES, _DEPTH, _BINS, _RATE = 40, 3, 16, 0.2


def boosted(asked: Sequence[Asked], learns: Learns, sign: int) -> Outcome:
    """Gradient boosting on numbers: which value and letter the option is,
    and all that the bench tells as numbers."""
    train = [one for one in asked if learns(one)]
    test = [one for one in asked if not learns(one)]
    if not train or not test:
        return outcome([], [])
    codes = {
        value: float(n) for n, value in enumerate(sorted({v for one in asked for v in one.options}))
    }
    texts = {text: float(n) for n, text in enumerate(sorted({one.text for one in asked}))}

    def table(rows: Sequence[Asked]) -> NDArray[np.float64]:
        return np.array(
            [
                (codes[value], float(place), texts[one.text], *one.numbers)
                for one in rows
                for place, value in enumerate(one.options)
            ]
        )

    known, unknown = table(train), table(test)
    target = np.array([float(value == one.answer) for one in train for value in one.options])
    edges = [
        np.unique(np.quantile(column, np.linspace(0, 1, _BINS + 1)[1:-1])) for column in known.T
    ]
    known_bins = np.stack([np.searchsorted(e, c, side="right") for e, c in zip(edges, known.T)])
    unknown_bins = np.stack([np.searchsorted(e, c, side="right") for e, c in zip(edges, unknown.T)])
    start = math.log(target.mean() / (1.0 - target.mean()))
    fitted, tried = np.full(len(target), start), np.full(unknown.shape[0], start)
    for _ in range(_TREES):
        share = 1.0 / (1.0 + np.exp(-fitted))
        _grow(known_bins, target - share, share * (1 - share), fitted, unknown_bins, tried)
    right, first = [], 0
    for one in test:
        scores = sign * tried[first : first + len(one.options)]
        right.append(_pick(one, scores.tolist()) == one.answer)
        first += len(one.options)
    return outcome(test, right)


def _grow(
    bins: NDArray[np.int64],
    slope: NDArray[np.float64],
    curve: NDArray[np.float64],
    fitted: NDArray[np.float64],
    other_bins: NDArray[np.int64],
    other: NDArray[np.float64],
) -> None:
    """Add one tree to both predictions;
    leaves by Newton's step with a ridge of 1 (Friedman 2001, Chen 2016)."""
    nodes = [(np.arange(bins.shape[1]), np.arange(other_bins.shape[1]), 0)]
    while nodes:
        rows, others, depth = nodes.pop()
        split = (
            _best_split(bins[:, rows], slope[rows], curve[rows])
            if depth < _DEPTH and len(rows) > 20
            else None
        )
        if split is None:
            step = _RATE * slope[rows].sum() / (curve[rows].sum() + 1.0)
            fitted[rows] += step
            other[others] += step
            continue
        column, edge = split
        low, other_low = bins[column, rows] <= edge, other_bins[column, others] <= edge
        nodes.append((rows[low], others[other_low], depth + 1))
        nodes.append((rows[~low], others[~other_low], depth + 1))


def _best_split(
    bins: NDArray[np.int64], slope: NDArray[np.float64], curve: NDArray[np.float64]
) -> tuple[int, int] | None:
    total, weight = slope.sum(), curve.sum()
    best, place = 1e-9, None
    for column, own in enumerate(bins):
        left = np.cumsum(np.bincount(own, slope, _BINS + 1))[:-1]
        mass = np.cumsum(np.bincount(own, curve, _BINS + 1))[:-1]
        gain = (
            left**2 / (mass + 1)
            + (total - left) ** 2 / (weight - mass + 1)
            - total**2 / (weight + 1)
        )
        gain[(mass < 1.0) | (weight - mass < 1.0)] = 0.0
        edge = int(np.argmax(gain))
        if gain[edge] > best:
            best, place = float(gain[edge]), (column, edge)
    return place


# --- all of them ---


def battery(asked: Sequence[Asked], *, learners: bool = True) -> Iterator[tuple[str, Outcome]]:
    """Every solver, by name, with what it got."""
    for key in KEYS:
        for sign, way in ((1, "commonest"), (-1, "rarest")):
            yield f"{way} of all others, {key.__name__}", counted(asked, None, sign, key)
            for parts in PARTS:
                yield (
                    f"{way} outside one of {parts} parts, {key.__name__}",
                    in_parts(asked, parts, sign, key),
                )
    for name, learns in HALVES.items():
        if not any(map(learns, asked)):
            continue
        for sign, way in ((1, "commonest"), (-1, "rarest")):
            for key in KEYS:
                yield f"{way} of {name}, {key.__name__}", counted(asked, learns, sign, key)
        if learners and name in ("training split", "one half"):
            # The other way round is worse than chance exactly where this one is better, if there
            # are two options.
            yield f"logit on the prompt, {name}", weighed(asked, learns, 1, prompt_words)
            yield f"logit on the record, {name}", weighed(asked, learns, 1, record_words)
            yield f"boosting, {name}", boosted(asked, learns, 1)


def spread_by_luck(
    asked: Sequence[Asked], key: Callable[[Asked], Hashable], sign: int, draws: int = 40
) -> float:
    """How far luck alone moves the surprise of one who leaves out a patient at a time, from answers
    drawn anew.

    More than one standard error: without one patient the commonest answer of a text may turn, and
    then all its items fall together.
    """
    rng = np.random.default_rng(0)
    found = []
    for _ in range(draws):
        anew = [replace(one, answer=one.options[rng.integers(len(one.options))]) for one in asked]
        found.append(counted(anew, None, sign, key).z)
    return max(1.0, float(np.std(found)))
