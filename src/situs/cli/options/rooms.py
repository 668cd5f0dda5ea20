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
        help=(
            "Let the model scroll and measure in this room (situs list rooms), instead of showing"
            " it a profile."
        ),
    ),
    click.option(
        "--tools",
        metavar="TOOLS",
        help=(
            "With --room: none, callipers, segmentation, segmentation:noisy or"
            " segmentation:lying:NAME."
        ),
    ),
    click.option(
        "--turns",
        type=click.Choice(["auto", "schema", "tools"]),
        default="auto",
        help=(
            "With --room: actions as JSON (schema) or as native tool calls (tools). Default: native"
            " calls where situs adapter-check --room proved them."
        ),
    ),
)


def room_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options; the command receives them as keywords, for `room_from`."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def room_from(arguments: dict[str, Any]) -> tuple[Room | None, Ways]:
    """Takes the options out of what a command was given: the room, and how to run benches in it."""
    name, tools, turns = (arguments.pop(key) for key in ("room_name", "tools", "turns"))
    if (name, tools, turns) == (None, None, "auto"):
        # Without a room nothing of it is loaded: that takes longer than many a short run.
        from situs.run import Ways

        return None, Ways()
    from situs.room import enter_room

    return enter_room(name, tools, turns)
