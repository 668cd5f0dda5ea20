"""Answers that are judged as columns are judged as they are one by one, in the plainest form and in
any other."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

import pytest
from tests.score.test_box_batch import LABELS, Shown, near, series

from situs.items import Box, Boxes, Compound, Grades, Item
from situs.profiles import AnswerSpace
from situs.run import AnswerRow
from situs.score import plain_answers
from situs.score.outcomes import Asked, judge_answers
from situs.score.plain_answers import judged_replies
from situs.score.records import JudgedArrays
from situs.space import FrameBox, FrameBoxes, WorldBox

QUESTION = (
    "Grade the lesion.\nsize: 0 = none, 1 = small, 2 = large\nnumber: 0 = none, 1 = one, 2 = more"
)
TAGS = ((), ("approximate",), ("nominal:size", "absent:number:2"))
NOISE = ("not ", "final ", "x", "<think>", '"size": 1, ', "{", "\r", "\u00e9")


class Pictures(Shown):
    """The pictures of one series, and how places on them are spoken of."""

    space = AnswerSpace()

    def sizes(self, item: Item) -> list[tuple[float, float]]:
        return self._layout.sizes

    def obstacle(self, item: Item) -> str:
        return ""

    def frames(self, item: Item, frames: Sequence[int]) -> list[int]:
        return list(frames)

    def boxes(self, item: Item, boxes: Sequence[Box]) -> FrameBoxes:
        return FrameBoxes.of(super().boxes(item, boxes))


def _item(rng: random.Random, number: int, shown: Shown) -> Item:
    """A question for boxes and grades, or grades and boxes; mostly one thing is asked for."""
    corner = shown.layout(None).lattice.affine @ [12.0, 15.0, 9.0, 1.0]
    boxes: list[Box] = []
    for label in LABELS[: rng.choice([1, 1, 1, 1, 2])]:
        low = corner[:3] + [rng.uniform(-9, 3) for _ in range(3)]
        high = low + [rng.uniform(1, 12) for _ in range(3)]
        boxes.append(WorldBox(tuple(low), tuple(high), label))
    if rng.random() < 0.1:
        boxes = [FrameBox(2, 3.0, 4.0, 9.0, 11.0, LABELS[0])]
    parts = {"box": Boxes(tuple(boxes)), "grades": Grades({"size": rng.randint(0, 2), "number": 1})}
    answer = Compound(dict(rng.sample(list(parts.items()), 2)))
    given = {
        "tags": rng.choice(TAGS),
        "parameters": {"question": "7"} if rng.random() < 0.8 else {},
    }
    task = rng.choice(["grade.lesions", "geometry.lesions"])
    return Item(f"i{number}", "s", "mr", "p", task, "compound", QUESTION, answer, **given)


def _reply(rng: random.Random, item: Item, shown: Pictures) -> str:
    """The truth or near it, on pictures that are there or not; one in five is spoilt."""
    assert isinstance(item.answer, Compound)
    truth = item.answer.parts["box"]
    assert isinstance(truth, Boxes)
    boxes = near(rng, shown.boxes(item, truth.boxes))
    boxes += rng.choice([[]] * 10 + [boxes[:1], [FrameBox(70, 1, 2, 300, 400)]])
    objects = [
        {"frame": one.frame + shown.space.frame_base, "bbox": [one.x0, one.y0, one.x1, one.y1]}
        | ({"label": one.label} if rng.random() < 0.9 else {})
        for one in boxes
    ]
    grades = {"size": rng.randint(0, 3), "number": rng.randint(0, 2)}
    if rng.random() < 0.05:
        grades.popitem()
    text = json.dumps({"box": objects, "grades": grades}, indent=rng.choice([None, None, 1]))
    if rng.random() < 0.15:
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(NOISE) + text[at:]
    return rng.choice([text] * 9 + ["I cannot tell.", "size: 1, number: 2", ""])


@pytest.mark.parametrize("oblique", [False, True])
def test_columns_judge_as_records_do(oblique: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(11)
    counts = []
    judged_in_columns = plain_answers._PlainAnswers.judged

    def counted(plain):
        found = judged_in_columns(plain)
        counts.append(len(found[0]))
        return found

    monkeypatch.setattr(plain_answers._PlainAnswers, "judged", counted)
    for _ in range(4):
        pictures = [Pictures(series(rng, oblique=oblique).layout(None)) for _ in range(3)]
        asked, replies = [], []
        for number in range(60):
            shown = rng.choice(pictures)
            item = _item(rng, number, shown)
            hidden = ("too small",) if rng.random() < 0.05 else ()
            asked.append(Asked.of(item, None, shown=shown, hidden=hidden))
            row = AnswerRow(item.item_id, response=_reply(rng, item, shown))
            state = rng.choice(["answered"] * 20 + ["refused", "failed"])
            row = AnswerRow(item.item_id, state, row.response)
            replies.append(rng.choice([row] * 20 + [None]))
        judged = judged_replies(asked, replies)
        expected = JudgedArrays.of(
            judge_answers([one.answered(row) for one, row in zip(asked, replies)])
        )
        assert judged.kinds == expected.kinds
        names = [name for name in judged.arrays if name not in expected.arrays]
        assert not names
        for name, column in expected.arrays.items():
            assert judged.arrays[name].to_pylist() == column.to_pylist(), name
            assert judged.arrays[name].type == column.type
        # Metrics stand in the order in which answers bring them.
        metrics = [name for name in expected.arrays if "@" in name]
        assert [name for name in judged.arrays if "@" in name] == metrics
    # Boxes in millimetres are columns only where the pictures are a stack of slices.
    assert sum(counts) < 30 if oblique else 60 < sum(counts) < 200
