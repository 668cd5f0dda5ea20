"""The viewer's actions as tools of the Model Context Protocol,
over standard input and output or loopback HTTP."""

from __future__ import annotations

import sys
import threading
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any, Literal

from situs import __version__
from situs.errors import SitusError

if TYPE_CHECKING:
    from situs.serve.studies import Studies

__all__ = ["RoomTools", "make_server", "serve_mcp"]

_HOST = "127.0.0.1"
"""Scans are served to this machine only."""
_INSTRUCTIONS = (
    "A viewer for CT and MR scans. Call list_studies, then open_study; then look, strip, window,"
    " mark and measure. Slices are counted from 1, points are [picture, x, y] in pixels of a"
    " picture shown before, lengths are in mm."
)


def serve_mcp(
    studies: Studies, *, transport: Literal["stdio", "http"] = "stdio", port: int = 8765
) -> None:
    """Serve until the client leaves (stdio) or Ctrl-C (HTTP on loopback)."""
    server = make_server(studies)
    if transport == "stdio":
        # The protocol owns the bytes of standard output, which the command line's own stream does
        # not hand out.
        with redirect_stdout(sys.__stdout__):
            server.run("stdio")
    else:
        server.run("streamable-http", host=_HOST, port=port)


def make_server(studies: Studies) -> Any:
    """The server with its tools; needs the package `mcp`."""
    try:
        from mcp.server.mcpserver import MCPServer
    except ImportError as error:
        raise SitusError(
            "the package mcp is missing, or older than 2", fix="pip install 'situs[mcp]'"
        ) from error
    server = MCPServer(
        "situs", version=__version__, instructions=_INSTRUCTIONS, log_level="WARNING"
    )
    tools = RoomTools(studies)
    for name in ("list_studies", "open_study", "questions"):
        server.add_tool(getattr(tools, name))
    for name in ("look", "strip", "window", "mark", "measure"):
        if name in studies.room.actions:
            # Pictures and words come as content blocks; there is nothing to structure.
            server.add_tool(getattr(tools, name), structured_output=False)
    return server


class RoomTools:
    """The tools; their docstrings and arguments are what an agent is told."""

    def __init__(self, studies: Studies) -> None:
        self.studies = studies
        self._lock = threading.Lock()

    def _act(self, name: str, arguments: dict[str, Any], viewer: int | None) -> list[Any]:
        from mcp.server.mcpserver import Image

        stated = {key: value for key, value in arguments.items() if value is not None}
        try:
            with self._lock:
                done = self.studies.do(name, stated, viewer)
        except SitusError as error:
            raise _tool_error(error) from error
        if done.picture is None:
            return [done.words]
        image = done.picture.image
        picture = Image(data=image.data, format=image.media_type.partition("/")[2])
        return [picture, done.words]

    def list_studies(self) -> str:
        """List the scans that can be opened, a line each."""
        return self.studies.list()

    def open_study(self, study: int) -> str:
        """Open a viewer on a scan by its number; tells its planes, slices, windows and actions."""
        try:
            with self._lock:
                return self.studies.open(study)
        except SitusError as error:
            raise _tool_error(error) from error

    def questions(self, study: int) -> list[str]:
        """The questions that a bench asks about a scan, without answers."""
        try:
            return self.studies.questions(study)
        except SitusError as error:
            raise _tool_error(error) from error

    def look(
        self,
        plane: str,
        slice: int | None = None,  # noqa: A002 - the name that models are told
        at_mm: float | None = None,
        window: str | None = None,
        zoom: float | None = None,
        centre: list[float] | None = None,
        viewer: int | None = None,
    ) -> list[Any]:
        """Show one slice of a plane (axial, coronal,
        sagittal) by its number or its position in mm."""
        arguments = {"plane": plane, "slice": slice, "at_mm": at_mm, "window": window}
        return self._act("look", arguments | {"zoom": zoom, "centre": centre}, viewer)

    def strip(
        self,
        plane: str,
        n: int,
        first: int | None = None,
        last: int | None = None,
        window: str | None = None,
        viewer: int | None = None,
    ) -> list[Any]:
        """Show n slices from the first to the last, small, in one picture."""
        arguments = {"plane": plane, "n": n, "from": first, "to": last, "window": window}
        return self._act("strip", arguments, viewer)

    def window(
        self,
        window: str | None = None,
        low: float | None = None,
        high: float | None = None,
        viewer: int | None = None,
    ) -> list[Any]:
        """Choose the window of the next pictures,
        by name or by the values shown black and white."""
        return self._act("window", {"window": window, "low": low, "high": high}, viewer)

    def mark(
        self,
        point: list[float] | None = None,
        point_mm: list[float] | None = None,
        viewer: int | None = None,
    ) -> list[Any]:
        """Mark a point, [picture, x, y] or millimetres; later pictures show it by its number."""
        return self._act("mark", {"point": point, "point_mm": point_mm}, viewer)

    def measure(
        self,
        a: list[float] | None = None,
        b: list[float] | None = None,
        a_mm: list[float] | None = None,
        b_mm: list[float] | None = None,
        viewer: int | None = None,
    ) -> list[Any]:
        """The distance in mm between two points, each [picture, x, y] or in millimetres."""
        return self._act("measure", {"a": a, "b": b, "a_mm": a_mm, "b_mm": b_mm}, viewer)


def _tool_error(error: SitusError) -> Exception:
    """A mistake as the protocol tells it."""
    from mcp.server.mcpserver.exceptions import ToolError

    wrapped: Exception = ToolError(error.one_line())
    return wrapped
