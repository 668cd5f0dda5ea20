"""What a run in a room is shown: the scans of a bench, or what a probe makes of them."""

from __future__ import annotations

from situs.errors import SitusError
from situs.items import Item
from situs.probe.blind import KeptHidden, OtherPatient, Silent, WordsOnly
from situs.profiles import Presenter, Volumes
from situs.room.view.opened import OpenScan
from situs.run import Presents

__all__ = ["THROUGH_ROOMS", "RoomSource"]

_WITHHOLDING = (WordsOnly, Silent, OtherPatient)
THROUGH_ROOMS = frozenset(
    {
        "text",
        "silent",
        "other-patient",
        "convention",
        "axis-order",
        "spacing",
        "swap",
        "mirror",
        "flip-ap",
        "flip-si",
        "reversed",
        "painted-out",
        "moved",
        "copied",
        "sham",
        "rotations",
        "wordings",
    }
)
"""Probes that mean something where a model asks for its pictures.

The others change a fixed set of pictures.
"""


class RoomSource:
    """From what a run is given to the scans of a room."""

    def __init__(self, presents: Presents) -> None:
        self._kept: KeptHidden | None = None
        if isinstance(presents, Presenter):
            self._presenter = presents
        elif isinstance(presents, KeptHidden) and type(presents) in _WITHHOLDING:
            self._kept, self._presenter = presents, presents.presenter
        else:
            raise SitusError(
                f"{type(presents).__name__} changes a fixed set of pictures, and a room has none",
                where="--room",
                fix=f"probes for rooms: {', '.join(sorted(THROUGH_ROOMS))}",
            )

    @property
    def volumes(self) -> Volumes:
        """Where voxels come from."""
        return self._presenter.volumes

    def shown_item(self, item: Item) -> Item:
        """The item whose scan is shown."""
        return item if self._kept is None else self._kept.shown_item(item)

    def hidden(self, item: Item, opened: OpenScan) -> tuple[str, ...]:
        """Why the item cannot be answered; of a blind run, what the original run found."""
        if self._kept is not None:
            return self._kept.hidden(item)
        return opened.verdict(item).hidden
