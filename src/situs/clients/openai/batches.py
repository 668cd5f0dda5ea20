"""Batch jobs of servers that speak OpenAI's interface: a file of requests in, a file of replies
out, at half price.

The interface: `POST /files` (purpose `batch`), `POST /batches`, `GET /batches/ID`, `GET
/files/ID/content`, as in the provider's public reference (2024-04, unchanged since).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated, Any, BinaryIO, TypeVar, cast

import aiohttp
import msgspec

from situs.clients.openai.reply import read_reply
from situs.clients.protocol import BatchTrouble, Reply, Request
from situs.clients.secrets import repeats, without_secret
from situs.clients.wire.errors import read_error, words_of_error
from situs.clients.wire.transport import Response, Transport

__all__ = ["BatchJob", "BatchServer"]

_ENDED = {"completed", "failed", "expired", "cancelled"}
_Read = TypeVar("_Read")
_PAGES = 10
"""Pages of the list of jobs that are looked through
for one that was started just before a crash."""


_Id = Annotated[str, msgspec.Meta(pattern=r"\A[^\s/?#%\x00-\x1f]{1,256}\Z")]
"""What a server calls a job or a file: one part of an address, and kept in the run."""


class _Counts(msgspec.Struct):
    total: int = 0
    completed: int = 0
    failed: int = 0


class BatchJob(msgspec.Struct):
    """A job as the server describes it."""

    id: _Id
    status: str = ""
    output_file_id: _Id | None = None
    error_file_id: _Id | None = None
    request_counts: _Counts | None = None
    metadata: dict[str, Any] | None = None
    errors: Any = None

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self.status in _ENDED

    @property
    def done(self) -> int:
        """Requests that have a reply or an error."""
        counts = self.request_counts or _Counts()
        return counts.completed + counts.failed


class _Uploaded(msgspec.Struct):
    id: _Id


class _Page(msgspec.Struct):
    data: list[BatchJob] = []
    has_more: bool = False


class _Answer(msgspec.Struct):
    status_code: int = 0
    body: msgspec.Raw = msgspec.Raw(b"null")


class _Line(msgspec.Struct):
    custom_id: str
    response: _Answer | None = None
    error: Any = None


class BatchServer:
    """The batch interface beside a model's chat interface."""

    most_requests = 50_000
    """Of one job, by the provider's rule."""
    most_bytes = 190 << 20
    """Of one job's file: the provider takes 200 MB."""

    def __init__(
        self, base: str, path: str, transport: Transport, key: str, body: Callable[[Request], bytes]
    ) -> None:
        self._base = base
        self._path = path
        self._transport = transport
        self._key = key
        self._body = body

    def line(self, number: int, request: Request) -> bytes:
        """One request of a job's file.

        The number stands for it; the caller's own key is never sent.
        """
        head = f'{{"custom_id":"{number}","method":"POST","url":"{self._path}","body":'
        return head.encode() + self._body(request) + b"}\n"

    async def submit(self, file: Path, token: str) -> str:
        """Upload the file and start a job on it;
        `token` finds the job again if the reply is lost."""
        form = aiohttp.FormData()
        form.add_field("purpose", "batch")
        with file.open("rb") as stream:
            form.add_field(
                "file", stream, filename="requests.jsonl", content_type="application/jsonl"
            )
            uploaded = await self._decoded("POST", "/files", _Uploaded, form)
        started = {
            "input_file_id": uploaded.id,
            "endpoint": self._path,
            "completion_window": "24h",
            "metadata": {"situs": token},
        }
        body = msgspec.json.encode(started)
        json = {"Content-Type": "application/json"}
        return self._id_of(await self._decoded("POST", "/batches", BatchJob, body, json))

    async def find(self, token: str) -> str:
        """The job with this token; empty if there is none."""
        after = ""
        for _ in range(_PAGES):
            page = await self._decoded("GET", f"/batches?limit=100{after}", _Page)
            for job in page.data:
                if (job.metadata or {}).get("situs") == token:
                    return self._id_of(job)
            if not page.has_more or not page.data:
                return ""
            after = f"&after={page.data[-1].id}"
        return ""

    def _id_of(self, job: BatchJob) -> str:
        if repeats(self._key, job.id):
            problem = "/batches: the server calls the job by the key"
            raise BatchTrouble(Reply("failed", error=problem, fatal=True))
        return job.id

    async def job(self, job_id: str) -> BatchJob:
        """How a job gets on."""
        return await self._decoded("GET", f"/batches/{job_id}", BatchJob)

    def reasons(self, job: BatchJob) -> str:
        """Why a job failed as a whole, in the server's words; empty if it does not say."""
        errors = job.errors.get("data") if isinstance(job.errors, dict) else job.errors
        listed = errors if isinstance(errors, list) else [errors]
        return "; ".join(filter(None, (self._words(error) for error in listed[:3])))

    def _words(self, error: Any) -> str:
        """What an error object says, else the object itself."""
        if not error:
            return ""
        raw = msgspec.json.encode(error)
        words = words_of_error(raw, self._key)[0] or raw.decode()[:300]
        return without_secret(Reply("failed", error=words), self._key).error

    async def replies(self, job: BatchJob, take: Callable[[int, Reply], None]) -> None:
        """Hand over every reply of a job that has ended, by its number."""
        for file_id in filter(None, (job.output_file_id, job.error_file_id)):
            with TemporaryFile() as stream:
                download = cast("BinaryIO", stream)
                await self._full_response("GET", f"/files/{file_id}/content", into=download)
                stream.seek(0)
                for number, reply in self._read(download):
                    take(number, reply)

    def _read(self, stream: BinaryIO) -> Iterator[tuple[int, Reply]]:
        decoder = msgspec.json.Decoder(_Line)
        for raw in stream:
            try:
                line = decoder.decode(raw)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            if line.custom_id.isascii() and line.custom_id.isdecimal():
                yield int(line.custom_id[:9]), self._reply(line)

    def _reply(self, line: _Line) -> Reply:
        if line.response is None:
            server_error = self._words(line.error) or "no response"
            return Reply("failed", error=f"batch: {server_error}")
        content, status = bytes(line.response.body), line.response.status_code
        if 200 <= status < 300:
            reply = read_reply(content, "application/json", self._key)
        else:
            reply = read_error(Response(status, {}, content), self._key)
        return without_secret(reply, self._key)

    async def _decoded(
        self, method: str, path: str, kind: type[_Read], body: Any = None, headers: Any = None
    ) -> _Read:
        response = await self._full_response(method, path, body, headers)
        try:
            return msgspec.json.decode(response.content, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            problem = f"{path.partition('?')[0]}: the reply is not that of a batch interface"
            raise BatchTrouble(Reply("failed", error=problem, fatal=True)) from error

    async def _full_response(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Any = None,
        into: BinaryIO | None = None,
    ) -> Response:
        response = await self._transport.send(
            method, self._base + path, body, headers=headers or {}, into=into
        )
        if isinstance(response, Reply):
            raise BatchTrouble(response)
        if not response.is_success:
            raise BatchTrouble(read_error(response, self._key))
        return response
