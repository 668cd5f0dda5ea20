"""Pictures of an export, each written once, however many items show it."""

from __future__ import annotations

from pathlib import Path

from situs.export.example import Example
from situs.profiles import Image

__all__ = ["PictureFolder", "picture_name"]


def picture_name(image: Image) -> str:
    """A name that says nothing but what the content is."""
    return f"{image.digest[:32]}.{'jpg' if image.media_type == 'image/jpeg' else 'png'}"


class PictureFolder:
    """A folder of pictures by content."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._written: set[str] = set()

    def add(self, example: Example) -> list[str]:
        """Write the example's pictures that are not there yet;
        their paths from the folder's parent."""
        names = [picture_name(image) for image in example.images]
        for name, image in zip(names, example.images):
            if name not in self._written:
                self._folder.mkdir(parents=True, exist_ok=True)
                (self._folder / name).write_bytes(image.data)
                self._written.add(name)
        return [f"{self._folder.name}/{name}" for name in names]

    def __len__(self) -> int:
        return len(self._written)
