"""Which servers were proved to return native tool calls:
some accept tools and answer without any."""

from __future__ import annotations

from contextlib import suppress

import msgspec

from situs.base.cache import cache_folder
from situs.base.files import canonical_json, digest, read_json, write_atomic
from situs.clients.protocol import Client
from situs.errors import SitusError

__all__ = ["is_proved", "record_proof"]

_FILE = "tool_calls.json"


class _Proofs(msgspec.Struct, frozen=True):
    """Digests of clients' cache keys, which hold addresses."""

    proved: tuple[str, ...] = ()


def is_proved(client: Client) -> bool:
    """Whether `situs adapter-check --room` saw native tool calls of this model at this address."""
    return client.cache_key is not None and digest(client.cache_key) in _read()


def record_proof(client: Client, *, proved: bool) -> None:
    """Remember what a check found; a model without a cache key is never remembered."""
    if client.cache_key is None:
        return
    known, name = set(_read()), digest(client.cache_key)
    known = known | {name} if proved else known - {name}
    content = canonical_json(_Proofs(tuple(sorted(known)))) + b"\n"
    write_atomic(cache_folder() / _FILE, content, private=True)


def _read() -> tuple[str, ...]:
    path = cache_folder(create=False) / _FILE
    if not path.is_file():
        return ()
    with suppress(SitusError):
        return read_json(path, _Proofs).proved
    return ()
