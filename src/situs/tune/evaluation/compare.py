"""Arms side by side: entries with intervals,
paired differences, and a statement that claims no more."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from situs.score import Entry, Estimate, cluster_mean, paired_difference
from situs.tune.evaluation.replies import METRICS, ArmValues

__all__ = [
    "Difference",
    "arm_entries",
    "differences",
    "group_entries",
    "mean_over_seeds",
    "means",
    "seeds_ahead",
    "smaller_gain",
    "statement",
]

_GROUNDING = ("box_miou", "grounding")
"""Where no question asks for boxes, what is known is the place of every question's evidence."""
PAIRS = (("boxes", "answer"), ("boxes", "base"), ("answer", "base"))


class Difference(msgspec.Struct, frozen=True):
    """Two arms on the same items."""

    a: str
    b: str
    metric: str
    difference: float | None
    ci95: tuple[float, float] | None
    p: float | None
    n: int
    clusters: int
    note: str = ""


def mean_over_seeds(runs: Sequence[ArmValues]) -> ArmValues:
    """Each item's value is its mean over the seeds in which it has one."""
    if len(runs) == 1:
        return runs[0]
    values: dict[str, dict[str, float]] = {}
    for name in METRICS:
        items = {item for run in runs for item in run.values[name]}
        values[name] = {
            item: float(
                np.mean([run.values[name][item] for run in runs if item in run.values[name]])
            )
            for item in sorted(items)
        }
    states: dict[str, int] = {}
    for run in runs:
        for state, count in run.states.items():
            states[state] = states.get(state, 0) + count
    return msgspec.structs.replace(runs[0], values=values, states=states)


def means(run: ArmValues) -> dict[str, float | None]:
    """The mean of every metric in one seed; None where it applies to nothing."""
    return {
        name: float(np.mean(list(values.values()))) if values else None
        for name, values in run.values.items()
    }


def seeds_ahead(seeds: dict[str, list[ArmValues]]) -> int | None:
    """In how many seeds boxes ground better than the control does; None without a control."""
    pairs = list(zip(seeds.get("boxes", ()), seeds.get("answer", ())))
    if not pairs:
        return None
    return sum(_gap(boxes, control) > 0 for boxes, control in pairs)


def _gap(boxes: ArmValues, control: ArmValues) -> float:
    """Mean difference in grounding, over the items that both have."""
    for name in _GROUNDING:
        first, second = boxes.values[name], control.values[name]
        if shared := first.keys() & second.keys():
            return float(np.mean([first[item] - second[item] for item in shared]))
    return 0.0


def smaller_gain(gains: Sequence[Difference]) -> Difference:
    """The gain over the better of several blind runs.

    Which one is better is not known for sure, so the lower limit is the least of those against
    each.
    """
    smallest = min(gains, key=lambda one: np.inf if one.difference is None else one.difference)
    lows = [one.ci95[0] for one in gains if one.ci95 is not None]
    if smallest.ci95 is None or len(lows) < len(gains):
        return smallest
    return msgspec.structs.replace(smallest, ci95=(min(lows), smallest.ci95[1]))


def arm_entries(arm: ArmValues) -> dict[str, Entry]:
    """Every metric over all items it applies to."""
    return {name: _entry(name, arm.values[name], arm) for name in METRICS}


def group_entries(arm: ArmValues, metric: str, groups: dict[str, str]) -> dict[str, Entry]:
    """One metric by task or size."""
    entries = {}
    for group in sorted(set(groups.values())):
        group_values = {
            item: value for item, value in arm.values[metric].items() if groups.get(item) == group
        }
        if group_values:
            entries[group] = _entry(metric, group_values, arm)
    return entries


def _entry(name: str, values: dict[str, float], arm: ArmValues) -> Entry:
    clusters = [arm.patients[item] for item in values]
    estimate = cluster_mean(list(values.values()), clusters, tested=False)
    return Entry(
        name,
        estimate.value,
        estimate.n,
        estimate.ci95,
        arm.states,
        estimate.clusters,
        estimate.note,
    )


def differences(arms: dict[str, ArmValues]) -> list[Difference]:
    """Every pair of arms under every metric, paired by item, clustered by patient."""
    paired_differences = []
    for a, b in PAIRS:
        if a not in arms or b not in arms:
            continue
        for name in METRICS:
            first, second = arms[a].values[name], arms[b].values[name]
            shared = sorted(first.keys() & second.keys())
            if not shared:
                continue
            estimate = paired_difference(
                [first[item] for item in shared],
                [second[item] for item in shared],
                [arms[a].patients[item] for item in shared],
            )
            paired_differences.append(_difference(a, b, name, estimate))
    return paired_differences


def _difference(a: str, b: str, name: str, estimate: Estimate) -> Difference:
    return Difference(
        a,
        b,
        name,
        estimate.value,
        estimate.ci95,
        estimate.p,
        estimate.n,
        estimate.clusters,
        estimate.note,
    )


def statement(
    paired_differences: Sequence[Difference], seeds: int, ahead: int | None = None
) -> str:
    """What may be said: an effect only where its interval leaves out 0.

    `ahead` is in how many seeds boxes grounded better than the control.
    """
    against = {(one.metric, one.b): one for one in paired_differences if one.a == "boxes"}
    control = "answer" if any(b == "answer" for _, b in against) else "base"
    grounding = next((name for name in _GROUNDING if (name, control) in against), "grounding")
    # Without the control, what training did and what the boxes did are one.
    cause = "Boxes" if control == "answer" else "Training with boxes"
    beside = "the answer-only control" if control == "answer" else "the base model"
    lines = [
        _sentence(against.get((grounding, control)), cause, "grounding", beside),
        _sentence(against.get(("accuracy", control)), cause, "answers", beside),
    ]
    return " ".join([*lines, _seed_words(seeds, ahead)])


def _seed_words(seeds: int, ahead: int | None) -> str:
    if seeds == 1:
        return "One seed: another may differ."
    words = f"Mean of {seeds} seeds; intervals are over patients, not seeds."
    if ahead is None:
        return words
    return f"{words} Grounding is above the control's in {ahead} of {seeds}."


def _sentence(one: Difference | None, cause: str, what: str, beside: str) -> str:
    if one is None or one.difference is None:
        return f"Nothing can be concluded about {what}: no item is shared."
    if one.ci95 is None:
        return (
            f"Nothing can be concluded about {what} (difference {one.difference:+.3f};"
            f" {one.note or 'no interval'})."
        )
    low, high = one.ci95
    size = f"{abs(one.difference):.3f} (95 % interval {low:+.3f} to {high:+.3f})"
    if low > 0:
        return f"{cause} improved {what} by {size}, against {beside}."
    if high < 0:
        return f"{cause} worsened {what} by {size}, against {beside}."
    return (
        f"No effect of {cause.lower()} on {what} is shown: {one.difference:+.3f} "
        f"(95 % interval {low:+.3f} to {high:+.3f}), against {beside}."
    )
