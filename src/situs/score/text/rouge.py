"""ROUGE-1, -2 and -L as `rouge_score` computes them with its stemmer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from situs.score.text.ngrams import Corpus, corpus_of, shared_counts, totals
from situs.score.text.porter import stem

__all__ = ["ROUGES", "rouge", "rouge_tokens"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

ROUGES = ("rouge1", "rouge2", "rougeL")
_OTHER = re.compile(r"[^a-z0-9]+")


@lru_cache(maxsize=1 << 16)
def rouge_tokens(text: str) -> tuple[str, ...]:
    """Runs of ASCII letters and digits in lower case; those of four or more stemmed."""
    words = _OTHER.sub(" ", text.lower()).split()
    return tuple([stem(word) if len(word) > 3 else word for word in words])


def rouge(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> dict[str, FloatArray]:
    """The F-measure of every prediction against the reference it fits best,
    for each of `ROUGES`."""
    vocabulary: dict[str, int] = {}
    counts = [len(texts) for texts in references]
    owner = np.repeat(np.arange(len(predictions)), counts)
    prediction_tokens = [rouge_tokens(text) for text in predictions]
    ours = corpus_of((prediction_tokens[row] for row in owner), vocabulary)
    theirs = corpus_of((rouge_tokens(text) for texts in references for text in texts), vocabulary)
    one, two = shared_counts(ours, theirs, np.arange(len(owner)), 2)
    values = {
        "rouge1": f_measure(one, totals(ours, 1), totals(theirs, 1)),
        "rouge2": f_measure(two, totals(ours, 2), totals(theirs, 2)),
        "rougeL": f_measure(_common_subsequences(ours, theirs), ours.lengths, theirs.lengths),
    }
    return {name: best_of(value, owner, len(predictions)) for name, value in values.items()}


def f_measure(shared: IntArray, ours: IntArray, theirs: IntArray) -> FloatArray:
    """2PR / (P + R), 0 where nothing is shared."""
    precision = shared / np.maximum(ours, 1)
    recall = shared / np.maximum(theirs, 1)
    both = precision + recall
    return np.asarray(
        np.where(both > 0, 2 * precision * recall / np.where(both > 0, both, 1.0), 0.0)
    )


def best_of(values: FloatArray, owner: NDArray[np.int64], count: int) -> FloatArray:
    """The greatest value of each owner."""
    if len(values) == count:
        return values
    best = np.zeros(count, dtype=np.float64)
    np.maximum.at(best, owner, values)
    return best


def _common_subsequences(ours: Corpus, theirs: Corpus) -> IntArray:
    """The length of each pair's longest common subsequence,
    by whole-row bit operations (Hyyrö 2004)."""
    a, b = ours.codes.tolist(), theirs.codes.tolist()
    result = []
    at_a = at_b = 0
    for length_a, length_b in zip(ours.lengths.tolist(), theirs.lengths.tolist()):
        places: dict[int, int] = {}
        bit = 1
        for code in b[at_b : at_b + length_b]:
            places[code] = places.get(code, 0) | bit
            bit <<= 1
        full = bit - 1
        free = full
        for code in a[at_a : at_a + length_a]:
            matched = places.get(code)
            if matched:
                hit = free & matched
                free = ((free + hit) | (free - hit)) & full
        result.append(length_b - free.bit_count())
        at_a += length_a
        at_b += length_b
    return np.array(result, dtype=np.int64)
