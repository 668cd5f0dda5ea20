"""The mix of the headline: how much of each class of questions is kept."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["shares_kept"]


def shares_kept(
    available: Mapping[str, int], target: Mapping[str, float], most: int
) -> dict[str, int]:
    """How many of each class to keep, `most` in all:
    by the target, and what one class lacks the others give."""
    counts = dict.fromkeys(available, 0)
    room = min(most, sum(available.values()))
    known = {name: target.get(name, 0.0) for name in available}
    weights = known if any(known.values()) else dict.fromkeys(available, 1.0)
    open_to = {name for name, weight in weights.items() if weight > 0}
    while room > 0 and open_to:
        total = sum(weights[name] for name in open_to)
        full = {n for n in open_to if available[n] - counts[n] <= room * weights[n] / total}
        if not full:
            for name in sorted(open_to):
                counts[name] += int(room * weights[name] / total)
            break
        for name in sorted(full):
            room -= available[name] - counts[name]
            counts[name] = available[name]
        open_to -= full
    return counts
