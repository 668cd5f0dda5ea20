"""A learner that reads the whole prompt and never a picture,
fitted without the patients it is asked about."""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from situs.base.files import digest
from situs.items import Choice, Item, Option, YesNo, answer_key

__all__ = ["CrossFitted", "is_closed"]

_BUCKETS = 1 << 16
_FOLDS = 5
_CLEAR_Z = 2.0
"""How far above chance it must be on the patients it
may learn from before it is trusted (standard errors)."""
_WORD = re.compile(r"[\w().]+")
_YES_NO = (Option("yes", "yes"), Option("no", "no"))

# Places among the buckets: those of every prompt of a bench are in memory at once.
Bits = NDArray[np.uint16]
Counts = NDArray[np.float64]


def is_closed(item: Item) -> bool:
    """Whether it answers this item: one of a few options, or yes and no."""
    return isinstance(item.answer, YesNo | Choice)


class _Asked:
    """What is known of one item."""

    __slots__ = ("fold", "kind", "rows", "truth")

    def __init__(self, item: Item, prompt: str, fold: int) -> None:
        options = item.options or _YES_NO
        self.fold = fold
        self.kind = (item.task, item.form, item.stratum, len(options))
        self.truth = [option.value for option in options].index(str(answer_key(item.answer)))
        self.rows = [_features(prompt, option, number) for number, option in enumerate(options)]


class CrossFitted:
    """Naive Bayes on hashed words and word pairs of the prompt, beside each option: is this option
    right?

    Patients are dealt into five folds, and an item is answered by what the other four tell. Within
    those four it is first tried out, fold by fold, on each kind of question (task, form, stratum,
    number of options); where it is not clearly above chance there, it guesses. Without that bar a
    learner that counts would sit *below* chance on balanced questions: leaving a patient out makes
    the other answers the majority.
    """

    def __init__(self, items: Iterable[Item], prompts: dict[str, str]) -> None:
        closed = [item for item in items if is_closed(item) and item.item_id in prompts]
        folds = _folds({item.patient_id for item in closed})
        self._asked = {
            i.item_id: _Asked(i, prompts[i.item_id], folds[i.patient_id]) for i in closed
        }
        self._counts = np.zeros((_FOLDS, 2, _BUCKETS))
        for asked in self._asked.values():
            for number, row in enumerate(asked.rows):
                np.add.at(self._counts[asked.fold, int(number == asked.truth)], row, 1.0)
        self._total = self._counts.sum(axis=0)
        self._trusted = [self._trusted_without(fold) for fold in range(_FOLDS)]
        self._weights = [_log_odds(self._total - self._counts[fold]) for fold in range(_FOLDS)]

    def place(self, item: Item) -> int:
        """The option it takes, by position (yes, no where none are offered)."""
        options = item.options or _YES_NO
        asked = self._asked.get(item.item_id)
        if asked is None or asked.kind not in self._trusted[asked.fold]:
            return int(digest("text-classifier", item.item_id, size=4), 16) % len(options)
        return _best(asked, self._weights[asked.fold], item.item_id)

    def _trusted_without(self, fold: int) -> set[tuple[str, str, str, int]]:
        """The kinds of question on which it is clearly
        above chance among the patients outside a fold."""
        right: dict[tuple[str, str, str, int], int] = {}
        tried: dict[tuple[str, str, str, int], int] = {}
        inner = {
            other: _log_odds(self._total - self._counts[fold] - self._counts[other])
            for other in range(_FOLDS)
            if other != fold
        }
        for item_id, asked in self._asked.items():
            if asked.fold != fold:
                tried[asked.kind] = tried.get(asked.kind, 0) + 1
                hit = _best(asked, inner[asked.fold], item_id) == asked.truth
                right[asked.kind] = right.get(asked.kind, 0) + hit
        return {kind for kind, n in tried.items() if _clear(right[kind], n, 1.0 / kind[-1])}


def _clear(right: int, tried: int, chance: float) -> bool:
    return right - tried * chance > _CLEAR_Z * math.sqrt(tried * chance * (1.0 - chance))


def _best(asked: _Asked, weights: Counts, item_id: str) -> int:
    scores = [float(weights[row].sum()) for row in asked.rows]
    top = max(scores)
    best = [number for number, score in enumerate(scores) if score >= top - 1e-9]
    return best[int(digest("tie", item_id, size=4), 16) % len(best)]


def _log_odds(counts: Counts) -> Counts:
    """log P(feature | right) − log P(feature | wrong), with Laplace's one added to each count."""
    smooth = counts + 1.0
    shares = np.log(smooth / smooth.sum(axis=1, keepdims=True))
    odds: Counts = shares[1] - shares[0]
    return odds


def _features(prompt: str, option: Option, number: int) -> Bits:
    """Each word and word pair of the prompt beside the option's value;
    the option's own words, and its letter."""
    words = _WORD.findall(prompt.lower())
    marks = {
        f"{option.value}|{mark}" for mark in (*words, *(f"{a} {b}" for a, b in pairwise(words)))
    }
    marks |= {f"option|{word}" for word in _WORD.findall(option.text.lower())}
    marks.add(f"letter|{number}")
    return np.array(sorted(zlib.crc32(mark.encode()) % _BUCKETS for mark in marks), dtype=np.uint16)


def _folds(patients: set[str]) -> dict[str, int]:
    """Patients dealt out evenly, in an order drawn by their ids."""
    order = sorted(patients, key=lambda patient: digest("fold", patient))
    return {patient: number % _FOLDS for number, patient in enumerate(order)}
