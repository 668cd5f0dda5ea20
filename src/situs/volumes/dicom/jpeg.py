"""JPEG of one grey channel with more than eight bits: lossless (process 14) and sequential DCT
(processes 1, 2 and 4).

No light library with a free licence decodes these; the bits are read as ITU-T T.81 says. Lossless
pixels are exact.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["decode_jpeg"]

_START, _END, _TABLES, _QUANTA, _RESTARTS, _SCAN = 0xD8, 0xD9, 0xC4, 0xDB, 0xDD, 0xDA
_DCT = (0xC0, 0xC1)
_LOSSLESS = 0xC3
_FRAMES = tuple(code for code in range(0xC0, 0xD0) if code not in (0xC4, 0xC8, 0xCC))


@dataclass
class _Header:
    """What stands before the scan."""

    frame: int = 0
    precision: int = 0
    rows: int = 0
    columns: int = 0
    quanta_of: int = 0
    interval: int = 0
    huffman: dict[int, NDArray[np.int32]] = field(default_factory=dict)
    """By class and number (16 × class + number)."""
    quanta: dict[int, NDArray[np.float64]] = field(default_factory=dict)
    tables: int = 0
    """Numbers of the scan's DC and AC tables (16 × DC + AC)."""
    predictor: int = 0
    shift: int = 0


def decode_jpeg(encoded: bytes) -> NDArray[np.uint16]:
    """The pixels [row, column]. Raises `ValueError` for anything damaged or of another kind."""
    header, at = _read_header(encoded)
    data = np.frombuffer(encoded, np.uint8, offset=at)
    return _lossless(header, data) if header.frame == _LOSSLESS else _dct(header, data)


def _read_header(encoded: bytes) -> tuple[_Header, int]:
    if encoded[:2] != bytes([0xFF, _START]):
        raise ValueError("no JPEG")
    header, at = _Header(), 2
    while True:
        while encoded[at : at + 2] == b"\xff\xff":
            at += 1
        if len(encoded) < at + 4 or encoded[at] != 0xFF:
            raise ValueError("no marker")
        marker, length = struct.unpack_from(">BH", encoded, at + 1)
        body = encoded[at + 4 : at + 2 + length]
        if length < 2 or len(body) != length - 2:
            raise ValueError("a segment is cut")
        at += 2 + length
        if marker == _TABLES:
            _read_tables(body, header)
        elif marker == _QUANTA:
            _read_quanta(body, header)
        elif marker == _RESTARTS:
            (header.interval,) = struct.unpack(">H", body)
        elif marker in _FRAMES:
            _read_frame(marker, body, header)
        elif marker == _SCAN:
            _read_scan(body, header)
            return header, at


def _read_tables(body: bytes, header: _Header) -> None:
    """Canonical Huffman codes as a table over the next 16 bits."""
    while body:
        counts = list(body[1:17])
        symbols = body[17 : 17 + sum(counts)]
        table = np.zeros(1 << 16, dtype=np.int32)
        code = taken = 0
        for length, count in enumerate(counts, start=1):
            for symbol in symbols[taken : taken + count]:
                start = code << (16 - length)
                table[start : start + (1 << (16 - length))] = length << 8 | symbol
                code += 1
            taken += count
            if code > 1 << length:
                raise ValueError("impossible code lengths")
            code <<= 1
        if len(counts) < 16 or len(symbols) < taken:
            raise ValueError("a table is cut")
        header.huffman[body[0]] = table
        body = body[17 + taken :]


def _read_quanta(body: bytes, header: _Header) -> None:
    from situs.volumes.dicom.jpeg_kernels import ZIGZAG

    while body:
        kind = np.dtype(">u2" if body[0] >> 4 else "u1")
        quanta = np.zeros(64)
        quanta[ZIGZAG] = np.frombuffer(body, kind, 64, 1)
        header.quanta[body[0] & 15] = quanta
        body = body[1 + 64 * kind.itemsize :]


def _read_frame(marker: int, body: bytes, header: _Header) -> None:
    header.precision, header.rows, header.columns, channels = struct.unpack_from(">BHHB", body)
    header.frame, header.quanta_of = marker, body[8]
    if marker not in (*_DCT, _LOSSLESS) or channels != 1 or not 2 <= header.precision <= 16:
        raise ValueError("not a kind that is decoded here")
    if not (header.rows and header.columns):
        raise ValueError("no size")


def _read_scan(body: bytes, header: _Header) -> None:
    channels, _, header.tables, header.predictor, _, shifts = struct.unpack(">6B", body)
    header.shift = shifts & 15
    lossless = header.frame == _LOSSLESS
    if not header.frame or channels != 1 or (lossless and not 1 <= header.predictor <= 7):
        raise ValueError("not a kind that is decoded here")
    if header.shift >= header.precision or (not lossless and shifts):
        raise ValueError("impossible shift")


def _lossless(header: _Header, data: NDArray[np.uint8]) -> NDArray[np.uint16]:
    from situs.volumes.dicom.jpeg_kernels import DONE, decode_lossless

    out = np.zeros(header.rows * header.columns, dtype=np.uint16)
    first = 1 << (header.precision - header.shift - 1)
    table = header.huffman[header.tables >> 4]
    if (
        decode_lossless(data, table, header.predictor, first, header.interval, header.columns, out)
        != DONE
    ):
        raise ValueError("damaged scan")
    pixels = (out << np.uint16(header.shift)).reshape(header.rows, header.columns)
    masked: NDArray[np.uint16] = pixels & np.uint16((1 << header.precision) - 1)
    return masked


def _dct(header: _Header, data: NDArray[np.uint8]) -> NDArray[np.uint16]:
    from situs.volumes.dicom.jpeg_kernels import DONE, ZIGZAG, decode_blocks

    down, across = -(-header.rows // 8), -(-header.columns // 8)
    coefficients = np.zeros(down * across * 64, dtype=np.int32)
    dc, ac = header.huffman[header.tables >> 4], header.huffman[16 | header.tables & 15]
    if decode_blocks(data, dc, ac, ZIGZAG, header.interval, coefficients) != DONE:
        raise ValueError("damaged scan")
    frequencies = coefficients.reshape(-1, 64) * header.quanta[header.quanta_of]
    n = np.arange(8)
    # T.81 A.3.3: the inverse cosine transform, along rows and columns.
    waves = np.cos((2 * n + 1) * n[:, None] * np.pi / 16) * np.where(
        n[:, None] == 0, np.sqrt(0.125), 0.5
    )
    blocks = waves.T @ frequencies.reshape(-1, 8, 8) @ waves
    levels = np.rint(blocks + (1 << (header.precision - 1))).clip(0, (1 << header.precision) - 1)
    picture = levels.reshape(down, across, 8, 8).swapaxes(1, 2).reshape(8 * down, 8 * across)
    cropped: NDArray[np.uint16] = picture[: header.rows, : header.columns].astype(np.uint16)
    return cropped
