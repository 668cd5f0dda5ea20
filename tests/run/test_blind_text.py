"""Blind baselines on free text: they copy from other patients, by wording alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from situs.clients import Spec
from situs.items import Choice, Item, Option, Text, YesNo, letter_of
from situs.run.baselines.majority_text import MajorityText
from situs.run.baselines.nearest import Nearest, tfidf


class Items:
    """As much of a bench as a baseline reads."""

    def __init__(self, *items: Item) -> None:
        self._items = items

    def items(self, split: str | None = None, *, steps: bool = True) -> Iterator[Item]:
        return iter(self._items)


def text(name: str, patient: str, question: str, gold: str) -> Item:
    return Item(name, name, "ct", patient, "report", "text", question, Text((gold,)))


def nearest(*items: Item) -> Any:
    return Nearest(Items(*items), Spec("nearest"))  # type: ignore[arg-type]


def test_tfidf_by_hand() -> None:
    """Two texts; `lung` in both has idf ln(3/3) + 1 = 1, terms of one text ln(3/2) + 1."""
    vectors = tfidf(["Left lung", "lung a"]).toarray()
    rare = math.log(3 / 2) + 1
    # Terms: left, lung, "left lung"; one-letter words are no terms.
    length = math.sqrt(2 * rare**2 + 1)
    assert sorted(vectors[0][vectors[0] > 0]) == pytest.approx(
        sorted([rare / length, 1 / length, rare / length])
    )
    assert (vectors @ vectors.T).diagonal() == pytest.approx([1.0, 1.0])
    assert (vectors @ vectors.T)[0, 1] == pytest.approx(1 / length)


def test_nearest_is_found_over_many_blocks() -> None:
    """Against a dense search over all pairs."""
    rng = np.random.default_rng(0)
    words = [f"w{n}" for n in range(60)]
    items = [
        text(f"i{n}", f"p{n % 40}", " ".join(rng.choice(words, 6)), f"gold {n}") for n in range(600)
    ]
    baseline = nearest(*items)
    questions = sorted({item.question for item in items})
    vectors = tfidf(questions).toarray()
    place = {question: number for number, question in enumerate(questions)}
    for item in items[::37]:
        others = [other for other in items if other.patient_id != item.patient_id]
        similar = {
            o.item_id: float(vectors[place[item.question]] @ vectors[place[o.question]])
            for o in others
        }
        best = max(similar.values())
        said = baseline.answer(item)
        assert any(
            o.answer.references[0] == said and similar[o.item_id] >= best - 1e-12 for o in others
        )


def test_nearest_copies_from_another_patient() -> None:
    items = [
        text("i1", "a", "Where is the nodule in the lung?", "left"),
        text("i2", "a", "Where is the nodule in the lungs?", "own"),
        text("i3", "b", "Where is a nodule in the lung?", "right"),
        text("i4", "c", "Is there an effusion?", "no"),
    ]
    assert nearest(*items).answer(items[0]) == "right"


def test_nearest_takes_what_most_others_say() -> None:
    items = [
        text(f"i{n}", f"p{n}", "Where?", gold)
        for n, gold in enumerate(["x", "left", "right", "right"])
    ]
    assert nearest(*items).answer(items[0]) == "right"


def closed(
    number: int, question: str, answer: Choice | YesNo, options: tuple[Option, ...] = ()
) -> Item:
    form = "choice" if options else "yes_no"
    known = {"study_id": "s", "series": "ct", "task": "t", "form": form, "options": options}
    return Item(
        item_id=f"c{number}", patient_id=f"p{number}", question=question, answer=answer, **known
    )


ORGANS = (Option("liver", "the liver"), Option("spleen", "the spleen"))


def test_nearest_copies_options_and_yes_no() -> None:
    chosen = [
        closed(0, "Which is larger?", Choice("liver"), ORGANS),
        closed(1, "Which one is larger?", Choice("spleen"), ORGANS),
    ]
    assert nearest(*chosen).answer(chosen[0]) == "B"
    told = [closed(0, "Is it larger?", YesNo(True)), closed(1, "Is it much larger?", YesNo(False))]
    assert nearest(*told).answer(told[0]) == "no"


def test_nearest_is_at_chance_on_twins_and_copies_what_stands_out() -> None:
    """With one item left out of a balanced group,
    the other answer is always the more frequent one."""
    twins = [
        closed(n, "Which is larger?", Choice("liver" if n % 2 else "spleen"), ORGANS)
        for n in range(400)
    ]
    baseline = nearest(*twins)
    right = sum(baseline.answer(item) == letter_of(item, item.answer.value) for item in twins)
    low, high = binom.ppf([0.0005, 0.9995], len(twins), 0.5)
    assert low <= right <= high
    clear = [
        closed(n, "Which is larger?", Choice("spleen" if n % 8 else "liver"), ORGANS)
        for n in range(40)
    ]
    assert nearest(*clear).answer(clear[0]) == "B"


def test_alone_there_is_nothing_to_copy() -> None:
    only = text("i1", "a", "Where?", "left")
    assert nearest(only).answer(only) == "no"
    assert MajorityText([only]).answer(only) == ""


def test_majority_of_free_text() -> None:
    """Same question first, then the same opening, then any; never this patient's own."""
    items = [
        text("i1", "a", "Where is it?", "own"),
        text("i2", "b", "Where is it?", "left"),
        text("i3", "c", "Where is it?", "right"),
        text("i4", "d", "Where is it?", "right"),
        text("i5", "e", "Where is the cyst?", "liver"),
        text("i6", "f", "How large?", "3 mm"),
    ]
    majority = MajorityText(items)
    assert majority.answer(items[0]) == "right"
    assert majority.answer(items[4]) == "right"
    assert majority.answer(items[5]) == "right"
