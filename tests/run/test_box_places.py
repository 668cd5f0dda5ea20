"""Where the boxes of a bench lie, as those are told who do not look."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, cast

import numpy as np

from situs.items import Box, Boxes, Item
from situs.run import BoxPlaces
from situs.space import FrameBox, FrameBoxes


class Pictures:
    """Two pictures of one size, on which boxes lie as they are."""

    def __init__(self, width: float, height: float) -> None:
        self._sizes = [(width, height)] * 2

    def obstacle(self, item: Item) -> str:
        return ""

    def sizes(self, item: Item) -> list[tuple[float, float]]:
        return self._sizes

    def boxes(self, item: Item, boxes: Iterable[Box]) -> FrameBoxes:
        return FrameBoxes.of(cast("Iterable[FrameBox]", boxes))


def _places(width: float, height: float) -> BoxPlaces:
    places = BoxPlaces(cast("Any", Pictures(width, height)))
    shown = {
        "p1": (FrameBox(0, 10, 20, 30, 60, "cyst"), FrameBox(1, 20, 20, 40, 40, "tear")),
        "p2": (FrameBox(1, 0, 10, 50, 20, "cyst"),),
    }
    for patient, boxes in shown.items():
        places.add(Item(patient, "s", "mr", patient, "t", "boxes", "?", Boxes(boxes)))
    return places


def test_boxes_are_kept_as_shares_of_their_pictures_label_by_label() -> None:
    places = _places(100.0, 200.0)
    cysts = places.places["cyst", True, "volume"]
    sides, spans = cysts.of({"p1", "p2"})
    assert sides.tolist() == [[0.1, 0.1, 0.3, 0.3], [0.0, 0.05, 0.5, 0.1]]
    assert spans.tolist() == [[0.0, 0.0], [0.5, 0.5]]
    tears, _ = places.places["tear", True, "volume"].of({"p1", "p2"})
    assert np.array_equal(tears, [[0.2, 0.1, 0.4, 0.2]])


def test_how_far_boxes_reach_is_told_in_plain_numbers() -> None:
    """A guesser says them: `np.float64(50.0)` would be no box."""
    extent = _places(math.inf, math.inf).extent
    assert extent == (50.0, 60.0)
    assert repr(extent) == "(50.0, 60.0)"
