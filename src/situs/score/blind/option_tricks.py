"""What one gets by looking at the options alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

from situs.items import Choice, Item

__all__ = ["TRICKS", "option_tricks"]

TRICKS: dict[str, Callable[[Item], str]] = {
    "first option": lambda item: item.options[0].value,
    "last option": lambda item: item.options[-1].value,
    "longest option": lambda item: max(item.options, key=lambda option: len(option.text)).value,
    "shortest option": lambda item: min(item.options, key=lambda option: len(option.text)).value,
    "middle option": lambda item: item.options[len(item.options) // 2].value,
}


def option_tricks(items: Iterable[Item]) -> dict[str, dict[str, tuple[float, int]]]:
    """Stratum → trick → (right, asked), on questions with options; beside them `chance`.

    `most frequent answer` is worked out on the very items it is tried on, which flatters it; a set
    of options that is offered once only has no most frequent answer and counts as chance.
    """
    counts: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(lambda: [0.0, 0]))
    answers: dict[str, dict[tuple[str, ...], Counter[str]]] = defaultdict(
        lambda: defaultdict(Counter)
    )
    for item in items:
        if not isinstance(item.answer, Choice) or not item.options:
            continue
        for name, trick in TRICKS.items():
            counts[item.stratum][name][0] += trick(item) == item.answer.value
            counts[item.stratum][name][1] += 1
        counts[item.stratum]["chance"][0] += 1.0 / len(item.options)
        counts[item.stratum]["chance"][1] += 1
        offered = tuple(sorted(option.value for option in item.options))
        answers[item.stratum][offered][item.answer.value] += 1
    for stratum, sets in answers.items():
        right = sum(
            max(c.values()) if c.total() > 1 else 1.0 / len(offered) for offered, c in sets.items()
        )
        asked = sum(counter.total() for counter in sets.values())
        counts[stratum]["most frequent answer"] = [right, asked]
    return {
        s: {name: (right, int(asked)) for name, (right, asked) in t.items()}
        for s, t in counts.items()
    }
