"""`kind[:name][@url][?key=value&…]`: how a model or baseline is named on the command line."""

from __future__ import annotations

import math
import re
from urllib.parse import parse_qsl, quote

import msgspec

from situs.clients.secrets import refuse_secrets
from situs.errors import SitusError

__all__ = ["ENTRY_POINTS", "Spec", "parse_spec"]

ENTRY_POINTS = "situs.clients"
"""The group under which an installed package offers clients by a short name."""

_USER_IN_URL = re.compile(r"://[^/?#]*@")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


class Spec(msgspec.Struct, frozen=True):
    """A parsed model name."""

    kind: str
    name: str = ""
    url: str = ""
    settings: dict[str, str] = {}

    def __str__(self) -> str:
        text = (
            self.kind
            + (f":{self.name}" if self.name else "")
            + (f"@{self.url}" if self.url else "")
        )
        pairs = (f"{quote(k, safe='')}={_readable(v)}" for k, v in sorted(self.settings.items()))
        return text + ("?" + "&".join(pairs) if self.settings else "")

    def whole(self, key: str, default: int) -> int:
        """A setting as a whole number."""
        raw = self.settings.get(key, str(default))
        if not raw.isdecimal() or len(raw) > 18:
            raise SitusError(
                f"{key}={raw!r} is not a whole number", where=str(self), fix=f"e.g. {key}={default}"
            )
        return int(raw)

    def number(self, key: str, low: float, high: float) -> float | None:
        """A setting as a number in a range; None if it is not given."""
        raw = self.settings.get(key)
        if raw is None:
            return None
        # Python also reads `1_000` and digits of other scripts, which nobody means.
        value = float(raw) if _NUMBER.fullmatch(raw) else math.nan
        if not low <= value <= high:
            raise SitusError(
                f"{key}={raw!r} is not a number from {low:g} to {high:g}", where=str(self)
            )
        return value


def parse_spec(text: str) -> Spec:
    """Read a spec; what the kind means is for whoever makes the client.

    A secret in it is refused before anything can record it.
    """
    body, _, query = text.partition("?")
    head, _, url = body.partition("@")
    kind, _, name = head.partition(":")
    if _USER_IN_URL.search(body):
        raise SitusError(
            "the address contains a user name or password",
            where="--model",
            fix="put keys into the environment: ?key_env=NAME",
        )
    if not kind.strip():
        raise SitusError(
            "names no kind of model",
            where="--model",
            fix="write kind[:name][@url][?key=value]",
        )
    try:
        settings = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query)))
    except ValueError as error:
        raise SitusError(
            "cannot read its settings", where="--model", fix="write ?key=value&key=value"
        ) from error
    refuse_secrets(kind, name, url, settings)
    return Spec(kind.strip(), name, url, settings)


def _readable(value: str) -> str:
    return quote(value, safe="/:,.{}[]\"' @~")
