"""Rooms from files: the shipped ones by name, or a user's own, checked as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

import msgspec

from situs.base.files import parse_toml, read_text
from situs.base.remote import named_file
from situs.errors import SitusError, did_you_mean
from situs.room.schema import Room
from situs.room.tools.ladder import parse_tools

__all__ = ["load_room", "shipped_rooms", "with_tools"]

_RANGES = {
    "size_px": (32, 2048),
    "strip_px": (32, 2048),
    "most_zoom": (1, 64),
    "strip": (2, 64),
}
"""Of pictures that models can use and machines can make."""


def _folder() -> list[str]:
    folder = files("situs.room").joinpath("data")
    names = (entry.name for entry in folder.iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def shipped_rooms() -> dict[str, str]:
    """The shipped rooms and what each is, in one line."""
    return {name: load_room(name).about for name in _folder()}


def load_room(spec: str) -> Room:
    """A shipped room by name, or the user's own TOML file."""
    if spec in _folder():
        text = files("situs.room").joinpath("data", f"{spec}.toml").read_text("utf-8")
    elif (path := named_file(spec)).is_file():
        text = read_text(path)
    else:
        raise SitusError("no such room or file", where=spec, fix=did_you_mean(spec, _folder()))
    try:
        room = msgspec.convert(parse_toml(text), Room)
    except (ValueError, RecursionError) as error:
        raise SitusError(str(error), where=spec, fix="compare it with docs/rooms.md") from error
    if problems := list(_problems(room)):
        raise SitusError("; ".join(problems), where=spec, fix="see docs/rooms.md")
    return with_tools(room, room.tools)


def with_tools(room: Room, tools: str) -> Room:
    """The room with another rung of the tool ladder:
    its measuring actions are those of the tools."""
    parsed = parse_tools(tools)
    others = [name for name in room.actions if name not in ("measure", "segmentation", "answer")]
    measuring = [*(["measure"] if parsed.callipers else [])]
    measuring += ["segmentation"] if parsed.segmentation else []
    return msgspec.structs.replace(
        room,
        tools=tools,
        actions=(*others, *measuring, "answer"),
    )


def _problems(room: Room) -> Iterator[str]:
    if "answer" not in room.actions:
        yield "actions: a session cannot end without `answer`"
    if len(set(room.actions)) != len(room.actions):
        yield "actions: one is named twice"
    if not room.planes or len(set(room.planes)) != len(room.planes):
        yield "planes: name one or more, each once"
    for name, (low, high) in _RANGES.items():
        if not low <= getattr(room, name) <= high:
            yield f"{name}: {getattr(room, name):g} is not from {low} to {high}"
    if room.pictures_kept is not None and room.pictures_kept < 1:
        yield "pictures_kept: at least the latest picture has to stay"
    for name in ("looks", "turns", "pixels", "tokens"):
        value = getattr(room.budget, name)
        if value is not None and value < (0 if name == "looks" else 1):
            yield f"budget.{name}: {value} is too small"
    if room.answer.frame_base != 1:
        yield "answer.frame_base: slices of a room are counted from 1"
    yield from _window_problems(room)


def _window_problems(room: Room) -> Iterator[str]:
    if not room.windows or not all(room.windows.values()):
        yield "windows: every modality needs one"
    for modality, modality_windows in room.windows.items():
        for name, rule in modality_windows.items():
            where = f"windows.{modality}.{name}"
            values = (rule.low, rule.high)
            shares = (rule.low_percentile, rule.high_percentile)
            declared = [pair for pair in (values, shares) if None not in pair]
            if len(declared) != 1:
                yield f"{where}: give low and high, or both percentiles"
            elif not declared[0][0] < declared[0][1]:  # type: ignore[operator]
                yield f"{where}: low is not below high"
            if len(name) > 24:
                yield f"{where}: the name is longer than 24 characters"
