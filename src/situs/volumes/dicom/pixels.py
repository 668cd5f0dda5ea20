"""Decoding the frames of one DICOM file, one at a time and never more than its header declares."""

from __future__ import annotations

import struct
import zlib
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError
from situs.volumes.dicom.files import quiet, read_dataset
from situs.volumes.dicom.format import UNPACKED, PixelFormat
from situs.volumes.dicom.jpeg import decode_jpeg

if TYPE_CHECKING:
    from pydicom.dataset import Dataset

__all__ = ["FrameReader"]

_KEYWORDS = (
    "Rows",
    "Columns",
    "NumberOfFrames",
    "SamplesPerPixel",
    "PhotometricInterpretation",
    "BitsAllocated",
    "BitsStored",
    "HighBit",
    "PixelRepresentation",
    "ExtendedOffsetTable",
    "ExtendedOffsetTableLengths",
)
_DEFLATED_FRAMES = "1.2.840.10008.1.2.8.1"
_JPEG = "1.2.840.10008.1.2.4."
_EXTENDED = _JPEG + "51"
_OWN_JPEG = (_EXTENDED, _JPEG + "57", _JPEG + "70")
"""Twelve-bit and lossless JPEG, which no light library decodes."""
_REMEDY = {
    _JPEG + "80": "pip install pyjpegls",
    _JPEG + "81": "pip install pyjpegls",
    _JPEG + "90": "pip install pylibjpeg pylibjpeg-openjpeg",
    _JPEG + "91": "pip install pylibjpeg pylibjpeg-openjpeg",
}


class FrameReader:
    """The pixels of one file, held as stored; `frame` decodes one."""

    def __init__(self, path: Path, form: PixelFormat) -> None:
        self.path = path
        self.form = form
        with quiet(path):
            self._dataset, _ = read_dataset(path, _KEYWORDS, pixels=True)
            self._syntax = str(self._dataset.file_meta.get("TransferSyntaxUID", UNPACKED[0]))
            if "PixelData" not in self._dataset:
                raise SitusError(
                    "its pixels are cut off, or not whole numbers",
                    where=path,
                    fix="copy or export it again",
                )

    def frame(self, index: int) -> NDArray[Any]:
        """One frame [row, column] in the stored type, not rescaled."""
        with quiet(self.path, "its pixels are damaged, or cannot be decoded here"):
            pixels = self._decoded(index)
        if pixels.shape != (self.form.rows, self.form.columns) or pixels.dtype.kind not in "iub":
            raise SitusError(
                "a frame does not have the size its header declares",
                where=self.path,
                fix="copy or export it again",
            )
        return pixels

    def _decoded(self, index: int) -> NDArray[Any]:
        from pydicom.pixels.decoders.base import get_decoder

        if self._syntax in UNPACKED:
            if self.form.bits == 1:
                return self._bits(
                    self._dataset.PixelData, index * self.form.rows * self.form.columns
                )
            return np.asarray(
                get_decoder(self._syntax).as_array(self._dataset, index=index, raw=True)[0]
            )
        encoded = self._encoded[index]
        if self._syntax == _DEFLATED_FRAMES:
            return self._inflated(encoded)
        self._check_claim(encoded)
        if self._syntax in _OWN_JPEG and (self._syntax != _EXTENDED or self.form.bits_used > 8):
            return self._signed(decode_jpeg(encoded))
        try:
            decoder = get_decoder(self._syntax)
        except NotImplementedError:
            raise self._undecodable() from None
        if not decoder.is_available:
            raise self._undecodable()
        return np.asarray(decoder.as_array(self._single(encoded), index=0, raw=True)[0])

    @cached_property
    def _encoded(self) -> list[bytes]:
        """The encoded frames, in order."""
        from pydicom.encaps import generate_frames

        tables = (
            self._dataset.get("ExtendedOffsetTable"),
            self._dataset.get("ExtendedOffsetTableLengths"),
        )
        extended = (tables[0], tables[1]) if tables[0] and tables[1] else None
        encoded_frames = list(
            generate_frames(
                self._dataset.PixelData,
                number_of_frames=self.form.frames,
                extended_offsets=extended,
            )
        )
        if len(encoded_frames) != self.form.frames:
            raise SitusError(
                f"truncated: {len(encoded_frames)} of {self.form.frames} frames",
                where=self.path,
                fix="copy it again",
            )
        del self._dataset.PixelData
        return encoded_frames

    def _single(self, encoded: bytes) -> Dataset:
        """A data set of this one frame: pydicom would look for it from the start each time."""
        from pydicom.dataset import Dataset
        from pydicom.encaps import encapsulate

        single = Dataset()
        single.file_meta = self._dataset.file_meta
        for keyword in _KEYWORDS[3:9]:
            if keyword in self._dataset:
                setattr(single, keyword, self._dataset.get(keyword))
        single.Rows, single.Columns, single.NumberOfFrames = self.form.rows, self.form.columns, 1
        single.PixelData = encapsulate([encoded], has_bot=False)
        single["PixelData"].VR = "OB"
        return single

    def _bits(self, packed: bytes, start: int) -> NDArray[np.uint8]:
        """Frames of one bit a pixel follow one another without padding,
        lowest bit first (PS3.5 8.1.1)."""
        count = self.form.rows * self.form.columns
        first, last = start // 8, -(-(start + count) // 8)
        if last > len(packed):
            raise SitusError(
                "truncated: its pixels end early", where=self.path, fix="copy or download it again"
            )
        flat = np.unpackbits(
            np.frombuffer(packed, np.uint8, last - first, first), bitorder="little"
        )
        return flat[start - 8 * first :][:count].reshape(self.form.rows, self.form.columns)

    def _inflated(self, encoded: bytes) -> NDArray[Any]:
        shape = (self.form.rows, self.form.columns)
        needed = -(-shape[0] * shape[1] * self.form.bits // 8)
        plain = zlib.decompressobj(-zlib.MAX_WBITS).decompress(encoded, needed + 2)
        if self.form.bits == 1:
            return self._bits(plain, 0)
        return np.frombuffer(plain[:needed], self.form.dtype.newbyteorder("<")).reshape(shape)

    def _signed(self, pixels: NDArray[np.uint16]) -> NDArray[Any]:
        """Decoded bits as the header's type: the highest used bit is the sign."""
        if not self.form.signed:
            if int(pixels.max()) >> self.form.bits_used:
                problem = "its pixels have more bits than its header declares"
                raise SitusError(problem, where=self.path, fix="copy or export it again")
            return pixels.astype(self.form.dtype)
        unused = 16 - self.form.bits_used
        return ((pixels << np.uint16(unused)).view(np.int16) >> unused).astype(self.form.dtype)

    def _check_claim(self, encoded: bytes) -> None:
        """A code stream that declares another size than the
        header could make the decoder allocate at will."""
        size = _claimed_size(encoded)
        if size is not None and size != (self.form.rows, self.form.columns):
            raise SitusError(
                "its compressed pixels do not have the size its header declares",
                where=self.path,
                fix="copy or export it again",
            )

    def _undecodable(self) -> SitusError:
        fix = _REMEDY.get(self._syntax, "export it uncompressed (e.g. gdcmconv --raw)")
        return SitusError("its compression cannot be decoded here", where=self.path, fix=fix)


def _claimed_size(encoded: bytes) -> tuple[int, int] | None:
    """Rows and columns that a JPEG, JPEG-LS or JPEG 2000 stream declares;
    None if it is none of them."""
    at = encoded.find(b"\xff\x4f\xff\x51", 0, 256)
    if at >= 0:
        right, bottom, left, top = struct.unpack_from(">4I", encoded, at + 8)
        return bottom - top, right - left
    if encoded[:2] != b"\xff\xd8":
        return None
    at = 2
    while at + 9 <= len(encoded) and encoded[at] == 0xFF:
        marker, length = struct.unpack_from(">BH", encoded, at + 1)
        if (0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC)) or marker == 0xF7:
            rows, columns = struct.unpack_from(">HH", encoded, at + 5)
            return rows, columns
        at += 2 + length
    return None
