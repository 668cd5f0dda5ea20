"""In which organ the largest lesion lies: asked where another organ than the pair's other half
could be meant."""

from __future__ import annotations

import pytest

from attacks import Study, ledger_of_study
from attacks._study import mask_of, redrawn
from laws._studies import phantom_labels
from situs.items import TASKS, Choice, NotAsked, Posed, Question

QUESTION = Question("lesion_organ", "choice", {"of": "largest:*"})


def posed(*organs: str) -> Posed | NotAsked:
    """Of a phantom with these organs alone, a lesion drawn into the middle of the left kidney."""
    labels = phantom_labels(3, 0, (4.0, 4.0, 4.0))
    kept = {s.name for s in labels.structures if s.name in organs}
    assert kept == set(organs)
    masks = {s.name: mask_of(labels, s.name) & (s.name in kept) for s in labels.structures}
    kidney = masks["kidney_left"]
    index = kidney.nonzero()
    lesion = kidney.copy()
    lesion[:] = False
    middle = tuple(
        slice(int(sorted(i)[len(i) // 2]) - 2, int(sorted(i)[len(i) // 2]) + 3) for i in index
    )
    lesion[middle] = kidney[middle]
    masks["kidney_left"] = kidney & ~lesion
    return TASKS["lesion_organ"].pose(
        ledger_of_study(Study(redrawn(labels, {**masks, "lesion": lesion}))), QUESTION
    )


def test_the_organ_is_asked_for_where_several_are_annotated() -> None:
    answer = posed("kidney_left", "kidney_right", "liver")
    assert isinstance(answer, Posed), answer
    assert answer.answer == Choice("kidney_left")
    assert {option.value for option in answer.pool} == {"kidney_left", "kidney_right", "liver"}


@pytest.mark.parametrize("organs", [("kidney_left", "kidney_right"), ("kidney_left",)])
def test_two_kidneys_alone_are_a_question_of_the_side(organs: tuple[str, ...]) -> None:
    answer = posed(*organs)
    assert isinstance(answer, NotAsked)
    assert "no other organ" in answer.reason
