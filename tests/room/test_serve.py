"""What is served to agents: the room's allowance holds at every viewer,
and says so when it is used up."""

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
    with pytest.raises(SitusError, match=r"no looks are left for this study: .* allows 2"):
        studies.do("look", LOOK, None)
    # What needs no picture goes on; then the turns are used up, mistakes and refused looks among
    # them.
    across = {"a": [1, 20, 20], "b": [1, 90, 20]}
    assert studies.do("measure", across, None).length_mm
    with pytest.raises(SitusError, match=r"no turns are left for this study: .* allows 5"):
        studies.do("measure", across, None)
    # Another study has an allowance of its own.
    studies.open(2)
    assert studies.do("look", LOOK, None).words.endswith("1 look left.")
    with pytest.raises(SitusError, match="no turns are left"):
        studies.do("measure", across, 1)


def test_opening_a_study_again_gives_back_nothing(bench) -> None:
    room = msgspec.structs.replace(load_room("callipers"), budget=Allowance(looks=3, turns=5))
    studies = studies_of(bench, room)
    studies.open(1)
    studies.do("look", LOOK, None)
    studies.do("look", LOOK | {"slice": 21}, None)
    # Whatever was opened since: more viewers than are kept, and the same study again.
    for number in (2, 3, 4):
        studies.open(number)
    told = studies.open(1)
    assert "You have 1 look (a strip is one) and 3 turns." in told
    # Points name pictures by their numbers at this viewer, so these begin again.
    words = studies.do("look", LOOK, None).words
    assert words.startswith("Picture 1:")
    assert words.endswith("0 looks left.")
    assert studies.do("measure", {"a": [1, 20, 20], "b": [1, 90, 20]}, None).length_mm
    with pytest.raises(SitusError, match=r"no looks are left for this study: .* allows 3"):
        studies.do("look", LOOK, None)
    studies.open(1)
    with pytest.raises(SitusError, match=r"no turns are left for this study: .* allows 5"):
        studies.do("look", LOOK, None)


@pytest.mark.parametrize("number", [0, -1, 5, 10**30])
def test_a_study_that_does_not_exist_is_refused(bench, number: int) -> None:
    studies = studies_of(bench, load_room("callipers"))
    for call in (studies.open, studies.questions):
        with pytest.raises(SitusError, match="there is no study"):
            call(number)


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
