"""Pictures as base64, encoded once: those of one study are asked about many times."""

from __future__ import annotations

from binascii import b2a_base64
from collections import OrderedDict

from situs.clients.protocol import Image

__all__ = ["EncodedPictures"]

_MOST_CACHED_BYTES = 64 << 20


class EncodedPictures:
    """The latest pictures, each as the JSON that a server wants."""

    def __init__(self, before: bytes, between: bytes, after: bytes) -> None:
        """The JSON `before` the media type, `between` it and the picture, and `after` that."""
        self._around = before, between, after
        self._pictures: OrderedDict[str, bytes] = OrderedDict()
        self._cached_bytes = 0

    def json(self, image: Image) -> bytes:
        """A picture as JSON."""
        cached = self._pictures.get(image.digest)
        if cached is not None:
            self._pictures.move_to_end(image.digest)
            return cached
        before, between, after = self._around
        encoded = b2a_base64(image.data, newline=False)
        made = before + image.media_type.encode() + between + encoded + after
        self._pictures[image.digest] = made
        self._cached_bytes += len(made)
        while self._cached_bytes > _MOST_CACHED_BYTES and len(self._pictures) > 1:
            self._cached_bytes -= len(self._pictures.popitem(last=False)[1])
        return made
