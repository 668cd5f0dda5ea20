"""What a profile shows stays balanced, however much it hides.

Answers of the headline are drawn with equal chances. A profile that hides small structures may hide some answers
oftener than others; those it hides less often would then be the likelier ones among what is left. So of each answer
that is shown more often than another, as large a share is set aside: with v(a) the share of an answer's items that can
be seen, an item with answer a is kept with the chance min(v) / v(a). Which ones is drawn by a hash of their ids.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable

from situs.base.files import digest
from situs.items import Item, answer_key

__all__ = ["set_aside"]

_WEIGHT = 40.0
"""Items of its own that a text needs to count as much as its kind: the share of a few follows their answers."""

_Shares = dict[tuple[object, str], tuple[int, int]]


def set_aside(items: Iterable[Item], hidden: Container[str]) -> list[str]:
    """Ids of the items that can be seen but must not count, given the ids of those that cannot."""
    twins = [item for item in items if item.twin_group and answer_key(item.answer) is not None]
    kinds, texts = _counted(twins, hidden, _kind), _counted(twins, hidden, _text)
    result = []
    for item in twins:
        if item.item_id in hidden:
            continue
        shares = {value: _seen(item, value, kinds, texts) for value in _offered(item)}
        own = shares.get(str(answer_key(item.answer)), 0.0)
        place = int(digest("set aside", item.item_id, size=8), 16) / 2**64
        if own > 0 and place >= min(shares.values()) / own:
            result.append(item.item_id)
    return result


def _offered(item: Item) -> list[str]:
    return [option.value for option in item.options] or ["yes", "no"]


def _kind(item: Item) -> object:
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
    """The share of items with this answer that can be seen: of the text's own, drawn towards all of its kind."""
    total, seen = kinds.get((_kind(item), value), (0, 0))
    broad = (seen + 1.0) / (total + 1.0)
    total, seen = texts.get((_text(item), value), (0, 0))
    return (seen + _WEIGHT * broad) / (total + _WEIGHT)
