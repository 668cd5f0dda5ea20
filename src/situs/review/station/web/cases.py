"""A case as its reader may see it.

Stage 1 is built from its own fields; what the reveal adds is put in from there on only.
"""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import func, select
from sqlalchemy.orm import Session as Connection

from situs.report.pictures.embedded import plane_frames
from situs.review.station.places import SAME_PLACE, KeyPlace, overlap
from situs.review.station.protocol import FLAGS
from situs.review.station.slices import open_volume_map
from situs.review.station.store.adjudicating import last_decision, shuffled_readings
from situs.review.station.store.projects import protocol_of
from situs.review.station.store.readings import latest, stage_of, stages_of
from situs.review.station.store.tables import Assignment, Project, Snapshot, Unit, User
from situs.review.station.web.messages import CaseView, Reveal, SeriesView
from situs.review.station.web.station import Station
from situs.score.read import Parsed, parse_number

__all__ = ["case_view"]

_SHOWN = ("question", "form", "parts", "options", "marks", "frames", "wordings")
_REVEALED = ("key", "right", "detail", "facts", "notes", "structures")
_FINISHED = ("done", "signed")


def case_view(db: Connection, station: Station, assignment: Assignment, user: User) -> CaseView:
    """The case at the stage it is at."""
    unit = db.get_one(Unit, assignment.unit_id)
    snapshot = db.get_one(Snapshot, unit.snapshot_hash)
    protocol = protocol_of(db, db.get_one(Project, assignment.project_id))
    stages = stages_of(unit.kind, assignment.purpose, protocol.stages)
    stage = stage_of(assignment.state, stages)
    is_item = unit.kind != "wording"
    done, cases = _progress(db, assignment)
    view = CaseView(
        id=assignment.public_id,
        version=assignment.version,
        state=assignment.state,
        stage=stage,
        stages=stages,
        purpose=assignment.purpose,
        kind=unit.kind if unit.kind in ("wording", "training") else "item",  # type: ignore[arg-type]
        draft=assignment.draft,
        questions=list(protocol.questions) if is_item else [],
        flags=list(FLAGS),
        block=assignment.block,
        done=done,
        cases=cases,
        **{name: snapshot.shown[name] for name in _SHOWN if name in snapshot.shown},
    )
    if is_item:
        token = station.slice_token(user, assignment.public_id, stage)
        view.series = _series(station, snapshot.hidden["volume"], token)
    if stage == 2:
        first, second = latest(db, assignment, 1), latest(db, assignment, 2)
        view.answer = None if first is None else first.body
        view.rating = None if second is None else second.body
        if is_item:
            view.reveal = _reveal(snapshot.hidden)
        if assignment.purpose == "adjudicate":
            view.readings = shuffled_readings(db, assignment)
            view.decision = last_decision(db, assignment)
        if unit.kind == "training" and assignment.state in _FINISHED:
            view.feedback_right, view.feedback = _feedback(snapshot.hidden, view.answer)
    return view


def _series(station: Station, volume: str, token: str) -> SeriesView:
    info = open_volume_map(station.folder.volumes / volume).info
    frames = {name: msgspec.structs.asdict(frame) for name, frame in plane_frames().items()}
    if not info.oriented:
        frames = {"axial": frames["axial"] | dict.fromkeys(("left", "right", "top", "bottom"), "")}
    return SeriesView(
        token=token,
        shape=info.shape,
        spacing=info.spacing,
        modality=info.modality,
        slope=info.slope,
        intercept=info.intercept,
        planes=list(info.planes),
        frames=frames,
        windows=list(info.windows),
        large=info.large,
        oriented=info.oriented,
        oblique_degrees=info.oblique_degrees,
    )


def _reveal(hidden: dict[str, Any]) -> Reveal:
    names = ("form", "options", "answer", "number", "steps", "facts", "inputs", "flags", "subjects")
    detail = {name: hidden["detail"][name] for name in names if name in hidden["detail"]}
    parts = {name: hidden[name] for name in _REVEALED}
    parts["detail"] = detail
    return Reveal(
        jumps=hidden.get("jumps", {}),
        overlay=hidden.get("overlay"),
        places=hidden.get("places", {}),
        **parts,
    )


def _progress(db: Connection, assignment: Assignment) -> tuple[int, int]:
    """Of the reader's own block: finished and all cases."""
    rows = db.execute(
        select(Assignment.state, func.count())
        .where(
            Assignment.user_id == assignment.user_id,
            Assignment.block == assignment.block,
            Assignment.purpose == assignment.purpose,
            Assignment.project_id == assignment.project_id,
            Assignment.state.in_(("open", "revealed", *_FINISHED)),
        )
        .group_by(Assignment.state)
    )
    counts = {row[0]: row[1] for row in rows}
    return sum(counts.get(state, 0) for state in _FINISHED), sum(counts.values())


def _feedback(hidden: dict[str, Any], answer: dict[str, Any] | None) -> tuple[bool | None, str]:
    """Whether a training case was answered right, where that can be told without a judge."""
    is_right = (
        None if answer is None or answer.get("cannot") else _is_right(hidden, answer["answers"])
    )
    if is_right is None:
        return None, "Compare your answer with the key above."
    return is_right, "Your answer was right." if is_right else "Your answer differs from the key."


def _is_right(hidden: dict[str, Any], answers: dict[str, str]) -> bool | None:
    """By letter, by the interval of a number, or by how far places overlap."""
    if hidden["right"]:
        return bool(set(answers.values()) & set(hidden["right"]))
    number = hidden["detail"].get("number")
    if number is not None and len(answers) == 1:
        _, low, high, unit = number
        said = parse_number(next(iter(answers.values())), unit)
        return low <= float(said.value) <= high if isinstance(said, Parsed) else None
    places = msgspec.convert(hidden.get("places", {}), dict[str, KeyPlace])
    if places and set(places) == set(answers):
        return all(
            overlap(place, answers[name], place.key) >= SAME_PLACE for name, place in places.items()
        )
    return None
