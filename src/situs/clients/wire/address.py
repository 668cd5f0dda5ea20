"""Where a server is and which key it gets."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from situs.clients.spec import Spec
from situs.clients.wire.transport import is_remote
from situs.errors import SitusError

__all__ = ["api_key", "base_address", "lacking_key"]


def base_address(spec: Spec, default: str) -> str:
    """The address of a spec without a slash at its end, or the provider's own."""
    url = (spec.url or default).rstrip("/")
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good = False
    if not good:
        fix = f"write {spec.kind}:MODEL@URL"
        raise SitusError("its address is not http://HOST:PORT/v1", where=str(spec), fix=fix)
    return url


def api_key(spec: Spec, url: str, *usual: str) -> str:
    """The API key, from the environment only: the variable that the spec names, else the first
    `usual` one.

    A usual key is not sent in the open, over plain HTTP to another machine, unless it is named.
    """
    named = spec.settings.get("key_env")
    names = (named,) if named else usual
    variable = next((name for name in names if os.environ.get(name, "").strip()), names[0])
    key = os.environ.get(variable, "").strip()
    if named and not key:
        fix = f"export {named}=…"
        raise SitusError(f"the environment has no {named}", where=str(spec), fix=fix)
    if not key.isascii() or not key.isprintable():
        fix = "check for stray characters"
        raise SitusError(f"{variable} is not a key", where="environment", fix=fix)
    safe = urlsplit(url).scheme == "https" or not is_remote(url)
    return key if named or safe else ""


def lacking_key(spec: Spec, key: str) -> str:
    """What is wrong and helps where a provider itself would be asked without a key; empty where a
    key is there, or the server is somebody's own and may need none."""
    if spec.url or key:
        return ""
    variable = f"{spec.kind.upper()}_API_KEY"
    own = f", or name a server: openai:{spec.name}@http://localhost:8000/v1"
    cure = f"export {variable}=…" + (own if spec.kind == "openai" else "")
    return f"the environment has no {variable}; {cure}"
