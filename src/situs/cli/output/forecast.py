"""`--dry-run`: what asking would take, told without asking."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from situs.cli.output.printing import print_json, print_table

if TYPE_CHECKING:
    from situs.clients import Forecast

__all__ = ["dry_run_option", "print_forecast"]

dry_run_option = click.option(
    "--dry-run",
    is_flag=True,
    help=(
        "Send nothing; say how many requests, pictures, tokens, dollars and minutes it would take."
    ),
)


def print_forecast(forecast: Forecast, as_json: bool) -> None:
    """The forecast as a table, or as JSON."""
    if as_json:
        print_json(forecast)
        return
    rows = [
        ["requests", f"{forecast.requests:,}"],
        ["pictures", f"{forecast.pictures:,}"],
        ["tokens in", f"{forecast.tokens_in:,}"],
        ["tokens out", f"{forecast.tokens_out:,}"],
        ["cost", _dollars(forecast.cost)],
        ["cost at most", _dollars(forecast.cost_at_most)],
        ["time", _duration(forecast.seconds)],
    ]
    if forecast.hidden:
        rows.append(["hidden by the profile", f"about {forecast.hidden:,}"])
    print_table("dry run: nothing was sent", ["", "about"], rows, f"Basis: {forecast.basis}.")


def _dollars(cost: float | None) -> str:
    return "unknown (no price; see --prices)" if cost is None else f"${cost:,.2f}"


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "unknown"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
