"""What a model is told in a room: the scan in neutral words, the actions, the question.

No label, name or id.
"""

from __future__ import annotations

from collections.abc import Iterable

from situs.clients.turns import ActionKind
from situs.items import Item, has_places, marks_of
from situs.profiles import prompt_text
from situs.room.view.scan import FRAME, Picture, Scan

__all__ = ["action_words", "inventory", "must_answer_words", "opening", "picture_words"]

_ENDS = {
    "axial": ("the feet", "the head", "z"),
    "coronal": ("the back", "the front", "y"),
    "sagittal": ("the patient's left", "the patient's right", "x"),
}
_FORCED = (
    "No pictures can be shown this time. Answer all the same, in the form asked for, with what is"
    " most likely."
)


def opening(item: Item, scan: Scan, kinds: Iterable[ActionKind], withheld: str, tools: bool) -> str:
    """The first message of a session.

    `withheld`: no picture can be had, and that is said (`text`) or not.
    """
    listed = list(kinds)
    parts = [inventory(scan)]
    if item.level == "slice" and item.frames:
        numbers = ", ".join(str(frame + scan.profile.answer.frame_base) for frame in item.frames)
        parts.append(f"The question is about {scan.planes[0]} slice {numbers}.")
    if marks_of(item) and not withheld:
        parts.append(
            "The points marked by letters are drawn on the slices they lie on: "
            f"{_marked_slices(item, scan)}."
        )
    layout, modality = scan.answer_layout, scan.series.modality
    # The slice is named above, by its number in the room.
    parts.append(prompt_text(item, scan.profile, layout, modality, names_slice=False))
    if has_places(item.answer):
        parts.append(
            f"Here pictures are the {scan.planes[0]} slices by their numbers, "
            "and coordinates are those of a look without zoom."
        )
    if withheld == "text":
        parts.append(_FORCED)
    if len(listed) > 1:
        budget = scan.room.budget
        parts.append(action_words(listed, budget.looks, budget.turns))
    if not tools:
        parts.append(_contract(listed))
    return "\n\n".join(parts)


def inventory(scan: Scan) -> str:
    """What kind of scan it is, how many slices each plane has and where they lie,
    as far as the room tells."""
    tells, modality = scan.room.tells, scan.series.modality
    name = {"ct": "CT", "mr": "MR"}.get(modality, modality) if "modality" in tells else ""
    lines = [f"You read one {name + ' ' if name else ''}scan at a viewer."]
    lines += [_plane_words(scan, plane) for plane in scan.planes]
    if scan.has_mm:
        lines.append(_sides(scan))
        if "position" in tells:
            lines.append(
                "Patient coordinates are in mm: x grows to the patient's right, y to the front, z"
                " to the head."
            )
    return "\n".join(lines)


def _plane_words(scan: Scan, plane: str) -> str:
    count = scan.count(plane)
    if plane == FRAME:
        return f"It has frames 1 to {count}, as they were stored."
    first, last, axis = _ENDS[plane]
    words = f"{plane.capitalize()} slices 1 to {count}, from {first} to {last}"
    if "size" in scan.room.tells:
        words += f", {scan.spacing_mm(plane):.2f} mm apart"
    if "position" in scan.room.tells:
        low, high = scan.ends_mm(plane)
        words += f", {axis} from {low:.1f} to {high:.1f} mm"
    return words + "."


def _sides(scan: Scan) -> str:
    side = "right" if scan.profile.view.display == "radiological" else "left"
    flat = [plane for plane in scan.planes if plane != "sagittal"]
    words = []
    if flat:
        words.append(f"In {' and '.join(flat)} pictures the patient's {side} is on the left side.")
    if "sagittal" in scan.planes:
        words.append("In sagittal pictures the patient's front is on the left side.")
    return " ".join(words)


def _marked_slices(item: Item, scan: Scan) -> str:
    """On which slices there are marks, so that nobody hunts for letters;
    which mark is where is not put in words."""
    from situs.profiles.geometry.layout import mark_points

    plane, base = scan.planes[0], scan.profile.answer.frame_base
    points = mark_points(item, scan.answer_layout.lattice).values()
    numbers = sorted({scan.nearest_index(plane, point) + base for point in points})
    return f"{plane} slice {', '.join(map(str, numbers))}"


def action_words(kinds: Iterable[ActionKind], looks: int, turns: int) -> str:
    """The actions and their fields, and how many looks and turns are left."""
    lines = ["You may use these actions, one a turn:"]
    for kind in kinds:
        fields = ", ".join(
            name + (f" ({field.about})" if field.about else "")
            for name, field in kind.fields.items()
        )
        lines.append(f"- {kind.name}: {kind.about} Fields: {fields}.")
    lines.append(
        f"You have {_many(looks, 'look')} (a strip is one) and "
        f"{_many(turns, 'turn')}. Looking more costs you nothing else."
    )
    return "\n".join(lines)


def _contract(kinds: list[ActionKind]) -> str:
    if len(kinds) == 1:
        return 'Reply with one JSON object and nothing else: {"action": "answer", "answer": "…"}'
    return (
        'Reply in each turn with one JSON object and nothing else, e.g. {"action": "look", "plane":'
        ' "axial", "slice": 1} or {"action": "answer", "answer": "…"}'
    )


def picture_words(number: int, picture: Picture, scan: Scan, looks_left: int) -> str:
    """What a picture shows: plane, slices, window, size and scale."""
    look, base = picture.look, scan.profile.answer.frame_base
    slices = ", ".join(str(index + base) for index in look.slices)
    frame = picture.layout.frames[0]
    noun = FRAME if look.plane == FRAME else f"{look.plane} slice"
    if look.strip:
        words = f"{noun}s {slices} in reading order"
    else:
        words = f"{noun} {slices} of {scan.count(look.plane)}"
        if scan.has_mm and "position" in scan.room.tells:
            axis = _ENDS[look.plane][2]
            words += f" ({axis} = {scan.position_mm(look.plane, look.slices[0]):.1f} mm)"
    words = f"Picture {number}: {words}, window {look.window}"
    if look.zoom > 1:
        words += f", zoom {look.zoom:g}"
    words += f", {frame.width} × {frame.height} px"
    if scan.has_mm and "size" in scan.room.tells:
        words += f", one pixel is {picture.mm_per_pixel:.3f} mm"
    return f"{words}. {_many(looks_left, 'look')} left."


def must_answer_words(reason: str) -> str:
    """Asks for the answer, and says why."""
    return f"{reason} Answer now: the only action left is answer."


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
