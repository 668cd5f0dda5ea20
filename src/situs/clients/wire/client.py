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
from situs.clients.wire.address import lacking_key
from situs.clients.wire.errors import read_error
from situs.clients.wire.learned import MAY_GO, cure_of, lesson_of
from situs.clients.wire.output_limit import OutputLimit
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
        self._transport.lacks = lacking_key(spec, key)
        self.remote = self._transport.remote
        self.notices: list[str] = [*self._transport.notices]
        self._asked_for = frozenset(spec.settings)
        self._limit = OutputLimit(self._asked_for)
        self._refused: set[str] = set()

    async def answer(self, request: Request) -> Reply:
        """Ask once. A setting that the server will not take is not sent from then on."""
        wanted = self._limit.applied(request.settings)
        for _ in range(len(MAY_GO) + 3):
            settings = self._without_refused(wanted)
            reply, status, body = await self._post(
                msgspec.structs.replace(request, settings=settings)
            )
            shorter = self._limit.learn(status, body, wanted, self.notices)
            if shorter is not None:
                wanted = shorter
                continue
            sent = [name for name in MAY_GO if getattr(settings, name) is not None]
            lesson = lesson_of(status, body, sent, self._asked_for)
            if lesson is None:
                break
            # Another call may have learned the same meanwhile.
            if lesson.field not in self._refused:
                self._refused.add(lesson.field)
                self.notices.append(lesson.note())
        if reply.state == "failed":
            cure = cure_of(status, body, self._asked_for)
            reply = msgspec.structs.replace(reply, error=reply.error + cure)
        elif self._dialect.samples(settings) or (
            request.settings.repeatable and not settings.repeatable
        ):
            reply = msgspec.structs.replace(reply, sampled=True)
        return without_secret(reply, self._key)

    async def _post(self, request: Request) -> tuple[Reply, int, bytes]:
        """The reply, the status (0 where there was none), and the body of an error."""
        response = await self._transport.post(self._dialect.pieces(request))
        if isinstance(response, Reply):
            return response, 0, b""
        if response.is_success:
            return self._dialect.read(response.content, self._key), response.status, b""
        return read_error(response, self._key), response.status, response.content

    def _without_refused(self, settings: Settings) -> Settings:
        left_out: dict[str, Any] = dict.fromkeys(self._refused)
        return msgspec.structs.replace(settings, **left_out) if left_out else settings

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()
