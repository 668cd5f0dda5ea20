"""One server over HTTP: requests out, replies back, and every way in which that fails, in words."""

from __future__ import annotations

import asyncio
import os
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
from situs.clients.reach import Reach
from situs.clients.wire.loopback import LeavesThisMachine, LoopbackResolver, is_this_machine

__all__ = ["Response", "Transport", "is_remote"]

_LARGEST_REPLY = 64 << 20
_ONE_PIECE = 256 << 10
"""Bodies up to this size are sent as one."""
_LARGEST_FILE = 4 << 30
_HEAD = 4 << 10
_HEADERS = {"User-Agent": f"situs/{__version__}"}
_JSON = {"Content-Type": "application/json"}
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_REACH = Reach()


class Response(msgspec.Struct, frozen=True):
    """What a server sent back."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def is_success(self) -> bool:
        """Whether it holds what was asked for."""
        return 200 <= self.status < 300


class _Error(msgspec.Struct):
    code: int


class _Wrapped(msgspec.Struct):
    error: _Error


_WRAPPED = msgspec.json.Decoder(_Wrapped)


class Transport:
    """The way to one address. Redirects are never followed and proxies only used where one is
    named, so that the address given is the one asked."""

    def __init__(self, url: str, headers: Mapping[str, str], reach: Reach | None) -> None:
        self._url = url
        self.lacks = ""
        """What is missing for any call at all, and what helps."""
        self._headers = dict(headers)
        self._reach = reach or _REACH
        self._session: aiohttp.ClientSession | None = None
        host = urlsplit(url).hostname or ""
        trusted = {name.lower() for name in self._reach.trusted}
        # A call to this machine goes through no proxy: it would leave it for nothing.
        self._proxy = self._reach.proxy if is_remote(url) else ""
        on_the_way = (host, urlsplit(self._proxy).hostname or "") if self._proxy else (host,)
        strange = [name for name in on_the_way if not is_this_machine(name)]
        self.remote = any(name.lower() not in trusted for name in strange)
        """Whether a request passes a host that is neither this machine nor trusted."""
        self._loopback_only = not strange
        self.notices = [
            f"{name} counts as this machine (--trust-host)" for name in strange if not self.remote
        ]
        """What a run says of the way to its model."""
        if self._proxy:
            self.notices.append("calls went through a proxy (--proxy)")

    async def post(self, pieces: list[bytes]) -> Response | Reply:
        """Send a body given in pieces; what went wrong on the way comes back as a failed reply."""
        if self.lacks:
            return Reply("failed", error=self.lacks, fatal=True, fault="denied")
        size = sum(map(len, pieces))
        body = b"".join(pieces) if size <= _ONE_PIECE else _Pieces(pieces, size)
        return _as_meant(await self.send("POST", self._url, body, headers=_JSON))

    async def send(
        self,
        method: str,
        url: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] = _NO_HEADERS,
        into: BinaryIO | None = None,
    ) -> Response | Reply:
        """Any request to the same server.

        `into` takes the content of a success instead of the response.
        """
        try:
            session = self._open()
            async with session.request(
                method,
                url,
                data=body,
                headers={**self._headers, **headers},
                allow_redirects=False,
                proxy=self._proxy or None,
            ) as response:
                download = into if 200 <= response.status < 300 else None
                content = await self._read(response, download)
                if content is None:
                    most = _LARGEST_REPLY if download is None else _LARGEST_FILE
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
        async with asyncio.timeout(self._reach.stall) as limit:
            async for chunk in response.content.iter_any():
                keep(chunk)
                size += len(chunk)
                if size > most:
                    return None
                limit.reschedule(loop.time() + self._reach.stall)
        return b"".join(chunks)

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            # A client that passed as local may never reach out, whatever its name resolves to
            # later.
            resolver = LoopbackResolver() if self._loopback_only else None
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, resolver=resolver),
                timeout=aiohttp.ClientTimeout(
                    total=self._reach.total, sock_connect=self._reach.connect
                ),
                # What stands here, aiohttp tells a proxy as well; a key is for the server alone.
                headers=_HEADERS,
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
                problem = "the server's certificate is not trusted"
                return Reply("failed", error=problem, fatal=True, fault="denied")
            case aiohttp.ClientHttpProxyError():
                return _refused_by_proxy(error.status)
            case aiohttp.InvalidURL():
                problem = "nothing can be asked at this address"
                return Reply("failed", error=problem, fatal=True, fault="denied")
            case aiohttp.ConnectionTimeoutError():
                problem = f"no connection within {self._reach.connect:g} s"
                return Reply("failed", error=problem, fault="unreachable")
            case aiohttp.ClientConnectorError():
                number = error.os_error.errno or 0
                # The loop's own words hold the call; those of a failed look-up have no number.
                known = os.strerror(number) if number > 0 else error.os_error.strerror
                problem = f"{error.host}:{error.port}: {known or error.os_error}"
                return Reply("failed", error=f"no connection to {problem}", fault="unreachable")
            case TimeoutError():
                total, stall = self._reach.total, self._reach.stall
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
                    error=f"the server's reply is not valid HTTP ({type(error).__name__})",
                )


def _refused_by_proxy(status: int) -> Reply:
    error = f"the proxy did not pass the call on (HTTP {status})"
    if status == 407:
        error += "; its user name and password are taken from SITUS_PROXY alone"
    is_final = status in (403, 407)
    return Reply("failed", error=error, fatal=is_final, fault="denied" if is_final else "")


def _as_meant(response: Response | Reply) -> Response | Reply:
    """A success whose body is an error with a status of its own (OpenRouter) is that error."""
    if isinstance(response, Reply) or response.status != 200:
        return response
    if b'"error"' not in response.content[:_HEAD]:
        return response
    try:
        code = _WRAPPED.decode(response.content).error.code
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return response
    if not 400 <= code < 600:
        return response
    return msgspec.structs.replace(response, status=code)


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
