"""The words a model is given."""

from __future__ import annotations

import re

import numpy as np

from situs.items import Answer as ItemAnswer
from situs.items import Boxes, Compound, Grades, Item, Number, kind_of
from situs.profiles.geometry.frame import Tile
from situs.profiles.geometry.layout import Layout
from situs.profiles.planes import Plane
from situs.profiles.schema import AnswerSpace, Profile

__all__ = ["intro_text", "options_text", "prompt_text"]


_VOLUME_BOX = "[start_slice, end_slice, x_min, x_max, y_min, y_max]"


def options_text(item: Item) -> str:
    """The options, a letter each."""
    return "\n".join(
        f"({letter}) {o.text}" for letter, o in zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", item.options)
    )


def prompt_text(
    item: Item, profile: Profile, layout: Layout, modality: str, *, names_slice: bool = True
) -> str:
    """The whole prompt beside the pictures.

    `names_slice`: where others are shown too, it says which picture "this slice" is.
    """
    how = _how(profile, item.form, item.answer, layout)
    which = _which_slice(item, profile, layout) if names_slice else ""
    question = "\n".join(part for part in (which, item.question, options_text(item), how) if part)
    marked = profile.draw.marks and any(box.label.startswith("mark:") for box in item.boxes)
    intro = intro_text(profile, layout, modality, marked=marked)
    return f"{intro}\n\n{question}" if intro else question


def _which_slice(item: Item, profile: Profile, layout: Layout) -> str:
    """Where a question is about one slice and others are shown beside it: which picture that is."""
    is_marked = profile.draw.marks and any(box.label.startswith("mark:") for box in item.boxes)
    if item.level != "slice" or not item.frames or is_marked or not layout.is_counted:
        return ""
    tiles = [(number, tile) for number, frame in enumerate(layout.frames) for tile in frame.tiles]
    asked = [
        tile.plane in (None, Plane.AXIAL) and tile.source_index in item.frames for _, tile in tiles
    ]
    if all(asked) or not any(asked):
        return ""
    base = profile.answer.frame_base
    if profile.view.montage is None:
        numbers = sorted({number + base for (number, _), is_asked in zip(tiles, asked) if is_asked})
        thing, where = "picture", ""
    else:
        numbers = [place + base for place, is_asked in enumerate(asked) if is_asked]
        thing, where = "slice", " in reading order"
    plural = "s" if len(numbers) > 1 else ""
    named = _joined([str(number) for number in numbers])
    return f"The question is about {thing}{plural} {named}{where}, counting from {base}."


def intro_text(profile: Profile, layout: Layout, modality: str, *, marked: bool = False) -> str:
    """What the model is told about the pictures."""
    name = {"ct": "CT", "mr": "MR"}.get(modality, modality)
    words = profile.prompt.intro if layout.lattice.has_mm else profile.prompt.intro_pixels
    if not words:
        return ""
    used = set(re.findall(r"{(\w+)", words))
    slots: dict[str, str | int | float] = {
        "what": _what(profile, layout, name),
        "order": "",
        "marks": f"Each {profile.draw.mark_style} with a letter marks a point." if marked else "",
        "frames": len(layout.frames) if layout.is_counted else "some",
        "modality": name,
        "fps": profile.view.fps or 0.0,
    }
    if used & {"width", "height"}:
        slots |= {"width": layout.frames[0].width, "height": layout.frames[0].height}
    first, last = _ends(profile, layout)
    count = sum(len(frame.tiles) for frame in layout.frames)
    if count > 1 or not layout.is_counted:
        slots["order"] = _order(profile, layout, first, last)
    if layout.lattice.has_mm:
        slots |= {
            "plane": profile.view.plane.value,
            "first": first,
            "last": last,
            "sides": _sides(profile, layout),
            "spacing": _spacing(layout),
            "mm_per_pixel": layout.frames[0].mm_per_pixel[0],
            "mm_between": _between(layout),
        }
    return re.sub(r" {2,}", " ", words.format(**slots)).strip()


def _what(profile: Profile, layout: Layout, modality: str) -> str:
    """`32 axial CT slices`."""
    view = profile.view
    slices = [tile for frame in layout.frames for tile in frame.tiles]
    if view.kind == "three_views":
        planes = [tile.plane.value for tile in slices if tile.plane is not None]
        counted_planes = _joined(
            [f"{_count(planes.count(plane))} {plane}" for plane in dict.fromkeys(planes)]
        )
        what = f"{counted_planes} {modality} slice{'s' if len(slices) > len(set(planes)) else ''}"
    else:
        plane = f"{view.plane.value} " if layout.lattice.has_mm else ""
        number = f"{len(slices)} " if layout.is_counted else ""
        what = (
            f"{number}{plane}{modality}"
            f" slice{'s' if len(slices) > 1 or not layout.is_counted else ''}"
        )
    if view.fps is not None:
        what = f"a video of {what} ({view.fps:g} frames per second)"
    return what


def _order(profile: Profile, layout: Layout, first: str, last: str) -> str:
    """In which order the slices come, and how they lie on sheets."""
    ends = f" from the {first} to the {last}" if first else ""
    if profile.view.montage is None:
        return f", in order{ends}" if ends else ""
    sheets = "one sheet" if len(layout.frames) == 1 else f"{len(layout.frames)} sheets"
    return f", on {sheets} in reading order{ends}"


def _count(number: int) -> str:
    return "one" if number == 1 else str(number)


def _joined(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _ends(profile: Profile, layout: Layout) -> tuple[str, str]:
    view = profile.view
    if view.kind == "three_views":
        return "", ""
    if not layout.lattice.has_mm:
        ends = ("first frame", "last")
    else:
        ends = {
            Plane.AXIAL: ("feet", "head"),
            Plane.CORONAL: ("back", "front"),
            Plane.SAGITTAL: ("patient's left", "patient's right"),
        }[view.plane]
    if view.order == "descending":
        return ends[1], ends[0]
    return ends


def _sides(profile: Profile, layout: Layout) -> str:
    side = "right" if profile.view.display == "radiological" else "left"
    planes = {tile.plane for frame in layout.frames for tile in frame.tiles}
    each = (
        "each slice"
        if profile.view.montage
        else "each picture"
        if len(layout.frames) > 1
        else "the picture"
    )
    if planes == {Plane.SAGITTAL}:
        return f"The patient's front is on the left side of {each}."
    if Plane.SAGITTAL not in planes:
        return f"The patient's {side} is on the left side of {each}."
    return (
        f"In axial and coronal slices the patient's {side} is on the left side, "
        "in sagittal ones the patient's front."
    )


def _spacing(layout: Layout) -> str:
    """How long a pixel is, and how far apart parallel slices are."""
    tiles = [tile for frame in layout.frames for tile in frame.tiles]
    sizes = {
        tile.plane: np.linalg.norm(tile.matrix[:, :2], axis=0) for tile in _one_of_each_plane(tiles)
    }
    if len({tuple(size.round(2)) for size in sizes.values()}) > 1:
        pixel_sizes = [
            f"{x:.2f} × {y:.2f} mm in the {plane} slice" for plane, (x, y) in sizes.items()
        ]
        return f"One pixel is {_joined(pixel_sizes)}."
    x, y = (float(v) for v in sizes[tiles[0].plane])
    pixel = f"One pixel is {x:.2f} mm"
    if abs(x - y) > 0.01 * max(x, y):
        pixel = f"One pixel is {x:.2f} mm wide and {y:.2f} mm high"
    if len({tile.plane for tile in tiles}) > 1 or len({tile.index for tile in tiles}) == 1:
        return f"{pixel}."
    things = "slices" if len(layout.frames) < len(tiles) else "pictures"
    return f"{pixel}; neighbouring {things} are {_between(layout):.1f} mm apart."


def _one_of_each_plane(tiles: list[Tile]) -> list[Tile]:
    return list({tile.plane: tile for tile in reversed(tiles)}.values())[::-1]


def _between(layout: Layout) -> float:
    """Mean distance between neighbouring slices of a stack."""
    tiles = [tile for frame in layout.frames for tile in frame.tiles]
    indices = sorted({tile.index for tile in tiles})
    if len({tile.plane for tile in tiles}) > 1 or len(indices) < 2:
        return 0.0
    return (
        float(layout.lattice.spacing[tiles[0].screen.through])
        * (indices[-1] - indices[0])
        / (len(indices) - 1)
    )


def _how(profile: Profile, form: str, answer: ItemAnswer, layout: Layout) -> str:
    """How to answer."""
    # An imported form of another name is asked for as what its answer is.
    known = form in profile.prompt.__struct_fields__
    words = str(getattr(profile.prompt, form if known else kind_of(answer)))
    space = profile.answer
    last = space.frame_base + len(layout.frames) - 1
    unit = answer.unit if isinstance(answer, Number) else ""
    slots: dict[str, str | int] = {
        "unit": unit,
        "in_unit": f" in {unit}" if unit else "",
        "box_form": _box_form(space),
        "counting": _counting(space, layout),
        "range_example": f"{space.frame_base + 2}-{space.frame_base + 6}",
        "first_frame": space.frame_base,
        "last_frame": last if layout.is_counted else "the last",
        "names": "",
        "grades_form": "",
        "parts": "",
    }
    if re.search(r"{(width|height)", words):
        slots |= {"width": layout.frames[0].width, "height": layout.frames[0].height}
    if "{coordinates" in words:
        slots["coordinates"] = _coordinates(space, layout)
    if isinstance(answer, Grades):
        slots["names"] = ", ".join(answer.grades)
        slots["grades_form"] = "{" + ", ".join(f'"{name}": <grade>' for name in answer.grades) + "}"
    if isinstance(answer, Compound):
        slots["names"] = ", ".join(answer.parts)
        slots["parts"] = "\n".join(
            f"{name}: {_part(profile, part, layout)}" for name, part in answer.parts.items()
        )
    return words.format(**slots)


def _part(profile: Profile, answer: ItemAnswer, layout: Layout) -> str:
    if isinstance(answer, Boxes) and profile.answer.box_form == "volume":
        # As a part it is the list itself, not an object around it.
        instruction = f"{_VOLUME_BOX}. {_coordinates(profile.answer, layout)}"
    else:
        instruction = _how(profile, kind_of(answer), answer, layout).removeprefix("Answer with ")
    return instruction[:1].lower() + instruction[1:]


def _box_form(space: AnswerSpace) -> str:
    if space.box_form == "volume":
        return f'one JSON object {{"box": {_VOLUME_BOX}}}'
    corners = (
        "x_min, y_min, x_max, y_max" if space.box_order == "xyxy" else "x_min, y_min, width, height"
    )
    return (
        f'a JSON list with one object per box: {{"frame": <picture>, "box": [{corners}], "label":'
        ' "<what it is>"}'
    )


def _counting(space: AnswerSpace, layout: Layout) -> str:
    if not layout.is_counted:
        return f"Pictures are numbered from {space.frame_base}."
    last = space.frame_base + len(layout.frames) - 1
    return f"Pictures are numbered from {space.frame_base} to {last}."


def _coordinates(space: AnswerSpace, layout: Layout) -> str:
    frame = layout.frames[0]
    scale = {
        "pixel": "in pixels",
        "unit": "as fractions of the width and height, from 0 to 1",
        "thousand": "scaled to 0 to 1000 over the width and height",
    }[space.box_scale]
    is_sized = space.box_scale == "pixel" and frame.is_size_known
    size = f" (it is {frame.width} wide and {frame.height} high)" if is_sized else ""
    return (
        f"{_counting(space, layout)} x runs to the right and y downwards from the picture's "
        f"upper left corner{size}, {scale}."
    )
