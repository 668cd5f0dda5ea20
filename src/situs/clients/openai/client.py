"""`openai:MODEL@URL`: any server that speaks chat completions."""

from __future__ import annotations

import asyncio
import os
from urllib.parse import urlsplit

import aiohttp
import msgspec
from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import Payload

from situs import __version__
from situs.clients.openai.body import BodyWriter
from situs.clients.openai.learned import Lesson, cure_of, lesson_of
from situs.clients.openai.loopback import LeavesThisMachine, LoopbackResolver, is_this_machine
from situs.clients.openai.reply import read_error, read_reply
from situs.clients.protocol import ClientDefaults, Reply, Request
from situs.clients.secrets import without_secret
from situs.clients.settings import settings_of
from situs.clients.spec import Spec
from situs.clients.timeouts import Timeouts
from situs.errors import SitusError

__all__ = ["OpenAIClient"]

_DEFAULT_URL = "https://api.openai.com/v1"
_DEFAULT_KEY = "OPENAI_API_KEY"
_LARGEST_REPLY = 64 << 20
_ONE_PIECE = 256 << 10
"""Bodies up to this size are sent as one."""


_MOST_LESSONS = 6
"""Times a request is sent anew because the server refused a field of it."""
_TIMEOUTS = Timeouts()


class OpenAIClient(ClientDefaults):
    """One model of one server. Redirects and proxies are never followed, so the address given is the one asked."""

    def __init__(self, spec: Spec, timeouts: Timeouts | None = None) -> None:
        if not spec.name:
            raise SitusError(
                "names no model", where=str(spec), fix="write openai:MODEL@http://HOST:PORT/v1"
            )
        self.settings = settings_of(spec, own=("key_env",), extra=True)
        self._url = _endpoint(spec)
        parts = urlsplit(self._url)
        self.name = str(spec)
        self.cache_key = f"openai:{spec.name}@{self._url}"
        self.remote = not is_this_machine(parts.hostname or "")
        self.versions = {"aiohttp": aiohttp.__version__}
        self._key = _key(spec, safe=parts.scheme == "https" or not self.remote)
        self._timeouts = timeouts or _TIMEOUTS
        self._bodies = BodyWriter(spec.name)
        self._session: aiohttp.ClientSession | None = None
        self._schema_works = True
        self._asked_for = frozenset(spec.settings)
        self._refused: set[str] = set()
        self.notices: list[str] = []

    async def answer(self, request: Request) -> Reply:
        """Ask once. What the server will not take (a field, a schema) is not sent from then on."""
        with_schema = self._schema_works and request.schema is not None
        reply, status = await self._post_and_learn(request, with_schema)
        if with_schema and status in (400, 415, 422, 501) and reply.state == "failed":
            plain, _ = await self._post_and_learn(request, False)
            if plain.state != "failed":
                self._schema_works = False
                reply = plain
        return without_secret(reply, self._key)

    async def _post_and_learn(self, request: Request, schema: bool) -> tuple[Reply, int]:
        """Post, and again without what the server says it does not take, until it teaches nothing new."""
        for _ in range(_MOST_LESSONS):
            sent = self._bodies.fields(request.settings)
            reply, status, body = await self._post(request, schema)
            lesson = lesson_of(status, body, sent, self._asked_for)
            if lesson is None or not self._learn(lesson, request):
                break
        if reply.state == "failed" and (cure := cure_of(status, body, self._asked_for)):
            reply = msgspec.structs.replace(reply, error=reply.error + cure)
        return reply, status

    def _learn(self, lesson: Lesson, request: Request) -> bool:
        """Whether the request, sent anew, would differ: another call may have learned the same meanwhile."""
        if lesson.instead in self._refused:
            return False
        if lesson.field not in self._refused:
            self._refused.add(lesson.field)
            self._bodies.learn(lesson)
            self.notices.append(lesson.note())
        return lesson.field not in self._bodies.fields(request.settings)

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _post(self, request: Request, schema: bool) -> tuple[Reply, int, bytes]:
        """The reply, the status (0 where there was none), and the body of an error."""
        pieces = self._bodies.pieces(request, schema=schema)
        size = sum(map(len, pieces))
        body = b"".join(pieces) if size <= _ONE_PIECE else _Pieces(pieces, size)
        try:
            session = self._open()
            async with session.post(self._url, data=body, allow_redirects=False) as response:
                content = await self._read(response)
                status, headers = response.status, response.headers
                if content is None:
                    error = f"the reply is larger than {_LARGEST_REPLY >> 20} MiB"
                    return Reply("failed", error=error), 0, b""
                if 200 <= status < 300:
                    kind = headers.get("Content-Type", "")
                    return read_reply(content, kind, self._key), status, b""
                return read_error(status, headers, content, self._key), status, content
        except (aiohttp.ClientError, OSError, ValueError, EOFError) as error:
            return self._trouble(error), 0, b""

    async def _read(self, response: aiohttp.ClientResponse) -> bytes | None:
        """The body, given up when no byte comes for too long."""
        chunks: list[bytes] = []
        size = 0
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(self._timeouts.stall) as limit:
            async for chunk in response.content.iter_any():
                chunks.append(chunk)
                size += len(chunk)
                if size > _LARGEST_REPLY:
                    return None
                limit.reschedule(loop.time() + self._timeouts.stall)
        return b"".join(chunks)

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            # A client that passed as local may never reach out, whatever its name resolves to later.
            resolver = None if self.remote else LoopbackResolver()
            headers = {"Content-Type": "application/json", "User-Agent": f"situs/{__version__}"}
            if self._key:
                headers["Authorization"] = f"Bearer {self._key}"
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, resolver=resolver),
                timeout=aiohttp.ClientTimeout(
                    total=self._timeouts.total, sock_connect=self._timeouts.connect
                ),
                headers=headers,
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


def _endpoint(spec: Spec) -> str:
    url = (spec.url or _DEFAULT_URL).rstrip("/")
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good = False
    if not good:
        raise SitusError(
            "its address is not http://HOST:PORT/v1", where=str(spec), fix="write openai:MODEL@URL"
        )
    if url.endswith("/chat/completions"):
        return url
    return url + ("/chat/completions" if parts.path else "/v1/chat/completions")


def _key(spec: Spec, *, safe: bool) -> str:
    """The API key, from the environment only; the usual one is not sent in the open unless named."""
    named = spec.settings.get("key_env")
    key = os.environ.get(named or _DEFAULT_KEY, "").strip()
    if named and not key:
        raise SitusError(
            f"the environment has no {named}", where=str(spec), fix=f"export {named}=…"
        )
    if not key.isascii() or not key.isprintable():
        raise SitusError(
            f"{named or _DEFAULT_KEY} is not a key",
            where="environment",
            fix="check for stray characters",
        )
    return key if named or safe else ""
