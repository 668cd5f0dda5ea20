"""A drawing as a PDF of one page.

Written here, for no library that Situs needs anyway draws lines and letters into a PDF (Pillow's
are bitmaps), and what charts are made of is little: straight lines, dots and text.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from math import cos, radians, sin

from situs.report.charts.drawing import Disc, Drawing, Outline, Shape, Words
from situs.report.charts.typeface import Typeface, typeface

__all__ = ["pdf_of"]

_POINTS = 0.75
"""A CSS pixel is three quarters of a PDF point."""
_ROUND = 0.5522847498
"""How far the handles of four Bézier curves reach
for them to look like a circle: 4 (√2 − 1) / 3."""
_CAPITALS = 0.73
"""Their height, in ems."""


def pdf_of(drawing: Drawing) -> bytes:
    """A drawing as a PDF of one page, as large as it is (PDF 1.4, ISO 32000-1 for the names)."""
    face = typeface()
    used = {ord("?"): face.glyph("?")}
    for part in drawing.parts:
        if isinstance(part, Words):
            used.update((ord(character), face.glyph(character)) for character in part.text)
    opacities = {part.opacity for part in drawing.parts if isinstance(part, Outline)} | {1.0}
    lines = [f"{_POINTS} 0 0 {-_POINTS} 0 {drawing.height * _POINTS:.2f} cm"]
    lines += [_painted(part, face) for part in drawing.parts]
    states = " ".join(f"{_state(value)} << /ca {value:g} >>" for value in sorted(opacities))
    box = f"0 0 {drawing.width * _POINTS:.2f} {drawing.height * _POINTS:.2f}"
    return _pdf_file(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            (
                f"<< /Type /Page /Parent 2 0 R /MediaBox [{box}] /Contents 4 0 R "
                f"/Resources << /Font << /F 5 0 R >> /ExtGState << {states} >> >> >>"
            ).encode(),
            _stream("\n".join(lines).encode("ascii")),
            *_font_objects(face, used, first=5),
        ]
    )


def _state(opacity: float) -> str:
    return f"/G{1000 * opacity:.0f}"


def _painted(part: Shape, face: Typeface) -> str:
    if isinstance(part, Words):
        return _written(part, face)
    if isinstance(part, Disc):
        return f"{_state(1.0)} gs {_colour(part.fill)} rg {_round(part)} f"
    first, *others = part.points
    path = f"{first[0]:g} {first[1]:g} m " + " ".join(f"{x:g} {y:g} l" for x, y in others)
    path += " h" if part.closed else ""
    paint = {(True, True): "B", (True, False): "f", (False, True): "S"}.get(
        (bool(part.fill), bool(part.stroke)), "n"
    )
    look = [f"{_state(part.opacity)} gs"]
    if part.fill:
        look.append(f"{_colour(part.fill)} rg")
    if part.stroke:
        dash = " ".join(f"{one:g}" for one in part.dash)
        look.append(f"{_colour(part.stroke)} RG {part.width:g} w [{dash}] 0 d")
    return f"{' '.join(look)} {path} {paint}"


def _written(part: Words, face: Typeface) -> str:
    ahead = {"start": 0.0, "middle": 0.5, "end": 1.0}[part.anchor]
    back = ahead * face.width(part.text, part.size)
    turn = radians(part.turn)
    x, y = part.x - back * cos(turn), part.y - back * sin(turn)
    # The page's y runs down, as on a screen; letters are turned over so that they stand upright.
    matrix = f"{cos(turn):.5f} {sin(turn):.5f} {sin(turn):.5f} {-cos(turn):.5f} {x:.2f} {y:.2f}"
    codes = "".join(f"{face.glyph(character):04X}" for character in part.text)
    return (
        f"BT {_state(1.0)} gs {_colour(part.fill)} rg /F {part.size:g} Tf {matrix} Tm <{codes}>"
        " Tj ET"
    )


def _round(disc: Disc) -> str:
    x, y, r, k = disc.x, disc.y, disc.radius, disc.radius * _ROUND
    curves = (
        (x + r, y + k, x + k, y + r, x, y + r),
        (x - k, y + r, x - r, y + k, x - r, y),
        (x - r, y - k, x - k, y - r, x, y - r),
        (x + k, y - r, x + r, y - k, x + r, y),
    )
    drawn = " ".join(" ".join(f"{v:.2f}" for v in curve) + " c" for curve in curves)
    return f"{x + r:.2f} {y:.2f} m {drawn} h"


def _colour(code: str) -> str:
    """`#rgb` or `#rrggbb` as shares of red, green and blue."""
    digits = code.removeprefix("#")
    if len(digits) == len("rgb"):
        digits = "".join(2 * one for one in digits)
    return " ".join(f"{int(digits[n : n + 2], 16) / 255:.3f}" for n in (0, 2, 4))


def _font_objects(face: Typeface, used: dict[int, int], first: int) -> list[bytes]:
    """The font and its parts; a text is a row of glyph numbers,
    which `ToUnicode` turns back into letters."""
    scale = 1000 / face.units
    widths = " ".join(
        f"{glyph} [{face.advances[glyph] * scale:.0f}]" for glyph in sorted(set(used.values()))
    )
    bounds = " ".join(f"{value * scale:.0f}" for value in face.bounds)
    rise, fall = face.ascent * scale, face.descent * scale
    return [
        (
            "<< /Type /Font /Subtype /Type0 /BaseFont /SitusSans /Encoding /Identity-H "
            f"/DescendantFonts [{first + 1} 0 R] /ToUnicode {first + 4} 0 R >>"
        ).encode(),
        (
            "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /SitusSans /CIDToGIDMap /Identity "
            "/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> "
            f"/FontDescriptor {first + 2} 0 R /W [{widths}] >>"
        ).encode(),
        (
            f"<< /Type /FontDescriptor /FontName /SitusSans /Flags 4 /FontBBox [{bounds}] "
            f"/ItalicAngle 0 /Ascent {rise:.0f} /Descent {fall:.0f} "
            f"/CapHeight {1000 * _CAPITALS:.0f} /StemV 80 /FontFile2 {first + 3} 0 R >>"
        ).encode(),
        _stream(face.data, f"/Length1 {len(face.data)}"),
        _stream(_to_unicode(used).encode("ascii")),
    ]


def _to_unicode(used: dict[int, int]) -> str:
    pairs = sorted({glyph: character for character, glyph in used.items()}.items())
    chunks = [pairs[n : n + 100] for n in range(0, len(pairs), 100)]
    maps = "\n".join(
        f"{len(chunk)} beginbfchar\n"
        + "\n".join(f"<{glyph:04X}> <{character:04X}>" for glyph, character in chunk)
        + "\nendbfchar"
        for chunk in chunks
    )
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n"
        "/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n"
        "/CMapName /Adobe-Identity-UCS def /CMapType 2 def\n"
        f"1 begincodespacerange <0000> <FFFF> endcodespacerange\n{maps}\n"
        "endcmap CMapName currentdict /CMap defineresource pop end end"
    )


def _stream(data: bytes, more: str = "") -> bytes:
    packed = zlib.compress(data, 9)
    head = f"<< /Length {len(packed)} /Filter /FlateDecode {more} >>\nstream\n"
    return head.encode() + packed + b"\nendstream"


def _pdf_file(objects: Sequence[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{offset:010d} 00000 n \n".encode() for offset in offsets)
    out += (
        f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n".encode()
    )
    return bytes(out)
