"""A server of chat completions with OpenAI's batch interface on loopback, good or faulty."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from aiohttp import web

import wire


class BatchServer:
    """Works a job off when it has been looked at `patience` times.

    `line_fault` turns the words of a question into a fault of its line (or None); `step_fault` is
    called with (step, how often it was called) and may return a response instead: steps are
    `upload`, `start`, `look`, `list`, `fetch`.
    """

    def __init__(
        self,
        *,
        patience: int = 1,
        ends_as: str = "completed",
        line_fault: Callable[[str], dict[str, Any] | None] = lambda words: None,
        step_fault: Callable[[str, int], web.StreamResponse | None] = lambda step, count: None,
    ) -> None:
        self.patience = patience
        self.ends_as = ends_as
        self.line_fault = line_fault
        self.step_fault = step_fault
        self.steps: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()
        """How often each question was asked, in batches and at once."""
        self.files: dict[str, bytes] = {}
        self.jobs: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> BatchServer:
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

    def __exit__(self, *error: object) -> None:
        async def stop() -> None:
            await self._runner.cleanup()
            self._loop.stop()

        asyncio.run_coroutine_threadsafe(stop(), self._loop)
        self._thread.join(10)
        self._loop.close()

    async def _start(self) -> None:
        app = web.Application(client_max_size=1 << 30)
        app.router.add_post("/v1/chat/completions", self._at_once)
        app.router.add_post("/v1/files", self._upload)
        app.router.add_get("/v1/files/{id}/content", self._fetch)
        app.router.add_post("/v1/batches", self._begin)
        app.router.add_get("/v1/batches", self._list)
        app.router.add_get("/v1/batches/{id}", self._look)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port: int = site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]

    @property
    def spec(self) -> str:
        """The model, as `--model` names it."""
        return f"openai:test@http://127.0.0.1:{self.port}/v1"

    def _fault(self, step: str) -> web.StreamResponse | None:
        self.steps[step] += 1
        return self.step_fault(step, self.steps[step])

    async def _at_once(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.asked[wire.words_of(body)] += 1
        return web.json_response(wire.completion(f"you said {wire.words_of(body)}"))

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        form = await request.post()
        assert form["purpose"] == "batch"
        if (fault := self._fault("upload")) is not None:
            return fault
        name = f"file-{len(self.files)}"
        self.files[name] = form["file"].file.read()  # type: ignore[union-attr]
        return web.json_response({"id": name, "object": "file", "purpose": "batch"})

    async def _begin(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        assert body["endpoint"] == "/v1/chat/completions"
        assert body["completion_window"] == "24h"
        name = f"batch_{len(self.jobs)}"
        self.jobs[name] = {
            "id": name,
            "object": "batch",
            "status": "validating",
            "input_file_id": body["input_file_id"],
            "metadata": body["metadata"],
            "looks": 0,
        }
        # The job is there even if the reply that says so is lost.
        fault = self._fault("start")
        return web.json_response(self.jobs[name]) if fault is None else fault

    async def _list(self, request: web.Request) -> web.StreamResponse:
        if (fault := self._fault("list")) is not None:
            return fault
        return web.json_response({"data": list(self.jobs.values()), "has_more": False})

    async def _look(self, request: web.Request) -> web.StreamResponse:
        if (fault := self._fault("look")) is not None:
            return fault
        job = self.jobs[request.match_info["id"]]
        job["looks"] += 1
        job["status"] = "in_progress"
        if job["looks"] >= self.patience and "output_file_id" not in job:
            self._work_off(job)
        if "output_file_id" in job:
            job["status"] = self.ends_as
        return web.json_response(job)

    def _work_off(self, job: dict[str, Any]) -> None:
        lines = [json.loads(line) for line in self.files[job["input_file_id"]].splitlines()]
        good, bad = [], []
        for line in lines:
            words = wire.words_of(line["body"])
            self.asked[words] += 1
            fault = self.line_fault(words)
            if fault is not None:
                bad.append({"custom_id": line["custom_id"]} | fault)
                continue
            reply = {"status_code": 200, "body": wire.completion(f"you said {words}")}
            good.append({"custom_id": line["custom_id"], "response": reply, "error": None})
        # Servers keep no order.
        good.reverse()
        if self.ends_as == "expired":
            good = good[: len(good) // 2]
        for key, rows in (("output_file_id", good), ("error_file_id", bad)):
            name = f"file-{len(self.files)}"
            self.files[name] = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
            job[key] = name
        counts = {"total": len(lines), "completed": len(good), "failed": len(bad)}
        job["request_counts"] = counts

    async def _fetch(self, request: web.Request) -> web.StreamResponse:
        if (fault := self._fault("fetch")) is not None:
            return fault
        return web.Response(body=self.files[request.match_info["id"]])
