"""The mix of the headline: which class a question belongs to, and how much of each class is kept."""

from __future__ import annotations

from collections.abc import Mapping

from situs.items.record import Item

__all__ = ["class_of", "shares_kept"]

_QUANTITIES = ("number", "frames")
_COMPARED = ("comparison", "extent", "level")


def class_of(item: Item) -> str:
    """`marks`, `quantity`, `lesion` or `comparison`; a text of another source is its task's name."""
    if item.task == "marks":
        return "marks"
    if item.task == "volume" or (item.form in _QUANTITIES and item.task != "count"):
        return "quantity"
    about = (item.parameters.get("of", ""), item.parameters.get("a", ""))
    if any(key.startswith(("largest:", "second:")) for key in about) or item.task == "count":
        return "lesion"
    return "comparison" if item.task in _COMPARED else item.task


def shares_kept(
    available: Mapping[str, int], target: Mapping[str, float], most: int
) -> dict[str, int]:
    """How many of each class to keep, `most` in all: by the target, and what one class lacks the others give."""
    kept = dict.fromkeys(available, 0)
    room = min(most, sum(available.values()))
    known = {name: target.get(name, 0.0) for name in available}
    weights = known if any(known.values()) else dict.fromkeys(available, 1.0)
    open_to = {name for name, weight in weights.items() if weight > 0}
    while room > 0 and open_to:
        total = sum(weights[name] for name in open_to)
        full = {n for n in open_to if available[n] - kept[n] <= room * weights[n] / total}
        if not full:
            for name in sorted(open_to):
                kept[name] += int(room * weights[name] / total)
            break
        for name in sorted(full):
            room -= available[name] - kept[name]
            kept[name] = available[name]
        open_to -= full
    return kept
