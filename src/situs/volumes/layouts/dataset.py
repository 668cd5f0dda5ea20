"""Datasets described by `dataset.json`: the Medical Segmentation Decathlon, nnU-Net and AMOS."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from situs.anatomy import load_vocabulary
from situs.base.files import read_json
from situs.errors import SitusError
from situs.volumes.formats.channels import channel_shown, channels_told
from situs.volumes.formats.stored import clean_name
from situs.volumes.layouts.source import StudySource, public_id
from situs.volumes.volume import kind_of, stem_of

__all__ = ["find_dataset"]

_SPLITS = ("Tr", "Va", "Ts")
_NOT_STRUCTURES = ("background", "ignore")
_DECATHLON = {
    "braintumour": "msd_brain_tumour",
    "brats": "msd_brain_tumour",
    "heart": "msd_heart",
    "leftatrium": "msd_heart",
    "liver": "msd_liver",
    "hippocampus": "msd_hippocampus",
    "prostate": "msd_prostate",
    "lung": "msd_lung",
    "pancreas": "msd_pancreas",
    "hepaticvessel": "msd_hepatic_vessel",
    "spleen": "msd_spleen",
    "colon": "msd_colon",
}
"""What a task is called, in letters only → its vocabulary."""


class _Description(msgspec.Struct):
    """The part of `dataset.json` that matters here."""

    labels: dict[str, int | str | list[int | str]] = {}
    name: str | None = None
    channel_names: dict[str, str] | None = None
    file_ending: str | None = None


def find_dataset(root: Path, layout: str | None = None) -> list[StudySource]:
    """All labelled cases of a dataset; `layout` insists on one of the three kinds."""
    path = root / "dataset.json"
    folders = [root / f"labels{split}" for split in _SPLITS]
    if not path.is_file() or not any(folder.is_dir() for folder in folders):
        return []
    description = read_json(path, _Description)
    pairs = [pair for folder in folders if folder.is_dir() for pair in _pairs(folder)]
    stems = [stem_of(labels) for _, labels in pairs]
    kind = layout or _layout(description, stems, [image for image, _ in pairs])
    names = _names(description, path)
    vocabulary = _vocabulary(description, root, stems, kind)
    if vocabulary is not None and not set(names or ()) <= set(load_vocabulary(vocabulary).labels):
        vocabulary = None  # a dataset of that name, but with classes of its own
    return [
        StudySource(
            stem,
            image,
            labels,
            public_id=public_id(stem, vocabulary),
            names=names,
            layout=kind,
            vocabulary=vocabulary,
        )
        for stem, (image, labels) in zip(stems, pairs)
    ]


def _pairs(folder: Path) -> list[tuple[Path | None, Path]]:
    """Image (the channel to be shown, if they are apart) and labels of each case."""
    images = folder.with_name(folder.name.replace("labels", "images", 1))
    files = sorted(
        file for file in folder.iterdir() if file.is_file() and not file.name.startswith(".")
    )
    pairs: list[tuple[Path | None, Path]] = []
    channel = channel_shown(channels_told(folder / "x"))
    for labels in files:
        suffix = kind_of(labels)
        if suffix is not None:
            stem = stem_of(labels)
            apart = [
                images / f"{stem}_{number:04d}{suffix}" for number in dict.fromkeys((channel, 0))
            ]
            choices = (images / labels.name, *apart, images / f"{stem}{suffix}")
            pairs.append((next((image for image in choices if image.is_file()), None), labels))
    return pairs


def _layout(description: _Description, stems: list[str], images: list[Path | None]) -> str:
    if "amos" in (description.name or "").lower() or (
        stems and all(public_id(stem, "amos") for stem in stems)
    ):
        return "amos"
    channels = any(
        image is not None and stem_of(image) != stem for stem, image in zip(stems, images)
    )
    return "nnunet" if channels or description.channel_names or description.file_ending else "msd"


def _vocabulary(description: _Description, root: Path, stems: list[str], layout: str) -> str | None:
    """The vocabulary of a dataset known by its name, if all its cases are named as published."""
    if layout == "amos":
        return "amos"
    words = {
        _letters(description.name or ""),
        _letters(re.sub(r"^(Task|Dataset)[0-9]+_", "", root.resolve().name)),
    }
    known = {_DECATHLON[word] for word in words if word in _DECATHLON}
    known |= {"kits" for word in words if word.startswith("kits")}
    fitting = [
        name for name in sorted(known) if stems and all(public_id(stem, name) for stem in stems)
    ]
    return fitting[0] if len(fitting) == 1 else None


def _letters(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalpha())


def _names(description: _Description, path: Path) -> dict[int, str] | None:
    """Names by value, from `{"1": "liver"}` or `{"liver": 1}`;
    regions of several values have none of their own."""
    names: dict[int, str] = {}
    for key, entry in description.labels.items():
        value, name = (key, entry) if isinstance(entry, str) else (entry, key)
        if isinstance(value, list):
            if len(value) != 1:
                continue
            (value,) = value
        if isinstance(value, str) and not (value.isascii() and value.isdigit() and len(value) < 10):
            raise SitusError(
                "its labels are not numbers and names", where=path, fix='write {"liver": 1, …}'
            )
        number, text = int(value), clean_name(str(name))
        if number < 0 or not text or names.get(number, text) != text:
            raise SitusError(
                "a label is negative, unnamed or named twice", where=path, fix="repair the labels"
            )
        if number and text.lower() not in _NOT_STRUCTURES:
            names[number] = text
    return names or None
