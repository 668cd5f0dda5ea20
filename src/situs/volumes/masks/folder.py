"""A folder of binary masks, read one at a time and painted into as few layers as they need."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.anatomy import term
from situs.errors import SitusError
from situs.space import Grid
from situs.volumes.case_names import IMAGE_STEMS
from situs.volumes.formats.registry import format_of, suffixes
from situs.volumes.formats.stored import Stored, read_voxels, voxel_pieces
from situs.volumes.label_map import LabelMap, Structure
from situs.volumes.masks.values import smallest_unsigned
from situs.volumes.reorder import Reorder
from situs.volumes.volume import kind_of, stem_of

__all__ = ["load_masks", "mask_files", "mask_labels"]

_CHUNK = 1 << 18
_WHOLE = 1e-5

_Pieces = list[tuple[int, NDArray[np.bool_]]]
"""Where a mask is not empty: start of a stretch of voxels, and which of them are inside."""


def mask_files(folder: Path, image: Path | None = None) -> dict[str, Path]:
    """Structure name → mask file, sorted by name.

    Hidden files, the image and other kinds are passed over.
    """
    masks: dict[str, Path] = {}
    try:
        files = sorted(
            file for file in folder.iterdir() if file.is_file() and not file.name.startswith(".")
        )
    except OSError as error:
        raise SitusError(
            f"cannot be read ({error.strerror})", where=folder, fix="check its permissions"
        ) from error
    for file in files:
        is_image = stem_of(file).lower() in IMAGE_STEMS or file == image
        suffix = kind_of(file)
        if suffix is not None and not is_image and not format_of(suffix).detached:
            other = masks.setdefault(stem_of(file), file)
            if other != file:
                raise SitusError(
                    f"{other.name} and {file.name} name the same structure",
                    where=folder,
                    fix="remove one of them",
                )
    if not masks:
        raise SitusError(
            "holds no masks",
            where=folder,
            fix=f"a folder of masks has one file per structure ({', '.join(suffixes())})",
        )
    return dict(sorted(_without_case(masks).items()))


def _without_case(files: Mapping[str, Path]) -> dict[str, Path]:
    """`liver` for `p1_liver`, where all files of a folder begin
    with their case and their names are unknown with it."""
    if len(files) < 2 or any(term(name).known for name in files):
        return dict(files)
    shared = os.path.commonprefix(list(files))  # noqa: RUF071 (letters are meant: these are names, not paths)
    # The shortest prefix first: `p1_kidney_left` and `p1_kidney_right` share more than their case.
    for end in (at + 1 for at, letter in enumerate(shared) if letter in "-_. "):
        short = {name[end:]: file for name, file in files.items()}
        if any(term(name).known for name in short):
            return short
    return dict(files)


def mask_labels(names: list[str], ids: Mapping[str, int], *, where: object) -> list[int]:
    """The known id of each name; the others count on from the largest id, so that none collides."""
    beyond = max(0, *ids.values()) if ids else 0
    labels = [ids.get(name, beyond + position) for position, name in enumerate(names, start=1)]
    if len(set(labels)) < len(labels):
        raise SitusError("two masks have the same id", where=where, fix="repair the table of ids")
    return labels


def load_masks(
    folder: Path,
    grid: Grid,
    masks: Mapping[str, tuple[Stored, Reorder]],
    ids: Mapping[str, int],
    warnings: tuple[str, ...],
) -> LabelMap:
    """Paint all masks; each goes into the first layer where it overlaps nothing."""
    labels = mask_labels(list(masks), ids, where=folder)
    kind = smallest_unsigned(len(masks))
    layers: list[NDArray[Any]] = []
    structures, empty = [], []
    scratch = _Scratch()
    for position, (label, (name, (stored, turn))) in enumerate(zip(labels, masks.items()), start=1):
        pieces = list(_inside(stored, turn, scratch))
        if not pieces:
            empty.append(name)
            continue
        layer = next(
            (n for n, flat in enumerate(layers) if not _overlaps(flat, pieces)), len(layers)
        )
        if layer == len(layers):
            layers.append(np.zeros(grid.voxels, dtype=kind))
        for start, inside in pieces:
            np.copyto(layers[layer][start : start + inside.size], kind.type(position), where=inside)
        structures.append(Structure(label, name, layer, position))
    if not structures:
        raise SitusError(
            "all masks are empty", where=folder, fix="give a folder with at least one filled mask"
        )
    if empty:
        warnings = (*warnings, f"{len(empty)} empty masks: {', '.join(empty)}")
    return LabelMap(
        grid,
        tuple(flat.reshape(grid.shape, order="F") for flat in layers),
        tuple(sorted(structures, key=lambda s: s.label)),
        warnings,
    )


def _overlaps(flat: NDArray[Any], pieces: _Pieces) -> bool:
    return any(
        np.logical_and(flat[start : start + inside.size], inside).any() for start, inside in pieces
    )


def _inside(
    stored: Stored, turn: Reorder, scratch: _Scratch
) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """The stretches of one mask that hold voxels; all nonzero voxels must have one value."""
    value = None
    for start, part in _stretches(stored, turn, scratch):
        if part.dtype == np.uint8 and value in (None, 1) and part.max() == 1:
            value = part.dtype.type(1)
            inside = part.view(np.bool_)
            first = int(inside.argmax())
            yield start + first, inside[first:]
            continue
        if not part.any():
            continue
        inside = part != 0
        value = _value(part[inside.argmax()], stored.path) if value is None else value
        if not np.array_equal(part == value, inside):
            raise SitusError(
                "holds more than one nonzero value: it looks like a label map or an image, not a"
                " mask",
                where=stored.path,
                fix="open it as a file, or split it into masks",
            )
        yield start, inside


def _stretches(
    stored: Stored, turn: Reorder, scratch: _Scratch
) -> Iterator[tuple[int, NDArray[Any]]]:
    """The voxels of a mask piece by piece:
    bytes right as they are decoded, other types from a buffer."""
    if stored.dtype == np.uint8 and turn.is_identity and not stored.is_scaled:
        stored.check_size()
        for start, piece in voxel_pieces(stored):
            yield start, np.frombuffer(piece, np.uint8)
        return
    flat = turn.array(read_voxels(stored, scratch.of(stored.nbytes))).reshape(-1, order="F")
    for start in range(0, flat.size, _CHUNK):
        part = flat[start : start + _CHUNK]
        yield start, part * np.float64(stored.slope) + stored.inter if stored.is_scaled else part


class _Scratch:
    """Memory that mask after mask is read into."""

    def __init__(self) -> None:
        self._bytes = np.empty(0, dtype=np.uint8)

    def of(self, size: int) -> NDArray[np.uint8]:
        """At least `size` bytes, the same as before if they suffice."""
        if self._bytes.size < size:
            self._bytes = np.empty(size, dtype=np.uint8)
        return self._bytes


def _value(value: Any, path: Path) -> Any:
    if not np.isfinite(value) or value < 0:
        raise SitusError(
            "mask holds NaN, infinity or a negative value", where=path, fix="store it as 0 and 1"
        )
    if abs(value - np.rint(value)) > _WHOLE * max(1.0, float(value)):
        raise SitusError(
            f"fractional mask (e.g. {float(value):.6g}): a probability map?",
            where=path,
            fix="threshold it first",
        )
    return value
