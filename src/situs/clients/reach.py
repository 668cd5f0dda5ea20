"""How servers are reached: how long to wait, through which proxy, and which hosts count as ours."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

import msgspec

from situs.errors import SitusError

__all__ = ["Reach", "checked_proxy"]

_VARIABLE = "SITUS_PROXY"


class Reach(msgspec.Struct, frozen=True):
    """Times are in seconds."""

    total: float = 600.0
    """For a whole call; a long answer without streaming is silent until it is done."""
    stall: float = 60.0
    """For the next byte once a reply has begun."""
    connect: float = 10.0
    proxy: str = ""
    """Through which every call goes; none is taken from the environment by itself."""
    trusted: tuple[str, ...] = ()
    """Hosts that count as this machine: restricted data may go there."""


def checked_proxy(from_option: str) -> str:
    """The proxy's address: as given, else from SITUS_PROXY,
    which alone may hold a user name and password."""
    address = from_option or os.environ.get(_VARIABLE, "").strip()
    where = "--proxy" if from_option else _VARIABLE
    if not address:
        return ""
    try:
        parts = urlsplit(address)
        sound = parts.scheme == "http" and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        sound = False
    if not sound:
        raise SitusError("is not the address of a proxy", where=where, fix="write http://HOST:PORT")
    if from_option and "@" in parts.netloc:
        fix = f"put the address with them into the environment: {_VARIABLE}"
        raise SitusError("contains a user name or password", where=where, fix=fix)
    return address
