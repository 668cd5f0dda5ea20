"""Label files beside their images:
3D Slicer folders, `case` with `case_seg`, `images/` with `labels/`."""

from __future__ import annotations

from pathlib import Path

from situs.anatomy import term
from situs.volumes.case_names import (
    IMAGE_STEMS,
    case_key,
    is_image_folder,
    is_label_folder,
    label_case,
)
from situs.volumes.layouts.beside import image_of, misfit_of, subfolders, volume_files
from situs.volumes.layouts.content import content_of
from situs.volumes.layouts.source import StudySource
from situs.volumes.volume import holds_dicom, stem_of

__all__ = ["find_by_content", "find_pairs", "find_slicer", "find_split"]

_CHANNEL = "_0000"
_MOST_READ = 40
"""How many volumes of a folder are read to tell labels from images;
a larger folder needs names or a table."""


def find_slicer(root: Path) -> list[StudySource]:
    """Every `.seg.nrrd` of a folder with the volume it was drawn on."""
    files = volume_files(root)
    segmentations = [file for file in files if file.name.lower().endswith(".seg.nrrd")]
    return _studies(
        root, segmentations, [file for file in files if file not in segmentations], "slicer"
    )


def find_pairs(root: Path) -> list[StudySource]:
    """Every file of a folder that its name calls labels, with the volume it was drawn on."""
    files = volume_files(root)
    labels = [file for file in files if _is_called_labels(stem_of(file))]
    return _studies(root, labels, [file for file in files if file not in labels], "pairs")


def _is_called_labels(stem: str) -> bool:
    """`liver_seg` is the mask of one structure, not a label map of a case."""
    case = label_case(stem)
    return case is not None and not (case and term(case).known)


def find_by_content(root: Path) -> list[StudySource]:
    """An image and its label maps or masks whatever their names are (`T1w` and `aal116`),
    told by their voxels."""
    files = volume_files(root)
    named = any(stem_of(file).lower() in IMAGE_STEMS for file in files)
    if named or not 2 <= len(files) <= _MOST_READ or is_image_folder(root.resolve().name):
        return []
    contents = {file: content_of(file) for file in files}
    images = [file for file in files if contents[file] == "image"]
    if not images or None in contents.values():
        return []
    if label_maps := [file for file in files if contents[file] == "labels"]:
        return _studies(root, label_maps, images, "pairs")
    masks = [file for file in files if contents[file] == "mask"]
    if not masks or len(images) > 1:
        return []
    return [StudySource(root.name or root.resolve().name, images[0], root, layout="masks")]


def _studies(root: Path, labels: list[Path], images: list[Path], layout: str) -> list[StudySource]:
    folder = root.name or root.resolve().name
    studies = []
    for file in labels:
        image = image_of(file, images)
        # Several label files of one image are of one patient.
        patient_key = None if image is None or len(labels) == 1 else f"{folder}/{image.name}"
        stem = folder if len(labels) == 1 else f"{folder}-{stem_of(file)}"
        misfit = "" if image is not None else misfit_of(file, images)
        studies.append(
            StudySource(stem, image, file, layout=layout, patient_key=patient_key, misfit=misfit)
        )
    return studies


def find_split(root: Path) -> list[StudySource]:
    """`images/` beside `labels/` (or `img/` and `label/`,
    `imagesVal/` and `labelsVal/`, …), cases of the same name."""
    folders = subfolders(root)
    studies: list[StudySource] = []
    for folder in (child for child in folders if is_label_folder(child.name)):
        files = volume_files(folder) or [
            file for child in subfolders(folder) for file in volume_files(child)
        ]
        if any(term(stem_of(file)).known for file in files):
            continue  # masks of one patient, a file for each structure
        twin = root / folder.name.lower().replace("labels", "images")
        same_split = [
            child for child in folders if child.name.lower() == twin.name and child != folder
        ]
        images = same_split or [child for child in folders if is_image_folder(child.name)]
        if images:
            volumes = [file for child in images for file in volume_files(child)]
            studies += [_of_split(file, images, volumes) for file in files]
    return studies


def _of_split(labels: Path, folders: list[Path], volumes: list[Path]) -> StudySource:
    image = _same_case(labels, volumes) or _series_of(labels, folders)
    return StudySource(stem_of(labels), image, labels, layout="split")


def _same_case(labels: Path, volumes: list[Path]) -> Path | None:
    """The image of the same stem,
    with or without what marks labels (`_seg`) and channels (`_0000`)."""
    stem = stem_of(labels)
    case = label_case(stem) or stem
    by_stem = {stem_of(file): file for file in volumes}
    for name in (stem, stem + _CHANNEL, case, case + _CHANNEL):
        if name in by_stem:
            return by_stem[name]
    key = case_key(stem)
    alike = [file for file in volumes if key and case_key(stem_of(file)) == key]
    return image_of(labels, alike) or (alike[0] if len(alike) == 1 else None)


def _series_of(labels: Path, folders: list[Path]) -> Path | None:
    """A DICOM series in a folder of the same name."""
    named = [folder / stem_of(labels) for folder in folders]
    return next((folder for folder in named if folder.is_dir() and holds_dicom(folder)), None)
