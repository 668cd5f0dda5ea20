"""What a client over HTTP does, whatever the protocol: one address, one key, one way to fail."""

from __future__ import annotations

from typing import Any, Protocol

import aiohttp
import msgspec

from situs.clients.protocol import ClientDefaults, Reply, Request, Settings
from situs.clients.reach import Reach
from situs.clients.secrets import without_secret
from situs.clients.settings import settings_of
from situs.clients.spec import Spec
from situs.clients.wire.errors import read_error
from situs.clients.wire.transport import Transport

__all__ = ["Dialect", "WireClient"]


class Dialect(Protocol):
    """How requests and replies of one protocol look."""

    fields: tuple[str, ...]
    """Settings that go into the body, beside those that every client knows."""

    def pieces(self, request: Request) -> list[bytes]:
        """The body of a request, in pieces that are sent one after the other."""

    def samples(self, settings: Settings) -> bool:
        """Whether the server draws replies at random although it is asked for the likeliest."""

    def read(self, content: bytes, secret: str) -> Reply:
        """A successful response."""


class WireClient(ClientDefaults):
    """One model of one server."""

    def __init__(
        self,
        spec: Spec,
        dialect: Dialect,
        url: str,
        key: str,
        headers: dict[str, str],
        reach: Reach | None,
    ) -> None:
        self.settings = settings_of(spec, own=("key_env",), body=dialect.fields)
        self.name = str(spec)
        self.cache_key = f"{spec.kind}:{spec.name}@{url}"
        self.versions: dict[str, Any] = {"aiohttp": aiohttp.__version__}
        self._dialect = dialect
        self._key = key
        self._transport = Transport(url, headers, reach)
        self.remote = self._transport.remote
        self.notices = self._transport.notices

    async def answer(self, request: Request) -> Reply:
        """Ask once."""
        response = await self._transport.post(self._dialect.pieces(request))
        if isinstance(response, Reply):
            reply = response
        elif response.is_success:
            reply = self._dialect.read(response.content, self._key)
        else:
            reply = read_error(response, self._key)
        if reply.state != "failed" and self._dialect.samples(request.settings):
            reply = msgspec.structs.replace(reply, sampled=True)
        return without_secret(reply, self._key)

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()
