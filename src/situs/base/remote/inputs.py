"""From an address on the command line to a path that every reader can open."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from situs.base.remote.fetch import fetch, index_of, make_private, place, place_all
from situs.base.remote.gate import is_stand_in
from situs.base.remote.store import children, entry_of, everything_below
from situs.base.remote.urls import FOLDER, local_path, root_of, url_of

__all__ = ["mirrored"]

_MANIFESTS = ("bench.json", "run.json", "shard.json")
"""A folder with one of these is a bench, a run or a part of a build:
its tables are needed in any case."""
_TABLES = (".json", ".jsonl", ".parquet", ".md", ".csv", ".toml")
_ALONE = (".csv", ".tsv", ".json", ".jsonl", ".toml", ".txt", ".html", ".md", ".parquet")
"""Files that need no neighbours; a volume may have its voxels or its image beside it."""


def mirrored(url: str) -> Path:
    """The path of what lies at an address. Names come now, content when it is opened.

    Of benches and runs the tables come now: many readers open them.
    """
    path = local_path(url, FOLDER)
    if url_of(path) is None:
        return path  # file://
    make_private(root_of(path))
    entry = entry_of(url)
    if entry is None:
        _mirror(path, url)
    else:
        place(path, entry)
        _place_neighbours(path, url)
    return path


def _mirror(path: Path, url: str) -> None:
    placed = place_all(path, everything_below(url))
    _forget_vanished(path, placed)
    if any((path / name).exists() for name in _MANIFESTS):
        for file in sorted(placed):
            if file.name.endswith(_TABLES):
                fetch(file, is_table=True)


def _forget_vanished(folder: Path, placed: set[Path]) -> None:
    """Remove copies of what is no longer there; what commands wrote beside them (scores) stays."""
    index = index_of(root_of(folder))
    copies = index.names()
    gone = []
    for parent, _, names in os.walk(folder, topdown=False):
        for name in names:
            file = Path(parent, name)
            if file not in placed and (file in copies or is_stand_in(file)):
                file.unlink()
                gone.append(file)
        with suppress(OSError):  # unless it holds something
            Path(parent).rmdir()
    index.drop(gone)


def _place_neighbours(path: Path, url: str) -> None:
    """A volume's neighbours may hold its voxels, or be its image; web servers do not list them."""
    folder = url.rstrip("/").rpartition("/")[0]
    if url.startswith("http") or path.name.lower().endswith(_ALONE) or folder.endswith(":/"):
        return
    place_all(path.parent, children(folder))
