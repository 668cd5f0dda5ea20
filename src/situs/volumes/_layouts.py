"""Finding studies in any known layout: public datasets, DICOM folders, a table, or one label file."""

from __future__ import annotations

from pathlib import Path

from situs.errors import SitusError, did_you_mean
from situs.volumes._layout_dataset import find_dataset
from situs.volumes._layout_folders import find_brats, find_kits, find_masks, find_totalsegmentator
from situs.volumes._layout_table import find_in_table
from situs.volumes._study_source import LAYOUTS, StudySource
from situs.volumes._volume import SUFFIXES, holds_dicom, kind_of, stem_of

__all__ = ["StudySource", "find_studies", "find_study"]

_KNOWN = (
    "known: a TotalSegmentator study (ct.nii.gz or mri.nii.gz beside segmentations/), a folder of such studies, "
    "MSD, nnU-Net or AMOS (dataset.json beside imagesTr/ and labelsTr/), KiTS, BraTS, a folder of masks, "
    "DICOM with SEG or RTSTRUCT, "
    "a .csv with the columns study, patient, image, labels, or one label file"
)
_SHOWN = 8
_DATASETS = ("msd", "nnunet", "amos")
_CASES = {"totalsegmentator": find_totalsegmentator, "kits": find_kits, "brats": find_brats, "masks": find_masks}


def find_studies(root: str | Path, layout: str = "auto") -> list[StudySource]:
    """All studies under `root`, sorted. Nothing found is an error that says which layouts are known.

    `layout` is `auto` or one of totalsegmentator, msd, nnunet, amos, kits, brats, masks, dicom, table and file.
    """
    root = Path(root)
    if layout != "auto" and layout not in LAYOUTS:
        raise SitusError(f"unknown layout {layout!r}", where="layout", fix=did_you_mean(layout, ["auto", *LAYOUTS]))
    try:
        if not root.exists():
            raise SitusError("no such file or folder", where=root, fix="check the path")
        found = _find_in_folder(root, layout) if root.is_dir() else _find_in_file(root, layout)
    except (OSError, ValueError) as error:
        raise SitusError("cannot be read", where=root, fix="check the path and its permissions") from error
    if not found:
        if layout != "auto":
            raise SitusError(f"no study found in layout {layout}", where=root, fix=f"it is: {LAYOUTS[layout]}")
        raise SitusError("no study found", where=root, fix=f"{_KNOWN} ({', '.join(SUFFIXES)})")
    return found


def find_study(path: str | Path) -> StudySource:
    """The one study that a file or folder is; of several, the error names them."""
    found = find_studies(path)
    if len(found) > 1:
        shown = ", ".join(_shown(study.labels, Path(path)) for study in found[:_SHOWN])
        more = ", …" if len(found) > _SHOWN else ""
        raise SitusError(f"holds {len(found)} sets of labels: {shown}{more}", where=path, fix="give one of them")
    return found[0]


def _shown(labels: Path, root: Path) -> str:
    return str(labels.relative_to(root)) if labels.is_relative_to(root) else str(labels)


def _find_in_folder(root: Path, layout: str) -> list[StudySource]:
    if layout in _DATASETS:
        return find_dataset(root, layout)
    if layout in _CASES:
        return _CASES[layout](root)
    if layout == "dicom":
        return _find_dicom(root)
    if layout == "auto":
        for find in (find_totalsegmentator, find_dataset, find_kits, find_brats, find_masks, _find_dicom):
            if found := find(root):
                return found
    return []


def _find_in_file(root: Path, layout: str) -> list[StudySource]:
    if layout in ("auto", "table") and root.suffix.lower() == ".csv":
        return find_in_table(root)
    if layout in ("auto", "file") and kind_of(root) is not None:
        return [StudySource(stem_of(root), None, root, layout="file")]
    if layout in ("auto", "dicom") and holds_dicom(root):
        return _find_dicom(root)
    return []


def _find_dicom(root: Path) -> list[StudySource]:
    from situs.volumes._layout_dicom import find_dicom

    return find_dicom(root)
