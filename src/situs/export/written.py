"""What a format's writer reports, and the small things all of them write."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from situs.export.about import About

__all__ = ["JsonLines", "Written", "template", "write_readme"]


class Written(msgspec.Struct, frozen=True):
    """What a writer wrote."""

    items: int
    pictures: int
    load: str
    """How the tool loads it."""
    left_out: dict[str, int] = {}
    counted: str = "items"
    """What `items` counts: formats of evidence write studies."""


class JsonLines:
    """A file of one JSON object a line, closed at the end of its block."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._stream = path.open("wb")
        self._encoder = msgspec.json.Encoder()
        self.count = 0

    def add(self, row: dict[str, Any]) -> None:
        """Append a row."""
        self._stream.write(self._encoder.encode(row) + b"\n")
        self.count += 1

    def __enter__(self) -> JsonLines:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()


def template(name: str) -> str:
    """A file that goes along with an export; both readers of answers are the same text."""
    folder = files("situs.export").joinpath("data")
    text = folder.joinpath(name).read_text("utf-8")
    return text.replace("# READER\n", folder.joinpath("reader.py.txt").read_text("utf-8"))


def write_readme(folder: Path, about: About, lines: Iterable[str], front: str = "") -> None:
    """The export's README."""
    text = "\n".join([f"# {about.name}", "", *about.lines(), "", *lines, ""])
    (folder / "README.md").write_text(front + text, "utf-8")
