"""How a probe's bench came to be, as its folder tells it.

It loads little: every check of a bench asks for it.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from situs.base.files import read_json
from situs.profiles import Profile

__all__ = ["OutcomeRow", "Outcomes", "outcomes_of"]


class OutcomeRow(msgspec.Struct, frozen=True):
    """What a change does to one item; a line of the bench's `outcomes.json`."""

    item_id: str
    """Of the original item."""
    outcome: str
    """`changed`, `unchanged` or `undefined`."""
    reason: str = ""


class Outcomes(msgspec.Struct, frozen=True):
    """How a probe's bench came to be: `outcomes.json` beside its tables.

    The source's path is in `locations.json`.
    """

    source: str
    """Content hash of the bench and what was asked of it:
    a folder of another one is not taken up."""
    rows: list[OutcomeRow]
    probe: str
    profile: Profile
    source_hash: str
    """Content hash of the bench it was made from."""


def outcomes_of(folder: Path) -> Outcomes | None:
    """How a bench was made by a probe; None if it was not."""
    path = folder / "outcomes.json"
    return read_json(path, Outcomes) if path.is_file() else None
