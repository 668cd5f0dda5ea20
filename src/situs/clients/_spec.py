"""`kind[:name][@url][?key=value&…]`: how a model or baseline is named on the command line."""

from __future__ import annotations

from urllib.parse import parse_qsl

import msgspec

from situs.errors import SitusError

__all__ = ["Spec", "parse_spec"]


class Spec(msgspec.Struct, frozen=True):
    """A parsed model name."""

    kind: str
    name: str = ""
    url: str = ""
    settings: dict[str, str] = {}

    def __str__(self) -> str:
        text = self.kind + (f":{self.name}" if self.name else "") + (f"@{self.url}" if self.url else "")
        return text + ("?" + "&".join(f"{k}={v}" for k, v in sorted(self.settings.items())) if self.settings else "")

    def whole(self, key: str, default: int) -> int:
        """A setting as a whole number."""
        raw = self.settings.get(key, str(default))
        if not raw.isdecimal() or len(raw) > 18:
            raise SitusError(f"{key}={raw!r} is not a whole number", where=str(self), fix=f"e.g. {key}={default}")
        return int(raw)


def parse_spec(text: str) -> Spec:
    """Read a spec; what the kind means is for whoever makes the client."""
    body, _, query = text.partition("?")
    head, _, url = body.partition("@")
    kind, _, name = head.partition(":")
    if not kind.strip():
        raise SitusError(f"cannot read model {text!r}", where="--model", fix="write kind[:name][@url][?key=value]")
    try:
        settings = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query)))
    except ValueError as error:
        raise SitusError(
            f"cannot read settings {query!r}", where="--model", fix="write ?key=value&key=value"
        ) from error
    return Spec(kind.strip(), name, url, settings)
