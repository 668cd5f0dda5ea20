"""From items to requests: what the profile shows and says, and nothing else of the item."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from numpy.typing import NDArray

from situs.clients import Image, Message, Request, Settings, VolumeInput
from situs.items import Item
from situs.profiles import NO_IMAGE, options_text
from situs.run.hidden import HiddenReasons

__all__ = ["Presents", "Shown", "requests_for"]


class Shown(Protocol):
    """What is shown of an item."""

    @property
    def images(self) -> tuple[Image, ...]:
        """The pictures, in order."""

    @property
    def prompt(self) -> str:
        """The words."""

    @property
    def volume(self) -> VolumeInput:
        """The volume, for a model that takes one."""


class Presents(Protocol):
    """Shows items as a profile says (`situs.profiles.Presenter`)."""

    def present(self, item: Item) -> Shown:
        """What is shown of the item."""

    def hidden(self, item: Item) -> tuple[str, ...]:
        """Why the item cannot be answered from that; empty if it can."""


def requests_for(
    items: Iterable[Item],
    presenter: Presents,
    settings: Settings,
    hidden: HiddenReasons,
    *,
    volume: bool = False,
    withhold: bool = False,
    skip_hidden: bool = False,
) -> Iterator[Request]:
    """A request per item. `volume` hands over the volume too;
    `withhold` keeps back all but the words."""
    latest_volume: VolumeInput | None = None
    for item in items:
        if not item.series:
            yield Request(item.item_id, (Message("user", (_question(item),)),), settings)
            continue
        reasons = presenter.hidden(item)
        hidden.add(item.item_id, reasons)
        if NO_IMAGE in reasons or (skip_hidden and item.item_id in hidden.reasons):
            continue
        presented = presenter.present(item)
        if volume and (latest_volume is None or latest_volume.digest != presented.volume.digest):
            latest_volume = _made_once(presented.volume)
        handed = (latest_volume,) if latest_volume is not None else ()
        request = Request(
            item.item_id,
            (Message("user", (*handed, *presented.images, presented.prompt)),),
            settings,
        )
        yield request.words_only() if withhold else request


def _made_once(volume: VolumeInput) -> VolumeInput:
    """The same volume for all items of a study:
    its array is made once, and kept while a request holds it."""
    made: list[NDArray[Any]] = []
    lock = threading.Lock()

    def array() -> NDArray[Any]:
        with lock:
            if not made:
                made.append(volume.array())
                made[0].setflags(write=False)
            return made[0]

    return VolumeInput(array, volume.affine, volume.digest)


def _question(item: Item) -> str:
    """The words of an item that came without a scan."""
    return "\n".join(filter(None, (item.question, options_text(item))))
