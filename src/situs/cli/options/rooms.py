"""The options of a reading room, for every command that runs a bench."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from situs.room import Room
    from situs.run import Ways

__all__ = ["room_from", "room_options"]

_OPTIONS = (
    click.option(
        "--room",
        "room_name",
        metavar="NAME|FILE",
        help="Let the model scroll and measure in this room (situs list rooms), instead of showing it a profile.",
    ),
    click.option(
        "--tools",
        metavar="TOOLS",
        help="With --room: none, callipers, segmentation, segmentation:noisy or segmentation:lying:NAME.",
    ),
    click.option(
        "--turns",
        type=click.Choice(["auto", "schema", "tools"]),
        default="auto",
        help="With --room: actions as JSON (schema) or as native tool calls (tools). Default: native calls where "
        "situs adapter-check --room proved them.",
    ),
)


def room_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options; the command receives them as keywords, for `room_from`."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def room_from(given: dict[str, Any]) -> tuple[Room | None, Ways | None]:
    """Takes the options out of what a command was given: the room, and how to run benches in it."""
    from situs.errors import SitusError

    name, tools, turns = (given.pop(key) for key in ("room_name", "tools", "turns"))
    if name is None:
        for option, value in (("--tools", tools), ("--turns", None if turns == "auto" else turns)):
            if value is not None:
                raise SitusError("needs a room", where=option, fix="add --room NAME")
        return None, None
    from situs.room import load_room, room_ways, with_tools

    room = load_room(name)
    if tools is not None:
        room = with_tools(room, tools)
    return room, room_ways(room, turns)
