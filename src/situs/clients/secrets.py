"""Keys belong in the environment: what looks like one is never stored, wherever it was put."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping
from math import log2
from typing import Any

import msgspec

from situs.clients.protocol import Reply
from situs.errors import SitusError

__all__ = ["refuse_secrets", "repeats", "without_secret"]

_NAMED_SECRET = re.compile(
    r"(?:.*[-_.])?(?:api[-_]?key|key|token|secret|password|passwd|pwd|auth|authorization|bearer|"
    r"credentials?|cookie"
    r"|headers?)(?:[-_.].*)?",
    re.IGNORECASE,
)
"""Names of settings and environment variables under which people keep keys."""
_FOLDERS = {"PWD", "OLDPWD"}
"""Where a shell stands and stood:
they are called like passwords and are folders, often those of models."""
_HARMLESS = {
    "key_env",
    "max_tokens",
    "max_completion_tokens",
    "stop_token_ids",
    "skip_special_tokens",
}

_SHAPES = re.compile(
    # OpenAI, Anthropic, Stripe, Groq and kin
    r"\b(?:sk|pk|rk|key|api|gsk|xai|tok|pat)[-_][A-Za-z0-9_-]{12,}"
    r"|\bhf_[A-Za-z0-9]{16,}|\bgh[opsur]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}"
    r"|\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bxox[abprs]-[\w-]{10,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]+)?"  # JSON web tokens
    r"|\b(?:Bearer|Basic|Token)[\s:=+]+[\w.~+/=-]{8,}",
    re.IGNORECASE,
)
"""How the keys of well-known services look."""

_WORD = re.compile(r"[A-Za-z0-9_~+=-]{24,}")
_UNBROKEN = re.compile(r"[A-Za-z0-9]{24,}")
_MADE_OF_NAMES = {"the model's kind", "the model's name", "a setting's name"}
_HEX_DIGEST = re.compile(r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}")
"""Digests name model snapshots; they are long and random too, and no secret."""
_RANDOM_BITS = 3.6
"""Bits a character from which a long word reads as drawn at random;
English text and names stay below it."""
_SHORTEST_KEY = 8


def refuse_secrets(kind: str, name: str, url: str, settings: Mapping[str, str]) -> None:
    """Stop if a model's spec holds what is, or looks like, a key. The message never repeats it."""
    known = _keys_of_environment()
    parts = [("the model's kind", kind), ("the model's name", name), ("the address", url)]
    parts += [("a setting's name", key) for key in settings]
    parts += [(f"the setting {key!r}", value) for key, value in settings.items()]
    for where, text in parts:
        random = _looks_drawn if where in _MADE_OF_NAMES else _looks_random
        if _SHAPES.search(text) or any(key in text for key in known) or random(text):
            raise _misplaced(where)
    for key in settings:
        if key not in _HARMLESS and _NAMED_SECRET.fullmatch(key):
            raise _misplaced(f"the setting {key!r}")


def repeats(secret: str, text: str) -> bool:
    """Whether a server's words hold the key, in whatever letters."""
    return len(secret) >= _SHORTEST_KEY and secret.lower() in text.lower()


def without_secret(reply: Reply, secret: str) -> Reply:
    """A reply in which a server that repeats the key has not, in whatever field and letters."""
    if len(secret) < _SHORTEST_KEY:
        return reply
    fields = msgspec.to_builtins(reply, builtin_types=())
    plain = _without(fields, re.compile(re.escape(secret), re.IGNORECASE))
    return reply if plain == fields else msgspec.convert(plain, Reply)


def _without(value: Any, secret: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return secret.sub("[key]", value)
    if isinstance(value, dict):
        return {_without(key, secret): _without(part, secret) for key, part in value.items()}
    if isinstance(value, tuple):
        return tuple(_without(part, secret) for part in value)
    return value


def _misplaced(where: str) -> SitusError:
    fix = "put the key into the environment and name the variable: ?key_env=NAME"
    return SitusError(f"{where} contains what looks like a key", where="--model", fix=fix)


def _keys_of_environment() -> list[str]:
    """Values of variables that are called like keys;
    short ones stand in too many words by chance."""
    return [
        value
        for name, value in os.environ.items()
        if len(value) >= _SHORTEST_KEY and name not in _FOLDERS and _NAMED_SECRET.fullmatch(name)
    ]


def _looks_random(text: str) -> bool:
    return any(
        not _HEX_DIGEST.fullmatch(word)
        and any(c.isdigit() for c in word)
        and any(c.isalpha() for c in word)
        and _bits(word) > _RANDOM_BITS
        for word in _WORD.findall(text)
    )


def _looks_drawn(name: str) -> bool:
    """Names of models are long and odd too, but of parts: a key has no hyphens where words end."""
    return any(
        any(c.isdigit() for c in word)
        and any(c.islower() for c in word)
        and any(c.isupper() for c in word)
        and _bits(word) > _RANDOM_BITS
        for word in _UNBROKEN.findall(name)
    )


def _bits(word: str) -> float:
    """Shannon's entropy of the word's characters, in bits a character."""
    return -sum(n / len(word) * log2(n / len(word)) for n in Counter(word).values())
