"""Names, slices and the choice of items."""

from __future__ import annotations

import numpy as np
import pytest

from situs.items import Item, YesNo
from situs.report.names import public_name, unique_names
from situs.report.pictures.choice import in_picture_order
from situs.report.pictures.slices import opening_slice, shown_slices, spoken_ranges


@pytest.mark.parametrize(
    ("client", "name"),
    [
        ("oracle", "oracle"),
        ("random?seed=3", "random?seed=3"),
        ("openai:qwen3-vl@http://10.0.0.7:8000/v1", "openai:qwen3-vl"),
        (
            "openai:org/model@https://host/v1?api_key=sk-1&temperature=0.2",
            "openai:org/model?temperature=0.2",
        ),
        ("hf:/home/ann/models/x", "hf:local model"),
        ("hf:~/x", "hf:local model"),
        ("hf:C:\\Users\\ann\\x", "hf:local model"),
        ("hf:data/ann/x", "hf:local model"),
        ("replay:ann.jsonl", "replay"),
        ("plugin:module:object", "plugin:module:object"),
    ],
)
def test_public_names(client: str, name: str) -> None:
    assert public_name(client) == name


def test_the_second_of_a_name_is_numbered() -> None:
    assert unique_names(["a:x@http://h", "b", "a:x"]) == ["a:x", "b", "a:x #2"]


def bump(count: int, first: int, last: int) -> np.ndarray:
    areas = np.zeros(count, dtype=np.int64)
    areas[first : last + 1] = 10 + np.minimum(
        np.arange(last - first + 1), np.arange(last - first + 1)[::-1]
    )
    return areas


def test_slices_around_a_small_structure() -> None:
    area = bump(100, 40, 50)
    assert opening_slice([area]) == 45
    assert shown_slices([area], 45, 40) == list(range(37, 54))


def test_a_large_structure_is_shown_around_the_opening_slice() -> None:
    area = bump(200, 10, 190)
    shown = shown_slices([area], opening_slice([area]), 40)
    assert shown == list(range(80, 120))


def test_a_second_structure_elsewhere_keeps_a_few_slices() -> None:
    areas = [bump(300, 20, 40), bump(300, 200, 220)]
    shown = shown_slices(areas, opening_slice(areas), 40)
    assert opening_slice(areas) == 30
    assert set(range(20, 41)) <= set(shown)
    assert {208, 209, 210, 211, 212} <= set(shown)
    assert len(shown) <= 45


def test_slices_at_the_border_stay_inside() -> None:
    area = bump(30, 0, 29)
    assert shown_slices([area], 15, 40) == list(range(30))
    assert shown_slices([area], 29, 20) == list(range(10, 30))


def test_ranges_are_read_out_from_one() -> None:
    assert spoken_ranges([30, 31, 32, 40]) == "31–33, 41"
    assert spoken_ranges([0]) == "1"


def item(name: str, task: str) -> Item:
    return Item(name, "s", "ct", "p", task, "yes_no", "?", YesNo(True))


def test_wrong_ones_first_then_right_ones_then_what_nobody_could_answer() -> None:
    items = [item(f"{task}{n}", task) for task in "ab" for n in range(5)] + [item("c0", "c")]
    worth = {"a1": 0, "a2": 0, "a3": 0, "b4": 0, "a0": 2, "c0": 2}
    order = [i.item_id for i in in_picture_order(items, lambda i: worth.get(i.item_id, 1), seed=1)]
    assert sorted(order) == sorted(i.item_id for i in items)
    assert [name[0] for name in order[:2]] == ["a", "b"]
    assert set(order[:4]) == {"a1", "a2", "a3", "b4"}
    assert set(order[-2:]) == {"a0", "c0"}
    again = [
        i.item_id
        for i in in_picture_order(reversed(items), lambda i: worth.get(i.item_id, 1), seed=1)
    ]
    assert again == order
