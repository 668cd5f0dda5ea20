"""Numbers from files, checked once where they come in: whatever follows may count on them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

__all__ = ["LARGEST", "number_problems"]

LARGEST = 1e9
"""No threshold, length, count or weight of ours is larger;
sums and squares of such numbers stay finite."""

_NOT_NEGATIVE = (
    "_mm", "_mm2", "_ml", "_px", "_percent", "_degrees", "_share", "_probability", "_width",
    "_most",
    "_fewest", "_slices", "_voxels", "_faces", "_frames", "_margin", "_band", "_gaps", "_iou",
)  # fmt: skip
"""Endings of names whose numbers are sizes, shares or counts."""
_UP_TO = {"_share": 1.0, "_probability": 1.0, "_iou": 1.0, "_degrees": 90.0}


def number_problems(value: object, path: str = "$", *, thresholds: bool = False) -> Iterator[str]:
    """What cannot be meant among the numbers of a record, each with where it stands in it.

    Of `thresholds`, sizes and shares are not negative either; coordinates may well be.
    """
    if not thresholds and _is_sound(value):
        return
    if isinstance(value, msgspec.Struct):
        for name, part in msgspec.structs.asdict(value).items():
            yield from number_problems(part, f"{path}.{name}", thresholds=thresholds)
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield from number_problems(part, f"{path}.{name}", thresholds=thresholds)
    elif isinstance(value, tuple | list):
        for number, part in enumerate(value):
            yield from number_problems(part, f"{path}[{number}]", thresholds=thresholds)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        problem = _odd(value) or (thresholds and _out_of_range(value, path))
        if problem:
            yield f"{path} is {value:g}, {problem}"


def _is_sound(value: object) -> bool:
    """Whether nothing is odd; nearly always so, and cheaper to see than to say where."""
    kind = type(value)
    if kind is float or kind is int:
        return -LARGEST <= value <= LARGEST  # type: ignore[operator]
    if kind is str or value is None:
        return True
    if isinstance(value, tuple | list):
        return all(map(_is_sound, value))
    if isinstance(value, msgspec.Struct):
        return all(map(_is_sound, msgspec.structs.astuple(value)))
    if isinstance(value, float | int):
        return -LARGEST <= value <= LARGEST
    return not isinstance(value, Mapping) or all(map(_is_sound, value.values()))


def _odd(value: Any) -> str:
    if not math.isfinite(value):
        return "not a number"
    return f"larger than {LARGEST:g}" if abs(value) > LARGEST else ""


def _out_of_range(value: Any, path: str) -> str:
    name = path.rpartition(".")[2].partition("[")[0]
    if value < 0 and name.endswith(_NOT_NEGATIVE):
        return "below 0"
    most = next((most for ending, most in _UP_TO.items() if name.endswith(ending)), math.inf)
    return f"above {most:g}" if value > most else ""
