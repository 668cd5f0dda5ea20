"""`openai:MODEL@URL`: any server that speaks chat completions."""

from __future__ import annotations

import re
from collections.abc import Collection
from urllib.parse import quote, urlsplit

import aiohttp
import msgspec

from situs.clients.openai.batches import BatchServer
from situs.clients.openai.body import BodyWriter
from situs.clients.openai.reply import read_reply
from situs.clients.openai.stream import STREAMS, refuses_whole_replies
from situs.clients.protocol import ClientDefaults, Reply, Request, Settings
from situs.clients.reach import Reach
from situs.clients.secrets import without_secret
from situs.clients.settings import settings_of
from situs.clients.spec import Spec
from situs.clients.wire.address import api_key, base_address, lacking_key
from situs.clients.wire.errors import read_error
from situs.clients.wire.learned import (
    NO_SYSTEM_ROLE,
    Lesson,
    cure_of,
    lesson_of,
    refuses_system_role,
)
from situs.clients.wire.output_limit import OutputLimit
from situs.clients.wire.transport import Transport
from situs.errors import SitusError

__all__ = ["OpenAIClient"]

_DEFAULT_URL = "https://api.openai.com/v1"
_FIELDS = (
    "chat_template_kwargs",
    "enable_thinking",
    "frequency_penalty",
    "include_reasoning",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "min_p",
    "min_tokens",
    "mm_processor_kwargs",
    "options",
    "presence_penalty",
    "provider",
    "reasoning",
    "reasoning_effort",
    "repetition_penalty",
    "safety_settings",
    "service_tier",
    "skip_special_tokens",
    "stop",
    "stop_token_ids",
    "thinking",
    "thinking_budget",
    "top_k",
    "top_logprobs",
    "verbosity",
)
"""Fields of the request body that servers are known to take; any other is given as `body.NAME`.

A list, because what is not on it may be anything: a slip of the pen, or a key.
"""
_API_VERSION = re.compile(r"[\w.-]{1,40}")
_MOST_LESSONS = 6
"""Times a request is sent anew because the server refused a field of it."""


class OpenAIClient(ClientDefaults):
    """One model of one server."""

    def __init__(self, spec: Spec, reach: Reach | None = None) -> None:
        if not spec.name:
            raise SitusError(
                "names no model", where=str(spec), fix="write openai:MODEL@http://HOST:PORT/v1"
            )
        self.settings = settings_of(
            spec, own=("key_env", "api_version", "weights"), body=_FIELDS, unusual=True
        )
        self._url = url = _endpoint(spec)
        self.name = str(spec)
        self.cache_key = f"openai:{spec.name}@{url}"
        self.versions = {"aiohttp": aiohttp.__version__}
        self._is_azure = "api_version" in spec.settings or _is_azure(url)
        self._key = api_key(
            spec, url, "AZURE_OPENAI_API_KEY" if self._is_azure else "OPENAI_API_KEY"
        )
        named = (
            {"api-key": self._key} if self._is_azure else {"Authorization": f"Bearer {self._key}"}
        )
        self._transport = Transport(url, named if self._key else {}, reach)
        self._transport.lacks = lacking_key(spec, self._key)
        self.remote = self._transport.remote
        self._bodies = BodyWriter(spec.name)
        self._schema_works = True
        self._asked_for = frozenset(spec.settings)
        self._limit = OutputLimit(self._asked_for)
        self._refused: set[str] = set()
        self.notices: list[str] = [*self._transport.notices]

    async def answer(self, request: Request) -> Reply:
        """Ask once. What the server will not take (a field, a schema) is not sent from then on."""
        with_schema = self._schema_works and request.schema is not None
        reply, status = await self._post_and_learn(request, with_schema)
        if with_schema and status in (400, 415, 422, 501) and reply.state == "failed":
            plain, _ = await self._post_and_learn(request, False)
            if plain.state != "failed":
                self._schema_works = False
                reply = plain
        if reply.state != "failed" and self._bodies.samples(request.settings):
            reply = msgspec.structs.replace(reply, sampled=True)
        return without_secret(reply, self._key)

    async def _post_and_learn(self, request: Request, schema: bool) -> tuple[Reply, int]:
        """Post, and again without what the server says it does not take,
        until it teaches nothing new."""
        request = _with(request, self._limit.applied(request.settings))
        for _ in range(_MOST_LESSONS):
            sent = self._bodies.fields(request.settings)
            reply, status, body = await self._post(request, schema)
            if self._learn_roles(status, body, request) or self._learn_stream(status, body, sent):
                continue
            shorter = self._limit.learn(status, body, request.settings, self.notices)
            if shorter is not None:
                request = _with(request, shorter)
                continue
            lesson = lesson_of(status, body, sent, self._asked_for)
            if lesson is None or not self._learn(lesson, request):
                break
        if reply.state == "failed" and (cure := cure_of(status, body, self._asked_for)):
            reply = msgspec.structs.replace(reply, error=reply.error + cure)
        return reply, status

    def _learn_roles(self, status: int, body: bytes, request: Request) -> bool:
        """Whether the request, sent anew, would have no system role where it had one."""
        has_rules = any(message.role == "system" for message in request.messages)
        if not (has_rules and refuses_system_role(status, body)):
            return False
        if NO_SYSTEM_ROLE not in self.notices:
            self._bodies.put_system_into_user()
            self.notices.append(NO_SYSTEM_ROLE)
        return True

    def _learn_stream(self, status: int, body: bytes, sent: Collection[str]) -> bool:
        """Whether the request, sent anew, would ask for a stream where it asked for none."""
        if "stream" in sent or not refuses_whole_replies(status, body):
            return False
        if STREAMS not in self.notices:
            self._bodies.stream()
            self.notices.append(STREAMS)
        return True

    def _learn(self, lesson: Lesson, request: Request) -> bool:
        """Whether the request, sent anew, would differ:
        another call may have learned the same meanwhile."""
        if lesson.instead in self._refused:
            return False
        if lesson.field not in self._refused:
            self._refused.add(lesson.field)
            self._bodies.learn(lesson)
            self.notices.append(lesson.note())
        return lesson.field not in self._bodies.fields(request.settings)

    def batches(self) -> BatchServer:
        """The server's batch interface."""
        if "?" in self._url:
            fix = "give an address that ends in /openai/v1, without api_version"
            raise SitusError("takes no batches", where=self.name, fix=fix)
        base = self._url.removesuffix("/chat/completions")
        return BatchServer(base, "/v1/chat/completions", self._transport, self._key, self._body)

    def _body(self, request: Request) -> bytes:
        return b"".join(self._bodies.pieces(request, schema=self._schema_works))

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    async def _post(self, request: Request, schema: bool) -> tuple[Reply, int, bytes]:
        """The reply, the status (0 where there was none), and the body of an error."""
        response = await self._transport.post(self._bodies.pieces(request, schema=schema))
        if isinstance(response, Reply):
            return response, 0, b""
        if response.is_success:
            kind = response.headers.get("Content-Type", "")
            return read_reply(response.content, kind, self._key), response.status, b""
        return read_error(response, self._key), response.status, response.content


def _with(request: Request, settings: Settings) -> Request:
    if settings is request.settings:
        return request
    return msgspec.structs.replace(request, settings=settings)


def _endpoint(spec: Spec) -> str:
    url = base_address(spec, _DEFAULT_URL)
    version = spec.settings.get("api_version")
    if version is not None:
        return _azure_endpoint(spec, url, version)
    if url.endswith("/chat/completions"):
        return url
    return url + ("/chat/completions" if urlsplit(url).path else "/v1/chat/completions")


def _azure_endpoint(spec: Spec, url: str, version: str) -> str:
    """Azure's addresses name the deployment and the version of the interface,
    before its `/openai/v1`."""
    if not _API_VERSION.fullmatch(version):
        fix = "e.g. api_version=2024-10-21"
        raise SitusError(f"api_version={version!r} is not a version", where=str(spec), fix=fix)
    if not spec.url:
        fix = "write openai:DEPLOYMENT@https://NAME.openai.azure.com?api_version=…"
        raise SitusError("api_version needs Azure's address", where=str(spec), fix=fix)
    if "/deployments/" not in url:
        url = f"{url.removesuffix('/openai')}/openai/deployments/{quote(spec.name, safe='')}"
    return f"{url.removesuffix('/chat/completions')}/chat/completions?api-version={version}"


def _is_azure(url: str) -> bool:
    return (urlsplit(url).hostname or "").endswith(".azure.com")
