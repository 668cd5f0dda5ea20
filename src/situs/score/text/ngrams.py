"""Counting shared word sequences of many pairs of texts at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Corpus", "corpus_of", "shared_counts", "totals"]

IntArray = NDArray[np.int64]

_LARGEST = 1 << 62


@dataclass(frozen=True, slots=True)
class Corpus:
    """Texts as numbers: one code per token, the same for equal tokens;
    `lengths` tokens belong to each text."""

    codes: IntArray
    lengths: IntArray

    @property
    def rows(self) -> IntArray:
        """The number of the text each token belongs to."""
        return np.repeat(np.arange(len(self.lengths), dtype=np.int64), self.lengths)


def corpus_of(texts: Iterable[Sequence[str]], vocabulary: dict[str, int]) -> Corpus:
    """Number the tokens; `vocabulary` grows, and is shared by corpora that are compared."""
    lengths: list[int] = []
    codes: list[int] = []
    for tokens in texts:
        lengths.append(len(tokens))
        codes.extend([vocabulary.setdefault(token, len(vocabulary)) for token in tokens])
    return Corpus(np.array(codes, dtype=np.int64), np.array(lengths, dtype=np.int64))


def totals(corpus: Corpus, order: int) -> IntArray:
    """How many n-grams each text has."""
    return np.maximum(corpus.lengths - (order - 1), 0)


def shared_counts(first: Corpus, second: Corpus, owner: IntArray, orders: int) -> list[IntArray]:
    """For each n from 1 to `orders`: how many n-grams of each first text also stand in its second
    texts.

    `owner[j]` is the first text that second text j belongs to. A repeated n-gram counts at most as
    often as it occurs in that one of the second texts which has it most often.
    """
    rows_a, texts_b = first.rows, second.rows
    grams_a, grams_b = first.codes, second.codes
    words = int(max(grams_a.max(initial=0), grams_b.max(initial=0))) + 1
    span = words
    result = []
    for order in range(1, orders + 1):
        if order > 1:
            if span * words * (len(second.lengths) + 1) >= _LARGEST:
                grams_a, grams_b, span = _renumbered(grams_a, grams_b)
            rows_a, grams_a = _longer(rows_a, grams_a, first.codes[order - 1 :], words)
            texts_b, grams_b = _longer(texts_b, grams_b, second.codes[order - 1 :], words)
            span *= words
        keys_a, counts_a = np.unique((rows_a * span + grams_a)[rows_a >= 0], return_counts=True)
        keys_b, counts_b = _most_per_owner((texts_b * span + grams_b)[texts_b >= 0], owner, span)
        nearest = np.minimum(np.searchsorted(keys_b, keys_a), max(len(keys_b) - 1, 0))
        is_shared = keys_b[nearest] == keys_a if len(keys_b) else np.zeros(len(keys_a), dtype=bool)
        shared = np.minimum(counts_a[is_shared], counts_b[nearest[is_shared]])
        counts = np.bincount(
            keys_a[is_shared] // span, weights=shared, minlength=len(first.lengths)
        )
        result.append(counts.astype(np.int64))
    return result


def _renumbered(first: IntArray, second: IntArray) -> tuple[IntArray, IntArray, int]:
    """The same n-grams under the smallest numbers, so that longer ones still fit into 64 bits."""
    distinct, codes = np.unique(np.concatenate([first, second]), return_inverse=True)
    return codes[: len(first)].astype(np.int64), codes[len(first) :].astype(np.int64), len(distinct)


def _longer(
    rows: IntArray, grams: IntArray, following: IntArray, words: int
) -> tuple[IntArray, IntArray]:
    """Sequences longer by one token;
    those that would run over the end of their text get the row −1."""
    length = len(following)
    return np.where(rows[:length] == rows[1 : length + 1], rows[:length], -1), grams[
        :length
    ] * words + following


def _most_per_owner(keys: IntArray, owner: IntArray, span: int) -> tuple[IntArray, IntArray]:
    """Each (owner, n-gram) with its count in the text of that owner which has it most often."""
    distinct, counts = np.unique(keys, return_counts=True)
    if len(owner) == 0 or (
        owner[-1] == len(owner) - 1 and np.array_equal(owner, np.arange(len(owner)))
    ):
        return distinct, counts.astype(np.int64)
    merged, place = np.unique(owner[distinct // span] * span + distinct % span, return_inverse=True)
    most = np.zeros(len(merged), dtype=np.int64)
    np.maximum.at(most, place, counts)
    return merged, most
