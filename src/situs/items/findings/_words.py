"""How questions about boxes read: several wordings of one meaning, one of which a seed picks."""

from __future__ import annotations

from situs._files import digest
from situs.anatomy import Finding

__all__ = ["WORDINGS", "counted", "listed", "opening", "worded"]


WORDINGS: dict[str, tuple[str, ...]] = {
    "detection.slice": (
        "Is {phrase} annotated on this slice?",
        "Does the reader's annotation of this slice include {phrase}?",
        "Has {phrase} been marked on this slice?",
    ),
    "detection.volume": (
        "Is {phrase} annotated in this volume?",
        "Does the reader's annotation of this scan include {phrase}?",
        "Has {phrase} been marked on any frame of this volume?",
    ),
    "localization.boxes.slice": (
        "Where on this slice is {phrase} annotated? Give one box for each place.",
        "Mark {phrase} on this slice as the reader did, one box for each place.",
        "Draw a box around each place on this slice where {phrase} is annotated.",
    ),
    "localization.boxes.volume": (
        "On which frames is {phrase} seen, and where? Give one box for each place on each frame.",
        "Mark {phrase} throughout this volume as the reader did: one box for each place on each frame.",
        "Where in this volume is {phrase} annotated? Give the frame and a box for each place.",
    ),
    "localization.frames": (
        "On which frames is {phrase} annotated?",
        "Which frames of this volume show {phrase}, as annotated?",
        "Name every frame on which {phrase} has been marked.",
    ),
    "localization.range": (
        "From which frame to which is {phrase} annotated?",
        "Over which range of frames does {phrase} extend, as annotated?",
        "Give the first and the last frame on which {phrase} has been marked.",
    ),
    "localization.largest": (
        "On which frame does {phrase} cover the largest area, as annotated?",
        "Which frame shows {phrase} at its largest, by the area of the annotated boxes?",
        "On which frame are the boxes around {phrase} largest in total?",
    ),
    "localization.side.slice": (
        "On which side of the picture does {phrase} lie on this slice, as annotated?",
        "On this slice, which side of the image holds {phrase}: its left, its right, or both?",
        "Seen on this slice, is {phrase} on the left of the image, on the right, or on both sides of the midline?",
    ),
    "localization.side.volume": (
        "On which side of the pictures does {phrase} lie in this volume, as annotated?",
        "Over the whole volume, which side of the image holds {phrase}: its left, its right, or both?",
        "Taking all frames, is {phrase} on the left of the image, on the right, or on both sides of the midline?",
    ),
    "localization.compartment.slice": (
        "In which compartment of the knee does {phrase} lie on this slice, as annotated?",
        "On this slice, is {phrase} in the medial or in the lateral compartment?",
        "Which compartment holds {phrase} on this slice?",
    ),
    "localization.compartment.volume": (
        "In which compartment of the knee does {phrase} lie in this volume, as annotated?",
        "Over the whole volume, is {phrase} in the medial or in the lateral compartment?",
        "Which compartment holds {phrase} in this volume?",
    ),
    "counting": (
        "How many separate {plural} are annotated in this volume? Boxes on neighbouring frames that overlap are one.",
        "Count the separate {plural} annotated in this volume; what continues from frame to frame counts once.",
        "What is the number of separate {plural} in this volume, as annotated, each counted once over all its frames?",
    ),
    "classification.one.slice": (
        "Which of these findings is annotated on this slice?",
        "One of these is annotated on this slice. Which?",
        "Which finding did the reader mark on this slice?",
    ),
    "classification.one.volume": (
        "Which of these findings is annotated in this volume?",
        "One of these is annotated in this volume. Which?",
        "Which finding did the reader mark in this scan?",
    ),
    "classification.several.slice": (
        "Which of these findings are annotated on this slice? Name all that apply.",
        "Choose every one of these that the reader marked on this slice.",
        "Which of the following are annotated on this slice? There may be one or more.",
    ),
    "classification.several.volume": (
        "Which of these findings are annotated in this volume? Name all that apply.",
        "Choose every one of these that the reader marked in this scan.",
        "Which of the following are annotated in this volume? There may be one or more.",
    ),
    "diagnosis.mark": (
        "The letter P marks a finding on this slice. How did the reader label it?",
        "Which label did the reader give to the finding at P on this slice?",
        "What is the finding at the mark P, as annotated?",
    ),
    "diagnosis.kind": (
        "Which of these, easily taken for one another, is annotated in this volume?",
        "Only one of these kindred findings is annotated in this volume. Which?",
        "Which of these alternatives did the reader settle on in this volume?",
    ),
    "diagnosis.study": (
        "How was this study read as a whole?",
        "Which label was given to this study as a whole?",
        "What is the overall reading of this study, as recorded?",
    ),
    "diagnosis.study_yes_no": (
        "Was this study as a whole labelled as showing {phrase}?",
        "Is {phrase} recorded for this study as a whole?",
        "Does the overall label of this study say {phrase}?",
    ),
    "captioning.slice": (
        "Describe what is annotated on this slice.",
        "Write a short description of the findings annotated on this slice.",
        "Sum up in a sentence or two what the reader marked on this slice.",
    ),
    "captioning.volume": (
        "Describe what is annotated in this volume.",
        "Write a short description of the findings annotated in this volume.",
        "Sum up in a few sentences what the reader marked in this scan.",
    ),
}


def worded(kind: str, item_id: str, seed: int, finding: Finding | None = None) -> str:
    """The question in the wording that seed and item pick; every wording means the same."""
    choices = WORDINGS[kind]
    text = choices[int(digest("wording", str(seed), item_id, size=4), 16) % len(choices)]
    return text if finding is None else text.format(phrase=finding.phrase, plural=finding.plural)


def listed(words: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def counted(number: int, one: str, many: str) -> str:
    """`1 box`, `3 boxes`."""
    return f"{number} {one if number == 1 else many}"


def opening(text: str) -> str:
    """The text as a sentence begins with it."""
    return text[:1].upper() + text[1:]
