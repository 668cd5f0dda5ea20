"""Options that every command that asks models shares: speed, patience, money, cache and care."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from situs.cli.output.numbers import FiniteRange
from situs.cli.output.paths import INPUT

if TYPE_CHECKING:
    from situs.clients import Asking

__all__ = ["ask_options", "asking_from"]

_POSITIVE = FiniteRange(0, min_open=True)

_OPTIONS = (
    click.option(
        "--concurrency", type=click.IntRange(1, 4096), help="Calls at once.  [default: 8]"
    ),
    click.option("--requests-per-minute", type=_POSITIVE, help="Send no faster than this."),
    click.option(
        "--tokens-per-minute",
        type=_POSITIVE,
        help="Send no faster than this, prompts and answers together.",
    ),
    click.option(
        "--tries",
        type=click.IntRange(1, 100),
        default=6,
        show_default=True,
        help="Attempts per question.",
    ),
    click.option(
        "--timeout",
        type=_POSITIVE,
        default=600.0,
        show_default=True,
        help="Seconds for a whole call.",
    ),
    click.option(
        "--stall-timeout",
        type=_POSITIVE,
        default=60.0,
        show_default=True,
        help="Seconds without a new byte once a reply has begun.",
    ),
    click.option(
        "--max-cost", type=_POSITIVE, help="Stop before the run costs more than this, in dollars."
    ),
    click.option(
        "--max-tokens-total",
        type=click.IntRange(1),
        help="Stop before the run uses more tokens than this.",
    ),
    click.option("--prices", type=INPUT, help="A TOML file with prices; see docs/costs.md."),
    click.option(
        "--no-cache", is_flag=True, help="Ask again what was answered before, and store no answers."
    ),
    click.option(
        "--cache-samples", is_flag=True, help="Also reuse sampled answers that have no seed."
    ),
    click.option(
        "--allow-remote",
        is_flag=True,
        help="Send restricted data to a server that is not on this machine.",
    ),
    click.option(
        "--trust-host",
        multiple=True,
        metavar="HOST",
        help=(
            "A host of your hospital or cluster that counts as this machine; repeatable. The run"
            " notes it."
        ),
    ),
    click.option(
        "--proxy",
        default="",
        metavar="URL",
        help=(
            "Call other machines through this proxy, http://HOST:PORT (or SITUS_PROXY in the"
            " environment)."
        ),
    ),
)


def asking_from(arguments: dict[str, Any]) -> Asking:
    """Takes the options out of what a command was given."""
    from situs.clients import Asking

    return Asking(**{name: arguments.pop(name) for name in Asking.__struct_fields__})


def ask_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options; the command receives them as keywords, for `asking_from`."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function
