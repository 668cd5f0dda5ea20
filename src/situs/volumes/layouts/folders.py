"""Layouts with a folder for each case: TotalSegmentator, KiTS, BraTS."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from situs.volumes.case_names import IMAGE_STEMS, is_label_folder
from situs.volumes.layouts.beside import plain_files, subfolders, volume_files
from situs.volumes.layouts.source import StudySource, public_id
from situs.volumes.volume import kind_of, stem_of

__all__ = ["find_brats", "find_kits", "find_masks", "find_totalsegmentator"]

_TOTALSEGMENTATOR_IMAGES = {
    "ct.nii.gz": "totalsegmentator",
    "ct.nii": "totalsegmentator",
    "mri.nii.gz": "totalsegmentator_mr",
    "mri.nii": "totalsegmentator_mr",
}
_KITS_LABELS = ("segmentation.nii.gz", "aggregated_MAJ_seg.nii.gz", "segmentation.nii")
_KITS_CASE = re.compile(r"case_[0-9]{5}")
_BRATS_LABELS = re.compile(r"(?P<case>.+)(?P<mark>[-_])segm?\.(nii|nii\.gz|mha)", re.IGNORECASE)
"""`Segm` is one case of 2020 (355) whose labels were published as `W39_1998.09.19_Segm.nii`."""
_BRATS_IMAGES = ("t1ce", "t1c", "t1gd", "flair", "t2f", "t2", "t2w", "t1", "t1n")
"""Contrast-enhanced T1 first: it shows the core and the rim that the labels tell apart."""
_BRATS_PATIENT = re.compile(r"(BraTS-[A-Z-]+-[0-9]{4,5})-[0-9]{1,3}")
_BRATS_BY_MARK = {"-": "brats2023", "_": "brats2020"}
_BRATS_OTHERWISE = re.compile(r"BraTS-(PED|MEN-RT)-", re.IGNORECASE)
"""Their label values changed from year to year, or mean something else:
the user has to name them."""
_BRATS_2015_LABELS = re.compile(r"VSD\.Brain.*\.OT\..*\.mha", re.IGNORECASE)
_BRATS_2015_IMAGES = ("MR_T1c", "MR_Flair", "MR_T2", "MR_T1")
_BRATS_2015_PATIENT = re.compile(r"(brats_(?:tcia|2013)_pat[0-9]{3,4})_[0-9]{1,4}", re.IGNORECASE)


def find_totalsegmentator(root: Path) -> list[StudySource]:
    """`root` itself, or the folders in it, with a `segmentations` folder."""
    return _cases(root, _totalsegmentator)


def _totalsegmentator(folder: Path) -> StudySource | None:
    if not (folder / "segmentations").is_dir():
        return None
    name = _name(folder)
    image = next(
        (folder / file for file in _TOTALSEGMENTATOR_IMAGES if (folder / file).is_file()), None
    )
    vocabulary = _TOTALSEGMENTATOR_IMAGES[image.name] if image is not None else "totalsegmentator"
    return StudySource(
        name,
        image,
        folder / "segmentations",
        public_id=public_id(name, vocabulary),
        layout="totalsegmentator",
        vocabulary=vocabulary,
    )


def find_masks(root: Path) -> list[StudySource]:
    """`root` itself, if masks lie in it; the image may lie beside them, or beside their folder."""
    volumes = {stem_of(file).lower(): file for file in volume_files(root)}
    if not set(volumes) - set(IMAGE_STEMS):
        return []
    image = next((volumes[stem] for stem in IMAGE_STEMS if stem in volumes), None)
    vocabulary = None
    folder = root.resolve()
    if image is None and is_label_folder(folder.name):
        beside = volume_files(folder.parent)
        named = [file for file in beside if stem_of(file).lower() in IMAGE_STEMS]
        image = next(iter(named), beside[0] if len(beside) == 1 else None)
        if image is not None and folder.name == "segmentations":
            vocabulary = _TOTALSEGMENTATOR_IMAGES.get(image.name)
    stem = _name(folder.parent) if is_label_folder(folder.name) else _name(root)
    return [StudySource(stem, image, root, layout="masks", vocabulary=vocabulary)]


def find_kits(root: Path) -> list[StudySource]:
    """A KiTS case, a folder of them, or the repository that keeps them in `data` or `dataset`."""
    for folder in (root, root / "data", root / "dataset"):
        if folder.is_dir() and (cases := _cases(folder, _kits)):
            return cases
    return []


def _kits(folder: Path) -> StudySource | None:
    labels = next((folder / name for name in _KITS_LABELS if (folder / name).is_file()), None)
    name = _name(folder)
    image = next(
        (file for file in (folder / "imaging.nii.gz", folder / "imaging.nii") if file.is_file()),
        None,
    )
    if labels is None or not (_KITS_CASE.fullmatch(name) or image is not None):
        return None
    return StudySource(
        name,
        image,
        labels,
        public_id=public_id(name, "kits"),
        layout="kits",
        vocabulary="kits",
    )


def find_brats(root: Path) -> list[StudySource]:
    """A BraTS case, a folder of them, or one with folders of them (`HGG`, `LGG`)."""
    if cases := _cases(root, _brats):
        return cases
    return [source for folder in subfolders(root) for source in _cases(folder, _brats)]


def _brats(folder: Path) -> StudySource | None:
    for file in plain_files(folder):
        match = _BRATS_LABELS.fullmatch(file.name)
        if match is None:
            continue
        case = match["case"]
        if _brats_image(folder, case) is None and _brats_image(folder, _name(folder)) is not None:
            case = _name(folder)
        image = _brats_image(folder, case)
        if image is None and "brats" not in case.lower():
            continue
        vocabulary = None if _BRATS_OTHERWISE.match(case) else _BRATS_BY_MARK[match["mark"]]
        patient = _BRATS_PATIENT.fullmatch(case)
        return StudySource(
            case,
            image,
            file,
            public_id=public_id(case, vocabulary),
            layout="brats",
            vocabulary=vocabulary,
            patient_key=patient[1] if patient else None,
        )
    return _brats_2015(folder)


def _brats_image(folder: Path, case: str) -> Path | None:
    """The image to show: `<case>_t1ce`, `<case>-t1c`,
    … in whatever case and format the release has."""
    parts: dict[str, Path] = {}
    for file in plain_files(folder):
        stem = stem_of(file)
        if (
            kind_of(file) is not None
            and stem.lower().startswith(case.lower())
            and stem[len(case) :][:1] in "-_"
        ):
            parts[stem[len(case) + 1 :].lower()] = file
    return next((parts[part] for part in _BRATS_IMAGES if part in parts), None)


def _brats_2015(folder: Path) -> StudySource | None:
    """Until 2015 each volume lay in a folder of its own:
    `VSD.Brain.XX.O.MR_T1c.54513/….mha`, labels with `OT`."""
    files = [file for child in (folder, *subfolders(folder)) for file in plain_files(child)]
    labels = next((file for file in files if _BRATS_2015_LABELS.fullmatch(file.name)), None)
    if labels is None or (labels.parent == folder and labels.name.startswith(folder.name)):
        return None
    images = (
        file
        for part in _BRATS_2015_IMAGES
        for file in files
        if f".{part}.".lower() in file.name.lower()
    )
    case = _name(folder)
    patient = _BRATS_2015_PATIENT.fullmatch(case)
    return StudySource(
        case,
        next((image for image in images if kind_of(image) is not None), None),
        labels,
        public_id=public_id(case, "brats2015"),
        layout="brats",
        vocabulary="brats2015",
        patient_key=patient[1] if patient else None,
    )


def _cases(root: Path, read: Callable[[Path], StudySource | None]) -> list[StudySource]:
    """The case that `root` is, else those in its folders, by name."""
    one = read(root)
    if one is not None:
        return [one]
    return [case for folder in subfolders(root) if (case := read(folder)) is not None]


def _name(folder: Path) -> str:
    return folder.name or folder.resolve().name
