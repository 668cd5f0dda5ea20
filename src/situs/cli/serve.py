"""`situs serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from situs.base.text import counted
from situs.cli.options.sources import Sources
from situs.cli.output.paths import INPUT
from situs.cli.output.printing import warn


@click.group("serve", cls=Sources)
def command() -> None:
    """Serve scans to agents on this machine."""


@command.command("mcp")
@click.argument("source", metavar="BENCH|STUDY", type=INPUT)
@click.option(
    "--room",
    "room_name",
    default="workstation",
    show_default=True,
    metavar="NAME|FILE",
    help="Which planes, windows and actions are offered (situs list rooms).",
)
@click.option(
    "--transport",
    type=click.Choice(["stdio", "http"]),
    default="stdio",
    show_default=True,
    help="Standard input and output, or HTTP on 127.0.0.1.",
)
@click.option(
    "--port", type=click.IntRange(1, 65535), default=8765, show_default=True, help="Port for HTTP."
)
@click.option(
    "--data",
    type=INPUT,
    help="The folder the volumes are in, if they were moved.",
)
def _mcp(
    source: Path, room_name: str, transport: Literal["stdio", "http"], port: int, data: Path | None
) -> None:
    """Offer the reading room over the Model Context Protocol: any agent that speaks it can look and
    measure.

    The agent lists the studies of BENCH, or opens STUDY (an image file or study folder), and gets
    pictures and millimetres; never an answer, a label, a name or a path. Needs pip install
    'situs[mcp]'. HTTP is served at http://127.0.0.1:PORT/mcp and to this machine only.

    \b
    situs serve mcp BENCH
    situs serve mcp scan.nii.gz --transport http --port 8765
    """
    from situs.room import load_room
    from situs.serve import serve_mcp, studies_of

    studies = studies_of(source, load_room(room_name), data)
    if studies.restricted:
        warn("the data are restricted: connect only agents whose model runs on this machine")
    if transport == "http":
        warn(
            f"serving {counted(studies.count(), 'study', 'studies')} at"
            f" http://127.0.0.1:{port}/mcp; Ctrl-C stops it"
        )
    serve_mcp(studies, transport=transport, port=port)
