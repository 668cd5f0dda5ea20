"""Images of several channels: what their `dataset.json` says they are, and which one is shown."""

from __future__ import annotations

from pathlib import Path

import msgspec

from situs.base.files import read_json
from situs.errors import SitusError

__all__ = ["channel_shown", "channels_told"]

_PREFERRED = (
    ("t1gd", "t1ce", "t1c", "t1post", "t1contrast", "t1wgd", "t1wce", "t1gad"),
    ("ct",),
    ("t2", "t2w"),
    ("flair", "t2f", "t2flair"),
    ("t1", "t1w", "t1n"),
)
"""Kinds of image, in letters and digits, the one to be shown first. Contrast-enhanced T1 shows the
core and the rim of a brain tumour; T2 the zones of a prostate."""


class _Description(msgspec.Struct):
    """The part of `dataset.json` that matters here: the Decathlon's key, then nnU-Net's."""

    modality: dict[str, str] = {}
    channel_names: dict[str, str] = {}


def channels_told(image: Path) -> tuple[str, ...]:
    """What the `dataset.json` above an image says of its channels, in their order;
    empty if it says nothing."""
    path = image.absolute().parent.parent / "dataset.json"
    if not path.is_file():
        return ()
    description = read_json(path, _Description)
    names = description.channel_names or description.modality
    if sorted(names) != sorted(map(str, range(len(names)))):
        raise SitusError(
            "its channels are not numbered 0, 1, …",
            where=path,
            fix="repair modality or channel_names",
        )
    return tuple(names[str(number)] for number in range(len(names)))


def channel_shown(names: tuple[str, ...]) -> int:
    """The number of the channel that is shown: the first of a preferred kind, else the first."""
    words = ["".join(c for c in name.lower() if c.isalnum()) for name in names]
    for kinds in _PREFERRED:
        for number, word in enumerate(words):
            if word in kinds:
                return number
    return 0
