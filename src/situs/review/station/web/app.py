"""The application: pages, interface, and what guards both."""

from __future__ import annotations

from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from situs import __version__
from situs.errors import SitusError
from situs.report.viewer.module import viewer_module, viewer_style
from situs.review.station.store.readings import Conflict
from situs.review.station.web import bringing_in, desk, openid, reading, signing_in
from situs.review.station.web.station import Problem, Station, problem

__all__ = ["create_app"]

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
_MOST_BODY = 256 * 1024
_MOST_DIGITS = 12
_TYPES = {"js": "text/javascript", "css": "text/css", "html": "text/html", "txt": "text/plain"}
_VIEWER_PARTS = ("draggedWindow", "makeViewer", "stepList", "factTable", "flagList", "h")
"""What the station's pages take of the report's item view:
planes, letters, marks and derivations."""


def create_app(station: Station) -> FastAPI:
    """The station's application."""
    app = FastAPI(
        title="Situs reading station",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
    )
    app.state.station = station
    for part in (signing_in, openid, reading, desk, bringing_in):
        app.include_router(part.router, prefix="/api/v1")
    _add_pages(app)
    app.add_middleware(_Guard, station=station)
    _add_problems(app)
    return app


def _static_files() -> dict[str, bytes]:
    """All that is served as a file, read once: no path of a request ever reaches the disk."""
    result = {}
    for entry in files("situs.review.station.web").joinpath("static").iterdir():
        if entry.name.rpartition(".")[2] in _TYPES:
            result[entry.name] = entry.read_bytes()
    result["viewer.js"] = viewer_module(_VIEWER_PARTS).encode()
    result["report.css"] = viewer_style().encode()
    return result


def _add_pages(app: FastAPI) -> None:
    static = _static_files()

    def page(request: Request) -> Response:
        return Response(static["index.html"], media_type="text/html; charset=utf-8")

    def file(name: str) -> Response:
        if name not in static:
            raise Problem(404, "no such file")
        kind = f"{_TYPES[name.rpartition('.')[2]]}; charset=utf-8"
        return Response(static[name], media_type=kind, headers={"Cache-Control": "no-cache"})

    # The address of a page is told by its fragment, which no request carries.
    app.add_api_route("/", page, include_in_schema=False)
    app.add_api_route("/static/{name}", file, include_in_schema=False)


class _Guard:
    """Refuses requests that do not come from the station's own pages, and puts the guarding headers
    on every answer.

    Plain ASGI: the decorator for middleware costs more than most answers here.
    """

    def __init__(self, app: ASGIApp, station: Station) -> None:
        self.app, self.station = app, station
        self.hosts = {urlsplit(origin).netloc for origin in station.origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                if scope["path"].startswith("/api/"):
                    headers["Cache-Control"] = "no-store"
            await send(message)

        refusal = _refusal(Request(scope), self.station, self.hosts)
        await (refusal or self.app)(scope, receive, send_guarded)


def _refusal(request: Request, station: Station, hosts: set[str]) -> Response | None:
    """Why a request is not heard at all."""
    if request.headers.get("host", "") not in hosts:
        # Another name for this address (DNS rebinding) would be another origin in the browser's
        # eyes.
        return problem(421, "this station has another address", addresses=list(station.origins))
    if request.method in ("GET", "HEAD"):
        return None
    if request.headers.get("origin", "") not in station.origins:
        return problem(403, "the request does not come from the station's own page")
    length = request.headers.get("content-length", "0")
    # A few digits first: "²" is a digit too, and thousands of them are no number to Python.
    is_number = length.isdecimal() and len(length) <= _MOST_DIGITS
    if not is_number or int(length) > _MOST_BODY or "transfer-encoding" in request.headers:
        return problem(413, "the request is too large")
    kind = request.headers.get("content-type", "")
    if int(length) and not kind.startswith("application/json"):
        return problem(415, "the request is not JSON")
    return None


def _place(error: Any) -> str:
    """Which of our own fields a mistake is in: deeper names, and those of fields that no form has,
    were sent."""
    depth = 1 if error["type"] == "extra_forbidden" else 2
    return ".".join(str(part) for part in error["loc"][:depth])


def _add_problems(app: FastAPI) -> None:
    @app.exception_handler(Problem)
    async def on_problem(_: Request, error: Problem) -> Response:
        return problem(error.status, error.title, **error.more)

    @app.exception_handler(SitusError)
    async def on_mistake(_: Request, error: SitusError) -> Response:
        # Where it is, an option or a folder of the server, is said on the command line only.
        return problem(409, SitusError(error.problem, fix=error.fix).one_line())

    @app.exception_handler(Conflict)
    async def on_conflict(_: Request, error: Conflict) -> Response:
        return problem(
            412,
            "this case was changed in another window",
            version=error.version,
            state=error.state,
            draft=error.draft,
        )

    @app.exception_handler(RequestValidationError)
    async def on_invalid(_: Request, error: RequestValidationError) -> Response:
        # Where, never what: nothing that was sent comes back.
        where = sorted({_place(entry) for entry in error.errors()})
        return problem(422, "the request does not have the expected form", where=where[:20])

    @app.exception_handler(HTTPException)
    async def on_http(_: Request, error: HTTPException) -> Response:
        return problem(error.status_code, "no such address or method")
