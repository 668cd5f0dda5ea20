"""Boxes of many replies as rows: which of them are as they were asked for."""

from __future__ import annotations

import pytest

from situs.score.read.box_forms.placed import placed_rows

SIZES = [(100.0, 80.0)] * 3
BOX, OTHER = (10.0, 10.0, 20.0, 20.0), (10.0, 10.0, 20.0, 21.0)


@pytest.mark.parametrize(
    ("replies", "plain"),
    [
        ([[(1, BOX)], [(2, BOX)]], [True, True]),
        ([[(1, BOX), (2, BOX)], [(1, BOX), (1, OTHER)]], [True, True]),
        ([[(1, BOX), (1, BOX)], [(1, BOX)]], [False, True]),
        ([[(3, OTHER)], [(1, BOX), (2, OTHER), (1, BOX)], [(1, OTHER)]], [True, False, True]),
        ([[(4, BOX)], [(0, BOX)], [(1, BOX)]], [False, False, True]),
    ],
)
def test_a_reply_that_gives_a_box_twice_or_off_the_pictures_is_no_plain_one(
    replies: list[list[tuple[int, tuple[float, float, float, float]]]], plain: list[bool]
) -> None:
    every = [box for reply in replies for box in reply]
    table, is_plain = placed_rows(
        [frame for frame, _ in every],
        [box for _, box in every],
        [len(reply) for reply in replies],
        [1] * len(replies),
        [SIZES] * len(replies),
    )
    assert is_plain.tolist() == plain
    assert table[:, 0].tolist() == [frame - 1 for frame, _ in every]
