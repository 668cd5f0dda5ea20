"""The released preparation of texts, and the two plainest comparisons: equal, and sharing words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from situs.score.text.ngrams import corpus_of, shared_counts
from situs.score.text.rouge import best_of, f_measure

__all__ = ["exact_match", "prepared", "token_f1"]

FloatArray = NDArray[np.float64]


def prepared(text: str) -> str:
    """White space stripped and lower case; nothing else is cleaned away."""
    return text.strip().lower()


def exact_match(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> FloatArray:
    """1 where the prediction equals a reference."""
    return np.array(
        [float(text in texts) for text, texts in zip(predictions, references)], dtype=np.float64
    )


def token_f1(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> FloatArray:
    """F1 of the words (split at white space,
    with repeats) shared with the reference that fits best."""
    vocabulary: dict[str, int] = {}
    owner = np.repeat(np.arange(len(predictions)), [len(texts) for texts in references])
    prediction_words = [text.split() for text in predictions]
    ours = corpus_of((prediction_words[row] for row in owner), vocabulary)
    theirs = corpus_of((text.split() for texts in references for text in texts), vocabulary)
    (shared,) = shared_counts(ours, theirs, np.arange(len(owner)), 1)
    return best_of(f_measure(shared, ours.lengths, theirs.lengths), owner, len(predictions))
