"""Charts as files for a paper: read back by a PDF library, a font library and an XML parser."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pypdfium2
import pytest
from fontTools.ttLib import TTFont

from situs.report.charts.drawing import Outline, drawing_of
from situs.report.charts.panels import ShareGrid
from situs.report.charts.pdf import pdf_of
from situs.report.charts.svg import _log_ticks, bucket_svg, heat_svg
from situs.report.charts.typeface import typeface
from situs.report.charts.vector_files import svg_of

NAMES = ["grün & <b>", "κ ≥ ×2"]
GRID = ShareGrid(NAMES, ["liver", "spleen"], [[(4, 4), (0, 0)], [(1, 4), (2, 4)]])
SVG = "{http://www.w3.org/2000/svg}"
FONT = Path(__file__).parents[2] / "src/situs/report/charts/font/situs-sans.ttf"


def test_letters_have_the_glyphs_and_widths_of_the_font() -> None:
    face, font = typeface(), TTFont(FONT)
    known = font.getBestCmap()
    assert face.glyphs == {code: font.getGlyphID(name) for code, name in known.items()}
    widths = {name: font["hmtx"][name][0] for name in known.values()}
    for words in ("Bland–Altman", "κ ≥ ×2"):
        expected = sum(widths[known[ord(letter)]] for letter in words) / font["head"].unitsPerEm
        assert face.width(words, 12) == pytest.approx(12 * expected)
    assert face.width("中", 12) == face.width("?", 12)


def test_a_pdf_is_read_with_its_words_and_size() -> None:
    drawing = drawing_of(str(bucket_svg(GRID, "By size")), "A caption", NAMES)
    (page,) = pypdfium2.PdfDocument(pdf_of(drawing))
    words = page.get_textpage().get_text_bounded()
    assert all(name in words for name in (*NAMES, "liver", "A caption", "n = 4"))
    # 96 CSS pixels and 72 points are an inch.
    assert page.get_size() == pytest.approx((drawing.width * 0.75, drawing.height * 0.75), abs=0.01)


def test_both_files_have_the_colours_of_the_light_page() -> None:
    drawing = drawing_of(str(heat_svg(GRID, "By structure")))
    cells = [part for part in drawing.parts if isinstance(part, Outline)]
    # Four of four: the accent of report.css, #1f5fa8, in full; one of four: its h2, 17 % of it on
    # white.
    assert [(cell.fill, cell.opacity) for cell in cells] == [
        ("#1f5fa8", 1.0),
        ("#f1f2f3", 1.0),
        ("#1f5fa8", 0.17),
        ("#1f5fa8", 0.41),
    ]
    (page,) = pypdfium2.PdfDocument(pdf_of(drawing))
    picture = page.render(scale=4).to_pil().convert("RGB")
    for cell, share in ((cells[0], 1.0), (cells[2], 0.17)):
        x, y = cell.points[0]
        seen = picture.getpixel((round(3 * (x + 6)), round(3 * (y + 6))))
        expected = [255 + share * (colour - 255) for colour in (0x1F, 0x5F, 0xA8)]
        assert seen == pytest.approx(expected, abs=2)


def test_an_svg_needs_no_style_sheet() -> None:
    root = ElementTree.fromstring(
        svg_of(drawing_of(str(bucket_svg(GRID, "By size")), legend=NAMES))
    )
    assert not any("class" in element.attrib for element in root.iter())
    assert {"grün & <b>", "liver"} <= {element.text for element in root.iter(f"{SVG}text")}
    lines = [element.attrib["stroke"] for element in root.iter(f"{SVG}polyline")]
    # The first two series of report.css, each as its line and in the legend.
    assert lines.count("#2f74c0") == lines.count("#d2571b") == 2


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [(1, 1000, [1, 10, 100, 1000]), (15, 60, [20, 50]), (11, 19, []), (3, 4.5, [3, 4])],
)
def test_axes_have_two_round_numbers_if_there_are_any(
    low: float, high: float, ticks: list[float]
) -> None:
    assert _log_ticks(math.log10(low), math.log10(high)) == pytest.approx(ticks)


def test_words_that_are_turned_or_end_somewhere_stay_inside() -> None:
    drawing = drawing_of(str(heat_svg(GRID, "By structure")))
    (page,) = pypdfium2.PdfDocument(pdf_of(drawing))
    text = page.get_textpage()
    width, height = page.get_size()
    for place in range(text.count_chars()):
        left, bottom, right, top = text.get_charbox(place)
        assert min(left, bottom) >= -0.5
        assert max(right - width, top - height) <= 0.5


def test_long_names_of_models_stay_apart() -> None:
    sizes = ("8B", "32B")
    runs = [f"openai:Qwen/Qwen3-VL-{size}-Instruct" for size in sizes]
    drawn = str(heat_svg(msgspec.structs.replace(GRID, runs=runs), "By structure"))
    heads = re.findall(r">([^<>]*…[^<>]*)<", drawn)
    assert len(set(heads)) == 2
    assert all(f"{size}-Instruct" in head for size, head in zip(sizes, heads))
    assert max(map(len, heads)) == 18


def test_a_report_writes_every_chart(
    cohort: Any, tmp_path: Path, situs: Callable[..., Any]
) -> None:
    folder = tmp_path / "charts"
    out = ("--out", tmp_path / "report.html", "--pictures", 0)
    ran = situs("report", cohort.oracle, cohort.random, *out, "--charts", folder)
    assert ran.code == 0, ran.err
    names = {path.name for path in folder.iterdir()}
    assert {"leaderboard.svg", "leaderboard.pdf", "structures.pdf"} <= names
    assert {Path(name).stem for name in names if name.endswith(".svg")} == {
        Path(name).stem for name in names if name.endswith(".pdf")
    }
    for path in folder.glob("*.pdf"):
        assert len(pypdfium2.PdfDocument(path)) == 1


def test_a_file_in_place_of_the_folder_is_one_line(
    cohort: Any, tmp_path: Path, situs: Callable[..., Any]
) -> None:
    taken = tmp_path / "charts"
    taken.write_text("mine")
    out = tmp_path / "report.html"
    ran = situs("report", cohort.random, "--out", out, "--charts", taken)
    assert (ran.code, out.exists()) == (2, False)
    assert "choose another --charts" in ran.err
