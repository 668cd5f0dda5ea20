"""What a model does at the viewer: looks, windows, marks, measurements.

A mistake is told in one line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from situs.clients.turns import Action
from situs.errors import SitusError
from situs.items import Item
from situs.profiles.geometry.layout import mark_points
from situs.profiles.schema import WindowRule
from situs.room.tools.measures import Segmentation, ToolWord
from situs.room.view.scan import FRAME, Look, Picture, Point, Scan

__all__ = ["Desk", "Done"]

_VALUE = r"([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)"
_VALUES = re.compile(rf"^\s*{_VALUE}\s*(?:to|,|\.\.|:)\s*{_VALUE}\s*$")
"""Signals of raw MR are a few millionths, so values come with exponents as well."""


class Done(NamedTuple):
    """What an action gave."""

    words: str = ""
    picture: Picture | None = None
    points: tuple[tuple[float, ...], ...] = ()
    """Of a mark or measurement: mm, or (frame, x, y)."""
    length_mm: float | None = None
    tool: ToolWord | None = None


class Desk:
    """The state of one viewer."""

    def __init__(self, scan: Scan, item: Item | None, segmentation: Segmentation | None) -> None:
        self._scan = scan
        self._segmentation = segmentation
        self._marks: dict[str, Point] = (
            dict(mark_points(item, scan.answer_layout.lattice)) if scan.profile.draw.marks else {}
        )
        self._own_marks = 0
        self._window = next(iter(scan.windows))
        self._plane = scan.planes[0]
        self.pictures: list[Picture] = []

    def do(self, action: Action) -> Done:
        """Carry out an action; a `SitusError` says what is wrong with it."""
        return _DEEDS[action.name](self, action.arguments)

    def look_of(self, action: Action) -> Look | None:
        """The look that an action asks for; None if it asks for none."""
        if action.name == "look":
            return self._single(action.arguments)
        return self._strip_look(action.arguments) if action.name == "strip" else None

    def _look(self, arguments: Mapping[str, Any]) -> Done:
        return self._show(self._single(arguments))

    def _strip(self, arguments: Mapping[str, Any]) -> Done:
        return self._show(self._strip_look(arguments))

    def _show(self, look: Look) -> Done:
        picture = self._scan.picture(look, self._rule(look.window), self._marks)
        self.pictures.append(picture)
        self._plane = look.plane
        return Done(picture=picture)

    def _single(self, arguments: Mapping[str, Any]) -> Look:
        plane = arguments.get("plane", self._plane)
        if ("slice" in arguments) == ("at_mm" in arguments):
            raise SitusError("say which slice: give `slice` or `at_mm`, one of them")
        in_mm = "at_mm" in arguments
        find = self._scan.index_at if in_mm else self._index
        index = find(plane, arguments["at_mm" if in_mm else "slice"])
        zoom = float(arguments.get("zoom", 1.0))
        centre = None
        if "centre" in arguments:
            x, y, z = (float(v) for v in self._point(arguments["centre"]))
            centre = x, y, z
        window = self._named(arguments.get("window", self._window))
        return Look(plane, (index,), window, zoom, centre if zoom > 1 else None)

    def _strip_look(self, arguments: Mapping[str, Any]) -> Look:
        plane = arguments.get("plane", self._plane)
        first = self._index(plane, arguments.get("from", 1))
        last = self._index(plane, arguments.get("to", self._scan.count(plane)))
        low, high = min(first, last), max(first, last)
        spread = np.linspace(low, high, min(arguments["n"], high - low + 1))
        slices = tuple(sorted({int(position) for position in np.rint(spread)}))
        window = self._named(arguments.get("window", self._window))
        return Look(plane, slices, window, strip=True)

    def _index(self, plane: str, number: int) -> int:
        count = self._scan.count(plane)
        if not 1 <= number <= count:
            raise SitusError(f"{plane} slices run from 1 to {count}; there is no {number}")
        return number - 1

    def _named(self, name: str) -> str:
        """A known window by its name, or values as they are kept."""
        values = _VALUES.match(name)
        if values is not None and self._scan.room.own_windows:
            return _values_name(float(values[1]), float(values[2]))
        self._scan.window_rule(name)
        return name.strip().lower()

    def _rule(self, name: str) -> WindowRule:
        values = _VALUES.match(name)
        if values is not None:
            return WindowRule(low=float(values[1]), high=float(values[2]))
        return self._scan.window_rule(name)

    def _set_window(self, arguments: Mapping[str, Any]) -> Done:
        if "window" in arguments:
            self._window = self._named(arguments["window"])
        elif "low" in arguments and "high" in arguments:
            self._window = _values_name(arguments["low"], arguments["high"])
        else:
            raise SitusError("say which window: give its name, or `low` and `high`")
        return Done(f"The window of the next pictures is {self._window}.")

    def _mark(self, arguments: Mapping[str, Any]) -> Done:
        point = self._named_point(arguments, "point")
        self._own_marks += 1
        self._marks[str(self._own_marks)] = point
        words = f"Mark {self._own_marks} is at {self._words(point)}; later pictures show it."
        return Done(words, points=(_plain(point),))

    def _measure(self, arguments: Mapping[str, Any]) -> Done:
        a, b = (self._named_point(arguments, name) for name in ("a", "b"))
        length = float(np.linalg.norm(a - b))
        words = f"{length:.2f} mm from {self._words(a)} to {self._words(b)}."
        return Done(words, points=(_plain(a), _plain(b)), length_mm=length)

    def _named_point(self, arguments: Mapping[str, Any], name: str) -> Point:
        """A point of a picture, or in millimetres, inside the scan."""
        if (name in arguments) == (f"{name}_mm" in arguments):
            also = f" or `{name}_mm`" if self._scan.has_mm else ""
            raise SitusError(f"say which point: give `{name}`{also}")
        if name in arguments:
            return self._point(arguments[name])
        point = np.array(arguments[f"{name}_mm"], dtype=np.float64)
        if not self._scan.holds(tuple(point)):
            raise SitusError(f"{self._words(point)} lies outside the scan")
        return point

    def _point(self, numbers: list[float]) -> Point:
        if not self.pictures:
            raise SitusError("no picture was shown yet; points are those of a picture")
        number, (x, y) = len(self.pictures), numbers[-2:]
        if len(numbers) == 3:
            number = int(numbers[0])
            if number != numbers[0] or not 1 <= number <= len(self.pictures):
                picture_count = len(self.pictures)
                raise SitusError(
                    f"there is no picture {numbers[0]:g}: {picture_count} were shown; "
                    "give [picture, x, y], or millimetres under the name that ends in _mm"
                )
        return self.pictures[number - 1].point_at(x, y)

    def _words(self, point: Point) -> str:
        if self._scan.has_mm:
            return "x {:.1f}, y {:.1f}, z {:.1f} mm".format(*point)
        return f"{FRAME} {point[0] + 1:.0f}, x {point[1]:.1f}, y {point[2]:.1f}"

    def _segment(self, arguments: Mapping[str, Any]) -> Done:
        if self._segmentation is None:
            raise SitusError("there is no segmentation of this scan")
        word = self._segmentation(arguments["structure"], arguments.get("other", ""))
        return Done(word.words, tool=word)

    def _note(self, arguments: Mapping[str, Any]) -> Done:
        return Done("Noted.")


def _values_name(low: float, high: float) -> str:
    if not (math.isfinite(low) and math.isfinite(high)):
        raise SitusError("the values of a window are too large")
    if not low < high:
        raise SitusError(f"a window from {low:g} to {high:g} shows nothing; low must be below high")
    return f"{_exactly(low)} to {_exactly(high)}"


def _exactly(value: float) -> str:
    """A number as it is read back: short where that loses nothing."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def _plain(point: Point) -> tuple[float, ...]:
    return tuple(round(float(value), 6) for value in point)


_DEEDS: dict[str, Callable[[Desk, Mapping[str, Any]], Done]] = {
    "look": Desk._look,
    "strip": Desk._strip,
    "window": Desk._set_window,
    "mark": Desk._mark,
    "measure": Desk._measure,
    "segmentation": Desk._segment,
    "note": Desk._note,
}
