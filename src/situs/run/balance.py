"""What a profile shows stays balanced, however much it hides.

Answers of the headline are drawn with equal chances. A profile that hides small structures may hide
some answers oftener than others; those it hides less often would then be the likelier ones among
what is left. So of each answer that is shown more often than another, as large a share is set
aside: with v(a) the share of an answer's items that can be seen, an item with answer a is kept with
the chance min(v) / v(a). Which ones is drawn by a hash of their ids, and drawn again while luck
leaves the commonest or rarest answer of other patients far from chance, as when a bench is built.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable

from situs.base.files import digest
from situs.items import AskedQuestion, Item, answer_key, shares_of_limit

__all__ = ["set_aside"]

_WEIGHT = 40.0
"""Items of its own that a text needs to count as much as its kind:
the share of a few follows their answers."""

_Shares = dict[tuple[object, str], tuple[int, int]]


_TRIES = 40
"""Draws, at most."""
_EVENNESS = 1.0
"""Standard errors from chance over all items; twice as many over one task, kind or split."""


def set_aside(items: Iterable[Item], hidden: Container[str]) -> list[str]:
    """Ids of the items that can be seen but must not count, given the ids of those that cannot."""
    twins = [item for item in items if item.twin_group and answer_key(item.answer) is not None]
    kinds, texts = _counted(twins, hidden, _kind), _counted(twins, hidden, _text)
    visible = [item for item in twins if item.item_id not in hidden]
    kept_shares = {item.item_id: _kept_share(item, kinds, texts) for item in visible}
    if min(kept_shares.values(), default=1.0) >= 1.0:
        return []
    best: tuple[float, list[str]] = (math.inf, [])
    for attempt in range(_TRIES):
        aside = {name for name, share in kept_shares.items() if _drawn(name, attempt) >= share}
        far = _furthest(item for item in visible if item.item_id not in aside)
        if far < best[0]:
            best = far, [item.item_id for item in visible if item.item_id in aside]
        if far <= 1.0:
            break
    return best[1]


def _kept_share(item: Item, kinds: _Shares, texts: _Shares) -> float:
    """How likely an item that can be seen is kept."""
    shares = {value: _seen(item, value, kinds, texts) for value in _offered(item)}
    answer_share = shares.get(str(answer_key(item.answer)), 0.0)
    return min(shares.values()) / answer_share if answer_share > 0 else 1.0


def _drawn(item_id: str, attempt: int) -> float:
    # Runs that were begun before draws were repeated have the first of them.
    words = (item_id,) if attempt == 0 else (item_id, str(attempt))
    return float(int(digest("set aside", *words, size=8), 16) / 2**64)


def _furthest(items: Iterable[Item]) -> float:
    """How far one who counts other patients' answers is from chance: 1 is as far as allowed."""
    asked = [
        AskedQuestion(
            item.patient_id,
            str(answer_key(item.answer)),
            tuple(_offered(item)),
            item.question,
            item.task,
            (*_kind(item)[:3], item.level),
            item.split,
        )
        for item in items
        if str(answer_key(item.answer)) in _offered(item)
    ]
    return max(shares_of_limit(asked, _EVENNESS).values(), default=0.0)


def _offered(item: Item) -> list[str]:
    return [option.value for option in item.options] or ["yes", "no"]


def _kind(item: Item) -> tuple[str, str, str, tuple[str, ...]]:
    ask = item.parameters.get("ask", "")
    return item.task, item.form, ask, tuple(sorted(_offered(item)))


def _text(item: Item) -> object:
    return item.question, tuple(sorted(_offered(item)))


def _counted(
    items: Iterable[Item], hidden: Container[str], name: Callable[[Item], object]
) -> _Shares:
    """Of each answer under a name: how many items there are, and how many can be seen."""
    counts: dict[tuple[object, str], Counter[bool]] = defaultdict(Counter)
    for item in items:
        counts[name(item), str(answer_key(item.answer))][item.item_id in hidden] += 1
    return {key: (count.total(), count[False]) for key, count in counts.items()}


def _seen(item: Item, value: str, kinds: _Shares, texts: _Shares) -> float:
    """The share of items with this answer that can be seen:
    of the text's own, drawn towards all of its kind."""
    total, seen = kinds.get((_kind(item), value), (0, 0))
    broad = (seen + 1.0) / (total + 1.0)
    total, seen = texts.get((_text(item), value), (0, 0))
    return (seen + _WEIGHT * broad) / (total + _WEIGHT)
