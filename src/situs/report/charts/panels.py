"""What the charts draw: the facets of `situs score` over all runs,
numbers against the truth, and sides."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

import msgspec
import numpy as np

from situs.report.covered import Alike, Covered
from situs.report.scored import ReportedRun
from situs.score import SAID_SIDES, SIZES, side_counts
from situs.score.facets import categories_in

__all__ = [
    "AgreementPanel",
    "BarRow",
    "ShareGrid",
    "Shares",
    "SideTable",
    "by_category",
    "by_size",
    "by_structure",
    "number_panels",
    "side_tables",
]

_CATEGORIES = ("category:", "dimension:")
_REGION = "region:"
_NO_CATEGORY = ("repeated question",)
_MOST_ROWS = 30
_MOST_AXES = 12
_FEWEST = 3
_MOST_POINTS = 600

Groups = Callable[[Alike], Iterable[str]]
"""The groups to which items belong."""


class ShareGrid(msgspec.Struct, frozen=True):
    """Accuracy of each run on each group of items."""

    runs: list[str]
    groups: list[str]
    values: list[list[tuple[int, int]]]
    """Right and all, by group and run."""


class AgreementPanel(msgspec.Struct, frozen=True):
    """Numbers of one run in one unit against the truth."""

    run: str
    unit: str
    points: list[tuple[float, float, str]]
    """Mean of answer and truth (geometric), ratio of answer to truth, item."""
    bias: float
    """Geometric mean of the ratio."""
    low: float
    high: float
    """Between these lie 95 % of ratios, if their logarithms are normal:
    Bland and Altman's limits."""
    left_out: int
    """Answers that are not positive, or points beyond those drawn."""


class BarRow(msgspec.Struct, frozen=True):
    """The accuracy of one run or blind row, in percent."""

    name: str
    percent: float
    interval: tuple[float, float] | None
    chance: float | None
    blind: bool


class SideTable(msgspec.Struct, frozen=True):
    """What was said where the truth is left, right, …"""

    run: str
    truths: list[str]
    said: list[str]
    counts: list[list[int]]


class Shares:
    """How many answers of each run are right, by items that belong to the same groups."""

    def __init__(self, runs: Sequence[ReportedRun], covered: Covered) -> None:
        self.runs = runs
        self.covered = covered
        self._of = {
            alike: [_right_of(run, ids) for run in runs] for alike, ids in covered.alike.items()
        }

    def grid(self, groups_of: Groups, most: int) -> ShareGrid | None:
        """The groups with the most items."""
        members: dict[str, list[Alike]] = defaultdict(list)
        sizes: Counter[str] = Counter()
        for alike, ids in self.covered.alike.items():
            for group in dict.fromkeys(groups_of(alike)):
                members[group].append(alike)
                sizes[group] += len(ids)
        names = [name for name, size in sizes.items() if size >= _FEWEST]
        names = sorted(names, key=lambda name: (-sizes[name], name))[:most]
        values = [_summed([self._of[alike] for alike in members[name]]) for name in names]
        filled = [n for n, row in enumerate(values) if any(total for _, total in row)]
        if not filled:
            return None
        return ShareGrid(
            [run.name for run in self.runs], [names[n] for n in filled], [values[n] for n in filled]
        )

    def first_grid(self, choices: Iterable[Groups], most: int, fewest: int) -> ShareGrid | None:
        """The first choice that gives so many groups."""
        grids = (self.grid(groups_of, most) for groups_of in choices)
        return next(
            (grid for grid in grids if grid is not None and len(grid.groups) >= fewest), None
        )


def _right_of(run: ReportedRun, ids: Sequence[str]) -> tuple[int, int]:
    """How many are right, of those that count and were judged."""
    columns, places = run.columns, run.columns.places
    rows = np.array([places[key] for key in ids if key in places], dtype=np.int64)
    rows = rows[columns.decided[rows]]
    return int(columns.right[rows].sum()), len(rows)


def _summed(parts: Sequence[Sequence[tuple[int, int]]]) -> list[tuple[int, int]]:
    """The counts of each run, added up."""
    return [(sum(right for right, _ in own), sum(n for _, n in own)) for own in zip(*parts)]


def by_structure(shares: Shares) -> ShareGrid | None:
    """Structure, finding or region × run, the most asked first."""
    choices: list[Groups] = [
        lambda alike: [_plain(name) for name in alike.structures if _names_one(name)],
        lambda alike: [_plain(tag) for tag in categories_in(alike.tags) if tag.startswith(_REGION)],
    ]
    return shares.first_grid(choices, _MOST_ROWS, 2)


def by_category(shares: Shares) -> ShareGrid | None:
    """Categories of the source, else tasks; at least three."""
    choices: list[Groups] = [
        *(_with_prefix(prefix) for prefix in _CATEGORIES),
        lambda alike: [
            t for t in categories_in(alike.tags) if ":" not in t and t not in _NO_CATEGORY
        ],
        lambda alike: [_plain(alike.task)],
    ]
    return shares.first_grid(choices, _MOST_AXES, 3)


def by_size(shares: Shares) -> ShareGrid | None:
    """By the volume of the first structure an item names, small to large."""
    grid = shares.first_grid([lambda alike: alike.size], len(SIZES), 2)
    if grid is None:
        return None
    order = sorted(range(len(grid.groups)), key=lambda n: SIZES.index(grid.groups[n]))
    return ShareGrid(grid.runs, [grid.groups[n] for n in order], [grid.values[n] for n in order])


def _with_prefix(prefix: str) -> Groups:
    return lambda alike: [
        _plain(tag) for tag in categories_in(alike.tags) if tag.startswith(prefix)
    ]


def _names_one(name: str) -> bool:
    return not name.endswith("*") and name != "any"


def _plain(name: str) -> str:
    return name.rpartition(":")[2].replace("_", " ")


def number_panels(runs: Sequence[ReportedRun], covered: Covered) -> list[AgreementPanel]:
    """Bland–Altman panels of ratios, a run and a unit each."""
    units = covered.units
    panels = []
    for run in runs:
        points_of: dict[str, list[tuple[float, float, str]]] = defaultdict(list)
        lost: Counter[str] = Counter()
        columns = run.columns
        for row in np.flatnonzero(columns.predicted).tolist():
            key, truth = columns.item_ids[row], float(columns.truth[row])
            if math.isnan(truth) or not units.get(key):
                continue
            predicted = float(columns.predictions[row] or 0)
            if predicted > 0 and truth > 0 and math.isfinite(predicted):
                points_of[units[key]].append((math.sqrt(predicted * truth), predicted / truth, key))
            else:
                lost[units[key]] += 1
        for unit, points in sorted(points_of.items()):
            if len(points) < _FEWEST:
                continue
            logs = np.log([ratio for _, ratio, _ in points])
            mean, spread = float(logs.mean()), 1.96 * float(logs.std(ddof=1))
            panels.append(
                AgreementPanel(
                    run.name,
                    unit,
                    sorted(points)[:_MOST_POINTS],
                    math.exp(mean),
                    math.exp(mean - spread),
                    math.exp(mean + spread),
                    lost[unit] + max(0, len(points) - _MOST_POINTS),
                )
            )
    return panels


def side_tables(runs: Sequence[ReportedRun], covered: Covered) -> list[SideTable]:
    """Of option questions that offer both sides: truth against what was said, run by run."""
    tables = []
    for run in runs:
        asked = (item for item in covered.sided if run.right(item.item_id) is not None)
        counts = side_counts(asked, run.columns)
        if counts:
            answers = [
                name
                for name in SAID_SIDES
                if name in counts or any(row[name] for row in counts.values())
            ]
            tables.append(
                SideTable(
                    run.name,
                    list(counts),
                    answers,
                    [[row[n] for n in answers] for row in counts.values()],
                )
            )
    return tables
