"""What every page we write keeps to:
one file, a policy that allows no more than its own style and script."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

import msgspec

__all__ = [
    "json_for_script",
    "page_parts",
    "render_page_file",
    "safe_in_script",
    "script_parts",
    "shared_script",
]


def json_for_script(payload: Any) -> bytes:
    """JSON that cannot end the script element it stands in."""
    return safe_in_script(msgspec.json.encode(payload))


def script_parts(payload: Any) -> Iterator[bytes | memoryview]:
    """`json_for_script` in parts: what a record holds as JSON already is not copied."""
    if not isinstance(payload, msgspec.Struct):
        yield json_for_script(payload)
        return
    before = b"{"
    for field in msgspec.structs.fields(payload):
        yield b'%s"%s":' % (before, field.encode_name.encode())
        before = b","
        value = getattr(payload, field.name)
        if (
            isinstance(value, dict)
            and value
            and isinstance(next(iter(value.values())), msgspec.Raw)
        ):
            yield from _raw_parts(value)
        else:
            yield json_for_script(value)
    yield b"}"


def _raw_parts(values: Mapping[str, msgspec.Raw]) -> Iterator[bytes | memoryview]:
    """An object whose values may stand in a script as they are."""
    before = b"{"
    for name, value in values.items():
        yield b"%s%s:" % (before, json_for_script(name))
        yield memoryview(value)
        before = b","
    yield b"}"


def safe_in_script(text: bytes) -> bytes:
    """JSON in which nothing ends a script element; what is safe is not copied."""
    text = text.replace(b"<", b"\\u003c")
    for separator in ("\u2028", "\u2029"):
        text = text.replace(separator.encode(), f"\\u{ord(separator):04x}".encode())
    return text


def render_page_file(
    package: str, template: str, style: str, scripts: Sequence[str], payload: Any, **values: object
) -> bytes:
    """A whole HTML file from a package's `templates`:
    its style, the scripts behind our own helpers, and the data."""
    return b"".join(page_parts(package, template, style, scripts, payload, **values))


def page_parts(
    package: str, template: str, style: str, scripts: Sequence[str], payload: Any, **values: object
) -> tuple[bytes | memoryview, ...]:
    """What an HTML file is put together from: of a large one no second copy need be made."""
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
    data = tuple(script_parts(payload))
    digest = hashlib.sha256()
    for part in data:
        digest.update(part)
    mark = f"data-{digest.hexdigest()}"
    page = environment.get_template(template).render(
        style=Markup(look),
        script=Markup(script),
        payload=Markup(mark),
        policy=_policy(look, script),
        **values,
    )
    before, there, after = page.encode().partition(mark.encode())
    return (before, *data, after) if there else (before,)


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
