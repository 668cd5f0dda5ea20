"""The reader's and adjudicator's part of the interface: lists, cases, drafts, answers."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Request, Response
from sqlalchemy import func, select
from sqlalchemy.orm import Session as Connection

from situs.errors import SitusError
from situs.review.station.slices import open_volume_map
from situs.review.station.store.adjudicating import decide
from situs.review.station.store.lists import (
    CaseSeries,
    case_series,
    is_waiting,
    next_assignment,
)
from situs.review.station.store.readings import (
    Conflict,
    Looked,
    amend,
    answered_before,
    own_assignment,
    remember_answer,
    save_draft,
    submit,
)
from situs.review.station.store.signing import sign_block
from situs.review.station.store.tables import Assignment, Project
from situs.review.station.web.cases import case_view
from situs.review.station.web.messages import (
    AmendBody,
    BlocksView,
    BlockView,
    CaseView,
    DecisionBody,
    DraftBody,
    NextView,
    RatingBody,
    ReadBody,
)
from situs.review.station.web.station import Actor, Asking, Problem, Station, need_role

__all__ = ["router"]

router = APIRouter()

CaseId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]
Plane = Annotated[str, Path(pattern=r"^(axial|coronal|sagittal)$")]
Index = Annotated[int, Path(ge=0, le=100_000)]
Token = Annotated[str, Path(pattern=r"^[0-9a-f]{32}\.[12]\.[0-9a-f]{40}$")]
IfMatch = Annotated[str, Header(pattern=r'^"v[0-9]{1,9}"$')]
Key = Annotated[str, Header(alias="Idempotency-Key", pattern=r"^[A-Za-z0-9_-]{8,80}$")]
_BLOCKS_A_PAGE = 50
Write = Callable[[Connection, Assignment], object]


def _station(request: Request) -> Station:
    station: Station = request.app.state.station
    return station


def _version(if_match: str) -> int:
    return int(re.sub(r"\D", "", if_match))


def _own_assignment(db: Connection, actor: Actor, case: str) -> Assignment:
    assignment = own_assignment(db, actor.user, case)
    if assignment is None:
        raise Problem(404, "no such case")
    return assignment


@router.get("/blocks")
def blocks(
    actor: Asking, request: Request, first: Annotated[int | None, Query(ge=0)] = None
) -> BlocksView:
    """The reader's own blocks and how far they are, a page at a time; never anybody else's.

    Without `first`, the page with the first block that is not finished.
    """
    every = _all_blocks(request, actor)
    if first is None:
        first = next((n for n, view in enumerate(every) if view.done < view.cases), 0)
    first -= first % _BLOCKS_A_PAGE
    return BlocksView(
        blocks=every[first : first + _BLOCKS_A_PAGE],
        first=first,
        of=len(every),
        done=sum(view.done for view in every),
        cases=sum(view.cases for view in every),
    )


def _all_blocks(request: Request, actor: Actor) -> list[BlockView]:
    with _station(request).database.read() as db:
        rows = db.execute(
            select(
                Assignment.project_id,
                Assignment.purpose,
                Assignment.block,
                Assignment.state,
                func.count(),
            )
            .where(Assignment.user_id == actor.user.id, Assignment.state != "withdrawn")
            .group_by(Assignment.project_id, Assignment.purpose, Assignment.block, Assignment.state)
        ).all()
        projects = {project.id: project for project in db.scalars(select(Project))}
        counts: dict[tuple[int, str, int], dict[str, int]] = {}
        # What is still being read comes first.
        rows = sorted(rows, key=lambda row: (projects[row[0]].state != "reading", *row[:3]))
        for project, purpose, block, state, count in rows:
            counts.setdefault((project, purpose, block), {})[state] = count
        now = time.time()
        waiting = {
            (project, purpose, block)
            for (project, purpose, block), states in counts.items()
            if purpose == "read"
            and "open" in states
            and states.keys() & {"done", "signed"}
            and is_waiting(db, actor.user, project, block, now)
        }
    return [_block_view(projects[key[0]], key, counts[key], key in waiting) for key in counts]


def _block_view(
    project: Project, key: tuple[int, str, int], states: dict[str, int], waits: bool
) -> BlockView:
    """A block with so many cases in each state; what waits for its time holds up no signature."""
    _, purpose, block = key
    name = "adjudication" if purpose == "adjudicate" else f"block {block}"
    unfinished = "revealed" in states or ("open" in states and not waits)
    return BlockView(
        project=project.public_id,
        project_name=project.name,
        block=block,
        name="training" if purpose == "read" and block == 0 else name,
        done=states.get("done", 0) + states.get("signed", 0),
        cases=sum(states.values()),
        signed=not unfinished and "done" not in states,
        can_sign=purpose == "read" and block > 0 and not unfinished and "done" in states,
    )


@router.get("/next")
def next_case(actor: Asking, request: Request) -> NextView:
    """The next case of the reader's list."""
    with _station(request).database.read() as db:
        assignment = next_assignment(db, actor.user)
        waiting = db.scalar(
            select(func.count())
            .select_from(Assignment)
            .where(Assignment.user_id == actor.user.id, Assignment.state == "open")
        )
        return NextView(
            id=assignment.public_id if assignment is not None else "", waiting=waiting or 0
        )


@router.get("/assignments/{case}")
def view_case(case: CaseId, actor: Asking, request: Request, response: Response) -> CaseView:
    """A case at the stage it is at."""
    station = _station(request)
    with station.database.read() as db:
        view = case_view(db, station, _own_assignment(db, actor, case), actor.user)
    response.headers["ETag"] = f'"v{view.version}"'
    return view


@router.put("/assignments/{case}/draft")
def put_draft(
    case: CaseId, body: DraftBody, actor: Asking, request: Request, if_match: IfMatch
) -> dict[str, int]:
    """Keep unfinished work."""
    station = _station(request)
    with station.database.write() as db:
        assignment = _own_assignment(db, actor, case)
        saved = save_draft(db, assignment, body.draft, _version(if_match))
        return {"version": saved.version}


def _once(
    request: Request, actor: Actor, case: str, key: str, asked: dict[str, Any], write: Write
) -> CaseView:
    """Do a submit once: the same key again is answered as the first time, also after a crash."""
    station = _station(request)
    asked_for = [request.url.path, asked]
    with station.database.write() as db:
        assignment = _own_assignment(db, actor, case)
        before = answered_before(db, actor.user, key, asked_for)
        if before is None:
            write(db, assignment)
            db.flush()
            remember_answer(db, actor.user, key, asked_for, {"version": assignment.version})
        return case_view(db, station, assignment, actor.user)


@router.post("/assignments/{case}/answer")
def post_answer(
    case: CaseId, body: ReadBody, actor: Asking, request: Request, if_match: IfMatch, key: Key
) -> CaseView:
    """Stage 1: lock the unaided answer; the reply holds the reveal."""
    asked = body.model_dump()
    reading = {name: asked[name] for name in ("answers", "cannot", "confidence")}
    looked = Looked(body.active_ms, body.slices_seen)

    def write(db: Connection, assignment: Assignment) -> None:
        if assignment.state != "open":
            raise Conflict(assignment)
        submit(db, assignment, actor.user, reading, looked, _version(if_match))

    return _once(request, actor, case, key, asked, write)


@router.post("/assignments/{case}/rating")
def post_rating(
    case: CaseId, body: RatingBody, actor: Asking, request: Request, if_match: IfMatch, key: Key
) -> CaseView:
    """Stage 2: score, flags and comment."""
    asked = body.model_dump()
    reading = {name: asked[name] for name in ("score", "flags", "verdicts", "comment")}
    looked = Looked(body.active_ms, body.slices_seen)

    def write(db: Connection, assignment: Assignment) -> None:
        station = _station(request)
        stage = case_view(db, station, assignment, actor.user).stage
        if stage != 2 or assignment.purpose != "read":
            raise Problem(409, "answer the case before you rate it")
        submit(db, assignment, actor.user, reading, looked, _version(if_match))

    return _once(request, actor, case, key, asked, write)


@router.post("/assignments/{case}/amend")
def post_amendment(
    case: CaseId, body: AmendBody, actor: Asking, request: Request, if_match: IfMatch, key: Key
) -> CaseView:
    """Correct a rating, with a reason."""
    asked = body.model_dump()
    reading = {name: asked[name] for name in ("score", "flags", "verdicts", "comment")}
    return _once(
        request,
        actor,
        case,
        key,
        asked,
        lambda db, assignment: amend(
            db, assignment, actor.user, reading, body.reason, _version(if_match)
        ),
    )


@router.post("/assignments/{case}/decision")
def post_decision(
    case: CaseId, body: DecisionBody, actor: Asking, request: Request, if_match: IfMatch, key: Key
) -> CaseView:
    """An adjudicator settles a case, after reading it blind."""
    need_role(actor, "adjudicator")

    def write(db: Connection, assignment: Assignment) -> None:
        if assignment.purpose != "adjudicate":
            raise Problem(404, "no such case")
        if assignment.version != _version(if_match):
            raise Conflict(assignment)
        decide(db, assignment, actor.user, body.decision, body.key_wrong, body.reason)

    return _once(request, actor, case, key, body.model_dump(), write)


@router.post("/blocks/{project}/{block}/sign")
def post_signature(
    project: CaseId,
    block: Annotated[int, Path(ge=0, le=1_000_000)],
    actor: Asking,
    request: Request,
) -> dict[str, int]:
    """Sign a finished block of a project."""
    with _station(request).database.write() as db:
        stored = db.scalar(select(Project).where(Project.public_id == project))
        if stored is None:
            raise Problem(404, "no such project")
        return {"signed": sign_block(db, actor.user, stored, block)}


def _series_of(request: Request, actor: Actor, token: str, *, stage: int = 1) -> CaseSeries:
    """The series a token opens; from `stage` on,
    and never beyond the stage the case has reached."""
    station = _station(request)
    known = station.read_slice_token(actor.user, token)
    if known is None or known[1] < stage:
        raise Problem(404, "no such series")
    with station.database.read() as db:
        series = case_series(db, actor.user, known[0])
    if series is None or known[1] > series.stage:
        raise Problem(404, "no such series")
    return series


@router.get("/series/{token}/{plane}/{index}", response_class=Response)
def get_slice(
    token: Token, plane: Plane, index: Index, actor: Asking, request: Request
) -> Response:
    """One slice: little-endian int16, rows from the top."""
    series = _series_of(request, actor, token)
    opened = open_volume_map(_station(request).folder.volumes / series.volume)
    try:
        content = opened.compressed_slice(plane, index)
    except SitusError as error:
        raise Problem(404, "no such slice") from error
    headers = {"Content-Encoding": "deflate", "Cache-Control": "no-store"}
    return Response(content, media_type="application/octet-stream", headers=headers)


@router.get("/series/{token}/outlines/{plane}/{index}")
def get_outlines(
    token: Token, plane: Plane, index: Index, actor: Asking, request: Request
) -> dict[str, str]:
    """Outlines of the structures on a slice; only after the reveal."""
    series = _series_of(request, actor, token, stage=2)
    opened = open_volume_map(_station(request).folder.volumes / series.volume)
    return opened.outlines(series.structures, plane, index, series.labels)
