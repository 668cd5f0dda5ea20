"""How to generate, as a spec says it."""

from __future__ import annotations

from typing import Any

import msgspec

from situs.clients._protocol import Settings
from situs.clients._spec import Spec
from situs.errors import SitusError

__all__ = ["GENERATION", "settings_of"]

GENERATION = ("temperature", "max_tokens", "top_p", "seed")
"""Settings that every kind of client knows."""

_OURS = {"model", "messages", "stream", "n", "tools", "tool_choice", "response_format"}
"""Fields of the request body that Situs writes itself."""


def settings_of(spec: Spec, *, own: tuple[str, ...] = (), extra: bool = False) -> Settings:
    """The settings of a spec; `own` are the client's, what else there is goes into the body if `extra`."""
    rest = {key: _value(raw) for key, raw in spec.settings.items() if key not in (*GENERATION, *own)}
    odd = [key for key in rest if not extra or key in _OURS]
    if odd:
        known = ", ".join((*GENERATION, *own))
        raise SitusError(f"{spec.kind} does not take {odd[0]!r}", where="--model", fix=f"settings: {known}")
    seed = spec.whole("seed", 0) if "seed" in spec.settings else None
    left_to_server = spec.settings.get("temperature") == "default"
    temperature = None if left_to_server else spec.number("temperature", 0.0, 5.0)
    return Settings(
        temperature=0.0 if temperature is None and not left_to_server else temperature,
        max_tokens=max(1, spec.whole("max_tokens", Settings().max_tokens)),
        top_p=spec.number("top_p", 0.0, 1.0),
        seed=seed,
        extra=rest,
    )


def _value(raw: str) -> Any:
    """JSON where it reads as JSON (`true`, `5`, `{"a": 1}`), else the text itself."""
    try:
        return msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return raw
