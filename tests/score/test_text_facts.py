"""Facts read from free answers."""

from __future__ import annotations

import pytest

from situs.score.text.facts import fact_counts, facts_of, flip_sides


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("In the right lung lower lobe.", {("side", "right"), ("level", "lower"), ("finding", "lung")}),
        ("Left and right.", {("side", "both")}),
        ("No nodule.", {("negation", "no"), ("finding", "no nodule")}),
        ("A 1.5 x 2 cm cyst", {("size", "15 mm"), ("size", "20 mm"), ("finding", "cyst")}),
        ("15 mm cyst", {("size", "15 mm"), ("finding", "cyst")}),
        ("No effusion. Mass on the left", {
            ("negation", "no"), ("finding", "no effusion"), ("finding", "mass"), ("side", "left")}),
        ("At L2", {("level", "l2")}),
        ("", set()),
    ],
)  # fmt: skip
def test_facts(text: str, facts: set[tuple[str, str]]) -> None:
    assert facts_of(text) == facts


def test_f1_counts_what_is_news() -> None:
    """The question names the nodule;
    right for left shares nothing of side; F1 = 2 · common / stated."""
    counts = fact_counts(["Nodule, left"], [["right upper nodule"]], ["Where is the nodule?"])
    assert (counts["all.common"][0], counts["all.stated"][0]) == (0, 3)
    assert (counts["side.common"][0], counts["side.stated"][0]) == (0, 2)
    counts = fact_counts(["right"], [["left", "On the right side"]], ["Where?"])
    assert (counts["all.common"][0], counts["all.stated"][0]) == (1, 2)


def test_flipping_sides_twice_is_nothing() -> None:
    text = "Right lung, LEFT kidney, left-sided effusion"
    assert flip_sides(text) == "Left lung, RIGHT kidney, right-sided effusion"
    assert flip_sides(flip_sides(text)) == text
