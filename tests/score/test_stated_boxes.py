"""Plainly stated boxes are read at once; whatever is read so, the full reader reads too."""

from __future__ import annotations

import json
import random

import pytest

from situs.items import Boxes, Grades
from situs.profiles import AnswerSpace
from situs.score.compound import split as compound
from situs.score.read import boxes as full_reader
from situs.score.read import parse_boxes
from situs.score.read.box_forms.stated import stated_boxes
from situs.score.read.result import Parsed
from situs.space import FrameBox

LABELS = (
    "bone lesion",
    "meniscus tear",
    "tear",
    "Baker cyst",
    "absent meniscus",
    "low-grade sprain",
    "central (weight-bearing) part of the condyle",
    "prepatellar bursa, in front of the patella",
)
SIZES = [(320.0, 320.0)] * 12
SPACES = [
    AnswerSpace(),
    AnswerSpace(box_order="xywh", box_scale="pixel", frame_base=1),
    AnswerSpace(box_scale="thousand", frame_base=0),
]
WORDS = (
    "not ",
    "no ",
    "Final answer: ",
    "final ",
    "x ",
    "(",
    "|",
    "**",
    "<think>",
    "maybe ",
    "5",
    ";",
    ",",
)


def _objects(rng: random.Random) -> list[dict[str, object]]:
    found = []
    for _ in range(rng.randint(1, 5)):
        x, y = rng.uniform(0, 300), rng.uniform(0, 300)
        sides = [round(v, rng.choice([0, 1, 2])) for v in (x, y, x + 20, y + rng.uniform(-5, 30))]
        one: dict[str, object] = {"frame": rng.randint(0, 13), "bbox": sides}
        if rng.random() < 0.8:
            one["label"] = rng.choice(LABELS)
        if rng.random() < 0.1:
            one[rng.choice(["slice", "x", "label", "confidence"])] = rng.choice(["3", 7, [1, 2]])
        found.append(one)
    return found


def _reply(rng: random.Random) -> str:
    objects = _objects(rng)
    lines = [
        [
            f"{one.get('label', 'It')}: Frame {one['frame']}: <bbx>{one['bbox']}</bbx>",
            f"Frame {one['frame']}: {one.get('label', 'it')} <bbx>{one['bbox']}</bbx>",
            f"Frame {one['frame']}: {one['bbox']}",
            f"- {one.get('label', 'It')} lies at {one['bbox']} on frame {one['frame']}.",
        ]
        for one in objects
    ]
    form = rng.randrange(4)
    text = rng.choice(
        [
            json.dumps(objects),
            json.dumps({rng.choice(["bboxes", "boxes", "answer"]): objects}),
            f"```json\n{json.dumps({'bboxes': objects}, indent=1)}\n```",
            "\n".join(line[form] for line in lines),
            "\n".join(rng.choice(line) for line in lines),
        ]
    )
    while rng.random() < 0.35:  # as nobody would write it
        at = rng.randrange(len(text) + 1)
        text = rng.choice(
            [
                text[:at] + rng.choice(WORDS) + text[at:],
                text[:at] + text[at + rng.randint(1, 4) :],
                text.replace('"frame"', '"label"', 1),
                text.replace("Frame", "Slice", 1),
                text.replace("lesion", "lésion", 1),
            ]
        )
    return text


def test_stated_boxes_are_those_of_the_full_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(5)
    cases = [(_reply(rng), rng.choice(SPACES), rng.sample(LABELS, 2)) for _ in range(1200)]
    stated = [stated_boxes(text, labels, volume=False) is not None for text, _, labels in cases]
    assert 300 < sum(stated) < 1000  # both ways are tried
    # All at once, as the replies of a run are placed, and none as it was asked for.
    mentioned = [full_reader.mentioned_boxes(text, space, labels) for text, space, labels in cases]
    placings = [
        (found.value if isinstance(found, Parsed) else [], space, SIZES)
        for found, (_, space, _) in zip(mentioned, cases)
    ]
    fast = [
        placed if isinstance(found, Parsed) else found
        for found, placed in zip(mentioned, full_reader.place_boxes(placings))
    ]
    monkeypatch.setattr(full_reader, "stated_boxes", lambda *_, **__: None)
    monkeypatch.setattr(full_reader, "placed_as_asked", lambda replies: [None] * len(replies))
    for (text, space, labels), was, read in zip(cases, stated, fast):
        if was:
            assert read == parse_boxes(text, space, SIZES, labels), text


def test_stated_parts_of_an_answer_are_those_that_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = random.Random(6)
    parts = {"box": Boxes((FrameBox(0, 0, 0, 1, 1),)), "grades": Grades({"size": 0, "number": 1})}
    texts = []
    for _ in range(600):
        grades: dict[str, object] = {"size": rng.randint(0, 3), "number": rng.choice([0, 2.0, "1"])}
        whole: dict[str, object] = {"box": _objects(rng), "grades": grades}
        if rng.random() < 0.2:
            whole |= rng.choice(
                [{"Box": []}, {"reasoning": "none"}, {"box": "none"}, {"grades": 2}]
            )
        text = json.dumps(whole)
        if rng.random() < 0.3:
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice([*WORDS, '"box": 1, ', "}"]) + text[at:]
        texts.append(text)
    fast = [compound.split_response(text, parts) for text in texts]
    monkeypatch.setattr(compound, "_stated_fields", lambda *_: None)
    for text, read in zip(texts, fast):
        found = compound.split_response(text, parts)
        assert read["grades"] == found["grades"], text
        for space in SPACES[:1]:
            ours, theirs = (parse_boxes(one["box"], space, SIZES) for one in (read, found))
            assert ours == theirs, text
