"""What a coordinator brings to a study and takes from it on the page:
samples of benches, accounts, results."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi import Path as PathParameter
from fastapi.responses import FileResponse, Response
from starlette.background import BackgroundTask

from situs.base.files import file_name
from situs.bench import open_bench
from situs.review.station.exported import export_station
from situs.review.station.protocol import load_protocol, shipped_protocols
from situs.review.station.sample import Sample, take_sample
from situs.review.station.store.accounts import add_user, change_user, invite, is_code
from situs.review.station.store.projects import add_project, check_project_name, find_project
from situs.review.station.web.messages import ImportBody, InvitedBody, UserBody
from situs.review.station.web.station import Asking, ImportState, Problem, Station, need_role

__all__ = ["router"]

router = APIRouter()

ProjectId = Annotated[str, PathParameter(pattern=r"^[0-9a-f]{32}$")]


def _station(request: Request) -> Station:
    station: Station = request.app.state.station
    return station


def _offered(station: Station) -> dict[str, Path]:
    """The benches of the administrator's folder by name:
    a request names one of these, and never a path."""
    if station.benches is None:
        return {}
    folders = (path.parent for path in station.benches.glob("*/bench.json"))
    return {folder.name: folder for folder in sorted(folders)}


@router.get("/benches")
def benches(actor: Asking, request: Request) -> dict[str, Any]:
    """What can be taken in, and how it may be read."""
    need_role(actor, "coordinator")
    station = _station(request)
    last = station.imports.last
    return {
        "offered": station.benches is not None,
        "benches": list(_offered(station)),
        "protocols": {name: protocol.about for name, protocol in shipped_protocols().items()},
        "last": None if last is None else vars(last),
    }


@router.post("/projects")
def bring_in(body: ImportBody, actor: Asking, request: Request) -> dict[str, str]:
    """Take a sample of an offered bench into a new project; `GET /benches` tells how far it is."""
    need_role(actor, "coordinator")
    station = _station(request)
    where = _offered(station).get(body.bench)
    if where is None:
        raise Problem(404, "no such bench is offered")
    if body.protocol not in shipped_protocols():
        raise Problem(404, "no such protocol")
    with station.database.read() as db:
        check_project_name(db, body.project)
    sample = Sample(body.items, body.seed, (), body.training, body.wordings)
    code = actor.user.code

    def work(state: ImportState) -> None:
        def progress(done: int, of: int) -> None:
            state.done, state.of = done, of

        protocol = load_protocol(body.protocol)
        taken = take_sample(
            station.folder,
            open_bench(where),
            protocol,
            sample,
            data=station.data,
            progress=progress,
        )
        with station.database.write() as db:
            add_project(db, taken, body.project, code)

    station.imports.start(body.project, work)
    return {"state": "running"}


@router.post("/users")
def new_user(body: UserBody, actor: Asking, request: Request) -> dict[str, str]:
    """Add an account; the one-time token is told here and nowhere else."""
    need_role(actor, "coordinator")
    if not is_code(body.code):  # typed here: said in words, without repeating it
        raise Problem(409, "a code is up to 40 letters, digits, dots and dashes, and no name")
    with _station(request).database.write() as db:
        return {"token": add_user(db, body.code, body.roles, actor.user.code)}


@router.post("/users/invite")
def invite_again(body: InvitedBody, actor: Asking, request: Request) -> dict[str, str]:
    """A fresh one-time token, for a forgotten password; the account's open sessions end."""
    need_role(actor, "coordinator")
    with _station(request).database.write() as db:
        return {"token": invite(db, change_user(db, body.code, actor.user.code), actor.user.code)}


@router.post("/projects/{project}/export", response_class=Response)
def export(project: ProjectId, actor: Asking, request: Request) -> Response:
    """The results as a ZIP file, once the reads are locked:
    before, they would tell the agreement."""
    need_role(actor, "coordinator", "auditor")
    station = _station(request)
    with station.database.read() as db:
        stored = find_project(db, project)
    if stored.state != "locked":
        raise Problem(409, "results are available once reading is locked")
    scratch = tempfile.TemporaryDirectory(prefix="situs-export-")
    out = Path(scratch.name) / "export"
    result = export_station(station.database, stored, out, actor=actor.user.code)
    if result.problems:
        raise Problem(409, f"the record is not intact: {result.problems[0]}")
    packed = Path(scratch.name) / "export.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in out.rglob("*") if path.is_file()):
            archive.write(path, path.relative_to(out))
    return FileResponse(
        packed,
        media_type="application/zip",
        filename=f"{file_name(stored.name)}.zip",
        background=BackgroundTask(scratch.cleanup),
    )
