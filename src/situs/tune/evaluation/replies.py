"""One arm's replies on held-out patients, item by item, under every metric of the comparison."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec

from situs.bench import Bench
from situs.items import Boxes, Item
from situs.profiles import Profile
from situs.run import Viewing, read_hidden, read_journal, selected_items
from situs.tune.consistency import consistency
from situs.tune.grounding import grounding_iou, true_boxes
from situs.tune.rewards import answer_reward, format_reward, grounding_reward
from situs.tune.targets import evidence_boxes, is_negative

__all__ = ["METRICS", "ArmValues", "read_arm"]

_SMALL, _LARGE = 0.01, 0.04
"""Shares of the picture's area between small, medium and large findings."""

Measure = Callable[[str, Item, Viewing], float | None]


def _box_miou(reply: str, item: Item, viewing: Viewing) -> float | None:
    """Of questions that ask for boxes."""
    return grounding_iou(reply, item, viewing) if isinstance(item.answer, Boxes) else None


def _negatives(reply: str, item: Item, viewing: Viewing) -> float | None:
    """Whether nothing is marked where nothing is."""
    return grounding_reward(reply, item, viewing) if is_negative(item) else None


def _format_error(reply: str, item: Item, viewing: Viewing) -> float | None:
    read = format_reward(reply, item, viewing)
    return None if read is None else 1.0 - read


METRICS: dict[str, Measure] = {
    "box_miou": _box_miou,
    "grounding": grounding_reward,
    "accuracy": answer_reward,
    "consistency": consistency,
    "negatives": _negatives,
    "format_errors": _format_error,
}
"""Name → what it measures. Unparsed replies count 0, but in consistency, which needs both sides."""


class ArmValues(msgspec.Struct, frozen=True):
    """Metric → item → value, and what else is told of the replies."""

    values: dict[str, dict[str, float]]
    patients: dict[str, str]
    tasks: dict[str, str]
    sizes: dict[str, str]
    states: dict[str, int]


def read_arm(bench: Bench, run: Path, profile: Profile, split: str, limit: int | None) -> ArmValues:
    """Score the replies of a run as the rewards do; a reply that failed is an empty one."""
    viewing = Viewing(bench, profile)
    rows = read_journal(run / "answers.jsonl")
    hidden = read_hidden(run / "hidden.jsonl")
    values: dict[str, dict[str, float]] = {name: {} for name in METRICS}
    patients: dict[str, str] = {}
    tasks: dict[str, str] = {}
    sizes: dict[str, str] = {}
    states: Counter[str] = Counter()
    for item in selected_items(bench, split, limit, steps=False):
        if item.item_id in hidden or viewing.obstacle(item):
            continue
        row = rows.get(item.item_id)
        reply = row.response if row is not None else ""
        states[row.state if row is not None else "missing"] += 1
        patients[item.item_id], tasks[item.item_id] = item.patient_id, item.task
        if evidence_boxes(item):
            sizes[item.item_id] = _size(item, viewing)
        for name, measure in METRICS.items():
            value = measure(reply, item, viewing)
            if value is not None:
                values[name][item.item_id] = value
    return ArmValues(values, patients, tasks, sizes, dict(sorted(states.items())))


def _size(item: Item, viewing: Viewing) -> str:
    """Of the largest true box, as a share of its picture."""
    sizes = viewing.sizes(item)
    shares = [
        box.area / (sizes[box.frame][0] * sizes[box.frame][1])
        for box in true_boxes(item, viewing)
        if math.isfinite(sizes[box.frame][0])
    ]
    largest = max(shares, default=0.0)
    return "small" if largest < _SMALL else "large" if largest > _LARGE else "medium"
