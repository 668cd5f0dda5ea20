"""What every page we write keeps to:
one file, a policy that allows no more than its own style and script."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import msgspec

__all__ = ["json_for_script", "render_page_file", "shared_script"]


def json_for_script(payload: Any) -> bytes:
    """JSON that cannot end the script element it stands in."""
    text = msgspec.json.encode(payload).replace(b"<", b"\\u003c")
    for separator in ("\u2028", "\u2029"):
        text = text.replace(separator.encode(), f"\\u{ord(separator):04x}".encode())
    return text


def render_page_file(
    package: str, template: str, style: str, scripts: Sequence[str], payload: Any, **values: object
) -> bytes:
    """A whole HTML file from a package's `templates`:
    its style, the scripts behind our own helpers, and the data."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    code = shared_script() + "".join(_text(package, "templates", name) for name in scripts)
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
    # The data are megabytes, which the template need not copy: it gets a mark that nobody else can
    # write.
    data = json_for_script(payload)
    mark = f"data-{hashlib.sha256(data).hexdigest()}"
    page = environment.get_template(template).render(
        style=Markup(look),
        script=Markup(script),
        payload=Markup(mark),
        policy=_policy(look, script),
        **values,
    )
    before, there, after = page.encode().partition(mark.encode())
    return b"".join((before, data, after)) if there else before


def shared_script() -> str:
    """What every page's own scripts may use: making elements, and pictures in any window."""
    return _text("situs.base", "page.js") + _text("situs.base", "tones.js")


def _text(package: str, *parts: str) -> str:
    return files(package).joinpath(*parts).read_text("utf-8").replace("\r\n", "\n")


def _policy(style: str, script: str) -> str:
    """A content policy: no network, no code but this script, no style but this one."""
    return (
        "default-src 'none'; img-src data:; "
        f"style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
