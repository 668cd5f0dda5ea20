"""A small server on this machine only: it reads, and answers nothing but its own page."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web
from aiohttp.http import HttpProcessingError

from situs.clients import run_to_end
from situs.errors import SitusError
from situs.report.viewer.module import viewer_module, viewer_style
from situs.view.items import item_page, item_rows
from situs.view.watching import (
    READING_ERRORS,
    ItemRow,
    WatchedRun,
    WatchedRuns,
    problem_words,
)

__all__ = ["app_runner", "serve_runs", "view_app"]

HOST = "127.0.0.1"
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_PAGE = 200
"""Items of a list that are sent at a time."""
_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_RUNS = web.AppKey("runs", WatchedRuns)
_DATA = web.AppKey("data", dict[str, Path | None])


def serve_runs(
    root: Path, *, port: int, data: Path | None = None, started: Callable[[str], None]
) -> None:
    """Serve the runs below `root` until it is interrupted; `started` is told the address."""
    runs = WatchedRuns(root)

    async def serve() -> None:
        runner = app_runner(view_app(runs, data))
        await runner.setup()
        try:
            await web.TCPSite(runner, HOST, port).start()
        except OSError as error:
            fix = "choose another --port, or 0 for any that is free"
            raise SitusError(f"port {port} cannot be opened ({error.strerror})", fix=fix) from error
        started(f"http://{HOST}:{runner.addresses[0][1]}/")
        try:
            await asyncio.Event().wait()
        finally:
            await runner.cleanup()

    run_to_end(serve)


def app_runner(app: web.Application) -> web.AppRunner:
    """Serves the application; what is no HTTP is refused without a word on the terminal."""
    log = logging.getLogger("situs.view")
    log.addFilter(_is_our_affair)
    return web.AppRunner(app, access_log=None, logger=log)


def _is_our_affair(record: logging.LogRecord) -> bool:
    """Not a request that cannot be read: its bytes and a traceback would stand on the terminal."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, HttpProcessingError)


def view_app(runs: WatchedRuns, data: Path | None = None) -> web.Application:
    """The application."""
    app = web.Application(middlewares=[_guard])
    app[_RUNS] = runs
    app[_DATA] = {"data": data}
    for name, content in _static().items():
        app.router.add_get(f"/{name}" if name != "index.html" else "/", _file(name, content))
    app.router.add_get("/api/runs", _list_runs)
    app.router.add_get("/api/runs/{key}/items", _list_items)
    app.router.add_get("/api/runs/{key}/items/{item}", _show_item)
    return app


@web.middleware
async def _guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answers only what its own page asks:
    another site's page may know the port, but not pass this."""
    response: web.StreamResponse
    if request.host.rpartition(":")[0] not in (HOST, "localhost"):
        response = _problem(421, "this address is not served")
    elif request.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
        response = _problem(403, "not from this page")
    else:
        try:
            response = await handler(request)
        except web.HTTPException as error:
            response = _problem(error.status, error.reason)
        except READING_ERRORS as error:
            response = _problem(422, problem_words(error))
    response.headers.update(_HEADERS)
    return response


def _problem(status: int, words: str) -> web.Response:
    return web.json_response({"problem": words}, status=status)


def _json(value: Any) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), content_type="application/json")


def _static() -> dict[str, bytes]:
    """All that is served as a file, read once: no path of a request ever reaches the disk."""
    templates = files("situs.view").joinpath("templates")
    pages = {name: templates.joinpath(name).read_bytes() for name in ("index.html", "view.js")}
    look = viewer_style() + templates.joinpath("view.css").read_text("utf-8")
    return pages | {
        "view.css": look.encode(),
        "viewer.js": viewer_module(("makeDetail", "markOf", "h", "byId")).encode(),
    }


def _file(name: str, content: bytes) -> Handler:
    kind = _TYPES[name.rpartition(".")[2]]

    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=content, content_type=kind, charset="utf-8")

    return answer


async def _list_runs(request: web.Request) -> web.Response:
    return _json(await asyncio.to_thread(request.app[_RUNS].states))


def _run_of(request: web.Request) -> WatchedRun:
    runs = request.app[_RUNS]
    run = runs.run(request.match_info["key"])
    if run is None:
        runs.states()
        run = runs.run(request.match_info["key"])
    if run is None:
        raise web.HTTPNotFound(reason="no such run; was it moved?")
    return run


async def _list_items(request: web.Request) -> web.Response:
    run = await asyncio.to_thread(_run_of, request)
    wanted = {name: request.query.get(name, "") for name in ("task", "state", "mark", "words")}
    after = int(request.query["after"]) if request.query.get("after", "").isdecimal() else 0
    return _json(await asyncio.to_thread(_page_of, run, wanted, after))


def _page_of(run: WatchedRun, wanted: dict[str, str], after: int) -> dict[str, Any]:
    """One page of the items that match, how many match, and what there is to choose from."""
    problem = run.refresh().problem
    if problem:
        raise SitusError(problem)
    rows: list[ItemRow] = []
    tasks: set[str] = set()
    matching = 0
    for row in item_rows(run):
        tasks.add(row.task)
        if not _matches(row, wanted):
            continue
        if after <= matching < after + _PAGE:
            rows.append(row)
        matching += 1
    return {"rows": rows, "matching": matching, "after": after, "tasks": sorted(tasks)}


def _matches(row: ItemRow, wanted: dict[str, str]) -> bool:
    text = f"{row.question} {row.item_id}".lower()
    return (
        wanted["task"] in ("", row.task)
        and wanted["state"] in ("", row.state)
        and wanted["mark"] in ("", row.mark)
        and all(word in text for word in wanted["words"].lower().split())
    )


async def _show_item(request: web.Request) -> web.Response:
    run = await asyncio.to_thread(_run_of, request)
    state = await asyncio.to_thread(run.refresh)
    if state.problem:
        raise SitusError(state.problem)
    data = request.app[_DATA]["data"]
    return _json(await asyncio.to_thread(item_page, run, request.match_info["item"], data))
