"""Which of several images a label file was drawn on, told by their grids."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from situs.errors import SitusError
from situs.space import Grid
from situs.volumes.case_names import case_key
from situs.volumes.reorder import reorder_onto
from situs.volumes.volume import kind_of, read_header, stem_of

__all__ = ["image_of", "misfit_of", "plain_files", "subfolders", "volume_files"]


def plain_files(folder: Path) -> list[Path]:
    """The files of a folder by name, without hidden ones."""
    return sorted(
        file for file in folder.iterdir() if file.is_file() and not file.name.startswith(".")
    )


def volume_files(folder: Path) -> list[Path]:
    """The files of a folder that are volumes by their name."""
    return [file for file in plain_files(folder) if kind_of(file) is not None]


def subfolders(folder: Path) -> list[Path]:
    """The folders in a folder by name, without hidden ones."""
    return sorted(
        child for child in folder.iterdir() if child.is_dir() and not child.name.startswith(".")
    )


def image_of(labels: Path, images: Iterable[Path]) -> Path | None:
    """The image on whose grid, or a block of it, the labels lie; of several, that of the same case
    by its name.

    None also where images of several cases fit and no name tells which: a wrong image is worse than
    none.
    """
    label_grid = _grid(labels)
    if label_grid is None:
        return None
    grids = {image: _grid(image) for image in images if image != labels}
    same_grid = [
        image
        for image, grid in grids.items()
        if grid is not None and reorder_onto(grid, label_grid) is not None
    ]
    fitting = same_grid or [
        image
        for image, grid in grids.items()
        if grid is not None and label_grid.block_in(grid) is not None
    ]
    case = case_key(stem_of(labels))
    same_case = [image for image in fitting if case_key(stem_of(image)) == case]
    stem = stem_of(labels).lower()
    # `max` takes the first of equals, so that a caller's order of preference holds.
    best = max(
        same_case or fitting, key=lambda image: _alike(stem, stem_of(image).lower()), default=None
    )
    if best is None or same_case or not case or _alike(stem, stem_of(best).lower()):
        return best
    cases = {case_key(stem_of(image)) for image in fitting}
    return best if len(cases) == 1 else None


def misfit_of(labels: Path, images: Iterable[Path]) -> str:
    """How the image of the same case, or the only image,
    lies on another grid than the labels; empty if it does not."""
    others = [image for image in images if image != labels]
    case = case_key(stem_of(labels))
    same_case = [image for image in others if case_key(stem_of(image)) == case]
    candidates = same_case or (others if len(others) == 1 else [])
    label_grid, image_grid = _grid(labels), _grid(candidates[0]) if candidates else None
    if label_grid is None or image_grid is None:
        return ""
    return (
        f"{candidates[0].name} and {labels.name} are not on one grid"
        f" ({image_grid.difference(label_grid)})"
    )


def _alike(a: str, b: str) -> int:
    """How many letters two names begin with in common."""
    return next(
        (at for at, (one, other) in enumerate(zip(a, b)) if one != other), min(len(a), len(b))
    )


def _grid(path: Path) -> Grid | None:
    try:
        stored = read_header(path)
        i, j, k = stored.shape[-3:]
        return Grid((i, j, k), stored.affine)
    except (SitusError, ValueError):
        return None
