"""Label files beside their images: 3D Slicer folders, `case` with `case_seg`, `images/` with `labels/`."""

from __future__ import annotations

import re
from pathlib import Path

from situs.anatomy import term
from situs.volumes._beside import image_of, plain_files, volume_files
from situs.volumes._study_source import StudySource
from situs.volumes._volume import kind_of, stem_of

__all__ = ["find_pairs", "find_slicer", "find_split"]

_LABEL_WORDS = "seg|segs|segmentations?|labels?|labelmap|dseg|msk|totalseg|totalsegmentator|parcellation|annotation|gt"
_LABEL_STEM = re.compile(rf"(?:(?P<case>.+?)[-_. ])?(?:{_LABEL_WORDS})(?:[_. ].*)?", re.IGNORECASE)
"""`labels`, `case_seg`, `case-seg`, `case_seg_fast`; not `case_label-22_ct`: there BIDS names something else."""
_SPLIT = {
    "labelsTr": ("imagesTr",),
    "labels": ("images", "image", "imgs", "img", "volumes", "scans", "ct"),
    "masks": ("images", "image", "imgs", "img", "volumes", "scans", "ct"),
    "segmentations": ("images", "image", "imgs", "img", "volumes", "scans", "ct"),
    "annotations": ("images", "image", "imgs", "img", "volumes", "scans", "ct"),
}
"""Folder of label files → folders their images may lie in."""
_CHANNEL = "_0000"


def find_slicer(root: Path) -> list[StudySource]:
    """Every `.seg.nrrd` of a folder with the volume it was drawn on."""
    files = volume_files(root)
    segmentations = [file for file in files if file.name.lower().endswith(".seg.nrrd")]
    return _studies(root, segmentations, [file for file in files if file not in segmentations], "slicer")


def find_pairs(root: Path) -> list[StudySource]:
    """Every file of a folder that its name calls labels, with the volume it was drawn on."""
    files = volume_files(root)
    labels = [file for file in files if (match := _LABEL_STEM.fullmatch(stem_of(file))) and not _is_mask(match)]
    return _studies(root, labels, [file for file in files if file not in labels], "pairs")


def _is_mask(match: re.Match[str]) -> bool:
    """`liver_seg` is the mask of one structure, not a label map of a case."""
    return match["case"] is not None and term(match["case"]).known


def _studies(root: Path, labels: list[Path], images: list[Path], layout: str) -> list[StudySource]:
    folder = root.name or root.resolve().name
    found = []
    for file in labels:
        image = image_of(file, images)
        # Several label files of one image are of one patient.
        patient_key = None if image is None or len(labels) == 1 else f"{folder}/{image.name}"
        stem = folder if len(labels) == 1 else f"{folder}-{stem_of(file)}"
        found.append(StudySource(stem, image, file, layout=layout, patient_key=patient_key))
    return found


def find_split(root: Path) -> list[StudySource]:
    """`images/` beside `labels/` (or `masks/`, …) with files of the same name."""
    for labels_name, image_names in _SPLIT.items():
        folder = root / labels_name
        images = [root / name for name in image_names if (root / name).is_dir()]
        if not folder.is_dir() or not images:
            continue
        found = [
            StudySource(stem_of(labels), _same_name(labels, images[0]), labels, layout="split")
            for labels in volume_files(folder)
        ]
        if found:
            return found
    return []


def _same_name(labels: Path, folder: Path) -> Path | None:
    """The image of the same stem, with or without what marks labels (`_seg`) and channels (`_0000`)."""
    stem = stem_of(labels)
    match = _LABEL_STEM.fullmatch(stem)
    case = match["case"] if match and match["case"] else stem
    wanted = [stem, stem + _CHANNEL, case, case + _CHANNEL]
    by_stem = {stem_of(file): file for file in plain_files(folder) if kind_of(file) is not None}
    return next((by_stem[name] for name in wanted if name in by_stem), None)
