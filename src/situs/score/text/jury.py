"""A jury of judges: majority, who agrees with whom, and what any one of them decides."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.score.stats.agreement import agreement, percent_agreement, spearman
from situs.score.stats.calibration import Calibration

__all__ = ["JudgePair", "JudgeSummary", "JurySummary", "majority", "same_family", "summarize"]

Votes = NDArray[np.float64]
"""Items × judges: 1 true, 0 false, NaN no verdict."""
Bools = NDArray[np.bool_]

_FAMILIES = {
    "OpenAI": r"gpt|openai|chatgpt|o[134](?:-mini)?",
    "Google": r"gemini|gemma|medgemma|palm",
    "Qwen": r"qwen|lingshu",
    "Anthropic": r"claude",
    "Meta": r"llama",
    "Mistral": r"mistral|mixtral|pixtral",
    "DeepSeek": r"deepseek",
}
"""Families by what their names, or those of models built on them, begin with."""


class JudgeSummary(msgspec.Struct, frozen=True):
    """One judge's file in numbers."""

    judge: str
    rows: int
    true: int
    false: int
    no_verdict: int
    unjudged_items: int
    rows_without_item: list[str]
    ambiguous_items: int
    length_correlation: float | None
    """Spearman's between the number of words of an answer and being called right."""


class JudgePair(msgspec.Struct, frozen=True):
    """Two judges on the answers both judged."""

    a: str
    b: str
    n: int
    percent: float | None
    kappa: float | None
    kappa_ci95: tuple[float, float] | None


class JurySummary(msgspec.Struct, frozen=True):
    """What a jury's verdict rests on."""

    rule: str
    judges: list[JudgeSummary]
    pairs: list[JudgePair]
    alpha: float | None
    alpha_ci95: tuple[float, float] | None
    without: dict[str, float]
    """Jury accuracy with each judge left out."""
    ties: int
    undecided: int
    """Not right for now, but absent verdicts could make it so."""
    length_correlation: float | None
    calibration: list[Calibration]
    warnings: list[str]


RULE = "right if more than half of all judges say true; a tie, or too few verdicts, is not right"


def majority(votes: Votes) -> tuple[Bools, Bools, Bools]:
    """Right, tied, and undecided items:
    right needs more than half of all judges, absent ones included."""
    judges = votes.shape[1]
    true = np.nansum(votes, axis=1)
    absent = np.isnan(votes).sum(axis=1)
    right = 2 * true > judges
    tied = ~right & (absent == 0) & (2 * true == judges)
    undecided = ~right & (absent > 0) & (2 * (true + absent) > judges)
    return right, tied, undecided


def summarize(
    votes: Votes,
    judges: Sequence[JudgeSummary],
    clusters: Sequence[str],
    words: NDArray[np.float64],
    *,
    calibration: Sequence[Calibration],
    contestant: str,
    models: Mapping[str, str],
    seed: int,
) -> JurySummary:
    """Everything about the jury but its accuracy."""
    names = [judge.judge for judge in judges]
    right, tied, undecided = majority(votes)
    several = len(names) > 1
    alpha = agreement("alpha", votes, clusters, seed=seed) if several else None
    without = {
        name: float(majority(np.delete(votes, place, axis=1))[0].mean())
        for place, name in enumerate(names)
        if several
    }
    return JurySummary(
        rule=RULE,
        judges=list(judges),
        pairs=[
            _pair(votes, names, a, b, clusters, seed)
            for a, b in itertools.combinations(range(len(names)), 2)
        ],
        alpha=alpha.value if alpha else None,
        alpha_ci95=alpha.ci95 if alpha else None,
        without=without,
        ties=int(tied.sum()),
        undecided=int(undecided.sum()),
        length_correlation=spearman(words, right),
        calibration=list(calibration),
        warnings=[
            f"judge {name} and the model {contestant} are of one family ({family}): it may favour"
            " its own"
            for name in names
            if (family := same_family(f"{name} {models.get(name, '')}", contestant))
        ],
    )


def _pair(
    votes: Votes, names: list[str], a: int, b: int, clusters: Sequence[str], seed: int
) -> JudgePair:
    pair_votes = votes[:, [a, b]]
    both = np.isfinite(pair_votes).all(axis=1)
    kappa = agreement(
        "kappa",
        pair_votes[both],
        [clusters[row] for row in np.flatnonzero(both).tolist()],
        seed=seed,
    )
    return JudgePair(
        names[a],
        names[b],
        int(both.sum()),
        percent_agreement(pair_votes[both]),
        kappa.value,
        kappa.ci95,
    )


def same_family(judge: str, contestant: str) -> str | None:
    """The family both names belong to, if they do.

    The kind of client in front of a name (`openai:…`) says nothing.
    """
    judge, contestant = (re.sub(r"^openai:|@\S*", "", name) for name in (judge, contestant))
    for family, pattern in _FAMILIES.items():
        family_name = re.compile(rf"(?<![a-z])(?:{pattern})(?![a-z])", re.IGNORECASE)
        if family_name.search(judge) and family_name.search(contestant):
            return family
    return None
