"""The actions of a room, as a model is told them and as its replies are checked."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from situs.clients.turns import ActionKind, Field, schema_of, tools_of
from situs.room.schema import Room
from situs.room.view.scan import Scan

__all__ = ["ANSWER", "Offer", "action_kinds", "answer_kind"]

_POINT = "[picture, x, y] in pixels of a picture shown before, or [x, y] of the latest"
_POINT_MM = "[x, y, z] in patient millimetres instead"
_LONGEST_ANSWER = 4000
_PLACE = 160
"""Characters of a box on one slice: an answer may have to name one for every slice."""
_LONGEST_PLACES = 96_000
_LONGEST_NOTE = 600


def _answer(longest: int) -> ActionKind:
    return ActionKind(
        "answer",
        "End with your answer, in the form the question asks for.",
        {"answer": Field("text", "your answer", required=True, longest=longest)},
    )


ANSWER = _answer(_LONGEST_ANSWER)


def answer_kind(scan: Scan) -> ActionKind:
    """How a session on a scan is ended: with room for a place on each slice that answers name."""
    places = _PLACE * scan.count(scan.planes[0])
    return _answer(min(_LONGEST_ANSWER + places, _LONGEST_PLACES))


class Offer:
    """Actions, and how a server is told them: worked out once, and sent every turn."""

    def __init__(self, kinds: tuple[ActionKind, ...]) -> None:
        self.kinds = kinds

    @cached_property
    def schema(self) -> dict[str, Any]:
        """As a JSON schema."""
        return schema_of(self.kinds)

    @cached_property
    def tools(self) -> tuple[dict[str, Any], ...]:
        """As native tools."""
        return tools_of(self.kinds)


def action_kinds(room: Room, scan: Scan) -> tuple[ActionKind, ...]:
    """The actions that a room allows on a scan.

    A scan without millimetres has no lengths and positions.
    """
    plane = Field("choice", "which plane", choices=scan.planes)
    # A position stands for every plane, so its bounds are those of the longest.
    slice_number = Field("whole", least=1, most=max(scan.count(name) for name in scan.planes))
    window = Field("text", f"one of {', '.join(scan.windows)}", longest=40)
    zoom = Field("number", "magnification", least=1.0, most=room.most_zoom)
    value = Field("number", least=-1e6, most=1e6)
    point = Field("numbers", _POINT, count=(2, 3))
    in_mm = Field("numbers", _POINT_MM, count=(3, 3))
    look = {"plane": plane, "slice": _says(slice_number, "its number, from 1")}
    marked, ends = {"point": point}, {"a": point, "b": point}
    if scan.has_mm:
        look["at_mm"] = _says(value, "or its position in mm")
        marked["point_mm"] = in_mm
        ends |= {"a_mm": in_mm, "b_mm": in_mm}
    look |= {"window": window, "zoom": zoom, "centre": point}
    windowed = {"window": window}
    if room.own_windows:
        windowed |= {"low": _says(value, "or the value shown black"), "high": value}
    kinds = {
        "look": ActionKind("look", "Show one slice; `centre` is the middle of a zoom.", look),
        "strip": ActionKind(
            "strip",
            f"Show n slices (at most {room.strip}) from one to another, small, in one picture.",
            {
                "plane": plane,
                "from": slice_number,
                "to": slice_number,
                "n": Field("whole", least=2, most=room.strip, required=True),
                "window": window,
            },
        ),
        "window": ActionKind("window", "Choose the window of the next pictures.", windowed),
        "mark": ActionKind("mark", "Mark a point; later pictures show it by its number.", marked),
        "measure": ActionKind("measure", "The distance between two points, in mm.", ends),
        "segmentation": ActionKind(
            "segmentation",
            "What an automatic segmentation measures of a structure; with `other`, between the"
            " two.",
            {
                "structure": Field("text", "a plain name", longest=80, required=True),
                "other": Field("text", longest=80),
            },
        ),
        "note": ActionKind(
            "note",
            "Write down what you see, or that something cannot be right. Nothing is shown.",
            {"text": Field("text", longest=_LONGEST_NOTE, required=True)},
        ),
        "answer": answer_kind(scan),
    }
    if not scan.has_mm:
        del kinds["measure"]
    return tuple(kinds[name] for name in room.actions if name in kinds)


def _says(field: Field, about: str) -> Field:
    return Field(field.kind, about, least=field.least, most=field.most)
