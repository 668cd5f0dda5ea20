"""What a model will see, written as pictures for a person."""

from __future__ import annotations

import io
from pathlib import Path

import msgspec
import numpy as np

from situs._files import write_atomic
from situs.bench import Locations, load_image, open_bench
from situs.errors import SitusError
from situs.items import Item
from situs.profiles import PatientVolume, Picture, load_profile, prompt_text, render
from situs.volumes import Volume, find_studies, modality_of, open_volume

__all__ = ["Shown", "show"]


class Shown(msgspec.Struct, frozen=True):
    """What was written."""

    pictures: int
    profile: str
    profile_hash: str
    prompt: str


def show(source: Path, profile_spec: str, out: Path, *, item_id: str | None = None, data: Path | None = None) -> Shown:
    """Render a study, or the study of a bench's item, to a folder of PNGs or one contact sheet."""
    profile = load_profile(profile_spec)
    item: Item | None = None
    if (source / "bench.json").is_file():
        volume, item = _from_bench(source, item_id, data)
    elif item_id is not None:
        raise SitusError("--item needs a bench", where=source, fix="give a bench folder")
    else:
        volume = _volume_of(source)
    array = volume.array()
    modality = modality_of(array)
    pictures = render(PatientVolume(array, volume.grid, modality), profile)
    prompt = prompt_text(item, profile, pictures, modality) if item is not None else ""
    if out.suffix.lower() == ".png":
        write_atomic(out, _png(_sheet(pictures)))
    else:
        for number, picture in enumerate(pictures, start=1):
            write_atomic(out / f"{number:03d}.png", _png(picture.grey))
        if prompt:
            write_atomic(out / "prompt.txt", prompt + "\n")
    return Shown(len(pictures), profile.name, profile.hash, prompt)


def _volume_of(source: Path) -> Volume:
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
        raise SitusError("holds no image, only labels", where=source, fix="give a study with an image")
    return open_volume(image)


def _from_bench(folder: Path, item_id: str | None, data: Path | None) -> tuple[Volume, Item]:
    bench = open_bench(folder)
    item = next((i for i in bench.items() if item_id in (None, i.item_id, i.source_id)), None)
    if item is None:
        raise SitusError(f"no item {item_id!r}", where=folder, fix="take an item_id from items.parquet or the report")
    found = (s for study in bench.studies() if study.study_id == item.study_id for s in study.series)
    series = next((s for s in found if s.series == item.series), None)
    if series is None:
        raise SitusError("its study is not in the bench", where=item.item_id, fix="rebuild the bench")
    if not series.image_hash:
        raise SitusError("its study has labels but no image", where=item.item_id, fix="build with images")
    image = load_image(series, Locations.read(folder, data))
    if not isinstance(image, Volume):
        raise SitusError("is a stack of frames without millimetres", where=item.item_id, fix="use the report")
    return image, item


def _png(grey: np.ndarray) -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(grey)).save(buffer, "png")
    return buffer.getvalue()


def _sheet(pictures: list[Picture], tile_px: int = 224) -> np.ndarray:
    """All pictures on one sheet, in reading order."""
    from PIL import Image

    columns = int(np.ceil(np.sqrt(len(pictures) * 1.6)))
    rows = -(-len(pictures) // columns)
    sheet = np.zeros((rows * tile_px, columns * tile_px), np.uint8)
    for number, picture in enumerate(pictures):
        image = Image.fromarray(np.ascontiguousarray(picture.grey))
        image.thumbnail((tile_px - 2, tile_px - 2))
        tile = np.asarray(image)
        top, left = number // columns * tile_px, number % columns * tile_px
        sheet[top : top + tile.shape[0], left : left + tile.shape[1]] = tile
    return sheet
