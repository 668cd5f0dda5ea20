"""The words for the patient's axes: RAS+ means right, anterior and superior are positive."""

import pytest

from situs.space import AXES, Axis, Direction, Side

TABLE = [
    # direction, axis, place in RAS, sign, opposite, letter
    ("right", "left_right", 0, 1, "left", "R"),
    ("left", "left_right", 0, -1, "right", "L"),
    ("anterior", "anterior_posterior", 1, 1, "posterior", "A"),
    ("posterior", "anterior_posterior", 1, -1, "anterior", "P"),
    ("superior", "superior_inferior", 2, 1, "inferior", "H"),
    ("inferior", "superior_inferior", 2, -1, "superior", "F"),
]


@pytest.mark.parametrize(("word", "axis", "place", "sign", "opposite", "letter"), TABLE)
def test_directions(word, axis, place, sign, opposite, letter):
    direction = Direction(word)
    assert direction.axis is Axis(axis)
    assert direction.axis.world_index == place
    assert AXES[place] is direction.axis
    assert direction.sign == sign
    assert direction.opposite is Direction(opposite)
    assert direction.opposite.opposite is direction
    assert direction.letter == letter
    assert direction.axis.towards(sign * 0.5) is direction


def test_the_table_is_complete():
    assert {row[0] for row in TABLE} == {d.value for d in Direction}
    assert len(AXES) == len(set(AXES)) == 3


def test_sides_mirror():
    assert [side.mirrored for side in (Side.LEFT, Side.RIGHT, Side.BOTH)] == [
        Side.RIGHT,
        Side.LEFT,
        Side.BOTH,
    ]
