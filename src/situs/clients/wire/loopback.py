"""Whether an address is this machine, by what it resolves to, never by its name."""

from __future__ import annotations

import socket
from ipaddress import IPv6Address, ip_address

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

__all__ = ["LeavesThisMachine", "LoopbackResolver", "is_loopback", "is_this_machine"]


class LeavesThisMachine(OSError):
    """A name that was this machine's when the client was made now leads elsewhere."""


def is_loopback(address: str) -> bool:
    """Whether an IP address is loopback, also written as IPv6."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
        return parsed.ipv4_mapped.is_loopback
    return parsed.is_loopback


def is_this_machine(host: str) -> bool:
    """Whether every address the host has is loopback; a name nobody knows is not."""
    try:
        addresses = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False
    return bool(addresses) and all(is_loopback(str(entry[4][0])) for entry in addresses)


class LoopbackResolver(AbstractResolver):
    """Resolves to loopback or not at all,
    so that a change of DNS cannot lead a request off this machine."""

    def __init__(self) -> None:
        self._resolver = ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The host's addresses, refused unless all are loopback."""
        addresses = await self._resolver.resolve(host, port, family)
        if not all(is_loopback(entry["host"]) for entry in addresses):
            raise LeavesThisMachine("the name no longer leads to this machine")
        return addresses

    async def close(self) -> None:
        """Nothing is held."""
        await self._resolver.close()
