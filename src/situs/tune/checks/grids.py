"""An image processor that prepares every picture once and keeps its grid of patches only.

All questions on a volume show the same pictures, and a check puts each example through the
processor twice: as a training step does and as a run does. Which tokens come out depends on the
grids alone, so batches are collated with pixels that take no memory; the pixels themselves are
looked at once for each picture.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import msgspec

from situs.clients.hf.prompt import decoded
from situs.errors import SitusError
from situs.tune.checks.problems import Problems
from situs.tune.record import stored_picture
from situs.tune.training.examples import open_picture

__all__ = ["PictureGrids"]

_NAME = "situs-picture"


class _Prepared(msgspec.Struct, frozen=True):
    grid: tuple[int, ...]
    """Patches in time, down and across."""
    width: int
    """Numbers that a patch has."""


class PictureGrids:
    """Stands in for a model's image processor; its pictures are the stand-ins it handed out."""

    def __init__(self, processor: Any, folder: Path, problems: Problems) -> None:
        self._processor, self._folder, self._problems = processor, folder, problems
        self._prepared: dict[tuple[str, str], _Prepared] = {}
        self._decoded_alike: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._processor, name)

    def stand_in(self, name: str) -> Any:
        """A picture of one pixel that stands for a stored one."""
        from PIL import Image

        picture = Image.new("RGB", (1, 1))
        picture.info[_NAME] = name
        return picture

    def __call__(self, images: Any, **settings: Any) -> Any:
        import torch
        from transformers import BatchFeature

        # What is kept does not depend on the form that a caller asks for.
        settings["return_tensors"] = "pt"
        prepared = [self._prepare(image.info[_NAME], settings) for image in _flat(images)]
        patches = sum(math.prod(one.grid) for one in prepared)
        return BatchFeature(
            {
                # One row, shown as many times as there are patches.
                "pixel_values": torch.zeros(1, prepared[0].width).expand(patches, -1),
                "image_grid_thw": torch.tensor([one.grid for one in prepared]),
            }
        )

    def _prepare(self, name: str, settings: dict[str, Any]) -> _Prepared:
        key = name, repr(sorted(settings.items()))
        if key not in self._prepared:
            self._prepared[key] = self._look(name, settings)
        return self._prepared[key]

    def _look(self, name: str, settings: dict[str, Any]) -> _Prepared:
        """What the processor makes of one picture, proved to be whole."""
        picture = open_picture(self._folder, name)
        self._check_decoding(name, picture)
        tensors = self._processor([picture], **settings)
        if "image_grid_thw" not in tensors:
            raise SitusError(
                "its processor gives no grid of patches (image_grid_thw)",
                where="--model",
                fix="check with a model of the Qwen-VL family",
            )
        pixels, grid = tensors["pixel_values"], tuple(tensors["image_grid_thw"][0].tolist())
        if pixels.shape[0] != math.prod(grid) or not bool(pixels.isfinite().all()):
            self._problems.add(
                "picture-tensor", name, f"{pixels.shape[0]} patches for a grid of {grid}"
            )
        return _Prepared(grid, int(pixels.shape[1]))

    def _check_decoding(self, name: str, picture: Any) -> None:
        """A run decodes the same bytes, in the client's own way."""
        if name in self._decoded_alike:
            return
        self._decoded_alike.add(name)
        sent = decoded(stored_picture(self._folder, name))
        if sent.size != picture.size or sent.tobytes() != picture.tobytes():
            self._problems.add("picture-decoded", name, "a run decodes it to other pixels")


def _flat(images: Any) -> list[Any]:
    """The pictures of a batch, whether they come as one list or as one for each example."""
    if isinstance(images, (list, tuple)):
        return [image for group in images for image in _flat(group)]
    return [images]
