"""Which answers may be offered together:
no hole in a row of options, and no option without its opposite."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from situs.items.owners import is_ordered

__all__ = ["offers", "random_offer"]

_OPPOSITES = (
    ("left", "right"),
    ("anterior", "posterior"),
    ("superior", "inferior"),
    ("medial", "lateral"),
    ("upper", "lower"),
)


def opposite(value: str) -> str | None:
    """`kidney_right` for `kidney_left`, `lower` for `upper`; None for what has no opposite.

    The side counts first: the opposite of the left upper lobe is the right upper lobe.
    """
    words = re.split(r"([^a-z]+)", value)
    for a, b in _OPPOSITES:
        swapped = "".join({a: b, b: a}.get(word, word) for word in words)
        if swapped != value:
            return swapped
    return None


def is_complete(values: Collection[str], pool: Collection[str]) -> bool:
    """Whether every value stands beside its opposite, if the question could offer that."""
    return all(other in values for value in values if (other := opposite(value)) in pool)


def offers(
    kind: str, pools: Iterable[Sequence[str]], counts: Mapping[str, int], most: int, must: str = ""
) -> Iterator[tuple[str, ...]]:
    """Sets of two to `most` answers that may be offered together, each of which some patient gives.

    `pools` are the options that each patient's question could have; `must` is an answer that has to
    be offered. Of options without an order the commonest come first.
    """
    different = sorted(set(map(tuple, pools)), key=lambda pool: (-len(pool), pool))
    seen: set[tuple[str, ...]] = set()
    for pool in different:
        for values in _sets(kind, pool, counts, most, must):
            if values not in seen and is_complete(values, pool):
                seen.add(values)
                yield values


def _sets(
    kind: str, pool: tuple[str, ...], counts: Mapping[str, int], most: int, must: str
) -> Iterator[tuple[str, ...]]:
    always = (must,) if must else ()
    free = [value for value in pool if value != must]
    if not is_ordered(kind):
        keys = sorted((v for v in free if counts.get(v)), key=lambda value: (-counts[value], value))
        for size in range(2, min(most - len(always), len(keys)) + 1):
            for chosen in itertools.combinations(keys, size):
                yield tuple(value for value in pool if value in (*chosen, *always))
        return
    for size in range(2, most - len(always) + 1):
        for first in range(len(free) - size + 1):
            window = free[first : first + size]
            if all(counts.get(value) for value in window):
                yield (*window, *always)


def random_offer(
    kind: str, pool: Sequence[str], answer: str, most: int, draw: Mapping[str, str]
) -> tuple[str, ...]:
    """The answer and others drawn at random:
    of options with an order, neighbours; else each with its opposite."""
    if is_ordered(kind):
        at, count = pool.index(answer), len(pool)
        firsts = range(max(0, at - most + 1), max(0, min(at, count - most)) + 1)
        first = firsts[int(draw[answer], 16) % len(firsts)]
        return tuple(pool[first : first + most])
    offered: set[str] = set()
    for value in (answer, *sorted((v for v in pool if v != answer), key=lambda v: draw[v])):
        both = {value, opposite(value) or value} & set(pool)
        if len(offered | both) <= most:
            offered |= both
    return tuple(value for value in pool if value in offered)
