"""The three patient axes and the words for their ends."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["AXES", "Axis", "Direction", "Side"]


class Direction(StrEnum):
    """Where something lies from something else, from the patient's own point of view."""

    LEFT = "left"
    RIGHT = "right"
    ANTERIOR = "anterior"
    POSTERIOR = "posterior"
    SUPERIOR = "superior"
    INFERIOR = "inferior"

    @property
    def axis(self) -> Axis:
        """The patient axis this direction lies on."""
        return _AXIS_OF[self]

    @property
    def sign(self) -> int:
        """+1 if the RAS+ coordinate grows this way, else -1."""
        return 1 if self is self.axis.positive else -1

    @property
    def opposite(self) -> Direction:
        """The other end of the same axis."""
        return self.axis.negative if self.sign > 0 else self.axis.positive

    @property
    def letter(self) -> str:
        """The letter radiologists put on the picture's edge: R L A P H F."""
        return {"superior": "H", "inferior": "F"}.get(self.value, self.value[0].upper())


class Axis(StrEnum):
    """A patient axis; `world_index` is its place in RAS+ coordinates."""

    LEFT_RIGHT = "left_right"
    ANTERIOR_POSTERIOR = "anterior_posterior"
    SUPERIOR_INFERIOR = "superior_inferior"

    @property
    def world_index(self) -> int:
        """0 for x, 1 for y, 2 for z."""
        return AXES.index(self)

    @property
    def positive(self) -> Direction:
        """The end towards which the RAS+ coordinate grows: right, anterior, superior."""
        return _POSITIVE[self]

    @property
    def negative(self) -> Direction:
        """The end towards which the RAS+ coordinate falls: left, posterior, inferior."""
        return _NEGATIVE[self]

    def towards(self, sign: float) -> Direction:
        """The direction of a positive or negative step along this axis."""
        return self.positive if sign > 0 else self.negative


AXES: tuple[Axis, Axis, Axis] = (Axis.LEFT_RIGHT, Axis.ANTERIOR_POSTERIOR, Axis.SUPERIOR_INFERIOR)

_POSITIVE = {
    Axis.LEFT_RIGHT: Direction.RIGHT,
    Axis.ANTERIOR_POSTERIOR: Direction.ANTERIOR,
    Axis.SUPERIOR_INFERIOR: Direction.SUPERIOR,
}
_NEGATIVE = {
    Axis.LEFT_RIGHT: Direction.LEFT,
    Axis.ANTERIOR_POSTERIOR: Direction.POSTERIOR,
    Axis.SUPERIOR_INFERIOR: Direction.INFERIOR,
}
_AXIS_OF = {end: axis for ends in (_POSITIVE, _NEGATIVE) for axis, end in ends.items()}


class Side(StrEnum):
    """On which side of the patient something lies.

    `BOTH` covers the midline and true both-sidedness.
    """

    LEFT = "left"
    RIGHT = "right"
    BOTH = "both"

    @property
    def mirrored(self) -> Side:
        """The side after reflecting the patient left to right."""
        return {Side.LEFT: Side.RIGHT, Side.RIGHT: Side.LEFT, Side.BOTH: Side.BOTH}[self]
