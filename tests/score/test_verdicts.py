"""Verdicts find their answers by content; juries decide by the written rule."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import numpy as np
import pytest

from situs.errors import SitusError
from situs.items import Item, Text
from situs.run import AnswerRow
from situs.score.published.ct_spatialvqa import published_scores
from situs.score.text.jury import majority, same_family
from situs.score.text.verdicts import (
    VerdictFile,
    VerdictRow,
    join_verdicts,
    parse_verdicts_option,
    read_verdicts,
)


def item(name: str, question: str, gold: str, *tags: str) -> Item:
    return Item(
        name,
        "s",
        "ct",
        "p",
        "report",
        "text",
        question,
        Text((gold,)),
        f"{name}.nii.gz::0",
        tags=tags,
    )


def verdict(question: str, gold: str, said: str, correct: bool | None) -> VerdictRow:
    return VerdictRow("row", correct, (question, gold, said))


ITEMS = [
    item("i1", "Q", "left", "A"),
    item("i2", "Q", "left", "A", "B"),
    item("i3", "R", "up", "B"),
]
ROWS = {
    name: AnswerRow(name, response=said)
    for name, said in (("i1", "right"), ("i2", "right"), ("i3", "down"))
}


def test_equal_triples_are_taken_in_order() -> None:
    first, second = (verdict("Q", "left", "right", value) for value in (True, False))
    file = VerdictFile("j", [first, verdict("R", "up", "down", None), second])
    joined = join_verdicts(file, ITEMS, ROWS)
    assert joined.verdicts == {"i1": True, "i3": None, "i2": False}
    assert joined.item_of_row == ["i1", "i3", "i2"]
    assert joined.strangers == joined.unjudged == joined.ambiguous == []


def test_a_dropped_verdict_shifts_no_other() -> None:
    file = VerdictFile(
        "j", [verdict("R", "up", "down", True), verdict("Q", "left", "right", False)]
    )
    joined = join_verdicts(file, ITEMS, ROWS)
    assert joined.verdicts == {"i3": True, "i1": False}
    assert joined.unjudged == ["i2"]
    assert joined.ambiguous == ["i1"], (
        "which of two equal answers lacks its verdict is unknown, and said"
    )


def test_verdicts_on_other_answers_are_strangers() -> None:
    file = VerdictFile(
        "j", [verdict("Q", "left", "left", True), verdict("R", "up", " down ###</s>", True)]
    )
    joined = join_verdicts(file, ITEMS, ROWS)
    assert joined.verdicts == {"i3": True}, "white space and stray tokens may differ, words may not"
    assert len(joined.strangers) == 1


def test_ids_come_first() -> None:
    file = VerdictFile("j", [VerdictRow("row", True, ("Q", "left", "right"), "i2.nii.gz::0")])
    assert join_verdicts(file, ITEMS, ROWS).verdicts == {"i2": True}
    other = VerdictFile(
        "j", [VerdictRow("row", True, ("Q", "left", "what another model said"), "i2.nii.gz::0")]
    )
    assert join_verdicts(other, ITEMS, ROWS).strangers == ["row"]


@pytest.mark.parametrize(
    "triple", [("R", "up", "right"), ("Q", "up", "right"), ("R", "left", "right")]
)
def test_an_id_with_another_question_or_reference_is_not_used(triple: tuple[str, str, str]) -> None:
    """All three answered "right"; the id names i2 (Q,
    left), the row is of another question or reference."""
    rows = {name: AnswerRow(name, response="right") for name in ("i1", "i2", "i3")}
    joined = join_verdicts(
        VerdictFile("j", [VerdictRow("row", True, triple, "i2.nii.gz::0")]), ITEMS, rows
    )
    expected = {"i3": True} if triple == ("R", "up", "right") else {}
    assert joined.verdicts == expected
    assert joined.strangers == ([] if expected else ["row"])
    partial = VerdictRow("row", True, None, "i2.nii.gz::0", question="R")
    assert join_verdicts(VerdictFile("j", [partial]), ITEMS, rows).strangers == ["row"]


def test_a_judge_that_says_both_has_no_verdict() -> None:
    said = [verdict("R", "up", "down", value) for value in (True, False)]
    joined = join_verdicts(VerdictFile("j", said), ITEMS, ROWS)
    assert (joined.verdicts, joined.contradicted, joined.strangers) == ({"i3": None}, ["i3"], [])
    joined = join_verdicts(VerdictFile("j", [said[0], said[0]]), ITEMS, ROWS)
    assert (joined.verdicts, joined.contradicted, joined.strangers) == ({"i3": True}, [], [])


def test_of_equal_answers_the_volume_tells_which_is_meant() -> None:
    """Rows in any order; one that names a volume is about no other,
    unless the file has names of its own."""
    items = [
        msgspec.structs.replace(ITEMS[n], study_id=volume)
        for n, volume in enumerate(("v_1", "v_2", "v_3"))
    ]
    triple = ("Q", "left", "right")
    told = [
        VerdictRow("a", False, triple, volume="v_2"),
        VerdictRow("b", None, triple, volume="v_1"),
    ]
    joined = join_verdicts(VerdictFile("j", told), items, ROWS)
    assert joined.verdicts == {"i2": False, "i1": None}
    assert joined.ambiguous == []
    stray = VerdictRow("c", True, triple, volume="v_9")
    joined = join_verdicts(VerdictFile("j", [stray, told[0], verdict(*triple, True)]), items, ROWS)
    assert joined.verdicts == {"i2": False, "i1": True}
    assert joined.strangers == ["c"]
    assert join_verdicts(VerdictFile("j", [stray]), items, ROWS).verdicts == {"i1": True}


@pytest.mark.parametrize(
    "row",
    [
        {"question_id": "i2.nii.gz::0", "verdict": "Yes"},
        {"case_id": "i2.nii.gz::0", "judgement": 1, "question": "Q"},
        {
            "id": 7,
            "case_id": "i2.nii.gz",
            "question": "Q",
            "gold": "left",
            "model_output": "right",
            "correct": "true",
        },
        {
            "volume": "i2",
            "question": "Q",
            "ground_truth": "left",
            "model_answer": "right",
            "is_correct": 1.0,
        },
    ],
)
def test_rows_with_other_keys(tmp_path: Path, row: dict[str, object]) -> None:
    path = tmp_path / "v.json"
    path.write_text(json.dumps({"results": [row]}))
    items = [msgspec.structs.replace(item, study_id=item.item_id) for item in ITEMS]
    joined = join_verdicts(read_verdicts("j", path), items, ROWS)
    assert joined.verdicts == {"i2": True}


@pytest.mark.parametrize("form", ["json", "jsonl", "csv"])
def test_every_shape_of_file(tmp_path: Path, form: str) -> None:
    rows = [
        {
            "case_id": None,
            "question": "Q",
            "answer": "left",
            "prediction": "a ###</s>",
            "is_correct": value,
        }
        for value in (True, False, None)
    ]
    path = tmp_path / f"v.{form}"
    if form == "csv":
        lines = [
            f"Q,left,a ###</s>,{'' if r['is_correct'] is None else r['is_correct']}" for r in rows
        ]
        path.write_text("question,answer,prediction,is_correct\n" + "\n".join(lines) + "\n")
    else:
        path.write_text(json.dumps(rows) if form == "json" else "\n".join(map(json.dumps, rows)))
    read = read_verdicts("j", path)
    assert [row.correct for row in read.rows] == [True, False, None]
    assert {row.triple for row in read.rows} == {("Q", "left", "a ###</s>")}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"question": "Q", "answer": "a", "prediction": "b"}, "no verdict"),
        ({"question": "Q", "answer": "a", "is_correct": True}, "neither an item nor"),
        (
            {"question": "Q", "answer": "a", "prediction": "b", "is_correct": "maybe"},
            "neither true nor false",
        ),
    ],
)
def test_rows_that_say_nothing_are_refused(
    tmp_path: Path, row: dict[str, object], problem: str
) -> None:
    path = tmp_path / "v.json"
    path.write_text(json.dumps([row, row]))
    with pytest.raises(SitusError, match=rf"{problem}.*and 1 more"):
        read_verdicts("j", path)
    with pytest.raises(SitusError, match="NAME=FILE"):
        parse_verdicts_option("v.json")


def test_majority_with_ties_and_absences() -> None:
    """More than half of all judges, present or not."""
    nan = np.nan
    votes = np.array(
        [[1, 1, 0], [1, 0, 0], [1, 1, nan], [1, 0, nan], [1, nan, nan], [0, 0, nan], [nan] * 3]
    )
    right, tied, undecided = majority(votes)
    assert right.tolist() == [True, False, True, False, False, False, False]
    assert tied.tolist() == [False] * 7
    assert undecided.tolist() == [False, False, False, True, True, False, True]
    right, tied, _ = majority(np.array([[1.0, 0.0], [1.0, 1.0]]))
    assert right.tolist() == [False, True]
    assert tied.tolist() == [True, False]


def test_published_rule_joins_by_position() -> None:
    """The first judge dropped its first verdict: every later one meets the wrong partners.

    Rows of the matrix: (i2: T·T·T → 1.00), (i3: F·T·T → 0.66): both right, of two cells. Correct:
    i1 T T, i2 T T T, i3 F F F. Category B holds i2 and i3, A holds i1 (no cell, so 0) and i2.
    """
    gemini = VerdictFile("gemini", [verdict("Q2", "g", "s", True), verdict("Q3", "g", "s", False)])
    others = [
        verdict("Q1", "g", "s", True),
        verdict("Q2", "g", "s", True),
        verdict("Q3", "g", "s", False),
    ]
    items = [
        item("i1", "Q1", "g", "A"),
        item("i2", "Q2", "g", "A", "B"),
        item("i3", "Q3", "g", "B"),
    ]
    rows = {name: AnswerRow(name, response="s") for name in ("i1", "i2", "i3")}
    files = [VerdictFile("gpt", others), VerdictFile("qwen", others), gemini]
    joined = [join_verdicts(file, items, rows) for file in files]
    result = published_scores(files, joined, items, {"i1": True, "i2": True, "i3": False})
    assert result.base == "gemini"
    assert (result.jury, result.cells) == (1.0, 2)
    assert result.by_category == {"A": 0.5, "B": 1.0}
    assert result.judges == {"gpt": 2 / 3, "qwen": 2 / 3, "gemini": 0.5}
    assert result.changed == 2
    assert any("differ in length" in note for note in result.notes)


def test_null_verdicts_in_the_published_rule() -> None:
    """Left out of a judge's own share; a no in the matrix:
    two of three, floored to 0.66, is still right."""
    items = [item("i1", "Q1", "g", "A"), item("i2", "Q2", "g", "A")]
    rows = {name: AnswerRow(name, response="s") for name in ("i1", "i2")}
    votes = {"gemini": (None, True), "gpt": (True, None), "qwen": (True, False)}
    files = [
        VerdictFile(name, [verdict("Q1", "g", "s", a), verdict("Q2", "g", "s", b)])
        for name, (a, b) in votes.items()
    ]
    joined = [join_verdicts(file, items, rows) for file in files]
    result = published_scores(files, joined, items, {"i1": True, "i2": False})
    assert result.judges == {"gemini": 1.0, "gpt": 1.0, "qwen": 0.5}
    assert result.jury == 0.5
    assert result.changed == 0
    assert result.notes == [], "nothing differs"
    unnamed = [msgspec.structs.replace(file, judge=f"judge {n}") for n, file in enumerate(files)]
    assert published_scores(unnamed, joined, items, {"i1": True, "i2": False}).notes == []


@pytest.mark.parametrize(
    ("judge", "model", "family"),
    [
        ("gpt", "openai:gpt-4o-mini", "OpenAI"),
        ("gemini2.5", "replay:medgemma_predictions.jsonl#1", "Google"),
        ("qwen", "hf:Qwen/Qwen2.5-VL-7B", "Qwen"),
        ("gpt", "replay:radfm_predictions_full.jsonl#1", None),
        ("gemini", "openai:gpt-4o", None),
    ],
)
def test_families(judge: str, model: str, family: str | None) -> None:
    assert same_family(judge, model) == family
