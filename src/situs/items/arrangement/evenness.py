"""How far the commonest and the rarest answer of other patients are from chance, on one bench.

Over many benches neither is better than a guess (see `draws`). But on one bench luck has a long
tail: in a text of 600 patients whose answers come out even, the rarest answer of the others is
right 600 times. Whoever counts may count the answers to the same words, to one kind of question
or to all with the same options, in all splits or in one, and may be tried on everything, on a
task, a kind or a split.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

__all__ = ["AskedQuestion", "Group", "shares_of_limit", "surprises"]

Group = tuple[str, Hashable]
"""Questions that a solver is tried on: `task`, `kind` or `split`, and which of them."""
_EVERYTHING: Group = ("all", "")
_LEAST = 1e-6
"""Standard errors; a recipe that allows none would ask for the impossible."""

_OPENING, _ENDING = 4, 3
"""Words."""

_PARTS = (0.5, 0.15, 0.04)
"""Shares of the patients whose answers are guessed from those of the others."""

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]


class AskedQuestion(msgspec.Struct, frozen=True):
    """A question that is asked of a patient, with its answer."""

    patient: str
    answer: str
    options: tuple[str, ...]
    """The answers that it offers."""
    text: str
    task: str
    kind: Hashable
    """Finer than the task: what a reader of tables would list apart."""
    split: str

    @property
    def option_set(self) -> tuple[str, ...]:
        """The options in no order."""
        return tuple(sorted(self.options))

    @property
    def opening(self) -> str:
        """The first words, which questions after different things share ("Did the reader mark")."""
        return " ".join(self.text.split()[:_OPENING])

    @property
    def ending(self) -> str:
        """The last words ("on this slice?")."""
        return " ".join(self.text.split()[-_ENDING:])


def shares_of_limit(
    asked: Sequence[AskedQuestion], evenness: float, *, parts: bool = False
) -> dict[Group, float]:
    """How far from chance one who counts is in each group: 1 is as far as is allowed.

    With `parts`, also one who knows the answers of all but a part of the patients, and one who
    counts by how questions open or end: for benches that ask hundreds of patients the same few
    things, where luck in one count is luck in all of them.

    That is `evenness` standard errors over all questions, and twice as many over a task, a kind
    or a split: of many such groups some are further by luck.
    """
    limit = max(evenness, _LEAST)
    return {
        group: far / (limit if group == _EVERYTHING else 2.0 * limit)
        for group, far in surprises(asked, parts=parts).items()
    }


def surprises(asked: Sequence[AskedQuestion], *, parts: bool = False) -> dict[Group, float]:
    """How far, at most, one who counts is from chance in each group, in standard errors.

    Questions that offer a single answer count nowhere.
    """
    asked = [question for question in asked if len(question.options) > 1]
    if not asked:
        return {}
    table = _Table(asked)
    worded = table.worded
    groupings: dict[str, list[Hashable]] = {
        _EVERYTHING[0]: [_EVERYTHING[1]] * len(worded),
        "task": [question.task for question in worded],
        "kind": [question.kind for question in worded],
        "split": [question.split for question in worded],
    }
    ways = [*_ways_to_count(worded), *(_ways_to_open_or_end(worded) if parts else ())]
    gains = [gain for names in ways for gain in table.gains(names, parts=parts)]
    result: dict[Group, float] = {}
    for title, members in groupings.items():
        names, numbers = table.numbered(members)
        spread = np.sqrt(np.bincount(numbers, table.variance))
        furthest = np.max([np.abs(np.bincount(numbers, gain)) for gain in gains], axis=0) / spread
        result |= {(title, name): float(far) for name, far in zip(names, furthest)}
    return result


def _ways_to_count(asked: Sequence[AskedQuestion]) -> Iterator[list[Hashable]]:
    """Under which name a solver remembers the answer to each question."""
    yield [(question.text, question.option_set) for question in asked]
    yield [question.text for question in asked]
    yield [(question.split, question.text, question.option_set) for question in asked]
    yield [(question.kind, question.option_set) for question in asked]
    yield [question.option_set for question in asked]


def _ways_to_open_or_end(asked: Sequence[AskedQuestion]) -> Iterator[list[Hashable]]:
    """The same, of a solver that remembers the first or the last words only."""
    yield [(question.opening, question.option_set) for question in asked]
    yield [(question.ending, question.option_set) for question in asked]


def _numbered(names: Iterable[Hashable]) -> tuple[list[Hashable], _Ints]:
    """The different names, and for each entry which one it is."""
    numbers: dict[Hashable, int] = {}
    entries = [numbers.setdefault(name, len(numbers)) for name in names]
    return list(numbers), np.array(entries, dtype=np.int64)


class _Table:
    """Questions as arrays: a row for a question, a column for an answer that it offers.

    Many patients are asked the same: what depends on the words alone is worked out once for them.
    """

    def __init__(self, asked: Sequence[AskedQuestion]) -> None:
        self._words = _numbered((q.text, q.options, q.task, q.kind, q.split) for q in asked)[1]
        firsts = np.unique(self._words, return_index=True)[1]
        self.worded = [asked[first] for first in firsts]
        """A question for each wording, whoever is asked it."""
        values = {value for question in self.worded for value in question.options}
        numbers = {value: number for number, value in enumerate(sorted(values))}
        self._width = len(numbers)
        most = max(len(question.options) for question in self.worded)
        options = np.full((len(self.worded), most), -1, dtype=np.int64)
        for row, question in enumerate(self.worded):
            options[row, : len(question.options)] = [numbers[v] for v in question.options]
        self._options: _Ints = options[self._words]
        self._answers = np.array([numbers[question.answer] for question in asked])
        self._patients = _numbered(question.patient for question in asked)[1]
        self._is_right = self._options == self._answers[:, None]
        self._is_missing = self._options < 0
        self._chance: _Floats = 1.0 / (~self._is_missing).sum(axis=1)
        self.variance: _Floats = self._chance * (1.0 - self._chance)
        is_two = (~self._is_missing).sum(axis=1) == 2
        is_first = self._options.max(axis=1) == self._answers
        self._side: _Floats = np.where(is_two, np.where(is_first, 1.0, -1.0), 0.0)
        """Which of two answers; 0 where there are more."""

    def numbered(self, names: Iterable[Hashable]) -> tuple[list[Hashable], _Ints]:
        """The different names of wordings, and for each question which one it has."""
        different, numbers = _numbered(names)
        return different, numbers[self._words]

    def gains(self, names: Iterable[Hashable], *, parts: bool) -> Iterator[_Floats]:
        """Right minus chance, for who takes the commonest answer that others have and the rarest.

        `names` are those under which the wordings are remembered. The patient who is asked is left
        out of the count, with `parts` also a part of the patients; a tie is a guess.
        """
        numbers = self.numbered(names)[1]
        with_patient = numbers * (int(self._patients.max()) + 1) + self._patients
        _, firsts, same_patient = np.unique(with_patient, return_index=True, return_inverse=True)
        others = self._counts(numbers) - self._counts(same_patient)
        commonest = np.where(self._is_missing, -1, others).max(axis=1, keepdims=True)
        rarest = np.where(self._is_missing, len(numbers), others).min(axis=1, keepdims=True)
        yield self._gain(others == commonest)
        yield self._gain(others == rarest)
        if parts:
            yield from self._gains_of_parts(numbers, numbers[firsts], same_patient)

    def _gains_of_parts(
        self, numbers: _Ints, of_patients: _Ints, same_patient: _Ints
    ) -> Iterator[_Floats]:
        """What is to be expected of who takes the rarest answer of all patients outside the part
        that is tried; of the commonest it is the same with the other sign.

        Of the patients' surplus D of one of two answers a part has d, nearly normal with mean φD
        and variance φ(1 − φ)Q, where φ is the part's share and Q the sum of the patients' squares.
        Of a part −sign(D − d) · d / 2 are right beyond chance, of all parts 1/φ times that.
        """
        surplus = np.bincount(numbers, self._side)
        squares = np.bincount(of_patients, np.bincount(same_patient, self._side) ** 2)
        sizes = np.maximum(1.0, np.bincount(numbers, np.abs(self._side)))
        for share in _PARTS:
            spread = np.sqrt(np.maximum(_LEAST, share * (1.0 - share) * squares))
            rest = (1.0 - share) * surplus / spread
            moved = math.sqrt(2.0 / math.pi) * spread * np.exp(-(rest**2) / 2.0)
            kept = share * surplus * erf(rest / math.sqrt(2.0))
            gain: _Floats = ((moved - kept) / (2.0 * share * sizes))[numbers] * np.abs(self._side)
            yield gain

    def _counts(self, numbers: _Ints) -> _Ints:
        """How often each option is the answer among the questions with the same number."""
        cells = numbers * self._width
        counts = np.bincount(cells + self._answers, minlength=int(cells.max()) + self._width)
        counted: _Ints = counts[cells[:, None] + np.maximum(self._options, 0)]
        return counted

    def _gain(self, is_picked: NDArray[np.bool_]) -> _Floats:
        is_picked = is_picked & ~self._is_missing
        gain: _Floats = (is_picked & self._is_right).sum(axis=1) / is_picked.sum(axis=1)
        return gain - self._chance
