"""What is served to agents: the room's allowance holds at every viewer, and says so when it is used up."""

from __future__ import annotations

import msgspec
import pytest

from situs.errors import SitusError
from situs.room import Allowance, load_room
from situs.serve import studies_of

LOOK = {"plane": "axial", "slice": 20}


def test_looks_turns_and_pixels_are_those_of_the_room(bench) -> None:
    room = msgspec.structs.replace(load_room("callipers"), budget=Allowance(looks=2, turns=5))
    studies = studies_of(bench, room)
    assert "You have 2 looks (a strip is one) and 5 turns." in studies.open(1)
    assert studies.do("look", LOOK, None).words.endswith("1 look left.")
    with pytest.raises(SitusError, match="at most"):
        studies.do("look", LOOK | {"slice": 10_000}, None)
    assert studies.do("strip", {"plane": "axial", "n": 4}, None).words.endswith("0 looks left.")
    with pytest.raises(SitusError, match=r"no looks are left at this viewer: .* allows 2"):
        studies.do("look", LOOK, None)
    # What needs no picture goes on; then the turns are used up, mistakes and refused looks among them.
    across = {"a": [1, 20, 20], "b": [1, 90, 20]}
    assert studies.do("measure", across, None).length_mm
    with pytest.raises(SitusError, match=r"no turns are left at this viewer: .* allows 5"):
        studies.do("measure", across, None)
    studies.open(1)
    assert studies.do("look", LOOK, None).words.endswith("1 look left.")
    with pytest.raises(SitusError, match="no turns are left"):
        studies.do("measure", across, 1)


def test_pixels_are_counted_before_a_picture_is_made(bench) -> None:
    room = load_room("callipers")
    studies = studies_of(bench, room)
    studies.open(1)
    image = studies.do("look", LOOK, None).picture.image
    few = Allowance(pixels=2 * image.width * image.height - 1)
    studies = studies_of(bench, msgspec.structs.replace(room, budget=few))
    studies.open(1)
    studies.do("look", LOOK, None)
    with pytest.raises(SitusError, match="no pixels are left"):
        studies.do("look", LOOK, None)
