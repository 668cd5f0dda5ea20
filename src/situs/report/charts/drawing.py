"""A chart of the report as shapes with their colours, whatever file they are to become.

On the page a chart gets its colours from classes, by the page's style and light or dark theme. A
file of its own has no style: here the same rules of `report.css`, those of the light theme, are
worked out for each shape.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from xml.etree import ElementTree

import msgspec

from situs.report.charts.typeface import typeface

__all__ = ["Disc", "Drawing", "Outline", "Shape", "Words", "drawing_of"]

_SMALL = 11.0
_LINE = 16.0
"""Of text under or over a chart, and from one of its lines to the next."""
_MARGIN = 6.0
_BELOW = 0.25
"""How far letters reach below their line, in ems."""

_VARIABLE = re.compile(r"var\((--[\w-]+)\)")
_TURNED = re.compile(r"translate\(([-\d.]+) ([-\d.]+)\) rotate\(([-\d.]+)\)")
_PIXELS = re.compile(r"([\d.]+)px")
_MEDIA = re.compile(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_SIMPLE = re.compile(r"^([a-z]*)((?:\.[\w-]+)*)$")

Point = tuple[float, float]


class Outline(msgspec.Struct, frozen=True, kw_only=True):
    """A line or an area with straight edges."""

    points: tuple[Point, ...]
    closed: bool
    fill: str = ""
    """`#rrggbb`, or empty for none."""
    opacity: float = 1.0
    """Of the fill."""
    stroke: str = ""
    width: float = 1.0
    dash: tuple[float, ...] = ()


class Disc(msgspec.Struct, frozen=True):
    """A dot."""

    x: float
    y: float
    radius: float
    fill: str


class Words(msgspec.Struct, frozen=True):
    """A line of text; `turn` is clockwise, in degrees, about where it starts."""

    x: float
    y: float
    text: str
    size: float
    fill: str
    anchor: str = "start"
    turn: float = 0.0


Shape = Outline | Disc | Words


class Drawing(msgspec.Struct, frozen=True):
    """A chart."""

    width: float
    height: float
    title: str
    parts: list[Shape]


def drawing_of(svg: str, caption: str = "", legend: Sequence[str] = ()) -> Drawing:
    """A chart as the page has it, its caption above and the names of its lines below."""
    root = ElementTree.fromstring(svg)
    parts = [part for child in root for part in _shape(child)]
    left, top, right, bottom = _bounds(parts)
    width = right - left + 2 * _MARGIN
    above = _caption(caption, width)
    drop = _LINE * len(above) + _MARGIN
    below, depth = _legend(legend, width, drop + bottom - top)
    moved = [_moved(part, _MARGIN - left, drop - top) for part in parts]
    height = drop + bottom - top + depth + _MARGIN
    return Drawing(width, height, root.attrib["aria-label"], [*above, *moved, *below])


def _bounds(parts: Sequence[Shape]) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of what is drawn:
    a page leaves room around a chart, a paper none."""
    points = [point for part in parts for point in _corners(part)]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return min(xs), min(ys), max(xs), max(ys)


def _corners(part: Shape) -> Sequence[Point]:
    if isinstance(part, Outline):
        return part.points
    if isinstance(part, Disc):
        x, y, r = part.x, part.y, part.radius
        return (x - r, y - r), (x + r, y + r)
    long = typeface().width(part.text, part.size)
    start = -long * {"start": 0.0, "middle": 0.5, "end": 1.0}[part.anchor]
    turn = math.radians(part.turn)
    along, across = (math.cos(turn), math.sin(turn)), (-math.sin(turn), math.cos(turn))
    return [
        (part.x + u * along[0] + v * across[0], part.y + u * along[1] + v * across[1])
        for u in (start, start + long)
        for v in (-part.size, part.size * _BELOW)
    ]


def _caption(caption: str, width: float) -> list[Words]:
    lines = typeface().wrapped(caption, _SMALL, width - 2 * _MARGIN)
    ink = _style("text", ())["fill"]
    return [Words(_MARGIN, _LINE * (n + 0.8), line, _SMALL, ink) for n, line in enumerate(lines)]


def _legend(names: Sequence[str], width: float, top: float) -> tuple[list[Shape], float]:
    """The lines' names in rows, each behind a piece of its line."""
    parts: list[Shape] = []
    x, y, swatch = _MARGIN, top + _LINE, 18.0
    ink = _style("text", ())["fill"]
    for number, name in enumerate(names):
        room = swatch + 5 + typeface().width(name, _SMALL) + 16
        if x > _MARGIN and x + room > width:
            x, y = _MARGIN, y + _LINE
        stroke = _style("polyline", ("web", f"s{number % 8}"))["stroke"]
        ends = ((x, y - 4), (x + swatch, y - 4))
        parts.append(Outline(points=ends, closed=False, stroke=stroke, width=3.0))
        parts.append(Words(x + swatch + 5, y, name, _SMALL, ink))
        x += room
    return parts, y - top if names else 0.0


def _moved(part: Shape, right: float, down: float) -> Shape:
    if isinstance(part, Outline):
        points = tuple((x + right, y + down) for x, y in part.points)
        return msgspec.structs.replace(part, points=points)
    return msgspec.structs.replace(part, x=part.x + right, y=part.y + down)


def _shape(element: ElementTree.Element) -> list[Shape]:
    attributes = element.attrib
    look = _style(element.tag, tuple(attributes.get("class", "").split()))

    def at(*names: str) -> tuple[float, ...]:
        return tuple(float(attributes[name]) for name in names)

    match element.tag:
        case "text":
            return [_words(element, look)]
        case "circle":
            x, y, radius = at("cx", "cy", "r")
            return [Disc(x, y, radius, look["fill"])]
        case "rect":
            x, y, width, height = at("x", "y", "width", "height")
            corners = ((x, y), (x + width, y), (x + width, y + height), (x, y + height))
            return [_outline(corners, look, closed=True)]
        case "line":
            x1, y1, x2, y2 = at("x1", "y1", "x2", "y2")
            return [_outline(((x1, y1), (x2, y2)), look, closed=False)]
        case "polygon" | "polyline":
            pairs = (pair.split(",") for pair in attributes["points"].split())
            points = tuple((float(x), float(y)) for x, y in pairs)
            return [_outline(points, look, closed=element.tag == "polygon")] if points else []
        case _:
            raise ValueError(f"charts have no <{element.tag}>: say here what it becomes")


def _words(element: ElementTree.Element, look: Mapping[str, str]) -> Words:
    attributes = element.attrib
    x, y, turn = float(attributes["x"]), float(attributes["y"]), 0.0
    if turned := _TURNED.fullmatch(attributes.get("transform", "")):
        x, y, turn = (float(number) for number in turned.groups())
    size = _PIXELS.search(look.get("font-size", look["font"]))
    assert size is not None
    anchor = attributes.get("text-anchor", "start")
    return Words(x, y, element.text or "", float(size[1]), look["fill"], anchor, turn)


def _outline(points: tuple[Point, ...], look: Mapping[str, str], *, closed: bool) -> Outline:
    fill, stroke = look.get("fill", "none"), look.get("stroke", "none")
    return Outline(
        points=points,
        closed=closed,
        fill="" if fill == "none" else fill,
        opacity=float(look.get("fill-opacity", 1)),
        stroke="" if stroke == "none" else stroke,
        width=float(look.get("stroke-width", 1)),
        dash=tuple(float(word) for word in look.get("stroke-dasharray", "").split()),
    )


def _style(tag: str, classes: tuple[str, ...]) -> dict[str, str]:
    """What the page's style says of a shape;
    a later rule wins, as the rules for charts are written."""
    look: dict[str, str] = {}
    for rule_tag, rule_classes, declarations in _rules():
        if rule_tag in ("", tag, ":root") and rule_classes <= set(classes):
            look.update(declarations)
    return {
        name: _VARIABLE.sub(lambda match: look[match[1]], value) for name, value in look.items()
    }


@cache
def _rules() -> list[tuple[str, frozenset[str], dict[str, str]]]:
    """The light theme's rules that can be about a shape:
    the root's, `.class`, `.chart .class`, `.chart tag`."""
    css = files("situs.report").joinpath("templates", "report.css").read_text("utf-8")
    rules = []
    for selectors, body in _RULE.findall(_MEDIA.sub("", css)):
        declarations = dict(_declaration(line) for line in body.split(";") if ":" in line)
        for selector in selectors.split(","):
            last = selector.strip().removeprefix(".chart ")
            if last == ":root":
                rules.append((":root", frozenset[str](), declarations))
            elif (simple := _SIMPLE.fullmatch(last)) and (simple[2] or last != selector.strip()):
                classes = frozenset(word for word in simple[2].split(".") if word)
                rules.append((simple[1], classes, declarations))
    return rules


def _declaration(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.strip(), value.strip()
