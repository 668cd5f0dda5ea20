"""Every rotation of the options, and what the letters alone do to an answer."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

import msgspec

from situs.items import Choice, Item, YesNo, marks_of
from situs.probe.table import Interval
from situs.score import cluster_mean, paired_difference
from situs.score.explain import Answered, Answers, said_by

__all__ = ["Rotations", "YesBias", "rotated", "rotations_of", "twin_ids", "yes_bias"]


class YesBias(msgspec.Struct, frozen=True):
    """How much more often yes is said than right."""

    said: float
    right: float
    value: float | None
    ci95: Interval
    n: int


class Rotations(msgspec.Struct, frozen=True):
    """What became of the questions with options under all their rotations."""

    n: int
    """Questions; each was asked once for every option it has."""
    mean: float | None
    """Accuracy over all rotations."""
    all_right: float | None
    """Right in every rotation."""
    ci95: Interval
    """Of `all_right`."""
    same_answer: float | None
    """The same answer in every rotation, right or not."""
    letters: dict[str, dict[str, float]]
    """Letter → how often it was `said` and how often it was `right`,
    as shares of the answers that were read."""
    letter_bias: float | None
    """The largest |said − right| over the letters."""
    yes_bias: YesBias | None


def rotated(items: Iterable[Item]) -> Iterator[Item]:
    """Each item with options once for every further rotation: `<id>~rotations.1`, `.2`, …

    Questions on marks drawn into the pictures keep their order: their letters are those of the
    marks.
    """
    for item in items:
        if isinstance(item.answer, Choice) and len(item.options) > 1 and not marks_of(item):
            for step, twin in enumerate(twin_ids(item), start=1):
                turned = item.options[step:] + item.options[:step]
                yield msgspec.structs.replace(
                    item, item_id=twin, twin_of=item.item_id, options=turned
                )


def twin_ids(item: Item) -> list[str]:
    """The ids of the item's further rotations."""
    return [f"{item.item_id}~rotations.{step}" for step in range(1, len(item.options))]


def rotations_of(before: Answers, after: Answers) -> Rotations:
    """Summary over the questions of which every rotation was asked."""
    sets: list[list[Answered]] = []
    for _, one in sorted(before.by_id.items()):
        turned = [after.by_id[twin] for twin in twin_ids(one.item) if twin in after.by_id]
        if turned and one.counts and all(other.counts for other in turned):
            sets.append([one, *turned])
    bias = yes_bias(before)
    if not sets:
        return Rotations(0, None, None, None, None, {}, None, bias)
    clusters = [group[0].item.patient_id for group in sets]
    always = cluster_mean([float(all(one.right for one in group)) for group in sets], clusters)
    every = [one for group in sets for one in group]
    letters = _letters(every)
    return Rotations(
        n=len(sets),
        mean=sum(one.right for one in every) / len(every),
        all_right=always.value,
        ci95=always.ci95,
        same_answer=sum(_alike(group) for group in sets) / len(sets),
        letters=letters,
        letter_bias=max((abs(of["said"] - of["right"]) for of in letters.values()), default=None),
        yes_bias=bias,
    )


def _alike(group: list[Answered]) -> bool:
    replies = {said_by(one) for one in group}
    return len(replies) == 1 and None not in replies


def _letters(answers: list[Answered]) -> dict[str, dict[str, float]]:
    read = [one for one in answers if one.scored.state == "answered"]
    replied, right = Counter[str](), Counter[str]()
    for one in read:
        assert isinstance(one.item.answer, Choice)
        values = [option.value for option in one.item.options]
        replied[one.scored.parsed] += 1
        right["ABCDEFGHIJKLMNOPQRSTUVWXYZ"[values.index(one.item.answer.value)]] += 1
    table: dict[str, dict[str, float]] = defaultdict(dict)
    for letter in sorted(replied | right):
        table[letter] = {"said": replied[letter] / len(read), "right": right[letter] / len(read)}
    return dict(table)


def yes_bias(answers: Answers) -> YesBias | None:
    """Over the yes/no questions whose answer could be read."""
    read = [
        one
        for _, one in sorted(answers.by_id.items())
        if isinstance(one.item.answer, YesNo) and one.scored.state == "answered"
    ]
    if not read:
        return None
    yes_replies = [float(one.scored.parsed == "yes") for one in read]
    yes_truths = [
        float(isinstance(one.item.answer, YesNo) and one.item.answer.value) for one in read
    ]
    difference = paired_difference(yes_replies, yes_truths, [one.item.patient_id for one in read])
    return YesBias(
        sum(yes_replies) / len(yes_replies),
        sum(yes_truths) / len(yes_truths),
        difference.value,
        difference.ci95,
        len(read),
    )
