"""Where the runs are good and bad: by structure, category, volume, size of numbers and side."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
import numpy as np

from situs.facts import Fact
from situs.items import Item, letter_of
from situs.report._scored import ScoredRun
from situs.score import Scored

__all__ = [
    "AgreementPanel",
    "ShareGrid",
    "SideTable",
    "by_category",
    "by_structure",
    "by_volume",
    "number_panels",
    "side_tables",
]

_PLACES = ("structure", "finding", "region")
"""Kinds of tags that say what an item is about, the first that is found."""
_CATEGORIES = ("category", "dimension")
_NO_CATEGORY = ("repeated question",)
_MOST_ROWS = 30
_FEWEST = 3
_BUCKETS_ML = (1.0, 10.0, 100.0, 1000.0)
_BUCKET_NAMES = ("< 1 mL", "1–10 mL", "10–100 mL", "100–1000 mL", "≥ 1000 mL")
_SIDES = ("left", "right", "both", "midline")
_MOST_POINTS = 600


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
    """Between these lie 95 % of ratios, if their logarithms are normal: Bland and Altman's limits."""
    left_out: int
    """Answers that are not positive, or points beyond those drawn."""


class SideTable(msgspec.Struct, frozen=True):
    """What was said where the truth is left, right, …"""

    run: str
    truths: list[str]
    said: list[str]
    counts: list[list[int]]


def _counted(run: ScoredRun, keys: Iterable[str]) -> list[Scored]:
    found = (run.scored.get(key) for key in keys)
    return [
        row for row in found if row is not None and row.outcome.right is not None and row.outcome.state != "unjudged"
    ]


def _grid(
    runs: Sequence[ScoredRun], items: Iterable[Item], groups_of: Callable[[Item], Iterable[str]], most: int
) -> ShareGrid | None:
    members: dict[str, list[str]] = defaultdict(list)
    for item in items:
        for group in dict.fromkeys(groups_of(item)):
            members[group].append(item.item_id)
    names = [name for name, held in members.items() if len(held) >= _FEWEST]
    names = sorted(names, key=lambda name: (-len(members[name]), name))[:most]
    values = []
    for name in names:
        rows = [_counted(run, members[name]) for run in runs]
        values.append([(sum(bool(row.outcome.right) for row in own), len(own)) for own in rows])
    kept = [n for n, row in enumerate(values) if any(total for _, total in row)]
    if not kept:
        return None
    return ShareGrid([run.name for run in runs], [names[n] for n in kept], [values[n] for n in kept])


def by_structure(runs: Sequence[ScoredRun], items: Sequence[Item]) -> ShareGrid | None:
    """Structure (or finding) × run, the most asked first."""
    for kind in _PLACES:
        grid = _grid(runs, items, lambda item, kind=kind: _tags(item, kind), _MOST_ROWS)  # type: ignore[misc]
        if grid is not None and len(grid.groups) > 1:
            return grid
    return None


def _tags(item: Item, kind: str) -> list[str]:
    found = [tag.partition(":")[2] for tag in item.tags if tag.partition(":")[0] == kind]
    return [name.rpartition(":")[2].replace("_", " ") for name in found if not name.endswith("*") and name != "any"]


def by_category(runs: Sequence[ScoredRun], items: Sequence[Item]) -> ShareGrid | None:
    """Categories of the source, else tasks; at least three."""
    for kind in _CATEGORIES:
        grid = _grid(runs, items, lambda item, kind=kind: _tags(item, kind), 12)  # type: ignore[misc]
        if grid is not None and len(grid.groups) >= 3:
            return grid
    grid = _grid(runs, items, lambda item: [tag for tag in item.tags if ":" not in tag and tag not in _NO_CATEGORY], 12)
    if grid is not None and len(grid.groups) >= 3:
        return grid
    grid = _grid(runs, items, lambda item: [item.task.replace("_", " ")], 12)
    return grid if grid is not None and len(grid.groups) >= 3 else None


def by_volume(runs: Sequence[ScoredRun], items: Sequence[Item], facts: Mapping[str, Fact]) -> ShareGrid | None:
    """By the volume of the smallest structure an item speaks of."""
    volumes: dict[tuple[str, str, str], float] = {}
    for fact in facts.values():
        if fact.kind == "volume" and fact.subjects and isinstance(fact.value, int | float):
            volumes[fact.study_id, fact.series, fact.subjects[0]] = float(fact.value)

    def bucket(item: Item) -> list[str]:
        names = [tag.partition(":")[2] for tag in item.tags if tag.startswith("structure:")]
        known = [volumes[key] for name in names if (key := (item.study_id, item.series, name)) in volumes]
        return [_BUCKET_NAMES[sum(min(known) >= edge for edge in _BUCKETS_ML)]] if known else []

    grid = _grid(runs, items, bucket, len(_BUCKET_NAMES))
    if grid is None or len(grid.groups) < 2:
        return None
    order = sorted(range(len(grid.groups)), key=lambda n: _BUCKET_NAMES.index(grid.groups[n]))
    return ShareGrid(grid.runs, [grid.groups[n] for n in order], [grid.values[n] for n in order])


def number_panels(runs: Sequence[ScoredRun], items: Sequence[Item]) -> list[AgreementPanel]:
    """Bland–Altman panels of ratios, a run and a unit each."""
    units = {item.item_id: getattr(item.answer, "unit", "") for item in items}
    panels = []
    for run in runs:
        held: dict[str, list[tuple[float, float, str]]] = defaultdict(list)
        lost: Counter[str] = Counter()
        for key, row in run.scored.items():
            if row.truth is None or row.prediction is None or not units.get(key):
                continue
            told = float(row.prediction)
            if told > 0 and row.truth > 0 and math.isfinite(told):
                held[units[key]].append((math.sqrt(told * row.truth), told / row.truth, key))
            else:
                lost[units[key]] += 1
        for unit, points in sorted(held.items()):
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


def side_tables(runs: Sequence[ScoredRun], items: Sequence[Item]) -> list[SideTable]:
    """Of option questions whose answer is a side: truth against what was said, run by run."""
    sided = [item for item in items if item.form == "choice" and getattr(item.answer, "value", "") in _SIDES]
    tables = []
    for run in runs:
        counts: Counter[tuple[str, str]] = Counter()
        for item in sided:
            row = run.scored.get(item.item_id)
            if row is None or row.outcome.right is None:
                continue
            letters = {letter_of(item, option.value): option.value for option in item.options}
            value = letters.get(row.outcome.parsed.strip().upper(), "")
            said = value if value in _SIDES else "other" if row.outcome.state == "answered" else "no answer"
            counts[row.answer, said] += 1
        if counts:
            truths = [side for side in _SIDES if any(t == side for t, _ in counts)]
            said_names = [s for s in (*_SIDES, "other", "no answer") if s in truths or any(v == s for _, v in counts)]
            rows = [[counts[truth, said] for said in said_names] for truth in truths]
            tables.append(SideTable(run.name, truths, said_names, rows))
    return tables
