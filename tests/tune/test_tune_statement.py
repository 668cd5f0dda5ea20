"""What an evaluation may say of its arms."""

from __future__ import annotations

import pytest

from situs.tune.evaluation.compare import Difference, statement


def difference(b: str, metric: str, value: float, half: float = 0.1) -> Difference:
    return Difference("boxes", b, metric, value, (value - half, value + half), 0.01, 40, 20)


@pytest.mark.parametrize(
    ("metric", "value", "said"),
    [
        ("box_miou", 0.4, "Boxes improved grounding by 0.400 (95 % interval +0.300 to +0.500)"),
        ("grounding", -0.4, "Boxes worsened grounding by 0.400 (95 % interval -0.500 to -0.300)"),
        ("grounding", 0.05, "No effect of boxes on grounding is shown: +0.050"),
    ],
)
def test_the_control_is_what_arms_are_held_against(metric: str, value: float, said: str) -> None:
    """Also where no question asks for boxes; the base is far below both."""
    held = [difference("answer", metric, value), difference("answer", "accuracy", 0.0)]
    base = [difference("base", metric, 0.9), difference("base", "accuracy", 0.9)]
    text = statement([*held, *base], seeds=3)
    assert said in text
    assert "No effect of boxes on answers is shown: +0.000" in text
    assert "base model" not in text


def test_without_a_control_boxes_alone_are_credited_with_nothing() -> None:
    text = statement([difference("base", "grounding", 0.5)], seeds=1)
    assert "Training with boxes improved grounding by 0.500" in text
    assert "against the base model" in text
    assert "Nothing can be concluded about answers" in text
