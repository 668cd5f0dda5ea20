"""How questions about boxes read: several wordings of one meaning, one of which a seed picks."""

from __future__ import annotations

from situs.anatomy import Finding
from situs.base.files import digest

__all__ = ["WORDINGS", "listed", "opening", "worded"]


WORDINGS: dict[str, tuple[str, ...]] = {
    "detection.slice": (
        "Did the reader mark {phrase} on this slice?",
        "Has the reader marked {phrase} on this slice?",
        "According to the reader, does this slice show {phrase}?",
    ),
    "detection.volume": (
        "Did the reader mark {phrase} in this volume?",
        "Has the reader marked {phrase} on any frame of this volume?",
        "According to the reader, does this volume show {phrase}?",
    ),
    "localization.boxes.slice": (
        "Where on this slice {is_} {phrase} seen? Give one box for each place.",
        "Mark {phrase} on this slice, with one box for each place.",
        "Draw a box around each place on this slice that shows {phrase}.",
    ),
    "localization.boxes.volume": (
        (
            "On which frames {is_} {phrase} seen, and where? Give one box for each place on each"
            " frame."
        ),
        "Mark {phrase} throughout this volume, with one box for each place on each frame.",
        "Where in this volume {is_} {phrase} seen? Give the frame and a box for each place.",
    ),
    "localization.frames": (
        "On which frames {is_} {phrase} seen?",
        "Which frames of this volume show {phrase}?",
        "Name every frame that shows {phrase}.",
    ),
    "localization.range": (
        "From which frame to which {is_} {phrase} seen?",
        "Over which range of frames {is_} {phrase} seen?",
        "Give the first and the last frame that show {phrase}.",
    ),
    "localization.largest": (
        "On which frame {is_} {phrase} largest, measured by a box around the finding?",
        "Which frame shows the largest extent of {phrase}, measured by a box around the finding?",
        "On which frame would a box around {phrase} be largest?",
    ),
    "localization.side.slice": (
        "On which side of the image {is_} {phrase} seen on this slice?",
        "On this slice, which side of the image shows {phrase}: its left, its right, or both?",
        (
            "On this slice, {is_} {phrase} on the left of the image, on the right, or on both sides"
            " of the midline?"
        ),
    ),
    "localization.side.volume": (
        "On which side of the images {is_} {phrase} seen in this volume?",
        (
            "Over the whole volume, which side of the image shows {phrase}: its left, its right, or"
            " both?"
        ),
        (
            "Taking all frames, {is_} {phrase} on the left of the image, on the right, or on both"
            " sides of the midline?"
        ),
    ),
    "localization.compartment.slice": (
        "In which compartment of the knee {is_} {phrase} seen on this slice?",
        "On this slice, {is_} {phrase} in the medial or in the lateral compartment?",
        "Which compartment of the knee shows {phrase} on this slice?",
    ),
    "localization.compartment.volume": (
        "In which compartment of the knee {is_} {phrase} seen in this volume?",
        "Over the whole volume, {is_} {phrase} in the medial or in the lateral compartment?",
        "Which compartment of the knee shows {phrase} in this volume?",
    ),
    "counting": (
        (
            "How many separate {plural} did the reader mark in this volume? Count each once, over"
            " all its frames."
        ),
        (
            "Count the separate {plural} that the reader marked in this volume, each once over all"
            " its frames."
        ),
        (
            "What is the number of separate {plural} that the reader marked in this volume, each"
            " counted once?"
        ),
    ),
    "classification.one.slice": (
        "Which of these findings did the reader mark on this slice?",
        "The reader marked one of these findings on this slice. Which?",
        "According to the reader, which of these findings does this slice show?",
    ),
    "classification.one.volume": (
        "Which of these findings did the reader mark in this volume?",
        "The reader marked one of these findings in this volume. Which?",
        "According to the reader, which of these findings does this volume show?",
    ),
    "classification.several.slice": (
        "Which of these findings did the reader mark on this slice? Name all that apply.",
        "Choose every one of these findings that the reader marked on this slice.",
        (
            "According to the reader, which of these findings does this slice show? There may be"
            " one or more."
        ),
    ),
    "classification.several.volume": (
        "Which of these findings did the reader mark in this volume? Name all that apply.",
        "Choose every one of these findings that the reader marked in this volume.",
        (
            "According to the reader, which of these findings does this volume show? There may be"
            " one or more."
        ),
    ),
    "diagnosis.mark": (
        "The letter P marks a finding on this slice. What is it?",
        "What is the finding at the mark P on this slice?",
        "Which of these is the finding at the mark P?",
    ),
    "diagnosis.kind": (
        "Which of these, easily taken for one another, did the reader mark in this volume?",
        "The reader marked only one of these look-alikes in this volume. Which?",
        "Which one of these does this volume show, according to the reader?",
    ),
    "diagnosis.study": (
        "How was this study read as a whole?",
        "What is the overall impression of this study?",
        "Which of these is the overall reading of this study?",
    ),
    "diagnosis.study_yes_no": (
        "Was this study read as showing {phrase}?",
        "According to the reader, does this study as a whole show {phrase}?",
        "Did the reader record {phrase} for this study as a whole?",
    ),
    "captioning.slice": (
        "Describe the findings on this slice.",
        "Write a short description of the findings on this slice.",
        "Sum up the findings on this slice in a sentence or two.",
    ),
    "captioning.volume": (
        "Describe the findings in this volume.",
        "Write a short description of the findings in this volume.",
        "Sum up the findings in this volume in a few sentences.",
    ),
}
"""Where nothing marked would not prove that nothing is there,
the question is what the reader marked."""


def worded(kind: str, item_id: str, seed: int, finding: Finding | None = None) -> str:
    """The question in the wording that seed and item pick; every wording means the same."""
    choices = WORDINGS[kind]
    text = choices[int(digest("wording", str(seed), item_id, size=4), 16) % len(choices)]
    if finding is None:
        return text
    return text.format(
        phrase=finding.phrase, plural=finding.plural, is_="are" if finding.is_plural else "is"
    )


def listed(words: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def opening(text: str) -> str:
    """The text as a sentence begins with it."""
    return text[:1].upper() + text[1:]
