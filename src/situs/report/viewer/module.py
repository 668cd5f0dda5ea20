"""The item view as a script module, for pages that are served:
drawn by the same code as in the report."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from situs.base.page import shared_script

__all__ = ["viewer_module", "viewer_style"]

_SCRIPTS = ("dom.js", "numberline.js", "viewer.js", "strip.js", "detail.js")


def viewer_module(exports: Sequence[str]) -> str:
    """The scripts of the item view as one module that offers these functions."""
    templates = files("situs.report").joinpath("templates")
    parts = [shared_script()]
    parts += [templates.joinpath(name).read_text("utf-8") for name in _SCRIPTS]
    return "".join(parts) + f"export {{ {', '.join(exports)} }};\n"


def viewer_style() -> str:
    """The report's style."""
    return files("situs.report").joinpath("templates", "report.css").read_text("utf-8")
