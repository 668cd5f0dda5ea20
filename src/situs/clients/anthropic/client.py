"""`anthropic:MODEL[@URL]`: Anthropic's Messages protocol, also behind gateways that speak it."""

from __future__ import annotations

from urllib.parse import urlsplit

from situs.clients.anthropic.dialect import AnthropicDialect
from situs.clients.reach import Reach
from situs.clients.spec import Spec
from situs.clients.wire.address import api_key, base_address
from situs.clients.wire.client import WireClient
from situs.errors import SitusError

__all__ = ["make_anthropic"]

_DEFAULT_URL = "https://api.anthropic.com"
_VERSION = "2023-06-01"
"""Of the protocol; it has not changed since."""


def make_anthropic(spec: Spec, reach: Reach | None = None) -> WireClient:
    """A client for one model.

    The key is that of ANTHROPIC_API_KEY, or of the variable named by `key_env`.
    """
    if not spec.name:
        raise SitusError("names no model", where=str(spec), fix="write anthropic:MODEL")
    if "seed" in spec.settings:
        raise SitusError("anthropic does not take 'seed'", where="--model", fix="leave it out")
    url = base_address(spec, _DEFAULT_URL)
    if not url.endswith("/messages"):
        url += "/messages" if urlsplit(url).path else "/v1/messages"
    key = api_key(spec, url, "ANTHROPIC_API_KEY")
    headers = {"anthropic-version": _VERSION} | ({"x-api-key": key} if key else {})
    return WireClient(spec, AnthropicDialect(spec.name), url, key, headers, reach)
