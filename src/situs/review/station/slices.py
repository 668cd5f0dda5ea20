"""Volumes cut along every plane into compressed slices: any slice of any plane is one short read.

A slice is compressed once, when its volume is taken in: compressing 512 × 512 voxels costs 8 ms,
which twenty scrolling readers would make the server pay over and over.
"""

from __future__ import annotations

import shutil
import tomllib
import zlib
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.base.files import file_name, part_path, read_json, remove_dead_parts, write_atomic
from situs.errors import SitusError
from situs.profiles import PLANES, PatientVolume, Plane, reading_windows
from situs.report.pictures.outlines import outline_path
from situs.space import Affine, Grid

__all__ = ["VolumeInfo", "VolumeMap", "open_volume_map", "store_masks", "store_volume"]

_META = "volume.json"
_LABEL_DIGITS = 16
_INT16 = np.iinfo(np.int16)
Array = NDArray[Any]


class VolumeInfo(msgspec.Struct, frozen=True):
    """What a page needs to draw a volume; nothing that tells whose it is."""

    shape: tuple[int, int, int]
    """Voxels to the patient's right, front and head (across,
    down and frames, without millimetres)."""
    spacing: tuple[float, float, float]
    modality: str
    slope: float
    intercept: float
    """Intensity = stored × slope + intercept."""
    planes: tuple[str, ...]
    windows: tuple[tuple[str, float, float], ...]
    large: str
    oriented: bool
    """Whether edges have letters and pixels millimetres."""
    oblique_degrees: float = 0.0


class VolumeMap:
    """A stored volume."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.info = read_json(folder / _META, VolumeInfo)
        self._ends = {plane: _slice_ends(folder, plane) for plane in self.info.planes}

    def compressed_slice(self, plane: str, index: int) -> bytes:
        """One slice as little-endian int16 in a zlib stream."""
        ends = self._ends.get(plane, ())
        if not 0 <= index < len(ends):
            raise SitusError("no such slice", where=f"{plane} {index}")
        start = ends[index - 1] if index else 0
        with (self.folder / f"{plane}.z").open("rb") as stream:
            stream.seek(start)
            return stream.read(ends[index] - start)

    def outlines(
        self, structures: list[str], plane: str, index: int, labels: str = ""
    ) -> dict[str, str]:
        """The edge of each structure on a slice, as path data;
        a structure that is not there is left out."""
        result = {}
        for name in structures:
            path = _outline(_mask_file(self.folder, name, labels), plane, index, self.info.shape)
            if path:
                result[name] = path
        return result


@lru_cache(maxsize=64)
def open_volume_map(folder: Path) -> VolumeMap:
    """A stored volume; the few values that describe it are kept."""
    return VolumeMap(folder)


def store_volume(
    folder: Path, array: Array, grid: Grid | None, modality: str, body_part: str = ""
) -> VolumeInfo:
    """Write a volume's planes, unless they are there.

    Without a grid, `array` is (frames, height, width).
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    remove_dead_parts(folder.parent)
    if (folder / _META).is_file():
        return read_json(folder / _META, VolumeInfo)
    scratch = part_path(folder)
    scratch.mkdir(mode=0o700)
    volume = _patient_order(array, grid, modality)
    planes = PLANES if grid is not None else (Plane.AXIAL,)
    slope, intercept = _scale(volume.array)
    for plane in planes:
        sizes = []
        with (scratch / f"{plane.value}.z").open("wb") as stream:
            for index in range(volume.slices(plane)):
                laid = volume.mask_picture(volume.array, plane, index)
                raw = _to_int16(laid, slope, intercept).tobytes()
                sizes.append(stream.write(zlib.compress(raw, 1)))
        np.cumsum(sizes, dtype="<u8").tofile(scratch / f"{plane.value}.ends")
    windows, large = _hanging(volume, modality, body_part)
    info = VolumeInfo(
        shape=volume.grid.shape,
        spacing=volume.grid.affine.spacing_mm,
        modality=modality,
        slope=slope,
        intercept=intercept,
        planes=tuple(plane.value for plane in planes),
        windows=windows,
        large=large if grid is not None else "axial",
        oriented=grid is not None,
        oblique_degrees=volume.grid.affine.obliquity_degrees if grid is not None else 0.0,
    )
    write_atomic(scratch / _META, msgspec.json.encode(info))
    if not folder.exists():
        scratch.rename(folder)
    shutil.rmtree(scratch, ignore_errors=True)
    return info


def store_masks(folder: Path, masks: Mapping[str, Array], labels: str) -> None:
    """Keep structures, each cut to its own box, in patient order.

    `labels` is the hash of what they were annotated in: another bench of the same scan may hold
    corrected ones.
    """
    remove_dead_parts(folder)
    for name, mask in masks.items():
        target = _mask_file(folder, name, labels)
        if target.is_file() or not mask.any():
            continue
        spans = []
        for axis in range(3):
            others = tuple(other for other in range(3) if other != axis)
            seen = np.flatnonzero(mask.any(axis=others))
            spans.append((int(seen[0]), int(seen[-1]) + 1))
        part = mask[tuple(slice(low, high) for low, high in spans)]
        unfinished = part_path(target)
        with unfinished.open("wb") as stream:
            np.savez_compressed(
                stream, bits=np.packbits(part), shape=part.shape, low=[low for low, _ in spans]
            )
        unfinished.replace(target)


def _slice_ends(folder: Path, plane: str) -> list[int]:
    """Where each slice of a plane ends in its file."""
    ends: list[int] = np.fromfile(folder / f"{plane}.ends", dtype="<u8").tolist()
    return ends


def _mask_file(folder: Path, name: str, labels: str) -> Path:
    """Without the hash of the labels, as early versions wrote them."""
    return folder / f"mask-{file_name(name)}{labels and '-'}{labels[:_LABEL_DIGITS]}.npz"


@lru_cache(maxsize=32)
def _mask(path: Path) -> tuple[NDArray[np.bool_], tuple[int, int, int]]:
    with np.load(path) as stored:
        shape = tuple(int(n) for n in stored["shape"])
        count = int(np.prod(shape))
        low = tuple(int(n) for n in stored["low"])
        return np.unpackbits(stored["bits"], count=count).astype(bool).reshape(shape), low  # type: ignore[return-value]


@lru_cache(maxsize=4096)
def _outline(path: Path, plane: str, index: int, shape: tuple[int, int, int]) -> str:
    if not path.is_file():
        return ""
    part, low = _mask(path)
    through = Plane(plane).through.world_index
    at = index - low[through]
    if not 0 <= at < part.shape[through]:
        return ""
    full_slice = np.zeros([n for axis, n in enumerate(shape) if axis != through], dtype=bool)
    others = [axis for axis in range(3) if axis != through]
    spot = tuple(slice(low[axis], low[axis] + part.shape[axis]) for axis in others)
    full_slice[spot] = np.take(part, at, axis=through)
    flat = np.expand_dims(full_slice, through)
    volume = PatientVolume(flat, Grid(flat.shape, Affine(np.eye(4))), "labels")
    return outline_path(volume.mask_picture(volume.array, Plane(plane), 0))


def _patient_order(array: Array, grid: Grid | None, modality: str) -> PatientVolume:
    if grid is not None:
        return PatientVolume(array, grid, modality)
    # A picture's first pixel lies at the top left, and every shown axis falls from there.
    stack = np.asarray(array).transpose(2, 1, 0)[::-1, ::-1]
    return PatientVolume(stack, Grid(stack.shape, Affine(np.eye(4))), modality)


def _scale(values: Array) -> tuple[float, float]:
    """Whole numbers that fit are kept as they are; all else is spread over the range of int16."""
    is_integer = np.issubdtype(values.dtype, np.integer)
    if is_integer and int(values.min()) >= _INT16.min and int(values.max()) <= _INT16.max:
        return 1.0, 0.0
    finite = values[np.isfinite(values)] if np.issubdtype(values.dtype, np.floating) else values
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if low >= _INT16.min and high <= _INT16.max and high - low > 1000:
        return 1.0, 0.0  # Hounsfield units, rounded
    slope = (high - low) / (int(_INT16.max) - int(_INT16.min)) or 1.0
    return slope, low - int(_INT16.min) * slope


def _to_int16(values: Array, slope: float, intercept: float) -> NDArray[np.int16]:
    if slope == 1.0 and intercept == 0.0 and np.issubdtype(values.dtype, np.integer):
        return np.ascontiguousarray(values, dtype="<i2")
    stored = np.rint((np.nan_to_num(values.astype(np.float64)) - intercept) / slope)
    return np.clip(stored, _INT16.min, _INT16.max).astype("<i2")


def _hanging(
    volume: PatientVolume, modality: str, body_part: str
) -> tuple[tuple[tuple[str, float, float], ...], str]:
    """Windows and the large plane; both from the modality and body part, never from the answer."""
    text = files("situs.review.station").joinpath("data", "hanging.toml").read_text("utf-8")
    rules = tomllib.loads(text)
    rule = rules["ct"] if modality == "ct" else rules["mr"]
    large = rule.get(body_part, rule)["large"] if isinstance(rule.get(body_part), dict) else ""
    large = large or rule["large"]
    windows = reading_windows(modality, volume.array)
    return tuple((one.name, one.low, one.high) for one in windows), large
