"""Layouts with a folder for each case: TotalSegmentator, KiTS, BraTS."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from situs.volumes._masks import IMAGE_STEMS
from situs.volumes._study_source import StudySource, public_id
from situs.volumes._volume import kind_of, stem_of

__all__ = ["find_brats", "find_kits", "find_masks", "find_totalsegmentator"]

_TOTALSEGMENTATOR_IMAGES = {"ct.nii.gz": "totalsegmentator", "mri.nii.gz": "totalsegmentator_mr"}
_KITS_LABELS = ("segmentation.nii.gz", "aggregated_MAJ_seg.nii.gz")
_KITS_CASE = re.compile(r"case_[0-9]{5}")
_BRATS_LABELS = re.compile(r"(?P<case>.+)(?P<mark>[-_])seg\.nii(\.gz)?")
_BRATS_IMAGES = {"-": ("t1c", "t2f", "t1n", "t2w"), "_": ("t1ce", "flair", "t1", "t2")}
"""Contrast-enhanced T1 first: it shows the core and the rim that the labels tell apart."""
_BRATS_PATIENT = re.compile(r"(BraTS-[A-Z-]+-[0-9]{4,5})-[0-9]{1,3}")


def find_totalsegmentator(root: Path) -> list[StudySource]:
    """`root` itself, or the folders in it, with a `segmentations` folder."""
    return _cases(root, _totalsegmentator)


def _totalsegmentator(folder: Path) -> StudySource | None:
    if not (folder / "segmentations").is_dir():
        return None
    name = _name(folder)
    image = next((folder / file for file in _TOTALSEGMENTATOR_IMAGES if (folder / file).is_file()), None)
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
    files = [file for file in sorted(root.iterdir()) if file.is_file() and not file.name.startswith(".")]
    volumes = {stem_of(file).lower(): file for file in files if kind_of(file) is not None}
    if not set(volumes) - set(IMAGE_STEMS):
        return []
    image = next((volumes[stem] for stem in IMAGE_STEMS if stem in volumes), None)
    vocabulary = None
    if image is None and root.resolve().name == "segmentations":
        beside = [root.resolve().parent / name for name in _TOTALSEGMENTATOR_IMAGES]
        image = next((file for file in beside if file.is_file()), None)
        vocabulary = _TOTALSEGMENTATOR_IMAGES[image.name] if image is not None else None
    return [StudySource(_name(root), image, root, layout="masks", vocabulary=vocabulary)]


def find_kits(root: Path) -> list[StudySource]:
    """A KiTS case, a folder of them, or the repository that keeps them in `data` or `dataset`."""
    for folder in (root, root / "data", root / "dataset"):
        if folder.is_dir() and (found := _cases(folder, _kits)):
            return found
    return []


def _kits(folder: Path) -> StudySource | None:
    labels = next((folder / name for name in _KITS_LABELS if (folder / name).is_file()), None)
    name = _name(folder)
    image = folder / "imaging.nii.gz"
    if labels is None or not (_KITS_CASE.fullmatch(name) or image.is_file()):
        return None
    return StudySource(
        name,
        image if image.is_file() else None,
        labels,
        public_id=public_id(name, "kits"),
        layout="kits",
        vocabulary="kits",
    )


def find_brats(root: Path) -> list[StudySource]:
    """A BraTS case, a folder of them, or one with folders of them (`HGG`, `LGG`)."""
    if found := _cases(root, _brats):
        return found
    return [source for folder in _folders(root) for source in _cases(folder, _brats)]


def _brats(folder: Path) -> StudySource | None:
    for file in sorted(folder.iterdir()):
        match = _BRATS_LABELS.fullmatch(file.name)
        if not match or file.name.startswith(".") or not file.is_file():
            continue
        case, mark = match["case"], match["mark"]
        names = [f"{case}{mark}{part}.nii{zipped}" for part in _BRATS_IMAGES[mark] for zipped in (".gz", "")]
        image = next((folder / name for name in names if (folder / name).is_file()), None)
        if image is None:
            continue
        vocabulary = "brats2023" if mark == "-" else "brats2020"
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
    return None


def _cases(root: Path, read: Callable[[Path], StudySource | None]) -> list[StudySource]:
    """The case that `root` is, else those in its folders, by name."""
    one = read(root)
    if one is not None:
        return [one]
    return [found for folder in _folders(root) if (found := read(folder)) is not None]


def _folders(root: Path) -> list[Path]:
    return sorted(folder for folder in root.iterdir() if folder.is_dir() and not folder.name.startswith("."))


def _name(folder: Path) -> str:
    return folder.name or folder.resolve().name
