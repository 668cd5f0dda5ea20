"""Reading: two stages, drafts, submits that count once,
corrections, adjudication, and what is closed until when."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from conftest import PASSWORD, Running, first_answer, ok


def readings(running: Running) -> int:
    from sqlalchemy import func, select

    from situs.review.station.store.tables import Reading

    with running.database.read() as db:
        return db.scalar(select(func.count()).select_from(Reading)) or 0


def real_case(person: Any) -> Any:
    """The next case that is no training."""
    while (view := person.case())["kind"] == "training":
        person.read(view)
    return view


def test_a_case_goes_from_answer_to_rating_and_is_locked(reading: Running) -> None:
    reader = reading.person("R1")
    view = real_case(reader)
    assert (view["stage"], view["reveal"], view["answer"]) == (1, None, None)
    # A rating before the answer is not heard.
    assert reader.rate(view).status_code == 409
    revealed = ok(reader.answer(view, confidence=3))
    assert (revealed["stage"], revealed["state"]) == (2, "revealed")
    assert revealed["reveal"]["key"]
    assert revealed["answer"]["confidence"] == 3
    # Back after the reveal: what was said stays, and a second answer is refused.
    again = ok(reader.get(f"/assignments/{view['id']}"))
    assert (again["stage"], again["answer"]) == (2, revealed["answer"])
    assert reader.answer(again).status_code == 412
    done = ok(reader.rate(revealed, 1, ("wording",), "odd"))
    assert (done["state"], done["rating"]["score"]) == ("done", 1)
    assert reader.rate(done).status_code == 409


def test_incomplete_and_impossible_answers_are_refused(reading: Running) -> None:
    reader = reading.person("R1")
    view = real_case(reader)
    path, version = f"/assignments/{view['id']}/answer", view["version"]
    for body in (
        {"answers": {}, "confidence": 2},
        {"answers": {"nobody asked": "x"}, "confidence": 2},
        {"cannot": " ", "confidence": 1},
    ):
        assert reader.send(path, body, version=version).status_code == 409
    for body in ({"answers": {}, "confidence": 4}, {"confidence": 1, "more": 1}, [], None):
        assert reader.send(path, body, version=version).status_code == 422
    assert readings(reading) == readings(reading)
    said = ok(reader.send(path, {"cannot": "cut off", "confidence": 1}, version=version))
    assert said["answer"]["cannot"] == "cut off"


def test_the_same_submit_twice_counts_once(reading: Running) -> None:
    reader = reading.person("R1")
    view = reader.case()
    path, body = f"/assignments/{view['id']}/answer", first_answer(view)
    one = reader.send(path, body, version=view["version"], key="the-same-key")
    two = reader.send(path, body, version=view["version"], key="the-same-key")
    assert ok(one) == ok(two)
    assert readings(reading) == 1
    other = reader.send(path, body | {"confidence": 1}, version=view["version"], key="the-same-key")
    assert other.status_code == 409


def test_two_tabs_a_stale_draft_shows_the_other_text(reading: Running) -> None:
    """The second tab's write is refused, told what the first wrote, and nothing is lost."""
    reader = reading.person("R1")
    view = reader.case()
    path = f"/assignments/{view['id']}/draft"
    ok(
        reader.send(
            path, {"draft": {"comment": "first tab"}}, version=view["version"], method="PUT"
        )
    )
    stale = reader.send(
        path, {"draft": {"comment": "second"}}, version=view["version"], method="PUT"
    )
    assert stale.status_code == 412
    assert stale.headers["content-type"] == "application/problem+json"
    told = stale.json()
    assert told["draft"] == {"comment": "first tab"}
    ok(reader.send(path, {"draft": {"comment": "both"}}, version=told["version"], method="PUT"))
    assert reader.case()["draft"] == {"comment": "both"}
    # And so is a submit from the stale tab.
    assert reader.answer(view).status_code == 412
    assert readings(reading) == 0


def test_two_tabs_at_the_same_moment_cannot_both_be_believed(
    reading: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both send the version they saw; each would pass if it looked before the other had written."""
    from situs.review.station.web import reading as module

    reader = reading.person("R1")
    view = reader.case()
    path = f"/assignments/{view['id']}/draft"
    both_inside = threading.Barrier(2)
    real = module.save_draft

    def slow(*args: Any) -> Any:
        # Long enough for the other to come in, if anything lets it in.
        with suppress(threading.BrokenBarrierError):
            both_inside.wait(0.5)
        return real(*args)

    monkeypatch.setattr(module, "save_draft", slow)

    def send(words: str) -> Any:
        body = {"draft": {"comment": words}}
        return reader.send(path, body, version=view["version"], method="PUT")

    with ThreadPoolExecutor(2) as both:
        answers = list(both.map(send, ("one", "two")))
    assert sorted(answer.status_code for answer in answers) == [200, 412]
    (refused,) = (answer for answer in answers if answer.status_code == 412)
    assert refused.json()["draft"] == reader.case()["draft"]


def test_drafts_survive_the_end_of_a_session(reading: Running) -> None:
    reader = reading.person("R1")
    view = reader.case()
    path = f"/assignments/{view['id']}/draft"
    ok(reader.send(path, {"draft": {"comment": "half a"}}, version=view["version"], method="PUT"))
    ok(reader.send("/auth/logout"))
    assert reader.get("/me").status_code == 401
    body = {"code": "R1", "password": PASSWORD}
    reader.token = ok(reader.send("/auth/login", body))["token"]
    assert reader.case()["draft"] == {"comment": "half a"}


def test_a_correction_is_a_new_version_with_a_reason(reading: Running) -> None:
    from sqlalchemy import select

    from situs.review.station.store.tables import Reading

    reader = reading.person("R1")
    done = reader.read(real_case(reader), score=2)
    path, body = f"/assignments/{done['id']}/amend", {"score": 0, "flags": ["key wrong"]}
    assert reader.send(path, body | {"reason": " "}, version=done["version"]).status_code == 409
    changed = ok(reader.send(path, body | {"reason": "saw it late"}, version=done["version"]))
    assert changed["rating"]["score"] == 0
    with reading.database.read() as db:
        found = db.scalars(select(Reading).where(Reading.stage == 2).order_by(Reading.version))
        rows = [(r.version, r.body["score"], r.reason) for r in found]
    assert (1, 2, "") in rows
    assert (2, 0, "saw it late") in rows


def test_a_signed_block_is_closed(reading: Running) -> None:
    reader = reading.person("R1")
    project = ok(reader.get("/blocks"))["blocks"][0]["project"]
    assert reader.send(f"/blocks/{project}/1/sign").status_code == 409
    assert reader.send(f"/blocks/{'0' * 32}/1/sign").status_code == 404
    last = None
    while (view := reader.case()) is not None:
        last = reader.read(view) if view["kind"] != "wording" else ok(reader.rate(view))
    blocks = ok(reader.get("/blocks"))["blocks"]
    whole = [b for b in blocks if b["done"] == b["cases"] and b["name"].startswith("block")]
    for block in whole:
        assert (
            ok(reader.send(f"/blocks/{project}/{block['block']}/sign"))["signed"] == block["cases"]
        )
    if whole and last is not None:
        now = ok(reader.get(f"/assignments/{last['id']}"))
        if now["state"] == "signed":
            body = {"score": 0, "reason": "late"}
            answer = reader.send(f"/assignments/{now['id']}/amend", body, version=now["version"])
            assert answer.status_code == 409


def read_everything(running: Running, code: str, score: int, flags: tuple[str, ...] = ()) -> None:
    person = running.person(code)
    while (view := person.case()) is not None:
        person.read(view, score, flags if view["kind"] == "item" else ())


def test_disputes_go_to_an_adjudicator_who_reads_blind_and_sees_no_names(reading: Running) -> None:
    judge = reading.person("J1")
    assert judge.case() is None
    read_everything(reading, "R1", 2)
    assert judge.case() is None, "an adjudication opened before all had read"
    read_everything(reading, "R2", 0, ("key wrong",))
    view = judge.case()
    assert (view["purpose"], view["stage"], view["readings"]) == ("adjudicate", 1, None)
    decision = {"decision": "fix", "key_wrong": True, "reason": "the mask misses the tip"}
    path = f"/assignments/{view['id']}/decision"
    assert judge.send(path, decision, version=view["version"]).status_code == 409
    shown = ok(judge.answer(view))
    assert sorted(r["reader"] for r in shown["readings"]) == ["A", "B"]
    text = judge.get(f"/assignments/{view['id']}").text
    assert "R1" not in text
    assert "R2" not in text
    assert ok(judge.send(path, decision, version=shown["version"]))["state"] == "done"
    # Readers have no say there.
    assert reading.person("R1").send(path, decision, version=1).status_code in (403, 404)
    # Nor does the order tell them apart: over a dozen cases, each of them is A at times.
    first_scores = {shown["readings"][0]["score"]}
    while (view := judge.case()) is not None:
        shown = ok(judge.answer(view))
        first_scores.add(shown["readings"][0]["score"])
        where = f"/assignments/{view['id']}/decision"
        ok(judge.send(where, decision, version=shown["version"]))
    assert first_scores == {0, 2}


def test_a_decision_is_corrected_as_a_new_version_until_the_lock(reading: Running) -> None:
    """A slip of the adjudicator's is no last word; after the lock nothing is decided any more."""
    from sqlalchemy import select

    from situs.review.station.store.projects import find_project
    from situs.review.station.store.rows import decisions_of
    from situs.review.station.store.tables import Adjudication
    from situs.review.station.store.verify import verify

    judge, desk = reading.person("J1"), reading.person("C1")
    read_everything(reading, "R1", 2)
    read_everything(reading, "R2", 0, ("key wrong",))
    view = judge.case()
    path = f"/assignments/{view['id']}/decision"
    slip = {"decision": "drop", "key_wrong": True, "reason": "a slip"}
    meant = {"decision": "keep", "key_wrong": False, "reason": "the fact bears it out"}
    shown = ok(judge.answer(view))
    assert shown["decision"] is None
    done = ok(judge.send(path, slip, version=shown["version"]))
    assert ok(judge.get(f"/assignments/{view['id']}"))["decision"] == slip
    assert judge.send(path, meant, version=shown["version"]).status_code == 412
    assert judge.send(path, meant | {"reason": " "}, version=done["version"]).status_code == 409
    # A rating is a reader's; an adjudicator's case takes none.
    rating = {"score": 0, "reason": "x"}
    amended = judge.send(f"/assignments/{view['id']}/amend", rating, version=done["version"])
    assert amended.status_code == 409
    now = ok(judge.send(path, meant, version=done["version"]))
    assert (now["state"], now["decision"]) == ("done", meant)
    other = judge.case()
    begun = ok(judge.answer(other))
    with reading.database.read() as db:
        rows = list(db.scalars(select(Adjudication).order_by(Adjudication.version)))
        assert [(row.version, row.decision) for row in rows] == [(1, "drop"), (2, "keep")]
        (decision,) = decisions_of(db, find_project(db, "pilot"))
        assert (decision.decision, decision.key_wrong) == ("keep", False)
        assert verify(db, reading.folder).problems == []
    ok(desk.send(f"/projects/{reading.project()}/lock"))
    for case, version in ((view, now["version"]), (other, begun["version"])):
        late = judge.send(f"/assignments/{case['id']}/decision", slip, version=version)
        assert late.status_code == 409
    with reading.database.read() as db:
        assert len(decisions_of(db, find_project(db, "pilot"))) == 1


def test_agreement_is_closed_until_the_reads_are_locked(reading: Running) -> None:
    desk, project = reading.person("C1"), reading.project()
    read_everything(reading, "R1", 2)
    read_everything(reading, "R2", 2)
    assert desk.get(f"/projects/{project}/agreement").status_code == 409
    # Nor does the audit trail tell who differs from whom, until then.
    told = [set(e["body"]) for page in (0, 100) for e in ok(desk.get(f"/events?after={page}"))]
    assert any("case" in body for body in told)
    assert not any({"why", "decision", "unit"} & body for body in told)
    for code in ("R1", "J1"):
        assert reading.person(code).get(f"/projects/{project}/agreement").status_code == 403
    ok(desk.send(f"/projects/{project}/lock"))
    found = ok(desk.get(f"/projects/{project}/agreement"))
    assert found["agreement"]["score"]["raw"] == 1.0
    assert found["agreement"]["score"]["alpha_note"] == "not estimable, all ratings equal"
    assert found["agreement"]["score"]["n"] == 14 or found["agreement"]["score"]["n"] > 10
    assert found["key_errors"]["value"] == 0.0
    assert any("unit" in event["body"] for event in ok(desk.get("/events?kind=reading")))
    # Nothing can be read any more.
    assert reading.person("R1").case() is None


def test_nothing_is_read_or_amended_after_the_lock(reading: Running) -> None:
    """By whoever still has the case open: one that is finished, and one that is half read."""
    reader = reading.person("R1")
    done = reader.read(real_case(reader))
    half = ok(reader.answer(reader.case()))
    ok(reading.person("C1").send(f"/projects/{reading.project()}/lock"))
    amended = {"score": 0, "reason": "late"}
    where = f"/assignments/{done['id']}/amend"
    assert reader.send(where, amended, version=done["version"]).status_code == 409
    assert reader.rate(half).status_code == 409


def test_a_withdrawn_case_is_as_if_it_were_not_there(reading: Running) -> None:
    """Its pictures, too: whoever left a study sees no more of its scans."""
    reader = reading.person("R1")
    view = reader.case()
    slices = f"/series/{view['series']['token']}/axial/3"
    assert reader.get(slices).status_code == 200
    ok(reading.person("C1").send(f"/projects/{reading.project()}/release", {"reader": "R1"}))
    assert reader.get(f"/assignments/{view['id']}").status_code == 404
    assert reader.get(slices).status_code == 404
    assert reader.answer(view).status_code == 404


def test_training_gives_feedback_and_counts_nowhere(reading: Running) -> None:
    reader = reading.person("R1")
    view = reader.case()
    assert view["kind"] == "training"
    assert reader.read(view)["feedback"]
    read_everything(reading, "R1", 2)
    read_everything(reading, "R2", 2)
    desk = reading.person("C1")
    ok(desk.send(f"/projects/{reading.project()}/lock"))
    found = ok(desk.get(f"/projects/{reading.project()}/agreement"))
    from situs.review.station.store.projects import find_project
    from situs.review.station.store.rows import read_rows

    with reading.database.read() as db:
        rows = read_rows(db, find_project(db, "pilot"))
    assert sum(row.kind == "training" for row in rows) == 2
    assert found["readings"] == sum(row.kind != "training" for row in rows)


def test_a_planted_error_is_in_no_block_with_its_item(new_station: Any, tmp_path: Path) -> None:
    """The same question twice in one block, with two keys, would tell which one was planted."""
    from sqlalchemy import select

    from situs.review.station.store.tables import Assignment, Snapshot, Unit

    protocol = tmp_path / "many.toml"
    about = (
        'about = "Half of the items come with a planted error, too."\nkeep = "median at least 1"\n'
    )
    rules = "reads = 2\nstages = 2\ncatch = 0.5\nrepeat = 0.0\nadjudicate = []\n"
    protocol.write_text("[many]\n" + about + rules)
    running = new_station(protocol=str(protocol))
    running.freeze("R1", "R2")
    query = select(Assignment.user_id, Assignment.block, Unit.snapshot_hash, Unit.kind, Snapshot)
    query = query.join(Unit, Unit.id == Assignment.unit_id)
    query = query.join(Snapshot, Snapshot.hash == Unit.snapshot_hash)
    query = query.where(Unit.kind.in_(("item", "catch")))
    with running.database.read() as db:
        rows = db.execute(query).all()
    assert sum(row.kind == "catch" for row in rows) >= 8
    questions = [(row.user_id, row.block, row.Snapshot.hidden["item_id"]) for row in rows]
    assert len(questions) == len(set(questions))


def test_a_hidden_repeat_waits_for_its_time(reading: Running) -> None:
    """After everything else is read only repeats are left;
    they come two weeks later, not before."""
    from situs.review.station.store.lists import next_assignment
    from situs.review.station.store.tables import Unit, User

    read_everything(reading, "R1", 2)
    with reading.database.read() as db:
        from sqlalchemy import select

        user = db.scalar(select(User).where(User.code == "R1"))
        assert user is not None
        assert next_assignment(db, user) is None
        assert next_assignment(db, user, time.time() + 13 * 24 * 3600) is None
        later = next_assignment(db, user, time.time() + 15 * 24 * 3600)
        assert later is not None
        assert db.get_one(Unit, later.unit_id).kind == "repeat"
    assert reading.person("R1").get("/next").json()["waiting"] >= 1


def test_a_short_study_is_finished_without_its_repeats(reading: Running) -> None:
    """In fewer than 100 cases no repeat falls due at once: every block can be signed all the same;
    two weeks later the repeats are read, and the block signed again."""
    from sqlalchemy import select, update

    from situs.errors import SitusError
    from situs.review.station.store.lists import next_assignment
    from situs.review.station.store.projects import find_project
    from situs.review.station.store.signing import sign_block
    from situs.review.station.store.tables import Assignment, User
    from situs.review.station.store.verify import verify

    def sound() -> list[str]:
        with reading.database.read() as db:
            return list(verify(db, reading.folder).problems)

    def sign_all(person: Any) -> int:
        rows = [b for b in ok(person.get("/blocks"))["blocks"] if b["can_sign"]]
        sent = [ok(person.send(f"/blocks/{b['project']}/{b['block']}/sign")) for b in rows]
        return sum(one["signed"] for one in sent)

    def states() -> list[str]:
        query = select(Assignment.state).join(User, User.id == Assignment.user_id)
        with reading.database.read() as db:
            return list(db.scalars(query.where(User.code == "R1", Assignment.block > 0)))

    reader = reading.person("R1")
    reader.read(reader.case())
    unfinished = ok(reader.get("/blocks"))["blocks"]
    assert not any(b["can_sign"] or b["signed"] for b in unfinished)
    read_everything(reading, "R1", 2)
    assert sign_all(reader) == states().count("signed") >= 10
    assert set(states()) == {"signed", "open"}
    assert all(b["signed"] for b in ok(reader.get("/blocks"))["blocks"] if b["block"])
    assert sound() == []
    later = time.time() + 15 * 24 * 3600
    with reading.database.read() as db:
        user = db.scalar(select(User).where(User.code == "R1"))
        due = next_assignment(db, user, later)
        project = find_project(db, "pilot")
        # A repeat that is due is read first: else a signature would say which cases are repeats.
        with pytest.raises(SitusError, match="not finished"):
            sign_block(db, user, project, due.block, later)
    reader.read(ok(reader.get(f"/assignments/{due.public_id}")))
    assert states().count("done") == 1
    assert sound() == []
    assert sign_all(reader) == 1
    assert sound() == []
    # A signature that was taken back by hand is still found.
    with reading.database.write() as db:
        db.execute(update(Assignment).where(Assignment.id == due.id).values(state="done"))
    assert any("its block says otherwise" in problem for problem in sound())


def test_a_reader_who_leaves_is_planned_anew_and_locked_reads_stay(reading: Running) -> None:
    leaving = reading.person("R1")
    for _ in range(3):
        leaving.read(leaving.case())
    before = readings(reading)
    desk = reading.person("C1")
    changed = ok(desk.send(f"/projects/{reading.project()}/release", {"reader": "R1"}))
    assert changed["given"] > 0
    assert readings(reading) == before
    assert leaving.case() is None
    taken = reading.person("R3").case()
    assert taken is not None
    reading.person("R3").read(taken)


def test_a_case_left_half_read_goes_to_somebody_else(reading: Running) -> None:
    """Whoever comes anew begins with the training case; the unit has its two reads in the end."""
    leaving, head = reading.person("R1"), reading.person("C1")
    view = ok(leaving.answer(real_case(leaving)))
    ok(head.send(f"/projects/{reading.project()}/release", {"reader": "R1"}))
    assert leaving.get(f"/assignments/{view['id']}").status_code == 404
    assert reading.person("R3").case()["kind"] == "training"
    for code in ("R2", "R3"):
        read_everything(reading, code, 2)
    ok(head.send(f"/projects/{reading.project()}/lock"))
    found = ok(head.get(f"/projects/{reading.project()}/agreement"))
    items = ok(head.get("/projects"))[0]["units"]["item"]
    assert found["agreement"]["score"]["n"] == items > 10


def test_a_dispute_that_waited_for_a_leaving_reader_is_opened(new_station: Any) -> None:
    """Nobody can take the unit over: it is settled by the reads there are."""
    running: Running = new_station(protocol="spatialmed-figure")
    running.freeze("R1", "R2", "R3")
    read_everything(running, "R1", 2)
    read_everything(running, "R2", 0, ("key wrong",))
    assert running.person("J1").case() is None
    path = f"/projects/{running.project()}/release"
    assert ok(running.person("C1").send(path, {"reader": "R3"}))["given"] == 0
    assert running.person("J1").case()["purpose"] == "adjudicate"


def test_disputes_wait_for_an_adjudicator_and_outlive_one(reading: Running) -> None:
    from situs.review.station.store.accounts import change_user

    with reading.database.write() as db:
        change_user(db, "J1", "test", active=False)
    read_everything(reading, "R1", 2)
    read_everything(reading, "R2", 0, ("key wrong",))
    head = reading.person("C1")
    progress = f"/projects/{reading.project()}/progress"
    assert not any("adjudication" in name for name in ok(head.get(progress))["readers"])
    reading.invitations["J2"] = ok(head.send("/users", {"code": "J2", "roles": ["adjudicator"]}))[
        "token"
    ]
    second = reading.person("J2")
    view = second.case()
    ok(second.answer(view))
    waiting = ok(head.get(progress))["readers"]["J2, adjudication"]["open"]
    assert waiting > 1
    # J2 leaves, while nobody else is there: the disputes wait again, the half-read one too.
    ok(head.send(f"/projects/{reading.project()}/release", {"reader": "J2"}))
    assert second.case() is None
    with reading.database.write() as db:
        change_user(db, "J1", "test", active=True)
    assert ok(head.get(progress))["readers"]["J1, adjudication"]["open"] == waiting


SERVER = """
import os, signal, sys
from pathlib import Path
from situs.review.station.folder import open_folder
from situs.review.station.web import server as module
make = module.create_app
def killing(station):
    app = make(station)
    @app.middleware("http")
    async def kill(request, call_next):
        response = await call_next(request)
        if request.headers.get("x-test-kill"):
            os.kill(os.getpid(), signal.SIGKILL)
        return response
    return app
module.create_app = killing
module.serve(open_folder(Path(sys.argv[1])), module.Binding(port=int(sys.argv[2])), lambda a: print(a, flush=True))
"""


def served(root: Path, port: int) -> Any:
    command = [sys.executable, "-c", SERVER, str(root), str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == f"http://127.0.0.1:{port}"
    process.stdout.close()
    for _ in range(3000):
        try:
            httpx.get(f"http://127.0.0.1:{port}/", timeout=5)
            return process
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("the station did not answer")


def test_killed_between_submit_and_answer(new_station: Any, tmp_path: Path) -> None:
    """The server dies between commit and answer:
    the page's retry finds one reading, and the record is whole."""
    from situs.review.station.demo import ScriptedPerson
    from situs.review.station.store.verify import verify

    running: Running = new_station()
    running.freeze("R1", "R2")
    token = running.invitations["R1"]
    running.database.close()
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = served(running.folder.root, port)
    reader = ScriptedPerson(f"http://127.0.0.1:{port}", "R1", token)
    case = reader.get("/next")["id"]
    view = reader.get(f"/assignments/{case}")
    headers = {
        "X-Situs-Token": reader.token,
        "If-Match": f'"v{view["version"]}"',
        "Idempotency-Key": "once-and-only-once",
        "Cookie": "; ".join(f"{k}={v}" for k, v in reader.cookies.items()),
    }
    path, body = f"/assignments/{case}/answer", first_answer(view)
    with pytest.raises(httpx.TransportError):
        reader.http.post(path, json=body, headers=headers | {"X-Test-Kill": "1"})
    assert process.wait(60) == -signal.SIGKILL
    process = served(running.folder.root, port)
    try:
        answer = reader.http.post(path, json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        assert answer.json()["stage"] == 2
        again = reader.http.post(path, json=body, headers=headers)
        assert again.json() == answer.json()
    finally:
        reader.close()
        os.kill(process.pid, signal.SIGTERM)
        process.wait(60)
    assert readings(running) == 1
    with running.database.read() as db:
        assert verify(db, running.folder).problems == []
