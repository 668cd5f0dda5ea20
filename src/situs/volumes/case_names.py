"""What the name of a file or folder says: whether it is labels or an image, and of which case."""

from __future__ import annotations

import re

__all__ = ["IMAGE_STEMS", "case_key", "is_image_folder", "is_label_folder", "label_case"]

IMAGE_STEMS = ("ct", "mr", "mri", "image", "imaging")
"""What the image beside masks is called."""
_LABEL_WORDS = (
    "seg|segs|segmentations?|labels?|labelmap|dseg|msk|totalseg|totalsegmentator|parcellation|"
    "annotation|gt"
)
_IMAGE_WORDS = (
    "ct|mr|mri|im|img|image|imaging|vol|volume|scan|"
    "t1|t1w|t1c|t1ce|t1n|t2|t2w|t2f|flair|pd|dwi|adc|pt|pet|orig"
)
_LABEL_STEM = re.compile(rf"(?:(?P<case>.+?)[-_. ])?(?:{_LABEL_WORDS})(?:[_. ].*)?", re.IGNORECASE)
"""`labels`, `case_seg`, `case-seg`, `case_seg_fast`;
not `case_label-22_ct`: there BIDS names something else."""
_NUMBERED_LABELS = re.compile(rf"(?:{_LABEL_WORDS}|masks?)[-_. ]?[0-9]+", re.IGNORECASE)
"""`segmentation-0` (LiTS), `label0001` (BTCV): the number is the case."""
_LABEL_FOLDER = re.compile(
    r"labels?(?:Tr|Ts|Te|Va|Val)?|masks?|segs?|segmentations?|segmentation_?masks?|annotations?|"
    r"gts?|ground_?truth",
    re.IGNORECASE,
)
_IMAGE_FOLDER = re.compile(
    r"(?:images?|imgs?)(?:Tr|Ts|Te|Va|Val)?|image_?files?|volumes?|scans?|cts?|mrs?|mri|dicoms?|"
    r"imaging|raw",
    re.IGNORECASE,
)
_CASE_WORD = re.compile(
    rf"(?:{_LABEL_WORDS}|masks?|{_IMAGE_WORDS})(?P<number>[0-9]*)", re.IGNORECASE
)
"""A word that says what a file is, maybe with the number of its case right behind it."""


def label_case(stem: str) -> str | None:
    """The case that a label file is named for, empty if it names none;
    None if it is not called labels."""
    if match := _LABEL_STEM.fullmatch(stem):
        return match["case"] or ""
    return case_key(stem) if _NUMBERED_LABELS.fullmatch(stem) else None


def case_key(stem: str) -> str:
    """What is left of a name without the words for labels and images: the same for a case's image
    and labels.

    `0` for `volume-0` and `segmentation-0`, `0001` for `img0001` and `label0001`, `p1` for `p1_ct`
    and `p1_seg`.
    """
    remaining_words = []
    for word in re.split(r"[-_. ]+", stem.lower()):
        match = _CASE_WORD.fullmatch(word)
        remaining_words.append(word if match is None else match["number"])
    return " ".join(filter(None, remaining_words))


def is_label_folder(name: str) -> bool:
    """Whether a folder of this name holds label files or masks."""
    return _LABEL_FOLDER.fullmatch(name) is not None


def is_image_folder(name: str) -> bool:
    """Whether a folder of this name holds images."""
    return _IMAGE_FOLDER.fullmatch(name) is not None
