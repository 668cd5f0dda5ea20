"""Charts as files for a paper: SVG, whose text stays text, and PDF with its font inside."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from markupsafe import escape

from situs.base.files import file_name
from situs.errors import SitusError
from situs.report.charts.drawing import Disc, Drawing, Shape, Words, drawing_of
from situs.report.charts.figures import Chart
from situs.report.charts.pdf import pdf_of

__all__ = ["chart_files", "check_charts_folder", "svg_of"]


def check_charts_folder(folder: Path | None) -> None:
    """Stop where charts cannot be written, before anything else is."""
    # A link that leads nowhere does not exist, and is no place for a folder either.
    if folder is not None and os.path.lexists(folder) and not folder.is_dir():
        raise SitusError("is a file, not a folder", where=folder, fix="choose another --charts")


def chart_files(folder: Path, charts: Sequence[Chart]) -> dict[Path, bytes | str]:
    """Every picture of every chart as SVG and PDF, by the file it belongs in."""
    files: dict[Path, bytes | str] = {}
    for chart in charts:
        for number, (caption, svg) in enumerate(chart.pictures, start=1):
            several = f"-{number}" if len(chart.pictures) > 1 else ""
            name = f"{file_name(chart.table.name)}{several}"
            drawing = drawing_of(str(svg), caption, chart.legend)
            files[folder / f"{name}.svg"] = svg_of(drawing)
            files[folder / f"{name}.pdf"] = pdf_of(drawing)
    return files


def svg_of(drawing: Drawing) -> str:
    """A drawing as an SVG file that needs no style sheet."""
    size = f'width="{drawing.width:g}" height="{drawing.height:g}"'
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {drawing.width:g}'
        f' {drawing.height:g}" {size} font-family="Helvetica, Arial, DejaVu Sans, sans-serif">'
    )
    parts = [f"<title>{escape(drawing.title)}</title>"]
    parts += [_svg_part(part) for part in drawing.parts]
    return "\n".join([head, *parts, "</svg>", ""])


def _svg_part(part: Shape) -> str:
    if isinstance(part, Disc):
        return f'<circle cx="{part.x:g}" cy="{part.y:g}" r="{part.radius:g}" fill="{part.fill}"/>'
    if isinstance(part, Words):
        turn = f' transform="rotate({part.turn:g} {part.x:g} {part.y:g})"' if part.turn else ""
        position = (
            f'x="{part.x:g}" y="{part.y:g}" font-size="{part.size:g}" text-anchor="{part.anchor}"'
        )
        return f'<text {position} fill="{part.fill}"{turn}>{escape(part.text)}</text>'
    points = " ".join(f"{x:g},{y:g}" for x, y in part.points)
    look = f'fill="{part.fill or "none"}" stroke="{part.stroke or "none"}"'
    if part.opacity < 1:
        look += f' fill-opacity="{part.opacity:g}"'
    if part.stroke:
        look += f' stroke-width="{part.width:g}"'
    if part.dash:
        look += f' stroke-dasharray="{" ".join(f"{one:g}" for one in part.dash)}"'
    return f'<{"polygon" if part.closed else "polyline"} points="{points}" {look}/>'
