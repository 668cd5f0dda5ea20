"""The image of a series, held to the hash that a bench knows it by."""

from __future__ import annotations

from pathlib import Path

from situs.bench.locations import Locations
from situs.bench.study import SeriesRecord
from situs.errors import SitusError
from situs.space import Grid
from situs.volumes import FrameStack, Volume, open_stack, open_volume

__all__ = ["load_image", "not_the_evidence"]


def load_image(series: SeriesRecord, locations: Locations) -> Volume | FrameStack:
    """A series' image, its axes in the order of the labels; refused if it is not the one the bench
    was built from.

    A series without an affine is a `FrameStack`: its array is (frames, height, width), first row on
    top."""
    path = locations.find(series.image_hash)
    image = open_volume(path) if series.affine else open_stack(path)
    if image.content_hash() != series.image_hash:
        raise not_the_evidence(path)
    return (
        image.onto(series.grid)
        if isinstance(image, Volume) and isinstance(series.grid, Grid)
        else image
    )


def not_the_evidence(path: Path) -> SitusError:
    return SitusError(
        "is not the evidence the bench was built from",
        where=path,
        fix="restore the file, or rebuild",
    )
