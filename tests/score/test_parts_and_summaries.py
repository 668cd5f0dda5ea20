"""Parts of compound replies at the limits of their rules, and which groups a summary of breakdowns
names."""

from __future__ import annotations

import json
import math

import pytest

from situs.items import Boxes, Choice, Item, Number
from situs.profiles import AnswerSpace
from situs.score.breakdown import Breakdowns, summary_table
from situs.score.compound import parts
from situs.score.compound.split import split_response
from situs.score.metrics.registry import Given
from situs.score.table_entries import Entry
from situs.space import FrameBox

PARTS = {"side": Choice("left"), "size": Number(12.0, "mm")}


def test_two_sections_are_enough_and_one_is_none() -> None:
    both = split_response("Side: left\nSize: 12 mm", PARTS)
    assert both == {"side": "left", "size": "12 mm"}
    one = "Side: left\nand it measures 12 mm"
    assert split_response(one, PARTS) == dict.fromkeys(PARTS, one)


@pytest.mark.parametrize(("depth", "found"), [(0, True), (6, True), (7, False)])
def test_parts_are_looked_for_six_objects_deep(depth: int, found: bool) -> None:
    record: dict = {"side": "left", "size": "12 mm"}
    for level in range(depth):
        record = {f"level {level}": record}
    told = split_response(f"It is {json.dumps(record)}", PARTS)
    assert (told["side"] == "left" and told["size"] == "12 mm") is found


def test_boxes_in_words() -> None:
    """Three boxes at most, on pictures as they are numbered."""
    rows = [(frame, 10.4, 20.0, 30.6, 40.0) for frame in range(4)]
    labels = ["tear", "", "tear", "tear"]
    three = (
        "tear, picture 5: 10–31 × 20–40; picture 6: 10–31 × 20–40; tear, picture 7: 10–31 × 20–40"
    )
    assert parts.boxes_words(rows[:3], labels, 5) == three
    assert parts.boxes_words(rows, labels, 5) == f"{three}; …"
    assert parts.boxes_words([], [], 5) == "no box"


def test_a_volume_stands_on_all_pictures_from_its_first_to_its_last() -> None:
    said = ((0, "tear", 2.0, 4.0, 10.0, 30.0, 20.0, 40.0),)
    space = AnswerSpace(box_form="volume", frame_base=0)
    boxes = parts._boxes_meant(said, space, ((64.0, 64.0),) * 6).value
    assert [(box.frame, box.x0, box.y0, box.x1, box.y1) for box in boxes] == [
        (frame, 10.0, 20.0, 30.0, 40.0) for frame in (2, 3, 4)
    ]


class OnFrames:
    """Boxes that are given on their pictures."""

    def boxes(self, item, boxes):
        return list(boxes)


@pytest.mark.parametrize(
    ("tags", "height", "right"),
    [
        ((), 5.0, True),
        ((), 4.9, False),
        (("approximate",), 2.5, True),
        (("approximate",), 2.4, False),
    ],
)
@pytest.mark.parametrize("labels", [("tear",), ("tear", "cyst")])
def test_boxes_are_right_from_an_overlap_of_a_half_on(tags, height, right, labels) -> None:
    """Of a quarter where the true boxes are approximate; each thing by itself."""
    truth = [FrameBox(0, 0.0, 20.0 * k, 10.0, 20.0 * k + 10.0, one) for k, one in enumerate(labels)]
    said = [FrameBox(b.frame, b.x0, b.y0, b.x1, b.y0 + height, b.label) for b in truth]
    answer = Boxes(tuple(truth))
    item = Item("i", "s", "mr", "p", "t", "boxes", "?", answer, tags=tags)
    assert parts._boxes_right(Given(item, answer, said, OnFrames())) is right
    assert parts.boxes_right(item, truth, said) is right


def test_the_summary_names_groups_far_from_the_mean_for_their_size() -> None:
    """By |accuracy − mean| · √items; groups of under five items and tables of their own are left
    out."""
    groups = {"small": (4, 0.0), "five": (5, 0.3), "many": (80, 0.5), "some": (15, 0.1)}

    def entry(n, value):
        return [Entry("accuracy", value, n, None, {}, 3)]

    table = summary_table(
        Breakdowns(
            {
                "structure": {name: entry(*own) for name, own in groups.items()},
                "task": {"gap": entry(50, 0.0)},
            },
            [],
            {},
            [],
            None,
        )
    )
    counted = {name: own for name, own in groups.items() if own[0] >= 5}
    mean = sum(n * value for n, value in counted.values()) / 100
    far = {name: abs(value - mean) * math.sqrt(n) for name, (n, value) in counted.items()}
    assert [row[1] for row in table.rows] == sorted(far, key=far.__getitem__, reverse=True)
    assert f"({mean:.3f})" in table.caption
