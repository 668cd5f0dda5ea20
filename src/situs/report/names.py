"""What a run is called in a report:
its client, never a path, host or key of the machine it ran on."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable
from itertools import repeat
from urllib.parse import parse_qsl

import msgspec

from situs.run import Spec, parse_spec

__all__ = ["public_name", "spec_of", "unique_names"]

_PATH_LIKE = re.compile(r"^[~./\\]|^[A-Za-z]:[\\/]|\\|\.\.|/.*/")
"""An absolute, home or relative path; `org/model`, as model hubs write it, is none."""

_USER = re.compile(r"://[^/?#]*@")
_FILE_KINDS = ("replay",)
"""Clients whose name is a file of the user."""

_PLAIN_SETTING = re.compile(r"^[A-Za-z_]{1,24}=-?[0-9.]{1,12}$")
"""Only numbers are shown: `seed=1`, `temperature=0.2`; a key or a folder is not a number."""


@functools.lru_cache(maxsize=256)
def spec_of(client: str) -> Spec:
    """A recorded client; a secret in it,
    which the command line refuses, is no reason to refuse the report."""
    body, _, query = client.partition("?")
    return msgspec.structs.replace(
        parse_spec(_USER.sub("://", body)), settings=dict(parse_qsl(query))
    )


def public_name(client: str) -> str:
    """A client spec without its address, local paths and anything that may be a secret."""
    spec = spec_of(client)
    name = spec.name
    if spec.kind in _FILE_KINDS:
        name = ""
    elif _PATH_LIKE.search(name):
        name = "local model"
    text = f"{spec.kind}:{name}" if name else spec.kind
    settings = [f"{key}={value}" for key, value in sorted(spec.settings.items())]
    plain = [setting for setting in settings if _PLAIN_SETTING.match(setting)]
    return text + (f"?{'&'.join(plain)}" if plain else "")


def unique_names(clients: Iterable[str], marks: Iterable[str] = repeat("")) -> list[str]:
    """Public names in order, each with its mark, the second of the same name called `… #2`."""
    seen: Counter[str] = Counter()
    names = []
    for client, mark in zip(clients, marks, strict=False):
        name = public_name(client) + mark
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return names
