"""How often 95 % intervals over patients hold the truth: the simulation that the methods were
chosen by.

    python benchmarks/interval_coverage.py            all cells, some three minutes; prints docs/coverage.md
    python benchmarks/interval_coverage.py --runs 500 quicker and rougher
    python benchmarks/interval_coverage.py --only differences    one section
    … --again 20000           cells under the goal are tried once more, with other draws

Patients have 3, 8 or 40 items each, or a geometric number with that mean. A patient's ability is
drawn from a beta distribution, in which two items of one patient correlate by 0 (all patients
alike) to 1 (each all right or all wrong). Every interval is made by the code that `situs score` and
`situs compare` use. Beside it, for comparison: the percentile bootstrap of patients.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from situs.score.stats.limits import ShareLimits, SignedLimits
from situs.score.stats.prediction_powered import prediction_powered
from situs.score.stats.sums import ClusterSums

Cell = TypeVar("Cell", bound="tuple[object, ...]")
FloatArray = NDArray[np.float64]

PATIENTS = (10, 15, 20, 30, 60, 100, 200)
MEANS = (0.3, 0.5, 0.7, 0.9, 0.95, 0.97, 0.99)
CORRELATIONS = (0.0, 0.1, 0.3, 0.6, 1.0)
ITEMS = (3, 8, 40)
FEWER_PATIENTS = (10, 20, 30, 60, 200)
"""For differences, of which each simulation costs more."""
PAIRS = ((0.5, 0.5), (0.6, 0.4), (0.9, 0.8), (0.97, 0.3), (0.97, 0.97), (0.99, 0.95), (0.5, 0.48))
COUPLINGS = ("independent", "same patients hard", "same items hard")
LOW, HIGH = 0.93, 0.97
_TAIL = 0.025
_MOST = 3_000_000
"""Cells of one array."""


def counts_of(
    rng: np.random.Generator, runs: int, patients: int, items: int, geometric: bool
) -> FloatArray:
    """Items of each patient."""
    shape = (runs, patients)
    return (
        rng.geometric(1 / items, shape).astype(float) if geometric else np.full(shape, float(items))
    )


def abilities(
    rng: np.random.Generator, runs: int, patients: int, mean: float, correlation: float
) -> FloatArray:
    """A probability of being right for each patient."""
    shape = (runs, patients)
    if correlation == 0:
        return np.full(shape, mean)
    if correlation == 1:
        return (rng.random(shape) < mean).astype(float)
    weight = (1 - correlation) / correlation
    return rng.beta(mean * weight, (1 - mean) * weight, shape)


def mean_covered(
    rng: np.random.Generator, runs: int, cell: tuple[bool, int, float, float, int]
) -> float:
    """The share of intervals of a mean that hold it."""
    geometric, patients, mean, correlation, items = cell
    counts = counts_of(rng, runs, patients, items, geometric)
    right = rng.binomial(
        counts.astype(int), abilities(rng, runs, patients, mean, correlation)
    ).astype(float)
    low, high = ShareLimits(ClusterSums(right, counts, right, counts)).at(_TAIL)
    return float(np.mean((low <= mean) & (mean <= high)))


def bootstrap_covered(
    rng: np.random.Generator, runs: int, cell: tuple[bool, int, float, float, int]
) -> float:
    """The same for the percentile bootstrap of patients."""
    geometric, patients, mean, correlation, items = cell
    counts = counts_of(rng, runs, patients, items, geometric)
    right = rng.binomial(
        counts.astype(int), abilities(rng, runs, patients, mean, correlation)
    ).astype(float)
    held = 0
    for own, asked in zip(right, counts):
        times = rng.multinomial(patients, np.full(patients, 1 / patients), size=500)
        low, high = np.quantile((times @ own) / (times @ asked), (_TAIL, 1 - _TAIL))
        held += low <= mean <= high
    return held / runs


def difference_covered(
    rng: np.random.Generator, runs: int, cell: tuple[bool, int, tuple[float, float], float, str]
) -> float:
    """The share of intervals of a paired difference that hold it;
    of equal means, one minus the level of the test."""
    geometric, patients, (first, second), correlation, coupling = cell
    held = done = 0
    while done < runs:
        batch = min(runs - done, max(1, _MOST // (patients * 60)))
        above, below, counts = _paired(
            rng, batch, patients, (first, second), correlation, coupling, geometric
        )
        limits = SignedLimits(
            ClusterSums(above, counts, above, counts), ClusterSums(below, counts, below, counts)
        )
        low, high = limits.at(_TAIL)
        true = first - second
        held += int(np.count_nonzero((low <= true + 1e-9) & (true - 1e-9 <= high)))
        done += batch
    return held / runs


def _paired(
    rng: np.random.Generator,
    runs: int,
    patients: int,
    means: tuple[float, float],
    correlation: float,
    coupling: str,
    geometric: bool,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Items that only the first, and only the second, gets, by patient."""
    counts = counts_of(rng, runs, patients, 6, geometric)
    most = int(counts.max())
    luck = rng.random((runs, patients))
    ability = [
        _at(luck if coupling != "independent" else rng.random(luck.shape), mean, correlation)
        for mean in means
    ]
    draws = rng.random((runs, patients, most))
    other = draws if coupling == "same items hard" else rng.random(draws.shape)
    asked = np.arange(most) < counts[..., None]
    a, b = draws < ability[0][..., None], other < ability[1][..., None]
    return (
        (a & ~b & asked).sum(axis=2).astype(float),
        (b & ~a & asked).sum(axis=2).astype(float),
        counts,
    )


def _at(quantile: FloatArray, mean: float, correlation: float) -> FloatArray:
    """Abilities at quantiles, so that two readers can find the same patients hard."""
    from scipy.stats import beta

    if correlation == 0:
        return np.full(quantile.shape, mean)
    if correlation == 1:
        return (quantile > 1 - mean).astype(float)
    weight = (1 - correlation) / correlation
    grid = np.linspace(0, 1, 4001)
    return np.interp(quantile, grid, beta.ppf(grid, mean * weight, (1 - mean) * weight))


def judged_covered(
    rng: np.random.Generator, runs: int, cell: tuple[bool, int, float, float, tuple[float, float]]
) -> float:
    """The share of prediction-powered intervals that hold the accuracy:
    10 answers a patient, 3 of them labelled."""
    _, patients, mean, correlation, (sensitivity, specificity) = cell
    clusters = [str(number) for number in np.repeat(np.arange(patients), 10)]
    held = 0
    for ability in abilities(rng, runs, patients, mean, correlation):
        truth = rng.random(10 * patients) < np.repeat(ability, 10)
        agrees = rng.random(len(truth)) < np.where(truth, sensitivity, specificity)
        judge = np.where(agrees, truth, ~truth).astype(float)
        human = np.where(np.arange(len(truth)) % 10 < 3, truth.astype(float), np.nan)
        low, high = prediction_powered(judge, human, clusters).ci95 or (0.0, 1.0)
        held += low <= mean <= high
    return held / runs


def judge_cells() -> Iterator[tuple[bool, int, float, float, tuple[float, float]]]:
    """Good, middling, harsh and lenient judges."""
    judges = ((0.98, 0.98), (0.8, 0.8), (0.7, 0.95), (0.95, 0.6))
    yield from itertools.product((False,), (12, 30, 100), (0.3, 0.6, 0.95), (0.0, 0.3, 0.8), judges)


def mean_cells() -> Iterator[tuple[bool, int, float, float, int]]:
    """Every cell of a mean."""
    yield from itertools.product((False, True), PATIENTS, MEANS, CORRELATIONS, ITEMS)


def difference_cells() -> Iterator[tuple[bool, int, tuple[float, float], float, str]]:
    """Every cell of a difference that is not always 0."""
    for cell in itertools.product((False, True), FEWER_PATIENTS, PAIRS, CORRELATIONS, COUPLINGS):
        _, _, (first, second), correlation, coupling = cell
        fixed = coupling == "same items hard" or (
            coupling != "independent" and correlation in (0.0, 1.0)
        )
        if not (fixed and first == second) and not (
            coupling == "same patients hard" and correlation == 0
        ):
            yield cell


def print_means(rng: np.random.Generator, runs: int, again: int) -> None:
    """Intervals of a mean."""
    means = {cell: mean_covered(rng, runs, cell) for cell in mean_cells()}
    _print(f"Means ({runs:,} a cell)", means, {"mean": 2, "correlation": 3, "items per patient": 4})
    _print_grid(
        "Means, every cell: least and greatest over 3, 8 and 40 items, equal and geometric",
        means,
        "mean",
    )
    _try_again(means, lambda cell: mean_covered(rng, again, cell), again)


def print_bootstrap(rng: np.random.Generator, runs: int, again: int) -> None:
    """The percentile bootstrap on some of the cells."""
    fewer = max(100, runs // 10)
    chosen = itertools.product((False, True), (30, 60, 200), (0.5, 0.9, 0.97), (0.3, 1.0), (8,))
    percentile = {cell: bootstrap_covered(rng, fewer, cell) for cell in chosen}
    title = f"Means, percentile bootstrap of patients, for comparison ({fewer:,} a cell)"
    _print(title, percentile, {"mean": 2, "correlation": 3})


def print_differences(rng: np.random.Generator, runs: int, again: int) -> None:
    """Intervals of a paired difference, which `compare` and sight gains use."""
    fewer = max(100, runs // 3)
    differences = {cell: difference_covered(rng, fewer, cell) for cell in difference_cells()}
    facets = {"accuracies": 2, "correlation": 3, "coupling": 4}
    _print(f"Paired differences ({fewer:,} a cell)", differences, facets)
    _print_grid(
        "Differences, every cell: least and greatest over couplings and item counts",
        differences,
        "of",
    )
    _try_again(differences, lambda cell: difference_covered(rng, again, cell), again)


def print_judges(rng: np.random.Generator, runs: int, again: int) -> None:
    """Prediction-powered intervals."""
    fewer = max(100, runs // 5)
    judged = {cell: judged_covered(rng, fewer, cell) for cell in judge_cells()}
    facets = {"mean": 2, "correlation": 3, "sensitivity and specificity": 4}
    _print(f"Judges, prediction-powered ({fewer:,} a cell)", judged, facets)
    _print_grid("Judges, every cell: least and greatest over judges", judged, "mean")
    _try_again(judged, lambda cell: judged_covered(rng, again, cell), again)


SECTIONS = {
    "means": print_means,
    "bootstrap": print_bootstrap,
    "differences": print_differences,
    "judges": print_judges,
}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=2000, help="Simulations a cell of means.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", type=int, default=0, help="Simulations of doubted cells.")
    parser.add_argument("--only", choices=SECTIONS, help="One section; it prints the same.")
    options = parser.parse_args()
    if options.only is None:
        print(_BEGINNING.format(runs=options.runs, seed=options.seed))
    for number, (name, print_section) in enumerate(SECTIONS.items()):
        if options.only in (None, name):
            # Each section has draws of its own, so that it can be made anew alone.
            print_section(
                np.random.default_rng([options.seed, number]), options.runs, options.again
            )


def _try_again(
    covered: dict[Cell, float], coverage_of: Callable[[Cell], float], simulations: int
) -> None:
    """Every cell under the goal once more: of hundreds of cells some fall under it by chance."""
    narrow = [(cell, share) for cell, share in covered.items() if share < LOW]
    for cell, share in sorted(narrow, key=lambda one: one[1]) if simulations else ():
        print(
            f"- again ({simulations:,}): {share:.3f} → {coverage_of(cell):.4f}: {cell}", flush=True
        )


def _print(title: str, covered: dict[tuple[object, ...], float], facets: dict[str, int]) -> None:
    """Least, middle and greatest coverage by each facet, then every cell that is too narrow."""
    print(f"\n### {title}\n")
    print(f"| | cells | least | median | greatest | under {LOW:.0%} | over {HIGH:.0%} |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    names: dict[str, Callable[[tuple[object, ...]], object]] = {
        "all": lambda cell: "",
        "item counts": lambda cell: "geometric" if cell[0] else "equal",
        "patients": lambda cell: cell[1],
        **{name: lambda cell, place=place: cell[place] for name, place in facets.items()},
    }
    for name, key in names.items():
        for value in sorted({key(cell) for cell in covered}, key=lambda one: (str(type(one)), one)):
            own = np.array([share for cell, share in covered.items() if key(cell) == value])
            words = f"{name} {' and '.join(map(str, value)) if isinstance(value, tuple) else value}".strip()
            print(
                f"| {words} | {len(own)} | {own.min():.3f} | {np.median(own):.3f} | {own.max():.3f}"
                f" | {np.count_nonzero(own < LOW)} | {np.count_nonzero(own > HIGH)} |"
            )
    narrow, wide = (
        [c for c in covered.items() if holds(c[1])]
        for holds in (lambda s: s < LOW, lambda s: s > HIGH)
    )
    print(
        f"\nUnder {LOW:.0%}: {len(narrow) or 'no cell'}; over {HIGH:.0%}: {len(wide) or 'no cell'}."
    )
    if narrow:
        print()
    for cell, share in sorted(narrow, key=lambda one: one[1]):
        print(
            f"- {share:.3f}: {'geometric' if cell[0] else 'equal'}, {cell[1]} patients, {cell[2:]}"
        )


def _print_grid(title: str, covered: dict[tuple[object, ...], float], column: str) -> None:
    """Every cell, those that differ in items and coupling only as one range;
    what leaves the goal is in bold."""
    columns = sorted({cell[2] for cell in covered})
    heads = [
        f"{column} {' and '.join(map(str, one)) if isinstance(one, tuple) else one}"
        for one in columns
    ]
    print(
        f"\n### {title}\n\n| patients, correlation | {' | '.join(heads)}"
        f" |\n|---|{'---|' * len(columns)}"
    )
    for patients, correlation in sorted({(cell[1], cell[3]) for cell in covered}):
        ranges = []
        for one in columns:
            own = [
                share
                for cell, share in covered.items()
                if cell[1:4] == (patients, one, correlation)
            ]
            words = f"{min(own):.3f}–{max(own):.3f}" if own else ""
            ranges.append(
                f"**{words}**" if own and not LOW <= min(own) <= max(own) <= HIGH else words
            )
        print(f"| {patients}, {correlation} | {' | '.join(ranges)} |")


_BEGINNING = """# How often the intervals hold the truth

Printed by `python benchmarks/interval_coverage.py --runs {runs} --seed {seed}`. Goal: 93 to 97 % in
every cell; [statistics](statistics.md) says what is done and why. The standard error of a share of
.95 is √(.95 · .05 / simulations a cell); a range in bold leaves the goal somewhere."""


if __name__ == "__main__":
    main()
