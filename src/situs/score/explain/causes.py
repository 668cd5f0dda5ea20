"""Why an answer may be wrong: the causes that can be told from the answer alone."""

from __future__ import annotations

from array import array
from enum import StrEnum

import msgspec

__all__ = ["STATES", "Cause", "Exposures", "Suspicion"]


class Cause(StrEnum):
    """One way to be wrong, from the most to the least particular."""

    MISSING = "missing"
    FAILED = "failed"
    REFUSED = "refused"
    UNPARSED = "unparsed"
    UNIT_SLIP = "unit_slip"
    """Ten times too much or too little for a length, a thousand times for a volume."""
    VOXEL_AS_MM = "voxel_as_mm"
    """Right once multiplied by the spacing of the voxels, or of the pixels shown."""
    BOX_SCALE = "box_scale"
    """Right if the numbers are shares of a thousand rather than pixels, or the other way round."""
    BOX_ORDER = "box_order"
    """Right if the numbers are taken in another order
    (width and height for the far corner, y before x)."""
    OFF_BY_ONE = "off_by_one"
    """Right one picture further on or back: counted from another first number."""
    OFF_BY_TWO = "off_by_two"
    """Right two pictures further on or back."""
    MIRRORED = "mirrored"
    """Right with left and right exchanged."""
    UP_DOWN = "up_down"
    """Right with head and feet exchanged, or the slices counted from the other end."""
    FRONT_BACK = "front_back"
    """Right with front and back exchanged."""
    NEIGHBOUR = "neighbour"
    """A structure that touches the right one or lies next to it; the level above or below."""
    PRIOR = "prior"
    """What other patients' answers suggest with confidence."""
    UNIT_MISSING = "unit_missing"
    """A wrong number without a unit."""


STATES = (Cause.MISSING, Cause.FAILED, Cause.REFUSED, Cause.UNPARSED)
"""No answer was read: nothing else can be said of it, and chance plays no part."""


class Suspicion(msgspec.Struct, frozen=True):
    """A cause that fits one wrong answer."""

    cause: Cause
    chance: float | None
    """The share of wrong answers at random that it would fit as well;
    None where that cannot be said."""


class Exposures:
    """The answers that could have shown a cause, as columns: there may be a million of them."""

    def __init__(self) -> None:
        self.clusters: list[str] = []
        self.seen = bytearray()
        """Whether each did."""
        self.expected = array("d")
        """How likely chance alone would have shown it."""
        self.texts: list[str] = []
        """The questions; none where they do not matter."""
        self.elsewhere: list[float | None] = []
        """Where texts matter: how often the same answer would show it in other patients who were
        asked the same question."""

    def __len__(self) -> int:
        return len(self.clusters)

    def add(self, cluster: str, seen: bool, expected: float) -> None:
        """One answer."""
        self.clusters.append(cluster)
        self.seen.append(seen)
        self.expected.append(expected)

    def add_asked(
        self, cluster: str, seen: bool, expected: float, text: str, elsewhere: float | None
    ) -> None:
        """One answer to a question that others were asked as well."""
        self.add(cluster, seen, expected)
        self.texts.append(text)
        self.elsewhere.append(elsewhere)
