"""Rules at their very limits: what is kept, refused, warned about, or taken for the same question."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy.special import logit

from situs.errors import SitusError
from situs.score.blind.memory import Memory
from situs.score.read.restated import same_question
from situs.score.stats.estimates import _on_logit_scale
from situs.score.stats.exact import clopper_pearson
from situs.score.table import _warnings


def test_a_memory_holds_just_as_much_as_it_may() -> None:
    made: list[str] = []

    def make(name: str) -> str:
        made.append(name)
        return name

    memory: Memory[str] = Memory(10)
    for name, weight in (("a", 4), ("b", 6), ("a", 4), ("b", 6)):
        assert memory.get(name, weight, lambda name=name: make(name)) == name
    assert made == ["a", "b"], "four and six are ten"
    memory.get("c", 1, lambda: make("c"))  # the one that was used longest ago makes room
    memory.get("b", 6, lambda: make("b"))
    memory.get("a", 4, lambda: make("a"))
    assert made == ["a", "b", "c", "a"]
    for _ in range(2):
        memory.get("large", 11, lambda: make("large"))
    assert made[-2:] == ["large", "large"], "what weighs too much is not kept"
    memory.get("whole", 10, lambda: make("whole"))
    memory.get("whole", 10, lambda: make("whole"))
    assert made.count("whole") == 1


@pytest.mark.parametrize("confidence", [0.0, 1.0, -0.1, 1.1])
def test_no_interval_has_a_confidence_of_nothing_or_of_all(confidence: float) -> None:
    with pytest.raises(SitusError, match="is not between 0 and 1"):
        clopper_pearson(3, 10, confidence)


@pytest.mark.parametrize(
    ("asked", "is_same"),
    [
        ("Does the enlarged liver touch the stomach?", True),  # three of four words
        ("Does the enlarged liver reach the stomach?", False),  # two of four
        ("Does the liver touch?", True),  # nothing but words of the question
        ("Does the spleen reach the kidney?", False),
    ],
)
def test_a_question_with_most_of_the_words_is_the_same(asked: str, is_same: bool) -> None:
    assert same_question(asked, "Does the liver touch the stomach wall?") is is_same


class Answers:
    """Of so many answers, the first are in some state."""

    clusters = np.arange(40)

    def __init__(self, count: int, **states: int) -> None:
        self._count, self._states = count, states

    def __len__(self) -> int:
        return self._count

    def has_state(self, *names: str) -> Any:
        return np.arange(self._count) < sum(self._states.get(name, 0) for name in names)

    def flagged(self, names: object) -> Any:
        return np.zeros(self._count, dtype=bool)

    def reasons(self, state: str) -> Counter[str]:
        return Counter()


@pytest.mark.parametrize(
    ("lost", "warned"),
    [
        ({"failed": 10}, []),
        ({"failed": 6, "missing": 5}, ["of 1000 items 11 have no answer"]),
        ({"missing": 4, "unjudged": 7}, ["4 have no answer and 7 are unjudged"]),
    ],
)
def test_a_run_is_incomplete_beyond_one_answer_in_a_hundred(
    lost: dict[str, int], warned: list[str]
) -> None:
    given: Any = Answers(1000, **lost)
    told = _warnings(given, strangers=0)
    assert len(told) == len(warned)
    for words, line in zip(warned, told):
        assert words in line
        assert "do not rank this run" in line


def test_few_patients_are_said() -> None:
    few: Any = Answers(10)
    for patients, words in ((9, ["no intervals"]), (10, ["rough"]), (29, ["rough"]), (30, [])):
        few.clusters = np.arange(patients)
        told = _warnings(few, strangers=0)
        assert [word in line for word, line in zip(words, told, strict=True)] == [True] * len(words)
    assert _warnings(few, strangers=1) == ["1 answer to no item of this selection"]


@pytest.mark.parametrize(("share", "half"), [(0.8, 0.1), (0.5, 0.2), (0.05, 0.04)])
def test_a_share_is_carried_to_the_logit_scale_and_back(share: float, half: float) -> None:
    """The delta method: the logit's derivative is 1 / p(1 − p)."""
    step = half / (share * (1 - share))
    low, high = _on_logit_scale(share, half)
    assert logit(low) == pytest.approx(logit(share) - step)
    assert logit(high) == pytest.approx(logit(share) + step)
    assert 0.0 < low < share < high < 1.0
