"""The fields of a profile: exactly what a model is shown and told, as data with a hash.

Triples are in patient order: left–right, back–front, feet–head. For a series without millimetres
they are columns, rows and frames as stored."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Literal, get_type_hints

import msgspec

from situs.base.files import canonical_json, digest
from situs.profiles.planes import Plane

__all__ = [
    "AnswerSpace",
    "ArrayForm",
    "Crop",
    "Draw",
    "Encoding",
    "Montage",
    "NotInPictures",
    "Profile",
    "Prompt",
    "Resample",
    "View",
    "WindowRule",
    "picture_hash",
]

RENDERER = "1"
"""Goes into every profile's hash.

Raised whenever the same profile would give other pixels or words.
"""


class NotInPictures(msgspec.Struct, frozen=True):
    """Marks a field that leaves the pixels of a slice as they are, and says why."""

    why: str


PLACED = NotInPictures(
    "what it does to a slice stands in the slice's place: its index, size and corner"
)
WORDS = NotInPictures("it is read or told, not seen")
Whole3 = tuple[int, int, int]
Real3 = tuple[float, float, float]


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of the TOML file: a misspelt field is refused."""


class Montage(_Table, frozen=True):
    """Several slices tiled into one picture, in reading order."""

    columns: int
    rows: int
    gap_px: int = 2


class View(_Table, frozen=True):
    """Which slices, in which order, and how large."""

    kind: Annotated[Literal["stack", "three_views"], PLACED] = "stack"
    """Parallel slices, or an axial, a coronal and a sagittal one through each mark of the item
    (else the centre)."""
    plane: Annotated[Plane, PLACED] = Plane.AXIAL
    """Of the acquired grid, by its nearest axes. For a stack only."""
    slices: Annotated[int | Literal["all", "item"], PLACED] = "all"
    """At most so many, evenly spread with both ends (one: the middle); all.

    Or the item's frames (else all).
    """
    every_mm: Annotated[float | None, PLACED] = None
    """One slice every so many mm, from the first; instead of `slices`."""
    index_range: Annotated[tuple[int, int] | None, PLACED] = None
    """First and last slice to choose from, from 0 in patient order, both included."""
    fraction_range: Annotated[tuple[float, float] | None, PLACED] = None
    """The same as fractions of the stack."""
    limit: Annotated[int | None, PLACED] = None
    """Only the first so many of the chosen slices, in the order shown."""
    order: Annotated[Literal["ascending", "descending"], PLACED] = "ascending"
    """Ascending: feet to head, back to front, patient's left to right; frames as stored."""
    display: Literal["radiological", "neurological"] = "radiological"
    """Radiological: the patient's right on the picture's left.

    Sagittal pictures have the front on the left in both.
    """
    size_px: Annotated[int | None, PLACED] = None
    """The longest side; both axes at the same scale in mm. Without any size, pixels are voxels."""
    width_px: Annotated[int | None, PLACED] = None
    height_px: Annotated[int | None, PLACED] = None
    """A fixed size instead."""
    fit: Annotated[Literal["stretch", "pad"], PLACED] = "stretch"
    """How a slice fills a fixed size: stretched, or at one scale in mm with black beside it."""
    montage: Annotated[Montage | None, PLACED] = None
    windows: Literal["each", "rgb"] = "each"
    """Several windows: a picture for each, slice by slice, or three of them as red, green and
    blue."""
    fps: Annotated[float | None, WORDS] = None
    """The pictures are frames of a video at so many per second."""


class Resample(_Table, frozen=True):
    """A new lattice along the acquired axes, before anything else."""

    spacing_mm: float | Real3 | None = None
    """The same along all axes or one for each; 0 keeps an axis. Centred on the volume."""
    shape: Whole3 | None = None
    """So many voxels over the same extent instead; 0 keeps an axis."""
    interpolation: Literal["nearest", "linear", "area"] = "linear"
    """Between the two nearest voxels, or the mean over the new voxel's extent.

    Edges are held outside the volume.
    """


class Crop(_Table, frozen=True):
    """The middle of the (resampled) volume; where it is smaller, black is added around it."""

    shape: Whole3 | None = None
    """Voxels; 0 keeps an axis."""
    size_mm: Real3 | None = None
    """Millimetres instead."""


Percentile = Annotated[float, msgspec.Meta(ge=0.0, le=100.0)]


class WindowRule(_Table, frozen=True):
    """What is black and what is white:
    fixed values, or percentiles of the volume or of each slice."""

    low: float | None = None
    high: float | None = None
    low_percentile: Percentile | None = None
    high_percentile: Percentile | None = None
    """0 and 100 are the smallest and the largest value."""
    per: Literal["volume", "slice"] = "volume"
    """Of what the percentiles are taken. Of the volume as acquired; of the slice as shown."""
    clip: tuple[float, float] | None = None
    """Values outside are first set to these ends."""
    percentiles_of: Literal["clipped", "unclipped"] = "clipped"


class Encoding(_Table, frozen=True):
    """How pictures are encoded."""

    format: Literal["png", "jpeg"] = "png"
    quality: int = 90
    """Of JPEG, 1 to 95; chroma is not subsampled."""


class Draw(_Table, frozen=True):
    """What is drawn into the pictures."""

    marks: bool = True
    """The item's marks: a letter beside a ring or a cross that leaves the point itself free."""
    mark_style: Literal["ring", "cross"] = "ring"
    side_letters: bool = False
    """R L A P H F at the four edges."""
    scale_bar: bool = False
    """A bar of a round number of cm, with its length."""


class ArrayForm(_Table, frozen=True):
    """The array a 3D model receives: resampled and cropped as the pictures are."""

    axes: str = "RAS"
    """The patient direction each array axis runs towards.

    `SPL` is slices from the feet, rows from the front.
    """
    intensity: Literal["window", "stored"] = "window"
    """Through the (first) window, or as stored."""
    scale: tuple[float, float] = (0.0, 1.0)
    """What black and white become."""
    dtype: Literal["float32", "uint8", "int16"] = "float32"


class AnswerSpace(_Table, frozen=True):
    """How the model is told to speak of frames and boxes, hence how its answers are read."""

    frame_base: Literal[0, 1] = 1
    """The number of the first picture."""
    box_scale: Literal["pixel", "unit", "thousand"] = "pixel"
    """Pixels of the picture, or fractions of its sides as 0–1 or 0–1000."""
    box_order: Literal["xyxy", "xywh"] = "xyxy"
    box_form: Literal["frames", "volume"] = "frames"
    """A box per picture, or one `[start_slice, end_slice, x_min, x_max, y_min, y_max]`."""


class Prompt(_Table, frozen=True):
    """The words around the question. Text in braces is filled in."""

    intro: str = "You see {what} of one patient{order}. {sides} {spacing} {marks}"
    intro_pixels: str = "You see {what} of one patient{order}. {marks}"
    """For a series without millimetres."""
    yes_no: str = "Answer with yes or no."
    choice: str = "Answer with the letter of the right option."
    choices: str = "Answer with the letters of all right options, separated by commas."
    number: str = "Answer with one number{in_unit}."
    boxes: str = "Answer with {box_form}. {coordinates}"
    frames: str = (
        "Answer with the numbers of the pictures, as a range (e.g. {range_example}) or a list."
        " {counting}"
    )
    grades: str = "Answer with a JSON object of whole numbers: {grades_form}."
    text: str = "Answer in one short sentence."
    compound: str = "Answer with one JSON object with the keys {names}.\n{parts}"


class Profile(_Table, frozen=True):
    """What a model is shown and told."""

    name: Annotated[str, WORDS]
    window: dict[str, WindowRule | tuple[WindowRule, ...]]
    """By modality; `any` stands for those not named."""
    view: View = View()
    resample: Resample = Resample()
    crop: Crop = Crop()
    encoding: Encoding = Encoding()
    draw: Draw = Draw()
    array: Annotated[ArrayForm, WORDS] = ArrayForm()
    answer: Annotated[AnswerSpace, WORDS] = AnswerSpace()
    prompt: Annotated[Prompt, WORDS] = Prompt()
    gives: Annotated[tuple[str, ...], WORDS] = ()
    """Needs of items that it meets; derived from the rest where the file does not say."""
    about: Annotated[str, WORDS] = ""
    """One line for people; not part of the hash."""
    reply_language: Annotated[Literal["en", "de", "fr", "es", "zh"], WORDS] = "en"
    """The language replies are read in.

    It changes nothing of what is shown, so it is not part of the hash.
    """

    @property
    def hash(self) -> str:
        """Equal profiles have equal hashes.

        Every setting but `about` and `reply_language` goes in.
        """
        settings = canonical_json(msgspec.structs.replace(self, about="", reply_language="en"))
        # Cut off rather than kept at its default: hashes stored before the field existed still
        # hold.
        return digest(RENDERER, settings.removesuffix(b',"reply_language":"en"}') + b"}")


def picture_hash(profile: Profile) -> str:
    """The hash of what decides the pixels of a slice, but for where it lies and what is marked on
    it.

    Every field goes in that is not declared `NotInPictures`: a new one cannot be forgotten.
    """
    return digest(RENDERER, canonical_json(_picture_settings(profile)))


def _picture_settings(table: msgspec.Struct) -> dict[str, object]:
    settings: dict[str, object] = {}
    for name, exempt in _fields_of(type(table)).items():
        value = getattr(table, name)
        if not exempt:
            settings[name] = _picture_settings(value) if isinstance(value, _Table) else value
    return settings


@cache
def _fields_of(table: type[msgspec.Struct]) -> dict[str, bool]:
    """Field → whether it is declared to leave the pixels of a slice as they are."""
    hints = get_type_hints(table, include_extras=True)
    return {name: _is_exempt(hints[name]) for name in table.__struct_fields__}


def _is_exempt(hint: object) -> bool:
    return any(isinstance(mark, NotInPictures) for mark in getattr(hint, "__metadata__", ()))
