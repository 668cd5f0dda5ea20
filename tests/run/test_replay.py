"""Released answer files in all their shapes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from situs.items import Item, Text
from situs.run import released_rows, volume_stem
from situs.run.replay import _join

ITEMS = [
    Item(
        "i1",
        "file1000",
        "mr",
        "p",
        "detect",
        "text",
        "Is there  a tear?",
        Text(("yes",)),
        "sgmri_7",
    ),
    Item("i2", "file1000", "mr", "p", "detect", "text", "Where?", Text(("left",))),
]


@pytest.mark.parametrize(
    "name",
    [
        "x/valid_1_a_1/slice_12.png",
        "valid_1_a_1.nii.gz",
        "/a/b/valid_1_a_1.npy",
        "valid_1_a_1",
        "C:\\x\\valid_1_a_1.nii.gz",
        "valid_1_a_1.nii.gz::3",
    ],
)
def test_one_volume_by_many_names(name: str) -> None:
    assert volume_stem(name) == "valid_1_a_1"


SAID = "<answer>Yes</answer>"
SGMRI = {
    "question": "Is there a tear?", "model_output": SAID, "gt_answer": "No",
    "qa_type": "closed_ended",
    "task": "detect", "bboxes": [], "sample_id": "sgmri_7", "dataset": "knee",
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", [SGMRI]),
        ("a.json", {"results": [SGMRI], "config": {}}),
        ("a.json", {"sgmri_7": SAID}),
        ("a.json", {"sgmri_7": {"model_output": SAID}}),
        ("a.json", {"file1000.h5": {"qa_pairs": [{"question": "Is there a tear?", "prediction": SAID}]}}),
        ("a.jsonl", [{"item_id": "i1", "response": SAID, "answer": "gold"}]),
        ("a.jsonl", [{"image_path": "x/file1000.npy", "question": "Is there a tear? ", "prediction": SAID}]),
        ("a.csv", [{"video": "file1000.h5", "question": "Is there a tear?", "prediction": SAID}]),
    ],
)  # fmt: skip
def test_shapes(tmp_path: Path, name: str, content: object) -> None:
    path = tmp_path / name
    if name.endswith(".csv"):
        assert isinstance(content, list)
        path.write_text(",".join(content[0]) + "\n" + ",".join(content[0].values()) + "\n")
    elif name.endswith(".jsonl"):
        assert isinstance(content, list)
        path.write_text("".join(json.dumps(row) + "\n" for row in content))
    else:
        path.write_text(json.dumps(content))
    answers, joined = _join(path, ITEMS)
    assert answers == {"i1": SAID}
    assert joined.items_without_row == ["i2"]
    assert joined.rows_without_item == joined.ambiguous == []


def test_null_and_structured_answers(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(
        json.dumps([{"id": "i1", "prediction": None}, {"id": "i2", "prediction": {"side": "left"}}])
    )
    answers, _ = _join(path, ITEMS)
    assert answers == {"i1": "", "i2": '{"side":"left"}'}


def test_two_answers_to_one_item_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        "".join(json.dumps({"id": "i1", "response": said}) + "\n" for said in ("a", "a", "b"))
    )
    answers, joined = _join(path, ITEMS)
    assert answers == {"i1": "a"}
    assert len(joined.ambiguous) == 1
    assert len(released_rows(path)) == 3


def test_a_position_counted_otherwise_shifts_no_answer(tmp_path: Path) -> None:
    """Ids as in another file, where the three questions stand in another order:
    each row's content says whose it is."""

    def asked(n: int, question: str, gold: str) -> Item:
        return Item(
            f"i{n}",
            "valid_7_a_1",
            "",
            "p",
            "t",
            "text",
            question,
            Text((gold,)),
            f"valid_7_a_1.nii.gz::{n}",
        )

    items = [
        asked(0, "Where is it?", "left"),
        asked(1, "Where is it?", "up"),
        asked(2, "Which side?", "right"),
    ]
    rows: list[dict[str, str]] = [
        {
            "case_id": "valid_7_a_1.nii.gz::0",
            "question": "Which side?",
            "answer": "right",
            "prediction": "to i2",
        },
        {
            "case_id": "valid_7_a_1.nii.gz::1",
            "question": "Where is it?",
            "answer": "left",
            "prediction": "to i0",
        },
        {
            "case_id": "valid_7_a_1.nii.gz::2",
            "question": "Where is it?",
            "answer": "up",
            "prediction": "to i1",
        },
    ]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(rows))
    answers, joined = _join(path, items)
    assert answers == {"i0": "to i0", "i1": "to i1", "i2": "to i2"}
    assert joined.by == {"volume and question": 3}
    path.write_text(
        json.dumps(
            [
                *rows[:2],
                {"case_id": "valid_7_a_1.nii.gz::1", "question": "Else?", "prediction": "x"},
            ]
        )
    )
    answers, joined = _join(path, items)
    assert answers == {"i0": "to i0", "i2": "to i2"}
    assert (len(joined.rows_without_item), joined.items_without_row) == (
        1,
        ["valid_7_a_1.nii.gz::1"],
    )
    other = {
        "item_id": "i1",
        "study_id": "valid_7_a_1",
        "question": "Which side?",
        "prediction": "to i2",
    }
    path.write_text(json.dumps([other]))
    assert _join(path, items)[0] == {"i2": "to i2"}
