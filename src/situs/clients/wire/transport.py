"""One server over HTTP: requests out, replies back, and every way in which that fails, in words."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, BinaryIO
from urllib.parse import urlsplit

import aiohttp
import msgspec
from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import Payload

from situs import __version__
from situs.clients.protocol import Reply
from situs.clients.timeouts import Timeouts
from situs.clients.wire.loopback import LeavesThisMachine, LoopbackResolver, is_this_machine

__all__ = ["Response", "Transport", "is_remote"]

_LARGEST_REPLY = 64 << 20
_ONE_PIECE = 256 << 10
"""Bodies up to this size are sent as one."""
_LARGEST_FILE = 4 << 30
_HEADERS = {"User-Agent": f"situs/{__version__}"}
_JSON = {"Content-Type": "application/json"}
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_TIMEOUTS = Timeouts()


class Response(msgspec.Struct, frozen=True):
    """What a server sent back."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def is_success(self) -> bool:
        """Whether it holds what was asked for."""
        return 200 <= self.status < 300


class Transport:
    """The way to one address. Redirects and proxies are never followed, so the address given is the one asked."""

    def __init__(self, url: str, headers: Mapping[str, str], timeouts: Timeouts | None) -> None:
        self._url = url
        self._headers = dict(headers)
        self._timeouts = timeouts or _TIMEOUTS
        self._session: aiohttp.ClientSession | None = None
        self.remote = is_remote(url)

    async def post(self, pieces: list[bytes]) -> Response | Reply:
        """Send a body given in pieces; what went wrong on the way comes back as a failed reply."""
        size = sum(map(len, pieces))
        body = b"".join(pieces) if size <= _ONE_PIECE else _Pieces(pieces, size)
        return await self.send("POST", self._url, body, headers=_JSON)

    async def send(
        self,
        method: str,
        url: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] = _NO_HEADERS,
        into: BinaryIO | None = None,
    ) -> Response | Reply:
        """Any request to the same server. `into` takes the content of a success instead of the response."""
        try:
            session = self._open()
            async with session.request(
                method, url, data=body, headers=headers, allow_redirects=False
            ) as response:
                kept = into if 200 <= response.status < 300 else None
                content = await self._read(response, kept)
                if content is None:
                    most = _LARGEST_REPLY if kept is None else _LARGEST_FILE
                    return Reply("failed", error=f"the reply is larger than {most >> 20:,} MiB")
                return Response(response.status, response.headers, content)
        except (aiohttp.ClientError, OSError, ValueError, EOFError) as error:
            return self._trouble(error)

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _read(
        self, response: aiohttp.ClientResponse, into: BinaryIO | None = None
    ) -> bytes | None:
        """The body, given up when no byte comes for too long; None if it is too large."""
        chunks: list[bytes] = []
        size = 0
        most = _LARGEST_REPLY if into is None else _LARGEST_FILE
        keep: Callable[[bytes], object] = chunks.append if into is None else into.write
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(self._timeouts.stall) as limit:
            async for chunk in response.content.iter_any():
                keep(chunk)
                size += len(chunk)
                if size > most:
                    return None
                limit.reschedule(loop.time() + self._timeouts.stall)
        return b"".join(chunks)

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            # A client that passed as local may never reach out, whatever its name resolves to later.
            resolver = None if self.remote else LoopbackResolver()
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, resolver=resolver),
                timeout=aiohttp.ClientTimeout(
                    total=self._timeouts.total, sock_connect=self._timeouts.connect
                ),
                headers=_HEADERS | self._headers,
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,
            )
        return self._session

    def _trouble(self, error: BaseException) -> Reply:
        """What went wrong on the way, in words."""
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, LeavesThisMachine):
                return Reply("failed", error=str(cause), fatal=True, fault="denied")
            cause = cause.__cause__ or cause.__context__
        match error:
            case aiohttp.ClientSSLError():
                said = "the server's certificate is not trusted"
                return Reply("failed", error=said, fatal=True, fault="denied")
            case aiohttp.ConnectionTimeoutError():
                said = f"no connection within {self._timeouts.connect:g} s"
                return Reply("failed", error=said, fault="unreachable")
            case aiohttp.ClientConnectorError():
                said = error.os_error.strerror or str(error.os_error)
                return Reply("failed", error=f"no connection: {said}", fault="unreachable")
            case TimeoutError():
                total, stall = self._timeouts.total, self._timeouts.stall
                return Reply(
                    "failed",
                    error=f"no whole reply within {total:g} s, or nothing new for {stall:g} s",
                )
            case aiohttp.ClientPayloadError():
                return Reply("failed", error="the reply was cut off")
            case (
                aiohttp.ServerDisconnectedError() | ConnectionResetError() | aiohttp.ClientOSError()
            ):
                return Reply("failed", error="the server closed the connection")
            case _:
                return Reply(
                    "failed",
                    error=f"the server's reply is not HTTP as it should be ({type(error).__name__})",
                )


def is_remote(url: str) -> bool:
    """Whether an address is not on this machine."""
    return not is_this_machine(urlsplit(url).hostname or "")


class _Pieces(Payload):
    """A large body sent piece by piece, never copied into one."""

    def __init__(self, pieces: list[bytes], size: int) -> None:
        super().__init__(pieces, content_type="application/json")
        self._size = size

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """The body as text."""
        return b"".join(self._value).decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        """Send the pieces."""
        for piece in self._value:
            await writer.write(piece)
