"""What every page we write keeps to: one file, a policy that allows no more than its own style and script."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import msgspec

__all__ = ["json_for_script", "render_page_file"]


def json_for_script(payload: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    text = msgspec.json.encode(payload).decode("utf-8")
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def render_page_file(
    package: str, template: str, style: str, scripts: Sequence[str], payload: Any, **values: object
) -> str:
    """A whole HTML file from a package's `templates`: its style, the scripts behind our own helpers, and the data."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    code = _text("situs.base", "page.js") + "".join(
        _text(package, "templates", name) for name in scripts
    )
    script, look = (
        "(function(){\n'use strict';\n" + code + "})();\n",
        _text(package, "templates", style),
    )
    environment = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(
        style=Markup(look),
        script=Markup(script),
        payload=Markup(json_for_script(payload)),
        policy=_policy(look, script),
        **values,
    )


def _text(package: str, *place: str) -> str:
    return files(package).joinpath(*place).read_text("utf-8").replace("\r\n", "\n")


def _policy(style: str, script: str) -> str:
    """A content policy: no network, no code but this script, no style but this one."""
    return (
        "default-src 'none'; img-src data:; "
        f"style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
