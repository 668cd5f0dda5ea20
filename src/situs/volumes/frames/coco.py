"""Boxes on frames from COCO-style JSON: images, annotations, categories."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import msgspec

from situs.anatomy import finding_name
from situs.base.files import read_json
from situs.errors import SitusError
from situs.volumes.frames.annotations import Mark
from situs.volumes.frames.numbering import NUMBERED, missing_numbers, number_in
from situs.volumes.frames.rows import BadRow, BoxRow

__all__ = ["CocoVolume", "read_coco"]

Id = int | str


class _Image(msgspec.Struct, frozen=True):
    id: Id
    file_name: str = ""
    width: int = 0
    height: int = 0
    volume: str = ""
    """Ours: the volume the frame belongs to;
    else the folder, or the part of the name before the number."""
    frame: int | None = None
    """Ours: which frame it is, from 0;
    else its rank by number among the volume's images, if no number is missing."""
    patient: str = ""


class _Annotation(msgspec.Struct, frozen=True):
    image_id: Id
    category_id: Id
    bbox: tuple[float, float, float, float]


class _Category(msgspec.Struct, frozen=True):
    id: Id
    name: str


class _Coco(msgspec.Struct, frozen=True):
    images: list[_Image]
    annotations: list[_Annotation]
    categories: list[_Category]


class CocoVolume(msgspec.Struct, frozen=True):
    """What the images of one volume say: how many frames, and their size if it is one size."""

    frames: int
    size: tuple[int, int] | None
    patient: str


def read_coco(path: Path) -> tuple[dict[str, CocoVolume], Iterator[BoxRow | BadRow]]:
    """The volumes listed, and the boxes on them;
    the place of each is its index in `annotations`."""
    coco = read_json(path, _Coco)
    names = {category.id: category.name for category in coco.categories}
    by_volume: dict[str, list[_Image]] = defaultdict(list)
    for image in coco.images:
        by_volume[_volume(image)].append(image)
    if not by_volume or "" in by_volume:
        raise SitusError(
            "has images without volume or file_name", where=path, fix="add volume and frame to each"
        )
    placed: dict[Id, tuple[str, int]] = {}
    volumes: dict[str, CocoVolume] = {}
    for volume, images in by_volume.items():
        known = [image.frame for image in images if image.frame is not None]
        if known and (
            len(known) != len(images) or len(set(known)) != len(images) or min(known) < 0
        ):
            problem = f"some images of {volume!r} lack a frame, or share one"
            raise SitusError(problem, where=path, fix="number the frames of a volume from 0")
        missing = "" if known else missing_numbers(image.file_name for image in images)
        if missing:
            fix = "add frame (from 0) to each image, or list all images of the volume"
            raise SitusError(
                f"{missing}, so the frames of {volume!r} cannot be told apart", where=path, fix=fix
            )
        ranked = sorted(
            images,
            key=lambda image: (image.frame or 0, number_in(image.file_name) or 0, image.file_name),
        )
        for rank, image in enumerate(ranked):
            placed[image.id] = (volume, rank if image.frame is None else image.frame)
        sizes = {(image.width, image.height) for image in images}
        size = sizes.pop() if len(sizes) == 1 else None
        patient = next((image.patient for image in images if image.patient), "")
        frames = max(known) + 1 if known else len(images)
        volumes[volume] = CocoVolume(frames, size if size and min(size) > 0 else None, patient)
    if len(placed) != len(coco.images):
        raise SitusError(
            "two images have the same id", where=path, fix="give every image an id of its own"
        )
    return volumes, _rows(coco, placed, names, path)


def _rows(
    coco: _Coco, placed: dict[Id, tuple[str, int]], names: dict[Id, str], path: Path
) -> Iterator[BoxRow | BadRow]:
    for number, entry in enumerate(coco.annotations):
        where = f"{path.name} $.annotations[{number}]"
        volume, frame = placed.get(entry.image_id, ("", -1))
        label = names.get(entry.category_id, "")
        mark = Mark(frame, finding_name(label)[0])
        if not volume or entry.category_id not in names:
            yield BadRow(where, "names an image or category that is not there", volume, mark)
            continue
        row = BoxRow(where, volume, label, mark.label, frame, *entry.bbox)
        yield BadRow(where, row.fault(), volume, mark) if row.fault() else row


def _volume(image: _Image) -> str:
    if image.volume:
        return image.volume
    path = PurePosixPath(image.file_name.replace("\\", "/"))
    numbered = NUMBERED.fullmatch(path.stem)
    return numbered[1] if numbered else path.parent.name
