"""From tables and payload to the one file:
template, style and script inlined, and a policy that allows no more."""

from __future__ import annotations

import msgspec
from markupsafe import Markup

from situs.base.page import page_parts
from situs.report.charts.figures import Chart
from situs.report.downloads import csv_link
from situs.report.sessions import RunSessions
from situs.report.tables.leaderboard import Board, Grid
from situs.report.tables.verdicts import Verdict
from situs.report.viewer.payload import Payload
from situs.tables import Table, html_body

__all__ = ["Page", "render_page"]

_SCRIPTS = ("dom.js", "numberline.js", "viewer.js", "strip.js", "detail.js", "list.js", "main.js")


class Page(msgspec.Struct, frozen=True):
    """What the template shows."""

    title: str
    facts: list[tuple[str, str]]
    """(label, value) of the header."""
    warnings: list[str]
    banner: str
    verdicts: list[Verdict]
    """Did it look? Empty if no run was probed."""
    board: Board
    grid: Grid
    wording: Table | None
    extra: list[Table]
    """Tables that are shown as they are."""
    charts: list[Chart]
    left_out: str
    version: str
    sessions: list[RunSessions] = []
    """Of runs in a reading room: sessions to watch."""


def render_page(page: Page, payload: Payload) -> tuple[bytes | memoryview, ...]:
    """The HTML file, in parts."""
    return page_parts(
        "situs.report",
        "report.html.j2",
        "report.css",
        _SCRIPTS,
        payload,
        page=page,
        csv_link=csv_link,
        table_body=_table_body,
    )


def _table_body(table: Table, most_rows: int | None = None) -> Markup:
    return Markup(html_body(table, most_rows=most_rows))
