"""A finished read and an adjudicator's decision, as the statistics take them."""

from __future__ import annotations

import msgspec

from situs.review.station.places import KeyPlace

__all__ = ["Decision", "ReadRow"]


class ReadRow(msgspec.Struct, frozen=True):
    """One finished read, last versions of both stages joined."""

    unit: int
    item_id: str
    reader: str
    patient: str
    stratum: str
    weight: float
    kind: str
    task: str
    form: str
    right: tuple[str, ...]
    answers: dict[str, str] = {}
    cannot: str = ""
    confidence: int | None = None
    score: int | None = None
    flags: tuple[str, ...] = ()
    verdicts: dict[str, bool] = {}
    comment: str = ""
    active_ms: int = 0
    repeat_of: int | None = None
    places: dict[str, KeyPlace] = {}
    """Where the key is, by part, of what is answered by boxes or slices."""

    @property
    def choice(self) -> str | None:
        """What was chosen, where choices can be compared; `cannot be told` is a choice too."""
        if self.form not in ("yes_no", "choice"):
            return None
        return "cannot be told" if self.cannot else next(iter(self.answers.values()), None)

    @property
    def is_right(self) -> bool | None:
        """Whether the unaided answer fits the key."""
        choice = self.choice
        return None if choice is None or not self.right else choice in self.right

    @property
    def says_wrong(self) -> bool:
        """Whether the key is called wrong."""
        return "key wrong" in self.flags or self.verdicts.get("correct") is False


class Decision(msgspec.Struct, frozen=True):
    """An adjudicator's word on a unit."""

    unit: int
    decision: str
    key_wrong: bool
    reason: str
    by: str
    """The adjudicator's code."""
