"""`gemini:MODEL[@URL]`: Google's generateContent protocol."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

from situs.clients.gemini.dialect import GeminiDialect
from situs.clients.reach import Reach
from situs.clients.spec import Spec
from situs.clients.wire.address import api_key, base_address
from situs.clients.wire.client import WireClient
from situs.errors import SitusError

__all__ = ["make_gemini"]

_DEFAULT_URL = "https://generativelanguage.googleapis.com/v1beta"


def make_gemini(spec: Spec, reach: Reach | None = None) -> WireClient:
    """A client for one model.

    The key is that of GEMINI_API_KEY or GOOGLE_API_KEY, or as `key_env` says.
    """
    if not spec.name:
        raise SitusError("names no model", where=str(spec), fix="write gemini:MODEL")
    base = base_address(spec, _DEFAULT_URL)
    if not urlsplit(base).path:
        base += "/v1beta"
    # The name is part of the address; nothing in it may lead elsewhere.
    url = f"{base}/models/{quote(spec.name, safe='')}:generateContent"
    key = api_key(spec, url, "GEMINI_API_KEY", "GOOGLE_API_KEY")
    headers = {"x-goog-api-key": key} if key else {}
    return WireClient(spec, GeminiDialect(), url, key, headers, reach)
