"""Decompressing untrusted streams: bounded output, verified checksum, end of stream reached."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from situs.errors import SitusError
from situs.volumes.limits import MAX_SURPLUS_BYTES

__all__ = ["inflate_head", "inflate_pieces"]

_CHUNK = 1 << 18
"""Stays in the processor's cache: four times as fast as 64 KiB steps."""
_HEAD_CHUNK = 1 << 12


def _engine(encoding: str) -> Any:
    """A decompressor with the interface of `bz2.BZ2Decompressor`.
    isal checks the trailer's checksum and length."""
    if encoding == "bzip2":
        import bz2

        return bz2.BZ2Decompressor()
    from isal import igzip_lib

    return igzip_lib.IgzipDecompressor(
        flag=igzip_lib.DECOMP_GZIP if encoding == "gzip" else igzip_lib.DECOMP_ZLIB
    )


class _Source:
    """The compressed bytes of a stream, at most `limit` of them."""

    def __init__(self, stream: IO[bytes], limit: int | None, chunk: int = _CHUNK) -> None:
        self._stream = stream
        self._left = limit
        self.chunk = chunk

    def read(self) -> bytes:
        size = self.chunk if self._left is None else min(self.chunk, self._left)
        data = self._stream.read(size)
        if self._left is not None:
            self._left -= len(data)
        return data


def _pieces(source: _Source, encoding: str, where: object) -> Iterator[bytes]:
    """The decoded stream in pieces of at most one chunk, over all members;
    ends only at a verified end."""
    pending = source.read()
    while True:
        engine = _engine(encoding)
        stalled = 0
        while not engine.eof:
            fed, pending = pending, b""
            if not fed and engine.needs_input:
                fed = source.read()
            try:
                piece = engine.decompress(fed, source.chunk)
            except MemoryError:
                raise
            except Exception as error:  # isal, bz2 and zlib each raise their own kind
                raise SitusError(
                    f"corrupt {encoding} data", where=where, fix="copy or download it again"
                ) from error
            stalled = 0 if fed or piece else stalled + 1
            if stalled > 1 and not engine.eof:
                raise SitusError(
                    f"truncated {encoding} data", where=where, fix="copy or download it again"
                )
            yield piece
        pending = engine.unused_data or source.read()
        while pending and not pending.strip(b"\0"):  # tape padding, which gzip allows
            pending = source.read()
        if not pending or encoding == "zlib":
            return


def inflate_head(stream: IO[bytes], size: int, *, where: object) -> bytes:
    """The first `size` decoded bytes of a gzip stream (fewer if it ends there)."""
    head = b""
    for piece in _pieces(_Source(stream, None, _HEAD_CHUNK), "gzip", where):
        head += piece
        if len(head) >= size:
            break
    return head[:size]


def inflate_pieces(
    stream: IO[bytes],
    encoding: str,
    *,
    skip: int,
    size: int,
    after: int,
    limit: int | None,
    where: object,
) -> Iterator[tuple[int, bytes]]:
    """The `size` decoded bytes behind the first `skip`, as (place, piece), read on to the verified
    end of the stream.

    `after` more bytes must follow them.
    """
    filled = -skip
    for piece in _pieces(_Source(stream, limit), encoding, where):
        start = max(0, -filled)
        stop = min(len(piece), size - filled)
        if stop > start:
            yield filled + start, piece[start:stop]
        filled += len(piece)
        if filled - size - after > MAX_SURPLUS_BYTES:
            raise SitusError(
                "holds much more data than its header declares",
                where=where,
                fix="the header is damaged; export it again",
            )
    if filled < size + after:
        raise SitusError(
            f"truncated: {max(0, filled)} of {size + after} voxel bytes",
            where=where,
            fix="copy or download it again",
        )
