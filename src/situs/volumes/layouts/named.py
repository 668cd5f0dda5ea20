"""Volumes in a folder, found by the names that a table or a report gives them."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from situs.errors import SitusError
from situs.volumes.volume import holds_dicom, kind_of, stem_of

__all__ = ["find_volumes"]


def find_volumes(root: Path, names: Iterable[str]) -> dict[str, Path]:
    """Name → file of that stem, or DICOM folder of that name,
    in any folder below; names without one are left out."""
    if not root.is_dir():
        raise SitusError("no such folder", where=root, fix="give the folder the volumes are in")
    wanted = set(names)
    paths_of: dict[str, list[Path]] = defaultdict(list)
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        for path in (here / name for name in sorted(files)):
            if kind_of(path) is not None and stem_of(path) in wanted:
                paths_of[stem_of(path)].append(path)
        for path in (here / name for name in sorted(folders)):
            if path.name in wanted and holds_dicom(path):
                paths_of[path.name].append(path)
    for name, paths in sorted(paths_of.items()):
        if len(paths) > 1:
            where = " and ".join(map(str, sorted(paths)))
            raise SitusError(
                f"two volumes are called {name!r}", where=where, fix="keep one of them"
            )
    return {name: paths[0] for name, paths in sorted(paths_of.items())}
