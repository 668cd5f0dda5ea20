"""Which questions for boxes the blind rows answer:
drawn by id, whatever else is asked and in which order."""

from __future__ import annotations

import hashlib

import pytest

from situs.items import Boxes, Item, YesNo
from situs.score.blind import sample
from situs.score.blind.sample import BlindSample
from situs.space import FrameBox

BOX = Boxes((FrameBox(0, 0.0, 0.0, 1.0, 1.0),))


def items(boxed: int, closed: int) -> list[Item]:
    def one(name: str, form: str, answer: Boxes | YesNo) -> Item:
        return Item(name, "s", "mr", "p", "t", form, "Where?", answer)

    where = [one(f"b{number}", "boxes", BOX) for number in range(boxed)]
    whether = [one(f"c{number}", "yes_no", YesNo(True)) for number in range(closed)]
    return [*where[: boxed // 2], *whether, *where[boxed // 2 :]]


def place(item: Item) -> float:
    """blake2b of both words, each after its length in eight bytes: as a share of 2³²."""
    words = [word.encode() for word in ("blind boxes", item.item_id)]
    framed = b"".join(len(word).to_bytes(8, "little") + word for word in words)
    return int.from_bytes(hashlib.blake2b(framed, digest_size=4).digest(), "big") / 2**32


def test_few_boxes_are_all_asked() -> None:
    asked = items(1000, 3)
    drawn = BlindSample(lambda: asked)
    assert list(drawn) == asked
    assert drawn.note == ""


@pytest.mark.parametrize("most_kept", [100_000, 10])
def test_of_many_boxes_a_thousand_in_expectation(
    most_kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample, "_MOST_KEPT", most_kept)
    asked = items(2500, 40)
    drawn = BlindSample(lambda: asked)
    expected = [one for one in asked if one.form == "yes_no" or place(one) < 1000 / 2500]
    assert list(drawn) == expected
    assert (drawn.items, drawn.boxed) == (2540, 2500)
    assert "1,000 of the 2,500" in drawn.note


def test_items_that_were_let_go_are_read_again() -> None:
    asked, reads = items(2500, 40), []

    def read() -> list[Item]:
        reads.append(len(asked))
        return asked

    drawn = BlindSample(read)
    before = list(drawn)
    drawn.let_go()
    assert len(reads) == 1
    assert list(drawn) == before
    assert len(reads) == 2
    assert (drawn.items, drawn.boxed) == (2540, 2500)
