"""How unlikely chance alone makes it that a cause shows as often as it does."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from situs.score.explain.causes import Exposures
from situs.score.stats.estimates import paired_difference

__all__ = ["beyond_opinions", "upper_tail"]

_EXACT = 3000
"""Up to so many answers the tail is exact; beyond, normal."""


def beyond_opinions(exposed: Exposures) -> float:
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
