"""BLEU as sacreBLEU computes it by default: 13a tokens, up to four words, exponential smoothing."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from situs.score.text.ngrams import corpus_of, shared_counts, totals

__all__ = ["bleu_statistics", "corpus_bleu", "tokens_13a"]

IntArray = NDArray[np.int64]

_ORDERS = 4
_PUNCTUATION = re.compile(r"([\{-\~\[-\` -\&\(-\+\:-\@\/])")
_MARK_AFTER_NONDIGIT = re.compile(r"([^0-9])([\.,])")
_MARK_BEFORE_NONDIGIT = re.compile(r"([\.,])([^0-9])")
_DASH_AFTER_DIGIT = re.compile(r"([0-9])(-)")
_NO_LOG = -9999999999.0
"""What sacreBLEU takes as the logarithm of 0."""


@lru_cache(maxsize=1 << 16)
def _split(word: str) -> tuple[str, ...]:
    """A run without white space into tokens;
    the rules never look beyond the white space around it."""
    line = _PUNCTUATION.sub(r" \1 ", f" {word} ")
    line = _MARK_AFTER_NONDIGIT.sub(r"\1 \2 ", line)
    line = _MARK_BEFORE_NONDIGIT.sub(r" \1 \2", line)
    return tuple(_DASH_AFTER_DIGIT.sub(r"\1 \2 ", line).split())


def tokens_13a(text: str) -> list[str]:
    """The tokens of mteval-v13a, the default of sacreBLEU."""
    line = text.rstrip()
    if "<" in line:
        line = line.replace("<skipped>", "")
    line = line.replace("-\n", "")
    if "&" in line:
        line = (
            line.replace("&quot;", '"')
            .replace("&amp;", "&")
            .replace("&lt;", "<")
            .replace("&gt;", ">")
        )
    return [token for word in line.split() for token in _split(word)]


def bleu_statistics(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> IntArray:
    """One row per prediction: its length, its nearest reference's,
    n-grams shared (n = 1…4), n-grams in all."""
    vocabulary: dict[str, int] = {}
    ours = corpus_of(map(tokens_13a, predictions), vocabulary)
    theirs = corpus_of((tokens_13a(text) for texts in references for text in texts), vocabulary)
    owner = np.repeat(np.arange(len(predictions)), [len(texts) for texts in references]).astype(
        np.int64
    )
    shared = shared_counts(ours, theirs, owner, _ORDERS)
    nearest = _nearest_lengths(ours.lengths, theirs.lengths, owner)
    return np.stack(
        [ours.lengths, nearest, *shared, *(totals(ours, n) for n in range(1, _ORDERS + 1))], axis=1
    )


def _nearest_lengths(ours: IntArray, theirs: IntArray, owner: IntArray) -> IntArray:
    """The reference length nearest to each prediction's; the shorter of two equally near ones."""
    order = np.lexsort((theirs, np.abs(theirs - ours[owner]), owner))
    _, first = np.unique(owner[order], return_index=True)
    return np.asarray(theirs[order][first], dtype=np.int64)


def corpus_bleu(statistics: IntArray) -> float:
    """BLEU (0 to 100) of a whole set, from the rows of `bleu_statistics`."""
    length, reference_length, *counts = (int(n) for n in statistics.sum(axis=0))
    shared, total = counts[:_ORDERS], counts[_ORDERS:]
    if not any(shared):
        return 0.0
    brevity = math.exp(1 - reference_length / length) if length < reference_length else 1.0
    logs, smooth = [_NO_LOG] * _ORDERS, 1.0
    for n in range(_ORDERS):
        if total[n] == 0:
            break
        if shared[n] == 0:
            smooth *= 2
            logs[n] = math.log(100.0 / (smooth * total[n]))
        else:
            logs[n] = math.log(100.0 * shared[n] / total[n])
    return brevity * math.exp(sum(logs) / _ORDERS)
