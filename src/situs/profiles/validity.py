"""What may be wrong with a profile whose fields all have the right type."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from situs.base.numbers import number_problems
from situs.profiles.geometry.lattice import MOST_VOXELS
from situs.profiles.schema import Profile, WindowRule

__all__ = ["ANSWER_SLOTS", "INTRO_SLOTS", "problems_of"]

INTRO_SLOTS: dict[str, str | int | float] = {
    "what": "32 axial CT slices",
    "order": ", in order from the feet to the head",
    "sides": "The patient's right is on the left side of each picture.",
    "spacing": "One pixel is 0.43 mm; neighbouring pictures are 5.0 mm apart.",
    "marks": "Each ring with a letter marks a point.",
    "frames": 1,
    "plane": "axial",
    "modality": "CT",
    "first": "feet",
    "last": "head",
    "mm_per_pixel": 1.0,
    "mm_between": 1.0,
    "width": 448,
    "height": 448,
    "fps": 4.0,
}
"""What the intro may speak of, with a value of each kind."""

_MM_SLOTS = ("sides", "spacing", "plane", "first", "last", "mm_per_pixel", "mm_between")
"""What cannot be said of a series without millimetres."""

ANSWER_SLOTS: dict[str, str | int] = {
    "unit": "mm",
    "in_unit": " in mm",
    "box_form": "a JSON list",
    "coordinates": "Pictures count from 1.",
    "counting": "Pictures count from 1.",
    "range_example": "3-7",
    "first_frame": 1,
    "last_frame": 32,
    "width": 448,
    "height": 448,
    "names": "size, number",
    "grades_form": '{"size": <grade>}',
    "parts": "size: a number.",
}
"""What the words about an answer may speak of."""

_PIXELS = (16, 4096)
_MOST_SLICES = 10_000
_SHORTEST_MM = 0.05


def problems_of(profile: Profile) -> list[str]:
    """All that cannot work, each in a few words."""
    wrong = list(number_problems(profile))
    if wrong:
        return wrong  # nothing else can be asked of such numbers
    parts = (_slices, _sizes, _kind, _lattice, _windows, _encoding_and_array, _prompt)
    return list(itertools.chain.from_iterable(part(profile) for part in parts))


def _slices(profile: Profile) -> Iterator[str]:
    """Which slices are shown."""
    view = profile.view
    if isinstance(view.slices, int) and not 1 <= view.slices <= _MOST_SLICES:
        yield "view.slices is not at least one slice"
    if view.every_mm is not None:
        if not _SHORTEST_MM <= view.every_mm < math.inf:
            yield f"view.every_mm is not a length of at least {_SHORTEST_MM} mm"
        if view.slices != "all":
            yield "view.slices and view.every_mm exclude each other"
    if view.limit is not None and view.limit < 1:
        yield "view.limit is not at least one"
    if view.index_range is not None and view.fraction_range is not None:
        yield "view.index_range and view.fraction_range exclude each other"
    if view.index_range is not None and not 0 <= view.index_range[0] <= view.index_range[1]:
        yield "view.index_range is not first ≤ last, from 0"
    if (
        view.fraction_range is not None
        and not 0 <= view.fraction_range[0] <= view.fraction_range[1] <= 1
    ):
        yield "view.fraction_range is not first ≤ last between 0 and 1"


def _sizes(profile: Profile) -> Iterator[str]:
    """How large and how fast pictures are."""
    view = profile.view
    if view.fps is not None and not 0 < view.fps <= 1000:
        yield "view.fps is not a rate"
    sizes = [size for size in (view.size_px, view.width_px, view.height_px) if size is not None]
    if any(not _PIXELS[0] <= size <= _PIXELS[1] for size in sizes):
        yield f"pictures have {_PIXELS[0]} to {_PIXELS[1]} px"
    if (view.width_px is None) != (view.height_px is None) or (
        view.size_px is not None and len(sizes) > 1
    ):
        yield "give view.size_px, or view.width_px and view.height_px, or none"
    if view.fit == "pad" and view.width_px is None:
        yield 'view.fit = "pad" needs view.width_px and view.height_px'


def _kind(profile: Profile) -> Iterator[str]:
    """Sheets and views of three planes."""
    view = profile.view
    montage = view.montage
    if montage is not None and not (
        1 <= montage.columns <= 64 and 1 <= montage.rows <= 64 and 0 <= montage.gap_px <= 64
    ):
        yield "view.montage has 1 to 64 columns and rows, with gaps of 0 to 64 px"
    if view.kind == "three_views" and (
        view.slices != "all"
        or view.every_mm
        or view.index_range
        or view.fraction_range
        or view.limit
    ):
        yield "three views have no choice of slices"


def _lattice(profile: Profile) -> Iterator[str]:
    resample, crop = profile.resample, profile.crop
    if resample.shape is not None and resample.spacing_mm is not None:
        yield "resample.shape and resample.spacing_mm exclude each other"
    if crop.shape is not None and crop.size_mm is not None:
        yield "crop.shape and crop.size_mm exclude each other"
    for name, shape in (("resample.shape", resample.shape), ("crop.shape", crop.shape)):
        if shape is not None and any(not 0 <= count <= MOST_VOXELS for count in shape):
            yield f"{name} is not three numbers of voxels up to {MOST_VOXELS}"
    spacing = resample.spacing_mm
    lengths = () if spacing is None else (spacing,) if isinstance(spacing, float) else spacing
    if any(
        length != 0 and not _SHORTEST_MM <= length < math.inf
        for length in (*lengths, *(crop.size_mm or ()))
    ):
        yield f"lengths are at least {_SHORTEST_MM} mm, or 0 to keep an axis"


def _windows(profile: Profile) -> Iterator[str]:
    if not profile.window:
        yield "has no window"
    counts = set()
    for modality, declared in profile.window.items():
        rules = declared if isinstance(declared, tuple) else (declared,)
        counts.add(len(rules))
        for rule in rules:
            yield from _window(modality, rule)
    if profile.view.windows == "rgb" and counts - {3}:
        yield 'view.windows = "rgb" needs three windows for every modality'
    if 0 in counts or len(counts) > 1:
        yield "every modality needs the same number of windows, at least one"


def _window(modality: str, rule: WindowRule) -> Iterator[str]:
    fixed = rule.low is not None or rule.high is not None
    relative = rule.low_percentile is not None or rule.high_percentile is not None
    in_order = (
        rule.low is not None
        and rule.high is not None
        and -math.inf < rule.low < rule.high < math.inf
        if fixed
        else rule.low_percentile is not None
        and rule.high_percentile is not None
        and 0 <= rule.low_percentile < rule.high_percentile <= 100
    )
    if fixed == relative or not in_order:
        yield (
            f"window of {modality} is not one range: give low < high, or low_percentile <"
            " high_percentile"
        )
    if rule.clip is not None and not -math.inf < rule.clip[0] < rule.clip[1] < math.inf:
        yield f"window of {modality}: clip is not low < high"
    if fixed and (rule.per == "slice" or rule.percentiles_of == "unclipped"):
        yield f"window of {modality}: fixed values are the same for every slice"


def _encoding_and_array(profile: Profile) -> Iterator[str]:
    if not 1 <= profile.encoding.quality <= 95:
        yield "encoding.quality is 1 to 95"
    axes = profile.array.axes
    if sorted("RAS".find(c) if c in "RAS" else "LPI".find(c) for c in axes) != [0, 1, 2]:
        yield 'array.axes names each patient axis once, as in "RAS"'
    low, high = profile.array.scale
    if not -math.inf < low < high < math.inf:
        yield "array.scale is not black < white"
    if (
        profile.array.dtype == "uint8"
        and profile.array.intensity == "window"
        and not 0 <= low < high <= 255
    ):
        yield "array.scale does not fit uint8"


def _prompt(profile: Profile) -> Iterator[str]:
    """Every slot in the prompt's words is one that Situs fills."""
    of_pixels = {name: value for name, value in INTRO_SLOTS.items() if name not in _MM_SLOTS}
    known_of = {"intro": INTRO_SLOTS, "intro_pixels": of_pixels}
    for name in profile.prompt.__struct_fields__:
        known = known_of.get(name, ANSWER_SLOTS)
        try:
            getattr(profile.prompt, name).format(**known)
        except (KeyError, IndexError, ValueError, AttributeError, TypeError) as error:
            yield f"prompt.{name} has a slot that is not known ({error}); known: {', '.join(known)}"
