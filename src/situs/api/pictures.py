"""What a model sees, in a notebook or as a file."""

from __future__ import annotations

import tempfile
from pathlib import Path

from situs.api.results import PathLike, maybe_path, out_path, path_of
from situs.show import Shown
from situs.show import show as write_pictures

__all__ = ["Pictures", "show"]


class Pictures:
    """The pictures a model sees, on one sheet; a notebook shows them.

    `about` has the prompt and where each lies.
    """

    def __init__(self, about: Shown, png: bytes | None, folder: Path | None) -> None:
        self.about = about
        self.png = png
        """The sheet; None if the pictures were written to a folder."""
        self.folder = folder

    @property
    def prompt(self) -> str:
        """What is said beside the pictures."""
        return self.about.prompt

    def _repr_png_(self) -> bytes | None:
        return self.png

    def __repr__(self) -> str:
        hidden = f"; not answerable: {', '.join(self.about.hidden)}" if self.about.hidden else ""
        heading = f"{self.about.pictures} pictures, profile {self.about.profile}{hidden}"
        return f"{heading}\n{self.prompt}".rstrip()


def show(
    source: PathLike,
    *,
    item: str | None = None,
    profile: str = "default",
    out: PathLike | None = None,
    data: PathLike | None = None,
) -> Pictures:
    """See exactly what a model will see of a study (an image file or folder) or of an item of a
    bench.

    `out` may be a folder (the very pictures that are sent) or a .png (one sheet); without it, the
    sheet is kept in memory.
    """
    if out is not None:
        target = out_path(out)
        about = write_pictures(
            path_of(source), profile, target, item_id=item, data=maybe_path(data)
        )
        return Pictures(about, target.read_bytes() if target.is_file() else None, target)
    with tempfile.TemporaryDirectory() as folder:
        sheet = Path(folder) / "sheet.png"
        about = write_pictures(path_of(source), profile, sheet, item_id=item, data=maybe_path(data))
        return Pictures(about, sheet.read_bytes(), None)
