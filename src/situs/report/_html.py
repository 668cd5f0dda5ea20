"""From tables and payload to the one file: template, style and script inlined, and a policy that allows no more."""

from __future__ import annotations

from importlib.resources import files

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from situs._page import json_for_script, page_policy
from situs.report._charts import Chart
from situs.report._payload import Payload
from situs.report._table import csv_link
from situs.report._tables import Board, Grid
from situs.score import Table

__all__ = ["Page", "render_page"]

_SCRIPTS = ("dom.js", "numberline.js", "viewer.js", "strip.js", "detail.js", "list.js", "main.js")


class Page(msgspec.Struct, frozen=True):
    """What the template shows."""

    title: str
    facts: list[tuple[str, str]]
    """(label, value) of the header."""
    warnings: list[str]
    banner: str
    board: Board
    grid: Grid
    wording: Table | None
    extra: list[Table]
    """Tables that are shown as they are."""
    charts: list[Chart]
    left_out: str
    version: str


def render_page(page: Page, payload: Payload) -> str:
    """The whole HTML file."""
    style = _asset("report.css")
    script = "(function(){\n'use strict';\n" + "".join(_asset(name) for name in _SCRIPTS) + "})();\n"
    environment = Environment(
        loader=PackageLoader("situs.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2").render(
        page=page,
        style=Markup(style),
        script=Markup(script),
        payload=Markup(json_for_script(payload)),
        policy=page_policy(style, script),
        csv_link=csv_link,
    )


def _asset(name: str) -> str:
    return files("situs.report").joinpath("templates", name).read_text("utf-8").replace("\r\n", "\n")
