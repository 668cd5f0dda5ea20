"""What a model will see, written as pictures for a person."""

from __future__ import annotations

import io
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.base.files import write_atomic, write_files
from situs.base.verbs import make_callable
from situs.bench import Bench, open_bench
from situs.errors import SitusError
from situs.items import Item
from situs.profiles import (
    Frame,
    Image,
    Layout,
    Presenter,
    Profile,
    Renderer,
    Verdict,
    encode,
    intro_text,
    layout_of,
    load_profile,
)
from situs.volumes import Volume, find_studies, modality_of, open_volume

__all__ = ["Shown", "ShownSlice", "show", "volume_of"]

_SHEET_PX = 1800
_TILE_PX = (192, 640)
_OTHER_PICTURES = {".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".pdf", ".svg"}


class ShownSlice(msgspec.Struct, frozen=True):
    """A slice on a picture."""

    picture: int
    """From 0, in the order shown."""
    plane: str
    """Empty for frames as stored."""
    source_index: int
    """In patient order along the plane's axis, or as stored."""
    corner: tuple[int, int]
    size: tuple[int, int]
    pixel_to_source: list[list[float]]
    """3×3: (x, y, 1) of a pixel centre of the picture → mm, or (frame, x, y)."""


class Shown(msgspec.Struct, frozen=True):
    """What was written, and what it shows."""

    pictures: int
    profile: str
    profile_hash: str
    gives: tuple[str, ...]
    prompt: str
    hidden: tuple[str, ...]
    """Why the item cannot be answered under the profile."""
    unknown: tuple[str, ...]
    """What could not be decided about that."""
    array: dict[str, object]
    """Shape and affine of the array a 3D model receives."""
    layout: list[ShownSlice]


def show(
    source: Path,
    profile_spec: str,
    out: Path,
    *,
    item_id: str | None = None,
    data: Path | None = None,
) -> Shown:
    """Render a study, or the study of a bench's item,
    to a folder of pictures or one contact sheet."""
    if out.suffix.lower() in _OTHER_PICTURES:
        fix = "give a folder, or a .png for one sheet"
        raise SitusError(f"no {out.suffix} is written", where=out, fix=fix)
    profile = load_profile(profile_spec)
    if (source / "bench.json").is_file():
        bench = open_bench(source)
        presenter, item = Presenter(bench, profile, data=data), _item_of(bench, item_id)
        seen = presenter.present(item)
        images, prompt, layout, verdict = (
            seen.images,
            seen.prompt,
            seen.layout,
            presenter.verdict(item),
        )
    elif (source / "run.json").is_file():
        fix = "situs report shows runs; give the bench, or a run in a room"
        raise SitusError("is a run without sessions", where=source, fix=fix)
    elif item_id is not None:
        raise SitusError("--item needs a bench", where=source, fix="give a bench folder")
    else:
        images, prompt, layout = _of_study(volume_of(source), profile)
        verdict = Verdict((), ())
    if out.suffix.lower() == ".png":
        write_atomic(out, _sheet(images))
    else:
        pictures = {_file_of(number, image): image.data for number, image in enumerate(images, 1)}
        write_files(out, {**pictures, "prompt.txt": f"{prompt}\n"})
    return Shown(
        pictures=len(images),
        profile=profile.name,
        profile_hash=profile.hash,
        gives=profile.gives,
        prompt=prompt,
        hidden=verdict.hidden,
        unknown=verdict.unknown,
        array=_array_form(profile, layout),
        layout=[
            shown for number, frame in enumerate(layout.frames) for shown in _slices(number, frame)
        ],
    )


def _file_of(number: int, image: Image) -> str:
    suffix = "jpg" if image.media_type == "image/jpeg" else "png"
    return f"{number:03d}.{suffix}"


def _of_study(volume: Volume, profile: Profile) -> tuple[tuple[Image, ...], str, Layout]:
    array = volume.array()
    modality = modality_of(array)
    layout = layout_of(profile, volume.grid)
    renderer = Renderer(profile, array, volume.grid, modality)
    pictures = (renderer.picture(layout.lattice, frame) for frame in layout.frames)
    images = tuple(encode(picture, profile.encoding) for picture in pictures)
    return images, intro_text(profile, layout, modality), layout


def _array_form(profile: Profile, layout: Layout) -> dict[str, object]:
    affine = layout.array_affine(profile.array.axes)
    shape = layout.array_shape(profile.array.axes)
    return {
        "shape": shape,
        "dtype": profile.array.dtype,
        "affine": None if affine is None else affine.tolist(),
    }


def _slices(number: int, frame: Frame) -> list[ShownSlice]:
    return [
        ShownSlice(
            number,
            "" if tile.plane is None else tile.plane.value,
            tile.source_index,
            tile.corner,
            tile.size,
            tile.matrix.tolist(),
        )
        for tile in frame.tiles
    ]


def volume_of(source: Path) -> Volume:
    """The image of a study folder, a folder of DICOM slices without labels, or an image file."""
    if not source.is_dir():
        return open_volume(source)
    try:
        image = find_studies(source)[0].image
    except SitusError as no_study:
        try:
            return open_volume(source)
        except SitusError:
            raise no_study from None
    if image is None:
        raise SitusError(
            "holds no image, only labels", where=source, fix="give a study with an image"
        )
    return open_volume(image)


def _item_of(bench: Bench, item_id: str | None) -> Item:
    if item_id is None:
        # Any item will do: best one that has pictures.
        pictured = {
            study.study_id for study in bench.studies() if any(s.image_hash for s in study.series)
        }
        item = next((i for i in bench.items() if i.study_id in pictured), None) or next(
            bench.items(), None
        )
    else:
        item = next((i for i in bench.items() if item_id in (i.item_id, i.source_id)), None)
    if item is None:
        fix = "take an item_id from items.parquet or the report"
        raise SitusError(f"no item {item_id!r}", where=bench.folder, fix=fix)
    return item


def _sheet(images: tuple[Image, ...]) -> bytes:
    """All pictures on one sheet, in reading order, made smaller where they would not fit."""
    from PIL import Image as Pillow

    pictures = [Pillow.open(io.BytesIO(image.data)).convert("RGB") for image in images]
    columns = int(np.ceil(np.sqrt(len(pictures) * 1.6))) if len(pictures) > 1 else 1
    rows = -(-len(pictures) // columns)
    if len(pictures) > 1:
        tile = max(_TILE_PX[0], min(_TILE_PX[1], _SHEET_PX // columns))
        for picture in pictures:
            picture.thumbnail((tile, tile))
    width, height = (max(picture.size[axis] for picture in pictures) + 2 for axis in (0, 1))
    sheet: NDArray[np.uint8] = np.zeros((rows * height, columns * width, 3), np.uint8)
    for number, picture in enumerate(pictures):
        top, left = number // columns * height, number % columns * width
        sheet[top : top + picture.height, left : left + picture.width] = np.asarray(picture)
    stream = io.BytesIO()
    Pillow.fromarray(sheet).save(stream, "PNG")
    return stream.getvalue()


make_callable(__name__)
