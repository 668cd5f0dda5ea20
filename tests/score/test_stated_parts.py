"""Boxes and grades that a reply states plainly are read in one go, as they are when it is taken
apart."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from situs.items import Boxes, Compound, Grades
from situs.profiles import AnswerSpace
from situs.run import AnswerRow
from situs.score import outcomes
from situs.score.compound import stated as stated_parts
from situs.score.compound.parts import Unplaced
from situs.space import FrameBox

QUESTION = (
    "Grade the lesion.\nsize: 0 = none, 1 = small, 2 = large\nnumber: 0 = none, 1 = one, 2 = more"
)
LABELS = ("bone lesion", "tear", "central (weight-bearing) part", "prepatellar bursa, in front")
WORDS = ("not ", "final ", "x", "(", "é", "\\u0041", "<think>", "5", ",", '"size": 1, ', '"box": ')


class _Item:
    """What is read of an item."""

    item_id, question, tags, options = "i1", QUESTION, (), ()

    def __init__(self, answer: Compound) -> None:
        self.answer = answer


class _Shown:
    """Pictures on which nothing is placed yet."""

    space = AnswerSpace()


def _reply(rng: random.Random) -> str:
    boxes = []
    for _ in range(rng.randint(0, 4)):
        numbers = [round(rng.uniform(0, 300), rng.choice([0, 2])) for _ in range(4)]
        boxes.append({"frame": rng.randint(0, 30), "bbox": numbers})
        if rng.random() < 0.8:
            boxes[-1]["label"] = rng.choice(LABELS)
    grades: dict[str, Any] = {"size": rng.randint(0, 3), "number": rng.randint(0, 2)}
    if rng.random() < 0.3:
        grades |= rng.choice([{"size": "1"}, {"number": 1.0}, {"depth": 1}, {"Size": 2}])
    if rng.random() < 0.1:
        del grades["size"]
    whole: dict[str, Any] = {"box": boxes, "grades": grades}
    if rng.random() < 0.2:
        whole |= rng.choice([{"Box": []}, {"reasoning": "none"}, {"box": "none"}, {"grades": 2}])
    text = json.dumps(whole, indent=rng.choice([None, None, 1]))
    if rng.random() < 0.2:
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(WORDS) + text[at:]
    return text


def _read(item: Any, text: str) -> dict[str, Any]:
    readings = outcomes._read_parts(item, AnswerRow("i1", response=text), _Shown())  # type: ignore[arg-type]
    return {
        name: list(one.mentions)
        if isinstance(one, Unplaced)
        else one
        if not hasattr(one, "said")
        else (one.said, one.flags)
        for name, one in readings.items()
    }


def test_stated_parts_are_those_of_a_reply_that_is_taken_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = random.Random(12)
    parts = {
        "box": Boxes((FrameBox(0, 0, 0, 1, 1, "tear"),)),
        "grades": Grades({"size": 0, "number": 1}),
    }
    item: Any = _Item(Compound(parts))
    texts = [_reply(rng) for _ in range(500)]
    shown: Any = _Shown()
    stated = [stated_parts.stated_parts(item, parts, text, shown) is not None for text in texts]
    assert 100 < sum(stated) < 400  # both ways are tried
    fast = [_read(item, text) for text in texts]
    monkeypatch.setattr(stated_parts, "stated_parts", lambda *_: None)
    for text, is_stated, read in zip(texts, stated, fast):
        if is_stated:
            assert read == _read(item, text), text
