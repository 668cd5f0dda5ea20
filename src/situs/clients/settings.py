"""How to generate, as a spec says it."""

from __future__ import annotations

from typing import Any

import msgspec

from situs.clients.protocol import Settings
from situs.clients.spec import Spec
from situs.errors import SitusError, did_you_mean

__all__ = ["GENERATION", "settings_of"]

GENERATION = ("temperature", "max_tokens", "top_p", "seed")
"""Settings that every kind of client knows."""

_OURS = {"model", "messages", "stream", "n", "tools", "tool_choice", "response_format"}
"""Fields of the request body that Situs writes itself."""


def settings_of(
    spec: Spec, *, own: tuple[str, ...] = (), body: tuple[str, ...] = (), unusual: bool = False
) -> Settings:
    """The settings of a spec; `own` are the client's, those of the `body` are sent as they are.

    Where `unusual` fields may be sent, too, they are given as `body.NAME`.
    """
    extra: dict[str, Any] = {}
    known = (*GENERATION, *own, *body)
    for key, raw in spec.settings.items():
        field = key.removeprefix("body.") if unusual else key
        if key in GENERATION or key in own:
            continue
        if field in _OURS or (field == key and key not in known):
            fix = did_you_mean(key, known)
            if unusual and field not in _OURS:
                fix += f" (to send an unusual field all the same: body.{key}=…)"
            raise SitusError(f"{spec.kind} does not take {key!r}", where="--model", fix=fix)
        extra[field] = _value(raw)
    seed = spec.whole("seed", 0) if "seed" in spec.settings else None
    left_to_server = spec.settings.get("temperature") == "default"
    temperature = None if left_to_server else spec.number("temperature", 0.0, 5.0)
    return Settings(
        temperature=0.0 if temperature is None and not left_to_server else temperature,
        max_tokens=max(1, spec.whole("max_tokens", Settings().max_tokens)),
        top_p=spec.number("top_p", 0.0, 1.0),
        seed=seed,
        extra=extra,
    )


def _value(raw: str) -> Any:
    """JSON where it reads as JSON (`true`, `5`, `{"a": 1}`), else the text itself."""
    try:
        return msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return raw
