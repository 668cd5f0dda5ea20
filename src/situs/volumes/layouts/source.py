"""Where one study lies, and what its layout tells of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["LAYOUTS", "StudySource", "public_id"]

LAYOUTS = {
    "totalsegmentator": "s0009/ with ct.nii.gz or mri.nii.gz beside segmentations/",
    "msd": "dataset.json beside imagesTr/ and labelsTr/",
    "nnunet": "dataset.json beside imagesTr/ (case_0000.nii.gz) and labelsTr/ (case.nii.gz)",
    "amos": "dataset.json beside imagesTr/ and labelsTr/ with amos_0001.nii.gz",
    "kits": "case_00000/ with imaging.nii.gz and segmentation.nii.gz",
    "brats": (
        "a folder for each case with -t1n, -t1c, -t2w, -t2f, -seg or _t1, _t1ce, _t2, _flair, _seg,"
        " or the VSD.Brain… folders of 2015"
    ),
    "bids": (
        "sub-01/[ses-1/]anat/ with derivatives/*/sub-01/…_dseg.nii.gz or …_mask.nii.gz, and .tsv"
        " label tables"
    ),
    "slicer": "a volume beside its .seg.nrrd",
    "pairs": (
        "a label file beside its image: case.nii.gz and case_seg.nii.gz, volume-0.nii and"
        " segmentation-0.nii, or an image and a label map of any name in a folder of their own"
    ),
    "split": (
        "images/ and labels/ (img/ and label/, imagesVal/ and labelsVal/) with cases of the same"
        " name"
    ),
    "masks": (
        "a folder with one mask file for each structure, the image among them or beside the folder"
    ),
    "dicom": "image series with DICOM-SEG or RTSTRUCT files",
    "table": "a .csv or .tsv with the columns study, patient, image, labels",
    "file": "one label file",
}
"""Layout → what it looks like."""

_PUBLIC_IDS = {
    "totalsegmentator": r"s[0-9]{4}",
    "totalsegmentator_mr": r"s[0-9]{4}",
    "amos": r"amos_[0-9]{4}",
    "kits": r"case_[0-9]{5}",
    "brats2020": (
        r"(Brats17|Brats18|BraTS19)_(CBICA|TCIA([0-9]{2})?|TMC|UAB|WashU|2013)_[A-Za-z0-9]{1,6}_1"
        r"|BraTS20_(Training|Validation)_[0-9]{3}|BraTS2021_[0-9]{5}"
    ),
    "brats2015": r"brats_(tcia|2013)_pat[0-9]{3,4}_[0-9]{1,4}",
    "brats2023": r"BraTS-(GLI|MEN|MEN-RT|MET|PED|SSA)-[0-9]{4,5}-[0-9]{1,3}",
    "msd_brain_tumour": r"BRATS_[0-9]{3}",
    "msd_colon": r"colon_[0-9]{3}",
    "msd_heart": r"la_[0-9]{3}",
    "msd_hepatic_vessel": r"hepaticvessel_[0-9]{3}",
    "msd_hippocampus": r"hippocampus_[0-9]{3}",
    "msd_liver": r"liver_[0-9]{1,3}",
    "msd_lung": r"lung_[0-9]{3}",
    "msd_pancreas": r"pancreas_[0-9]{3}",
    "msd_prostate": r"prostate_[0-9]{2}",
    "msd_spleen": r"spleen_[0-9]{1,2}",
}
"""Vocabulary of a public dataset → the ids under which that dataset published its studies."""


@dataclass(frozen=True)
class StudySource:
    """Where one study lies, before anything is read.

    Two are equal if they lie in the same place under the same ids.
    """

    stem: str
    """Folder or file name; it may name a patient, so it stays on this machine."""
    image: Path | None
    """An image file, or for DICOM a folder or one file of the series."""
    labels: Path
    """A label file or a folder of masks."""
    patient: str | None = None
    """The patient's id, if a table gives one."""
    study: str | None = None
    """The study's id, if a table gives one."""
    public_id: str | None = None
    """The id under which a public dataset published the study (`s0009`, `case_00012`)."""
    misfit: str = field(default="", compare=False)
    """Why the image that lies beside the labels is not theirs: it lies on another grid.

    Names files: private.
    """
    names: dict[int, str] | None = field(default=None, compare=False)
    """Names of label values that the layout itself tells (`dataset.json`)."""
    layout: str = field(default="", compare=False)
    """One of `LAYOUTS`."""
    vocabulary: str | None = field(default=None, compare=False)
    """The shipped vocabulary whose label values these are, as far as the layout tells."""
    patient_key: str | None = field(default=None, compare=False, repr=False)
    """What tells this study's patient from others where one has several studies. Private: only a
    keyed hash of it may leave the program."""


def public_id(name: str, vocabulary: str | None) -> str | None:
    """The name, if it is one that the dataset of this vocabulary published."""
    pattern = _PUBLIC_IDS.get(vocabulary or "")
    return name if pattern is not None and re.fullmatch(pattern, name) else None
