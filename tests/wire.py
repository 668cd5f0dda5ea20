"""A chat-completions server on loopback, good or faulty in every way a real one can be."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from email.utils import formatdate
from types import TracebackType
from typing import Any

from aiohttp import web

Behaviour = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]


def completion(text: str, prompt_tokens: int = 20, **more: Any) -> dict[str, Any]:
    """A well-formed reply."""
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": text},
    } | more
    usage = {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": 3,
        "total_tokens": prompt_tokens + 3,
    }
    return {"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage}


def words_of(body: dict[str, Any]) -> str:
    """The text of the last message, in the protocol of any provider."""
    if "contents" in body:
        return " ".join(part.get("text", "") for part in body["contents"][-1]["parts"])
    content = body["messages"][-1]["content"]
    if isinstance(content, str):
        return content
    return " ".join(part["text"] for part in content if part.get("type") == "text")


def pictures_in(body: dict[str, Any]) -> int:
    """How many pictures came along."""
    parts = [
        part
        for message in body["messages"]
        if isinstance(message["content"], list)
        for part in message["content"]
    ]
    return sum(part["type"] == "image_url" for part in parts)


async def good(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    """Says what it was asked, and counts the pictures."""
    words = words_of(body)
    return web.json_response(
        completion(f"you said {words}", len(words.split()) + 100 * pictures_in(body))
    )


def status(code: int, error: dict[str, Any] | None = None, **headers: str) -> Behaviour:
    """Answers with an error."""

    async def behave(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.json_response(
            {"error": error or {"message": f"no {code}"}}, status=code, headers=named
        )

    return behave


def raw(payload: bytes, content_type: str = "application/json", code: int = 200) -> Behaviour:
    """Answers with these bytes."""

    async def behave(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return web.Response(body=payload, status=code, headers={"Content-Type": content_type})

    return behave


async def reset(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    """Hangs up without a word."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def truncated(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    """Promises more bytes than it sends, and hangs up."""
    whole = json.dumps(completion("never seen")).encode()
    response = web.StreamResponse(
        headers={"Content-Length": str(len(whole)), "Content-Type": "application/json"}
    )
    await response.prepare(request)
    await response.write(whole[: len(whole) // 2])
    assert request.transport is not None
    request.transport.abort()
    return response


def stalled(seconds: float) -> Behaviour:
    """Begins a reply and then says nothing for long."""

    async def behave(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        await response.write(b'{"choices": [')
        await asyncio.sleep(seconds)
        return response

    return behave


def silent(seconds: float) -> Behaviour:
    """Takes the request and never begins to reply."""

    async def behave(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        await asyncio.sleep(seconds)
        return await good(request, body)

    return behave


def trickling(gap: float) -> Behaviour:
    """A good reply in many small pieces,
    with white space ahead of it as some gateways send to keep a line open."""

    async def behave(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        whole = b"     " + json.dumps(completion(f"you said {words_of(body)}")).encode()
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        step = len(whole) // 6 + 1
        for start in range(0, len(whole), step):
            await response.write(whole[start : start + step])
            await asyncio.sleep(gap)
        return response

    return behave


def http_date(seconds_from_now: float) -> str:
    """A Retry-After date."""
    return formatdate(time.time() + seconds_from_now, usegmt=True)


class Server:
    """Serves in a thread of its own;
    `behave` is called with the number of the call, from 0, and its body."""

    def __init__(
        self, behave: Callable[[int, dict[str, Any]], Behaviour] = lambda number, body: good
    ) -> None:
        self._behave = behave
        self.bodies: list[dict[str, Any]] = []
        self.seen: list[bytes] = []
        """Request line, headers and body of every call, as they came."""
        self.keys: Counter[str] = Counter()
        """How often each prompt was asked."""
        self.most_at_once = 0
        self._now = 0
        self.times: list[float] = []

    def __enter__(self) -> Server:
        self._loop = asyncio.new_event_loop()
        started = threading.Event()

        def serve() -> None:
            asyncio.set_event_loop(self._loop)
            self._loop.run_until_complete(self._start())
            started.set()
            self._loop.run_forever()

        self._thread = threading.Thread(target=serve, daemon=True)
        self._thread.start()
        assert started.wait(10)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        async def stop() -> None:
            await self._runner.cleanup()
            self._loop.stop()

        asyncio.run_coroutine_threadsafe(stop(), self._loop)
        self._thread.join(10)
        self._loop.close()

    async def _start(self) -> None:
        app = web.Application(client_max_size=1 << 30)
        app.router.add_route("*", "/{tail:.*}", self._handle)
        self._runner = web.AppRunner(
            app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port: int = site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]

    @property
    def spec(self) -> str:
        """The model this server serves, as `--model` names it."""
        return f"openai:test@http://127.0.0.1:{self.port}/v1"

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        number = len(self.seen)
        self.times.append(time.monotonic())
        head = f"{request.method} {request.path_qs}\n".encode() + b"\n".join(
            b": ".join(h) for h in request.raw_headers
        )
        content = await request.read()
        self.seen.append(head + b"\n\n" + content)
        body = json.loads(content)
        self.bodies.append(body)
        self.keys[words_of(body)] += 1
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        try:
            return await self._behave(number, body)(request, body)
        finally:
            self._now -= 1


def number_in(text: str) -> int:
    """The first number of a text."""
    found = re.search(r"\d+", text)
    assert found is not None
    return int(found[0])
