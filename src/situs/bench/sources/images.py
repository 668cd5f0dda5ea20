"""The image of a series, held to the hash that a bench knows it by."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from situs.bench.locations import Locations
from situs.bench.study import SeriesRecord
from situs.errors import SitusError
from situs.space import Grid
from situs.volumes import FrameStack, Volume, open_stack, open_volume

__all__ = ["LoadedImage", "load_image", "not_the_evidence"]


class LoadedImage(NamedTuple):
    """An image that was read once: what its file declares, and the voxels that were held to the
    hash."""

    source: Volume | FrameStack
    values: NDArray[Any]
    """On the series' grid; (frames, height, width) where there are no millimetres."""

    @property
    def volume(self) -> Volume | None:
        """The source, where it has millimetres."""
        return self.source if isinstance(self.source, Volume) else None


def load_image(series: SeriesRecord, locations: Locations) -> LoadedImage:
    """A series' image, its axes in the order of the labels; refused if it is not the one the bench
    was built from.

    A series without an affine is a `FrameStack`: its array is (frames, height, width), first row on
    top. The file is read once: hash and voxels are of the same bytes.
    """
    path = locations.find(series.image_hash)
    image = open_volume(path) if series.affine else open_stack(path)
    if isinstance(image, Volume) and isinstance(series.grid, Grid):
        try:
            image = image.onto(series.grid)
        except SitusError as error:  # it was on that grid when the bench was built
            raise not_the_evidence(path) from error
    values, content_hash = image.array_and_hash()
    if content_hash != series.image_hash:
        raise not_the_evidence(path)
    return LoadedImage(image, values)


def not_the_evidence(path: Path) -> SitusError:
    return SitusError(
        "is not the evidence the bench was built from",
        where=path,
        fix="restore the file, or rebuild",
    )
