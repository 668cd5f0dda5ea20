"""An image processor that remembers the pictures it saw last.

All questions on a volume show the same pictures, and a check puts each example through the
processor twice: as a training step does and as a run does. Preparing pictures is nearly all of its
work.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import Any

__all__ = ["RememberedPictures"]

_MOST_BYTES = 256 * 2**20
"""Of prepared pictures that are kept: a hundred of 320 × 320 pixels take about this much."""


class RememberedPictures:
    """Calls a processor once for each picture and joins what it made of them,
    as it joins a batch itself."""

    def __init__(self, processor: Any, most_bytes: int = _MOST_BYTES) -> None:
        self._processor, self._most_bytes = processor, most_bytes
        self._prepared: OrderedDict[tuple[str, str], dict[str, Any]] = OrderedDict()
        self._bytes = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._processor, name)

    def __call__(self, images: Any, **settings: Any) -> Any:
        import torch
        from transformers import BatchFeature

        # What is remembered does not depend on the form that a caller asks for.
        settings["return_tensors"] = "pt"
        pictures = [self._prepare(image, settings) for image in _flat(images)]
        return BatchFeature(
            {key: torch.cat([picture[key] for picture in pictures]) for key in pictures[0]}
        )

    def _prepare(self, image: Any, settings: dict[str, Any]) -> dict[str, Any]:
        # Pictures with the same bytes may differ in shape.
        content = hashlib.blake2b(f"{image.mode}{image.size}".encode() + image.tobytes())
        key = content.hexdigest(), repr(sorted(settings.items()))
        prepared = self._prepared.pop(key, None)
        if prepared is None:
            prepared = dict(self._processor([image], **settings))
            self._bytes += _size(prepared)
        self._prepared[key] = prepared
        while self._bytes > self._most_bytes and len(self._prepared) > 1:
            _, oldest = self._prepared.popitem(last=False)
            self._bytes -= _size(oldest)
        return prepared


def _flat(images: Any) -> list[Any]:
    """The pictures of a batch, whether they come as one list or as one for each example."""
    if isinstance(images, (list, tuple)):
        return [image for group in images for image in _flat(group)]
    return [images]


def _size(prepared: dict[str, Any]) -> int:
    return sum(int(tensor.nbytes) for tensor in prepared.values())
