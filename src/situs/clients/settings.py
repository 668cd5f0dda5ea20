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

BODY = (
    "chat_template_kwargs",
    "enable_thinking",
    "frequency_penalty",
    "include_reasoning",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "min_p",
    "min_tokens",
    "mm_processor_kwargs",
    "options",
    "presence_penalty",
    "provider",
    "reasoning",
    "reasoning_effort",
    "repetition_penalty",
    "safety_settings",
    "service_tier",
    "skip_special_tokens",
    "stop",
    "stop_token_ids",
    "thinking",
    "thinking_budget",
    "top_k",
    "top_logprobs",
    "verbosity",
)
"""Fields of the request body that servers are known to take; any other is given as `body.NAME`.

A list, because what is not on it may be anything: a slip of the pen, or a key.
"""

_OURS = {"model", "messages", "stream", "n", "tools", "tool_choice", "response_format"}
"""Fields of the request body that Situs writes itself."""


def settings_of(spec: Spec, *, own: tuple[str, ...] = (), extra: bool = False) -> Settings:
    """The settings of a spec; `own` are the client's, what else there is goes into the body if `extra`."""
    rest: dict[str, Any] = {}
    known = (*GENERATION, *own, *(BODY if extra else ()))
    for key, raw in spec.settings.items():
        field = key.removeprefix("body.") if extra else key
        if key in GENERATION or key in own:
            continue
        if field in _OURS or (field == key and key not in known):
            fix = did_you_mean(key, known)
            if extra and field not in _OURS:
                fix += f" (to send an unusual field all the same: body.{key}=…)"
            raise SitusError(f"{spec.kind} does not take {key!r}", where="--model", fix=fix)
        rest[field] = _value(raw)
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
