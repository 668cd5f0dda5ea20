"""All text metrics over a set of answers.

They compare wording; none of them tells whether an answer is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError
from situs.score.stats.estimates import Estimate, cluster_mean, too_few
from situs.score.stats.sums import percentile_95
from situs.score.text.bleu import bleu_statistics, corpus_bleu
from situs.score.text.facts import FACT_KINDS, fact_counts
from situs.score.text.meteor import meteor
from situs.score.text.minilm import MiniLM, find_minilm
from situs.score.text.rouge import ROUGES, rouge
from situs.score.text.wordnet import WordNet, find_wordnet
from situs.score.text.words import exact_match, prepared, token_f1

__all__ = ["ON_REQUEST", "TEXT_METRICS", "TextTable", "text_table"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

FACT_METRICS = ("fact_f1", *(f"fact_f1.{kind}" for kind in FACT_KINDS))
ON_REQUEST = ("sbert",)
"""Computed only when asked for by name: it takes a minute and weights that few have."""
TEXT_METRICS = ("bleu", *ROUGES, "meteor", "sbert", "exact", "token_f1", *FACT_METRICS)
_BOOTSTRAPS = 1000


@dataclass(frozen=True)
class TextTable:
    """Metrics of the answers that are not empty."""

    kept: IntArray
    """Which answers those are."""
    values: dict[str, FloatArray]
    """Metric → one value per kept answer."""
    bleu: IntArray | None
    facts: dict[str, FloatArray] = field(default_factory=dict)
    missing: dict[str, SitusError] = field(default_factory=dict)
    """Metrics that could not be computed, and the remedy."""

    def estimate(
        self, metric: str, rows: IntArray, clusters: Sequence[str], seed: int | None
    ) -> Estimate | None:
        """The metric over some of the answers (by their place in the whole set);
        without a seed, no interval."""
        in_rows = np.isin(self.kept, rows)
        names = [clusters[row] for row in self.kept[in_rows]]
        if not names:
            return None
        if metric == "bleu":
            return None if self.bleu is None else _bleu(self.bleu[in_rows], names, seed)
        if metric in FACT_METRICS and self.facts:
            kind = metric.partition(".")[2] or "all"
            common, stated = (
                self.facts[f"{kind}.common"][in_rows],
                self.facts[f"{kind}.stated"][in_rows],
            )
            states_facts = stated > 0
            ratios = 2 * common[states_facts] / stated[states_facts]
            return _mean(
                ratios,
                [n for n, keep in zip(names, states_facts) if keep],
                seed,
                weights=stated[states_facts],
            )
        if metric not in self.values:
            return None
        bounds = (-1.0, 1.0) if metric == "sbert" else (0.0, 1.0)
        return _mean(self.values[metric][in_rows], names, seed, bounds=bounds)


def text_table(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    questions: Sequence[str],
    names: Sequence[str],
) -> TextTable:
    """Compute the named metrics with the released preparation:
    stripped, empty answers dropped, lower case."""
    answered = np.array(
        [row for row, text in enumerate(predictions) if text.strip()], dtype=np.int64
    )
    # Templates and baselines say the same again and again: each answer to a question is compared
    # once.
    asked = [(predictions[row], tuple(references[row]), questions[row]) for row in answered]
    distinct = {one: number for number, one in enumerate(dict.fromkeys(asked))}
    prepared_predictions = [prepared(text) for text, _, _ in distinct]
    texts = [
        [prepared(reference) for reference in reference_texts] for _, reference_texts, _ in distinct
    ]
    table = _compared(prepared_predictions, texts, [question for _, _, question in distinct], names)
    rows = np.array([distinct[one] for one in asked], dtype=np.int64)
    return TextTable(
        answered,
        {name: column[rows] for name, column in table.values.items()},
        None if table.bleu is None else table.bleu[rows],
        {name: column[rows] for name, column in table.facts.items()},
        table.missing,
    )


def _compared(
    said: Sequence[str],
    texts: Sequence[Sequence[str]],
    questions: Sequence[str],
    names: Sequence[str],
) -> TextTable:
    """The named metrics of prepared answers, all of them."""
    values: dict[str, FloatArray] = {}
    missing: dict[str, SitusError] = {}
    if set(names) & set(ROUGES):
        values |= {name: value for name, value in rouge(said, texts).items() if name in names}
    if "exact" in names:
        values["exact"] = exact_match(said, texts)
    if "token_f1" in names:
        values["token_f1"] = token_f1(said, texts)
    if "meteor" in names:
        try:
            values["meteor"] = meteor(said, texts, _wordnet(find_wordnet()).synonyms)
        except SitusError as error:
            missing["meteor"] = error
    if "sbert" in names:
        try:
            values["sbert"] = _cosines(_minilm(find_minilm()), said, texts)
        except SitusError as error:
            missing["sbert"] = error
    facts = fact_counts(said, texts, questions) if set(names) & set(FACT_METRICS) else {}
    bleu = bleu_statistics(said, texts) if "bleu" in names else None
    return TextTable(np.arange(len(said)), values, bleu, facts, missing)


@lru_cache(maxsize=1)
def _wordnet(place: Path) -> WordNet:
    return WordNet(place)


@lru_cache(maxsize=1)
def _minilm(folder: Path) -> MiniLM:
    return MiniLM(folder)


def _cosines(model: MiniLM, said: Sequence[str], texts: Sequence[Sequence[str]]) -> FloatArray:
    """The cosine with the nearest reference."""
    ends = np.cumsum([0, *(len(held) for held in texts)])
    vectors = model.encode([*said, *(text for held in texts for text in held)]).astype(np.float64)
    ours, theirs = vectors[: len(said)], vectors[len(said) :]
    cosines = [float((theirs[a:b] @ mine).max()) for mine, a, b in zip(ours, ends, ends[1:])]
    return np.clip(np.array(cosines, dtype=np.float64), -1.0, 1.0)


def _mean(
    values: FloatArray,
    clusters: Sequence[str],
    seed: int | None,
    *,
    weights: FloatArray | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Estimate | None:
    if not len(values):
        return None
    if seed is not None:
        return cluster_mean(values, clusters, weights, bounds=bounds)
    value = float(np.average(values, weights=weights))
    return Estimate(
        value, len(values), len(set(clusters)), None, "none", "no interval for this row"
    )


def _bleu(statistics: IntArray, clusters: Sequence[str], seed: int | None) -> Estimate:
    """Corpus BLEU, resampled by patients from the sums of their counts."""
    value, n = corpus_bleu(statistics), len(statistics)
    names, place = np.unique(np.asarray(clusters, dtype=np.str_), return_inverse=True)
    if seed is None:
        return Estimate(value, n, len(names), None, "none", "no interval for this row")
    reason = too_few(len(names))
    if reason:
        return Estimate(value, n, len(names), None, "none", reason)
    sums = np.zeros((len(names), statistics.shape[1]), dtype=np.int64)
    np.add.at(sums, place, statistics)
    generator = np.random.default_rng(seed)
    draws = np.array(
        [
            corpus_bleu(sums[generator.integers(0, len(names), len(names))])
            for _ in range(_BOOTSTRAPS)
        ],
        dtype=np.float64,
    )
    return Estimate(value, n, len(names), percentile_95(draws), "cluster-bootstrap-percentile")
