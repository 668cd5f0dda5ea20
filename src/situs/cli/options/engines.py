"""Which processes or machines work on the studies, for every command that works on many."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from situs.base.engines import Engine

__all__ = ["engine_from", "engine_options"]

_OPTIONS = (
    click.option(
        "--jobs", type=click.IntRange(1), default=1, show_default=True, help="Worker processes."
    ),
    click.option(
        "--engine",
        default="local",
        show_default=True,
        help=(
            "Where studies are processed: local, ray (on this machine) or ray://HOST:PORT (a"
            " cluster)."
        ),
    ),
)


def engine_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options; the command receives them as keywords."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def engine_from(arguments: dict[str, Any]) -> Engine:
    """Takes the options out of what a command was given."""
    from situs.base.engines import engine_of

    return engine_of(arguments.pop("engine"), arguments.pop("jobs"))
