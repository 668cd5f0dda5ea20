"""What the charts draw: the facets of `situs score` over all runs,
numbers against the truth, and sides."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
import numpy as np

from situs.items import Item
from situs.report.scored import ReportedRun
from situs.score import SAID_SIDES, SIZES, Facets, side_counts

__all__ = [
    "AgreementPanel",
    "BarRow",
    "ShareGrid",
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

Groups = Callable[[str], Iterable[str]]
"""Item id → the groups it belongs to."""


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


def _right_of(run: ReportedRun, keys: Sequence[str]) -> tuple[int, int]:
    """How many are right, of those that count and were judged."""
    columns = run.columns
    rows = np.array([columns.places[key] for key in keys if key in columns.places], dtype=np.int64)
    rows = rows[columns.decided[rows]]
    return int(columns.right[rows].sum()), len(rows)


def _grid(
    runs: Sequence[ReportedRun], items: Iterable[str], groups_of: Groups, most: int
) -> ShareGrid | None:
    members: dict[str, list[str]] = defaultdict(list)
    for item_id in items:
        for group in dict.fromkeys(groups_of(item_id)):
            members[group].append(item_id)
    names = [name for name, item_ids in members.items() if len(item_ids) >= _FEWEST]
    names = sorted(names, key=lambda name: (-len(members[name]), name))[:most]
    values = []
    for name in names:
        values.append([_right_of(run, members[name]) for run in runs])
    filled = [n for n, row in enumerate(values) if any(total for _, total in row)]
    if not filled:
        return None
    return ShareGrid(
        [run.name for run in runs], [names[n] for n in filled], [values[n] for n in filled]
    )


def by_structure(runs: Sequence[ReportedRun], facets: Mapping[str, Facets]) -> ShareGrid | None:
    """Structure, finding or region × run, the most asked first."""
    choices: list[Groups] = [
        lambda item_id: [_plain(name) for name in facets[item_id]["structure"] if _names_one(name)],
        lambda item_id: [
            _plain(tag) for tag in facets[item_id]["category"] if tag.startswith(_REGION)
        ],
    ]
    return _first_grid(runs, facets, choices, _MOST_ROWS, 2)


def by_category(runs: Sequence[ReportedRun], facets: Mapping[str, Facets]) -> ShareGrid | None:
    """Categories of the source, else tasks; at least three."""
    choices: list[Groups] = [
        *(_with_prefix(facets, prefix) for prefix in _CATEGORIES),
        lambda item_id: [
            t for t in facets[item_id]["category"] if ":" not in t and t not in _NO_CATEGORY
        ],
        lambda item_id: [_plain(task) for task in facets[item_id]["task"]],
    ]
    return _first_grid(runs, facets, choices, _MOST_AXES, 3)


def by_size(runs: Sequence[ReportedRun], facets: Mapping[str, Facets]) -> ShareGrid | None:
    """By the volume of the first structure an item names, small to large."""
    grid = _first_grid(runs, facets, [lambda item_id: facets[item_id]["size"]], len(SIZES), 2)
    if grid is None:
        return None
    order = sorted(range(len(grid.groups)), key=lambda n: SIZES.index(grid.groups[n]))
    return ShareGrid(grid.runs, [grid.groups[n] for n in order], [grid.values[n] for n in order])


def _with_prefix(facets: Mapping[str, Facets], prefix: str) -> Groups:
    return lambda item_id: [
        _plain(tag) for tag in facets[item_id]["category"] if tag.startswith(prefix)
    ]


def _first_grid(
    runs: Sequence[ReportedRun],
    facets: Mapping[str, Facets],
    choices: Iterable[Groups],
    most: int,
    fewest: int,
) -> ShareGrid | None:
    grids = (_grid(runs, facets, groups_of, most) for groups_of in choices)
    return next((grid for grid in grids if grid is not None and len(grid.groups) >= fewest), None)


def _names_one(name: str) -> bool:
    return not name.endswith("*") and name != "any"


def _plain(name: str) -> str:
    return name.rpartition(":")[2].replace("_", " ")


def number_panels(runs: Sequence[ReportedRun], items: Sequence[Item]) -> list[AgreementPanel]:
    """Bland–Altman panels of ratios, a run and a unit each."""
    units = {item.item_id: getattr(item.answer, "unit", "") for item in items}
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


def side_tables(runs: Sequence[ReportedRun], items: Sequence[Item]) -> list[SideTable]:
    """Of option questions that offer both sides: truth against what was said, run by run."""
    tables = []
    for run in runs:
        asked = (item for item in items if run.right(item.item_id) is not None)
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
