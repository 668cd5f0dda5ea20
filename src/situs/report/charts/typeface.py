"""The letters of charts that are files: which glyph a character has, and how wide it is."""

from __future__ import annotations

import struct
from functools import cache
from importlib.resources import files

import msgspec

__all__ = ["Typeface", "typeface"]

_WINDOWS_UNICODE = (3, 1)
_SEGMENTS = 4
"""The format of a character map that is made of segments."""


class Typeface(msgspec.Struct, frozen=True):
    """A TrueType font, as far as a page needs to know it."""

    data: bytes
    """The file, which a PDF embeds."""
    units: int
    """Of the font's grid, in one em."""
    ascent: int
    descent: int
    bounds: tuple[int, int, int, int]
    glyphs: dict[int, int]
    """Character → glyph."""
    advances: list[int]
    """Of each glyph, in units."""

    def glyph(self, character: str) -> int:
        """The glyph of a character; that of the question mark for those it does not have."""
        return self.glyphs.get(ord(character)) or self.glyphs[ord("?")]

    def width(self, words: str, size: float) -> float:
        """How wide words are, in the unit of the size."""
        advances = sum(self.advances[self.glyph(character)] for character in words)
        return size * advances / self.units

    def wrapped(self, words: str, size: float, room: float) -> list[str]:
        """Words in lines that fit; a word that is longer than a line has one to itself."""
        lines: list[str] = []
        for word in words.split():
            longer = f"{lines[-1]} {word}" if lines else word
            if lines and self.width(longer, size) <= room:
                lines[-1] = longer
            else:
                lines.append(word)
        return lines


@cache
def typeface() -> Typeface:
    """The font that ships with Situs:
    an embedded one, for journals refuse PDFs that name a font only."""
    return _read(files("situs.report").joinpath("charts", "font", "situs-sans.ttf").read_bytes())


def _read(data: bytes) -> Typeface:
    """After the OpenType specification, 1.9: tables `head`, `hhea`, `hmtx` and `cmap`."""
    tables = {}
    (count,) = struct.unpack_from(">H", data, 4)
    for number in range(count):
        tag, _, offset, _ = struct.unpack_from(">4sLLL", data, 12 + 16 * number)
        tables[tag] = offset
    head, hhea = tables[b"head"], tables[b"hhea"]
    ascent, descent = struct.unpack_from(">hh", data, hhea + 4)
    (wide,) = struct.unpack_from(">H", data, hhea + 34)
    advances = list(struct.unpack_from(">" + "Hh" * wide, data, tables[b"hmtx"])[::2])
    glyphs = _character_map(data, tables[b"cmap"])
    # Glyphs after the last that is listed are as wide as that one.
    advances += [advances[-1]] * (1 + max(glyphs.values()) - len(advances))
    return Typeface(
        data=data,
        units=struct.unpack_from(">H", data, head + 18)[0],
        ascent=ascent,
        descent=descent,
        bounds=struct.unpack_from(">hhhh", data, head + 36),
        glyphs=glyphs,
        advances=advances,
    )


def _character_map(data: bytes, cmap: int) -> dict[int, int]:
    (count,) = struct.unpack_from(">H", data, cmap + 2)
    for number in range(count):
        platform, encoding, offset = struct.unpack_from(">HHL", data, cmap + 4 + 8 * number)
        table = cmap + offset
        if (platform, encoding) == _WINDOWS_UNICODE and data[table + 1] == _SEGMENTS:
            return _segments(data, table)
    raise ValueError("the font has no map of Unicode characters in segments")


def _segments(data: bytes, table: int) -> dict[int, int]:
    (double,) = struct.unpack_from(">H", data, table + 6)
    row = f">{double // 2}H"
    ends = struct.unpack_from(row, data, table + 14)
    starts = struct.unpack_from(row, data, table + 16 + double)
    deltas = struct.unpack_from(row, data, table + 16 + 2 * double)
    ranges_at = table + 16 + 3 * double
    ranges = struct.unpack_from(row, data, ranges_at)
    glyphs = {}
    for segment, (start, end) in enumerate(zip(starts, ends)):
        for character in range(start, min(end, 0xFFFE) + 1):
            glyph = character
            if ranges[segment]:
                at = ranges_at + 2 * segment + ranges[segment] + 2 * (character - start)
                (glyph,) = struct.unpack_from(">H", data, at)
                if not glyph:
                    continue
            glyphs[character] = (glyph + deltas[segment]) & 0xFFFF
    return glyphs
