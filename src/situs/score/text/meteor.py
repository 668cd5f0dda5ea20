"""METEOR as NLTK computes it: words split at white space,
matched as they stand, by stem, then by synonym."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from situs.score.text.porter import stem

__all__ = ["meteor"]

_ALPHA, _BETA, _GAMMA = 0.9, 3.0, 0.5

Synonyms = Callable[[str], frozenset[str]]


def meteor(
    predictions: Sequence[str], references: Sequence[Sequence[str]], synonyms: Synonyms
) -> NDArray[np.float64]:
    """The score of every prediction against the reference it fits best."""
    values = []
    for text, texts in zip(predictions, references):
        words = text.lower().split()
        values.append(
            max(_score(words, reference.lower().split(), synonyms) for reference in texts)
        )
    return np.array(values, dtype=np.float64)


def _score(said: list[str], reference: list[str], synonyms: Synonyms) -> float:
    matches = _aligned(said, reference, synonyms)
    count = len(matches)
    if not count:
        return 0.0
    precision, recall = count / len(said), count / len(reference)
    mean = (precision * recall) / (_ALPHA * precision + (1 - _ALPHA) * recall)
    chunks, before = 0, (-2, -2)
    for here in sorted(matches.items()):
        chunks += here != (before[0] + 1, before[1] + 1)
        before = here
    return (1 - _GAMMA * math.pow(chunks / count, _BETA)) * mean


def _aligned(said: list[str], reference: list[str], synonyms: Synonyms) -> dict[int, int]:
    """Place said → place in the reference.

    From the last word to the first, each takes the last free one.
    """
    matches: dict[int, int] = {}
    free: dict[str, list[int]] = {}
    for place, word in enumerate(reference):
        free.setdefault(word, []).append(place)
    left = []
    for place in range(len(said) - 1, -1, -1):
        places = free.get(said[place])
        if places:
            matches[place] = places.pop()
        else:
            left.append(place)
    if left and len(matches) < len(reference):
        _match_by_meaning(
            said,
            reference,
            left,
            sorted(p for places in free.values() for p in places),
            matches,
            synonyms,
        )
    return matches


def _match_by_meaning(
    said: list[str],
    reference: list[str],
    left: list[int],
    open_places: list[int],
    matches: dict[int, int],
    synonyms: Synonyms,
) -> None:
    """Match what is left by stem, then by synonym.

    NLTK looks up synonyms of stems, not of words, and so does this.
    """
    free: dict[str, list[int]] = {}
    for place in open_places:
        free.setdefault(stem(reference[place]), []).append(place)
    unmatched = []
    for place in left:
        root = stem(said[place])
        places = free.get(root)
        if places:
            matches[place] = places.pop()
        else:
            unmatched.append((place, root))
    roots = {root for root, places in free.items() if places}
    for place, root in unmatched:
        candidates = roots & synonyms(root) if roots else None
        if candidates:
            chosen = max(candidates, key=lambda candidate: free[candidate][-1])
            matches[place] = free[chosen].pop()
            if not free[chosen]:
                roots.discard(chosen)
