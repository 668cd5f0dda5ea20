"""`compare` never contradicts itself:
intervals, p, Holm, ranks, groups and words say the same on one screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from situs.score import Comparison, Contestant, compare
from situs.score.shown.comparison import comparison_tables
from situs.tables import csv_text

LEVEL = 0.05


def drawn(seed: int) -> Comparison:
    """Two to five runs on few or many patients with few or many items,
    alike or not, whole patients right or wrong."""
    rng = np.random.default_rng(seed)
    patients, count = int(rng.integers(2, 70)), int(rng.integers(2, 6))
    sizes = rng.geometric(rng.choice([0.9, 0.3, 0.1]), size=patients)
    names = np.repeat([f"p{number}" for number in range(patients)], sizes)
    clusters = {f"i{number}": str(name) for number, name in enumerate(names)}
    fate = np.repeat(rng.normal(size=patients) * rng.choice([0.0, 1.0, 20.0]), sizes)
    base = rng.normal(size=len(names))
    runs = []
    for number in range(count):
        skill, own = rng.normal() * rng.choice([0.0, 0.3, 3.0]), rng.choice([0.0, 1.0])
        right = fate + base + own * rng.normal(size=len(names)) + skill > 0
        values = {f"i{k}": float(hit) for k, hit in enumerate(right) if rng.random() > 0.02}
        runs.append(Contestant(f"run{number}", values, ranked=bool(rng.random() > 0.1)))
    if rng.random() < 0.1:
        runs.append(Contestant("copy", runs[0].values))
    return compare(runs, clusters)


def check(result: Comparison) -> None:
    """Every part against every other."""
    ranked = {standing.name: standing for standing in result.standings}
    apart = set()
    for pair in result.pairs:
        if pair.p is None or pair.ci95 is None or pair.ci_joint is None or pair.p_holm is None:
            assert (pair.p, pair.p_holm, pair.ci_joint) == (None, None, None)
            continue
        assert pair.difference is not None
        assert pair.p <= pair.p_holm <= 1.0
        for (low, high), p in ((pair.ci95, pair.p), (pair.ci_joint, pair.p_holm)):
            assert low <= pair.difference <= high
            assert (low > 0 or high < 0) is (p < LEVEL), (pair.a, pair.b, low, high, p)
        if pair.p_holm < LEVEL:
            apart.add(frozenset((pair.a, pair.b)))
            if pair.a in ranked and pair.b in ranked:
                better, worse = (pair.a, pair.b) if pair.difference > 0 else (pair.b, pair.a)
                assert ranked[better].value > ranked[worse].value
                assert ranked[better].rank < ranked[worse].rank
    for standing in result.standings:
        if standing.rank95 is not None:
            low, high = standing.rank95
            assert 1 <= low <= standing.rank <= high <= len(ranked)
    together = {
        frozenset((a, b)) for group in result.tied_groups for a in group for b in group if a != b
    }
    assert not together & apart
    pairs = {frozenset((a, b)) for a in ranked for b in ranked if a != b}
    assert pairs <= together | apart
    for pair in pairs:
        one, other = (ranked[name].rank95 for name in sorted(pair))
        if one is not None and other is not None and (one[1] < other[0] or other[1] < one[0]):
            assert pair in apart, "rank intervals that do not meet tell runs apart"


def check_words(result: Comparison) -> None:
    """What is printed names as alike exactly the runs that the pairs leave alike."""
    tables = {table.name: table for table in comparison_tables(result, "accuracy")}
    if "ranks" not in tables:
        return
    alike = [group for group in result.tied_groups if len(group) > 1]
    words = tables["ranks"].caption
    assert ("All ranked runs can be told apart" in words) is (not alike)
    for group in alike:
        assert ", ".join(group) in words
    shown = csv_text(tables["ranks"])
    for standing in result.standings:
        low_high = standing.rank95
        assert low_high is None or f"{low_high[0]}–{low_high[1]}" in shown


@pytest.mark.parametrize("block", range(4))
def test_no_comparison_contradicts_itself(block: int, little_of: Callable[..., Any]) -> None:
    for seed in little_of(range(250 * block, 250 * (block + 1)), 12):
        result = drawn(seed)
        check(result)
        check_words(result)


def test_a_contradiction_is_caught() -> None:
    """An interval beyond 0 beside a p over the level, as was once printed."""
    import msgspec

    result = next(one for seed in range(50) if (one := drawn(seed)).pairs[0].p_holm is not None)
    pair = msgspec.structs.replace(result.pairs[0], ci95=(0.01, 0.2), p=0.054, difference=0.1)
    with pytest.raises(AssertionError):
        check(msgspec.structs.replace(result, pairs=[pair, *result.pairs[1:]]))
