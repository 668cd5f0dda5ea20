"""`situs view`."""

from __future__ import annotations

from pathlib import Path

import click

from situs.cli.output.paths import LOCAL
from situs.cli.output.printing import json_option, print_json, warn


@click.command("view")
@click.argument("runs_dir", metavar="RUNS_DIR", type=LOCAL)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8770,
    show_default=True,
    help="Port on 127.0.0.1; 0 takes any free one.",
)
@click.option(
    "--data",
    type=LOCAL,
    help="The folder the volumes are in, if they were moved.",
)
@json_option
def command(runs_dir: Path, port: int, data: Path | None, as_json: bool) -> None:
    """Watch the runs below RUNS_DIR in a browser: progress, states, cost, and every item with what
    was sent and said.

    The page is served to this machine only, changes nothing, and follows runs as they progress. An
    item looks as it does in the report. Press Ctrl-C to stop.

    \b
    situs view runs
    """
    from situs.view import serve_runs

    def started(address: str) -> None:
        if as_json:
            print_json({"address": address})
        else:
            warn(f"watching {runs_dir} at {address}; Ctrl-C stops it")

    serve_runs(runs_dir, port=port, data=data, started=started)
