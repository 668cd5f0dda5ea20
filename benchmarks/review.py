"""The reading station under load: slices of a large volume, lists and agreement of many units, many
readers at once.

Run by hand: python benchmarks/review.py [--readers 20] [--seconds 150] [--units 100000] [--only
slices agreement lists pages readers] [--postgres postgresql://user:password@host]. The station runs in a process of its own, so that its CPU and
memory are its own. Times are of this machine and of what else it does (the load is printed); CPU
per answer is not.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
import numpy as np
from sqlalchemy import func, insert, select

from situs.review.station.demo import ScriptedPerson
from situs.review.station.folder import StationFolder, create_folder
from situs.review.station.protocol import ReadingProtocol, load_protocol
from situs.review.station.slices import open_volume_map, store_volume
from situs.review.station.statistics import ReadRow, project_statistics
from situs.review.station.store.accounts import add_user
from situs.review.station.store.chain import (
    NO_WORK,
    append_event,
    event_hash,
    given_words,
    row_digest,
    snapshot_hash,
    units_digest,
    work_digest,
)
from situs.review.station.store.database import Database, open_database
from situs.review.station.store.tables import (
    Assignment,
    Event,
    Project,
    Protocol,
    Reading,
    Snapshot,
    Unit,
    User,
)
from situs.review.station.store.verify import verify
from situs.space import Affine, Grid

SHAPE = (512, 512, 300)


class Places:
    """Where stations are made, and on which PostgreSQL server; without one, on SQLite."""

    def __init__(self, root: Path, server: str) -> None:
        self.root = root
        self.server = server.rstrip("/")

    def station(self, name: str) -> StationFolder:
        """A new station, with a database of its own."""
        if not self.server:
            return create_folder(self.root / name)
        import psycopg

        database = f"benchmark_{name.replace('-', '_').lower()}_{os.getpid()}"
        with psycopg.connect(f"{self.server}/postgres", autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{database}"')
        return create_folder(self.root / name, f"{self.server}/{database}")


def p95(values: list[float]) -> float:
    """The 95th percentile, in milliseconds."""
    return 1000 * statistics.quantiles(values, n=20)[-1] if len(values) > 20 else float("nan")


class Server:
    """A served station, and what it has cost so far."""

    def __init__(self, folder: StationFolder) -> None:
        command = [
            sys.executable,
            "-m",
            "situs",
            "review",
            "serve",
            str(folder.root),
            "--port",
            "0",
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().split()[-1]
        for _ in range(600):
            try:
                httpx.get(self.address)
                return
            except httpx.TransportError:
                time.sleep(0.05)
        raise RuntimeError("the station did not start")

    def cpu_seconds(self) -> float:
        """CPU time of the process (Linux)."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mb(self) -> float:
        """The most memory it has had (Linux)."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


@contextmanager
def served(folder: StationFolder) -> Iterator[Server]:
    """Serve in a process of its own."""
    server = Server(folder)
    try:
        yield server
    finally:
        server.process.terminate()
        server.process.wait(30)


def large_volume(folder: Path) -> None:
    """A noisy volume of 512 × 512 × 300: as hard to compress as a scan."""
    draw = np.random.default_rng(0)
    array = (draw.normal(0, 12, SHAPE) + np.linspace(-900, 300, 512)[:, None, None]).astype(
        np.int16
    )
    began = time.process_time()
    store_volume(folder, array, Grid(array.shape, Affine(np.eye(4))), "ct")
    print(f"taking in 512 × 512 × 300: {time.process_time() - began:.1f} s CPU")


def slices(root: Path) -> None:
    """One slice: compressing the same bytes by zlib,
    as a server without stored slices must, is the referee."""
    large_volume(root / "v")
    stored = open_volume_map(root / "v")
    for plane in stored.info.planes:
        raw = zlib.decompress(stored.compressed_slice(plane, 150))
        began = time.process_time()
        for index in range(100, 200):
            stored.compressed_slice(plane, index)
        ours = (time.process_time() - began) / 100
        began = time.process_time()
        for _ in range(10):
            zlib.compress(raw, 1)
        alone = (time.process_time() - began) / 10
        print(f"{plane} slice: {1000 * ours:.2f} ms CPU, {ours / alone:.3f} × compressing it")


def agreement(count: int) -> None:
    """Agreement of so many units read by two."""
    draw = np.random.default_rng(1)
    scores = draw.integers(0, 3, (count, 2))
    rows = [
        ReadRow(n, f"i{n}", reader, f"p{n % 2000}", "all", 1.0, "item", "t", "yes_no", ("yes",),
                {"": "yes" if draw.random() < 0.8 else "no"}, score=int(scores[n, column]))
        for n in range(count)
        for column, reader in enumerate(("R1", "R2"))
    ]  # fmt: skip
    began = time.process_time()
    project_statistics(rows, [], load_protocol("default"))
    print(f"agreement of {count:,} units: {time.process_time() - began:.1f} s CPU")


def fill(
    database: Database, codes: list[str], units: int, volumes: list[str], *, read: bool
) -> dict[str, str]:
    """A project of made-up yes/no items, each given to two readers; all of them read, or none."""
    protocol = msgspec.structs.replace(load_protocol("default"), name="load", repeat=0.0)
    with database.write() as db:
        tokens = {code: add_user(db, code, ["reader"], "benchmark") for code in codes}
        tokens["C1"] = add_user(db, "C1", ["coordinator", "auditor"], "benchmark")
        ids = {user.code: user.id for user in db.scalars(select(User))}
        _insert_project(db, protocol, "locked" if read else "reading")
        names = [_insert_snapshot(db, volume) for volume in volumes]
        db.execute(
            insert(Unit),
            [
                {"id": n + 1, "project_id": 1, "snapshot_hash": names[n % len(names)], "kind": "item",
                 "stratum": "all", "weight": 1.0, "patient": f"p{n % 2000}", "twin_group": ""}
                for n in range(units)
            ],
        )  # fmt: skip
        pairs = itertools.cycle(itertools.combinations(codes, 2))
        places: dict[str, int] = defaultdict(int)
        rows: list[dict[str, Any]] = []
        for unit, pair in zip(range(1, units + 1), pairs):
            for code in pair:
                place = places[code]
                places[code] += 1
                rows.append(
                    {"public_id": f"{len(rows):032x}", "unit_id": unit, "user_id": ids[code],
                     "project_id": 1, "purpose": "read", "block": 1 + place // 25,
                     "position": place,
                     "state": "done" if read else "open", "version": 1, "draft": {}}
                )  # fmt: skip
        db.execute(insert(Assignment), rows)
        _tell(db, protocol, names)
        if read:
            _insert_readings(db, len(rows))
            _tell_readings(db)
    return tokens


def _tell(db: Any, protocol: ReadingProtocol, snapshots: list[str]) -> None:
    """The events of a project that is made and handed out, so that its record can be checked."""
    units = db.scalars(select(Unit)).all()
    append_event(
        db, "C1", "project imported", project="load", public_id="a" * 32, bench="made up",
        bench_hash="", protocol=protocol.hash, seed=0, units={"item": len(units)},
        units_digest=units_digest(units), snapshots=sorted(set(snapshots)),
    )  # fmt: skip
    given = select(Assignment, User.code).join(User, User.id == Assignment.user_id)
    append_event(
        db, "C1", "plan frozen", project="load", readers=[], plan="",
        repeats_digest=units_digest([]),
        given_digest=work_digest(given_words(*pair) for pair in db.execute(given)),
    )  # fmt: skip


def _tell_readings(db: Any) -> None:
    """Who wrote each reading; and that reading is over."""
    query = select(Reading, Assignment.public_id, Assignment.unit_id, User.code)
    query = query.join(Assignment, Assignment.id == Reading.assignment_id)
    query = query.join(User, User.id == Assignment.user_id).order_by(Reading.id)
    last = db.scalars(select(Event).order_by(Event.sequence.desc()).limit(1)).one()
    rows, previous = [], last.hash
    for n, (reading, case, unit, code) in enumerate(db.execute(query).all(), last.sequence + 1):
        body = {
            "table": "readings", "row": reading.id, "digest": row_digest(reading), "case": case,
            "unit": unit, "stage": reading.stage, "version": 1,
        }  # fmt: skip
        event = Event(sequence=n, at=1.0, actor=code, kind="reading", body=body, previous=previous)
        previous = event_hash(event)
        columns = ("sequence", "at", "actor", "kind", "body", "previous")
        rows.append({name: getattr(event, name) for name in columns} | {"hash": previous})
    db.execute(insert(Event), rows)
    append_event(db, "C1", "reads locked", project="load", withdrawn_digest=NO_WORK)


def _insert_project(db: Any, protocol: ReadingProtocol, state: str) -> None:
    body = msgspec.to_builtins(protocol)
    db.execute(insert(Protocol), [{"hash": protocol.hash, "name": "load", "body": body}])
    db.execute(
        insert(Project),
        [{"id": 1, "public_id": "a" * 32, "name": "load", "protocol_hash": protocol.hash,
          "bench": "made up", "bench_hash": "", "seed": 0, "state": state}],
    )  # fmt: skip


def _insert_snapshot(db: Any, volume: str) -> str:
    shown = {
        "question": "Is it?", "form": "yes_no", "options": [], "marks": [], "frames": [],
        "parts": [{"name": "", "form": "yes_no", "unit": "", "grades": []}],
    }  # fmt: skip
    hidden = {
        "item_id": f"i{volume}", "task": "t", "form": "yes_no", "volume": volume, "key": "yes",
        "right": ["yes"], "detail": {"form": "yes_no", "options": [], "answer": "yes"}, "facts": [],
        "notes": [], "structures": [], "overlay": None, "study_id": "s",
    }  # fmt: skip
    name = snapshot_hash(shown, hidden)
    db.execute(insert(Snapshot), [{"hash": name, "shown": shown, "hidden": hidden}])
    return name


def _insert_readings(db: Any, count: int) -> None:
    draw = random.Random(3)
    rows = []
    for assignment in range(1, count + 1):
        said = {"answers": {"": draw.choice(["yes", "yes", "no"])}, "cannot": "", "confidence": 2}
        rated = {"score": draw.randrange(3), "flags": [], "verdicts": {}, "comment": ""}
        for stage, body in ((1, said), (2, rated)):
            rows.append(
                {"assignment_id": assignment, "stage": stage, "version": 1, "body": body,
                 "reason": "", "active_ms": 9000, "slices_seen": 40, "at": 1.0}
            )  # fmt: skip
    db.execute(insert(Reading), rows)


def lists(places: Places, units: int) -> None:
    """The pages of a project of so many units:
    a reader's list, the next case, the desk, agreement."""
    for read in (False, True):
        folder = places.station(f"lists-{read}")
        database = open_database(folder)
        tokens = fill(database, ["R1", "R2", "R3", "R4"], units, ["v"], read=read)
        store_volume(
            folder.volumes / "v",
            np.zeros((8, 8, 8), np.int16),
            Grid((8, 8, 8), Affine(np.eye(4))),
            "ct",
        )
        with served(folder) as server:
            reader = ScriptedPerson(server.address, "R1", tokens["R1"])
            head = ScriptedPerson(server.address, "C1", tokens["C1"])
            at = f"/projects/{'a' * 32}"
            asked: list[tuple[ScriptedPerson, str]] = [
                (head, "/projects"),
                (head, at + "/progress"),
            ]
            asked += [(reader, "/blocks"), (reader, "/next")] if not read else []
            asked += [(head, at + "/agreement")] if read else []
            for person, path in asked:
                _time_of(server, person, path)
            began = time.process_time()
            with database.read() as db:
                checked = verify(db, folder)
            print(
                f"checking {checked.events:,} events: {time.process_time() - began:.1f} s CPU, "
                f"record {'intact' if checked.ok else f'NOT INTACT: {checked.problems[:2]}'}"
            )
        database.close()


def _time_of(server: Server, person: ScriptedPerson, path: str) -> None:
    times, before = [], server.cpu_seconds()
    for _ in range(1 if "agreement" in path else 5):
        began = time.monotonic()
        person.get(path)
        times.append(time.monotonic() - began)
    cpu = (server.cpu_seconds() - before) / len(times)
    name = path.rpartition("/")[2]
    print(f"{name}: median {1000 * statistics.median(times):.0f} ms, {1000 * cpu:.0f} ms CPU")


class Reader:
    """Somebody who reads as people do, only faster:
    scrolls ten slices a second, answers, looks at the key, rates."""

    def __init__(self, address: str, code: str, token: str) -> None:
        self.person = ScriptedPerson(address, code, token)
        self.times: dict[str, list[float]] = defaultdict(list)
        self.faults: list[str] = []
        self.submits = 0
        self.draw = random.Random(code)

    def ask(self, kind: str, path: str, body: Any = None, **headers: str) -> Any:
        """One request, timed."""
        sent = self.person._cookie() | {"X-Situs-Token": self.person.token} | headers
        verb = "GET" if body is None else "PUT" if kind == "draft" else "POST"
        began = time.monotonic()
        answer = self.person.http.request(verb, path, json=body, headers=sent)
        self.times[kind].append(time.monotonic() - began)
        if answer.status_code >= 400:
            self.faults.append(f"{kind} {answer.status_code} {answer.text[:100]}")
        return answer.json() if "json" in answer.headers.get("content-type", "") else None

    def scroll(self, view: Any, count: int, pause: float) -> None:
        """From the middle, one way."""
        depth = view["series"]["shape"][2]
        for step in range(count):
            index = (depth // 2 + step) % depth
            self.ask("slice", f"/series/{view['series']['token']}/axial/{index}")
            time.sleep(pause)

    def read_case(self) -> bool:
        """One case from opening to rating; whether there was one."""
        case = self.ask("next", "/next")["id"]
        if not case:
            return False
        view = self.ask("case", f"/assignments/{case}")
        for plane in view["series"]["planes"]:
            self.ask("slice", f"/series/{view['series']['token']}/{plane}/4")
        self.scroll(view, 60, 0.1)
        version = view["version"]
        for words in ("h", "half"):
            draft = {"draft": {"comment": words}}
            kept = self.ask(
                "draft", f"/assignments/{case}/draft", draft, **{"If-Match": f'"v{version}"'}
            )
            version = kept["version"]
            time.sleep(self.draw.uniform(0.5, 1.5))
        said = {"answers": {"": self.draw.choice(["yes", "no"])}, "confidence": 2}
        view = self._submit(case, "answer", said, version)
        self.scroll(view, 20, 0.1)
        self._submit(case, "rating", {"score": 2}, view["version"])
        return True

    def _submit(self, case: str, kind: str, body: Any, version: int) -> Any:
        self.submits += 1
        key = f"{case}-{kind}"
        headers = {"If-Match": f'"v{version}"', "Idempotency-Key": key}
        return self.ask("submit", f"/assignments/{case}/{kind}", body, **headers)


def readers(places: Places, count: int, seconds: float) -> None:
    """So many readers at once on large volumes:
    every answer's time, faults, and whether the record is whole."""
    folder = places.station("soak")
    database = open_database(folder)
    codes = [f"R{n:02d}" for n in range(count)]
    volumes = [f"v{n}" for n in range(count)]
    large_volume(folder.volumes / "v0")
    for name in volumes[1:]:
        (folder.volumes / name).symlink_to(folder.volumes / "v0")
    tokens = fill(database, codes, 40 * count, volumes, read=False)
    with served(folder) as server:
        people = [Reader(server.address, code, tokens[code]) for code in codes]
        until = time.monotonic() + seconds
        before = server.cpu_seconds()

        def read(reader: Reader) -> None:
            time.sleep(reader.draw.uniform(0, 8))  # people do not begin at one moment
            while time.monotonic() < until and reader.read_case():
                pass

        _together(people, read)
        spent, most = server.cpu_seconds() - before, server.memory_mb()
    times: dict[str, list[float]] = defaultdict(list)
    for reader in people:
        for kind, taken in reader.times.items():
            times[kind] += taken
    every = [value for taken in times.values() for value in taken]
    for kind, taken in [*times.items(), ("all", every)]:
        print(
            f"{count} readers, {kind}: {len(taken):,} answers, median "
            f"{1000 * statistics.median(taken):.0f} ms, p95 {p95(taken):.0f} ms, "
            f"longest {1000 * max(taken):.0f} ms"
        )
    faults = [fault for reader in people for fault in reader.faults]
    print(f"server: {1000 * spent / len(every):.1f} ms CPU an answer, at most {most:.0f} MB")
    print(f"faults: {len(faults)} {faults[:2]}; load {os.getloadavg()[0]:.1f}")
    with database.read() as db:
        kept = db.scalar(select(func.count()).select_from(Reading))
        submits = sum(reader.submits for reader in people)
        checked = verify(db, folder)
    print(
        f"{submits:,} submits, {kept:,} readings; record {'intact' if checked.ok else 'NOT INTACT'}"
    )
    database.close()


_KEY = """async ([presses, ahead]) => {
  const planes = window.situsPlanes, frame = document.querySelector('[data-plane=axial]');
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const sheet = planes.sheet.bind(planes);
  let painted = null;
  planes.sheet = (plane, values) => {
    const made = sheet(plane, values);
    if (plane === 'axial' && painted) painted();
    return made;
  };
  const times = [];
  for (let n = 0; n < presses; n++) {
    const before = performance.now();
    const done = new Promise((ok) => { painted = ok; });
    const key = ahead ? 'ArrowUp' : n % 2 ? 'Home' : 'End';
    if (!ahead) { planes.kept.clear(); planes.bytes = 0; planes.wanted = []; }
    frame.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    await done;
    await new Promise((ok) => requestAnimationFrame(ok));
    times.push(performance.now() - before);
    painted = null;
    await pause(ahead ? 60 : 400);
  }
  planes.sheet = sheet;
  return times;
}"""
_HELD = """async (count) => {
  const planes = window.situsPlanes, frame = document.querySelector('[data-plane=axial]');
  frame.dispatchEvent(new KeyboardEvent('keydown', { key: 'Home', bubbles: true }));
  await new Promise((done) => setTimeout(done, 1500));
  const sheet = planes.sheet.bind(planes), seen = new Set();
  planes.sheet = (plane, values) => {
    if (plane === 'axial') seen.add(planes.controls.at.axial);
    return sheet(plane, values);
  };
  const began = performance.now();
  for (let n = 0; n < count; n++) {
    frame.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowUp', bubbles: true }));
    await new Promise((done) => setTimeout(done, 33));
  }
  const took = performance.now() - began;
  for (let n = 0; n < 100 && !planes.kept.has('axial/' + count); n++) await new Promise((done) => setTimeout(done, 50));
  planes.sheet = sheet;
  return [1000 * seen.size / took, planes.controls.at.axial === count && planes.kept.has('axial/' + count)];
}"""
_DRAG = """async (count) => {
  const planes = window.situsPlanes, began = performance.now();
  for (let n = 0; n < count; n++) {
    planes.drag(n % 2 ? 9 : -9, 3);
    await new Promise((ok) => requestAnimationFrame(ok));
  }
  return 1000 * count / (performance.now() - began);
}"""


def pages(places: Places) -> None:
    """One reader in Chromium on a large volume:
    first picture, keys, a held arrow, a window drag, submit and next."""
    from playwright.sync_api import sync_playwright

    folder = places.station("pages")
    database = open_database(folder)
    large_volume(folder.volumes / "v0")
    tokens = fill(database, ["R1", "R2"], 20, ["v0"], read=False)
    chromium = os.environ.get("SITUS_CHROMIUM") or shutil.which("chromium")
    with served(folder) as server, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.goto(server.address)
        page.click("text=I have an invitation")
        page.fill("input[autocomplete=off]", tokens["R1"])
        page.fill("input[type=password]", "benchmark words")
        page.keyboard.press("Enter")
        firsts = [_first_picture(page) for _ in range(3)]
        print(f"first picture: {min(firsts):.0f} ms warm, {firsts[0]:.0f} ms at first")
        ahead, cold = page.evaluate(_KEY, [40, True]), page.evaluate(_KEY, [22, False])
        print(
            f"key to picture: p95 {p95(ahead) / 1000:.0f} ms ahead, {p95(cold) / 1000:.0f} ms cold"
        )
        rate, ends = page.evaluate(_HELD, 90)
        print(f"held arrow: {rate:.0f} slices/s, ends on the right slice: {ends}")
        print(f"window drag: {page.evaluate(_DRAG, 60):.0f} frames/s")
        nexts = [_submit_and_next(page) for _ in range(3)]
        print(
            f"submit to the next case: {statistics.median(nexts):.0f} ms; load"
            f" {os.getloadavg()[0]:.1f}"
        )
        browser.close()
    database.close()


def _first_picture(page: Any) -> float:
    page.goto(page.url.partition("#")[0] + "#")
    page.click("a.primary")
    began = time.monotonic()
    page.wait_for_function(
        "() => window.situsPlanes && window.situsPlanes.kept.size >= 3", polling=20
    )
    took = 1000 * (time.monotonic() - began)
    page.evaluate("() => { delete window.situsPlanes; }")
    page.reload()
    page.wait_for_function(
        "() => window.situsPlanes && window.situsPlanes.kept.size >= 3", polling=20
    )
    return took


def _submit_and_next(page: Any) -> float:
    for key in ("a", "2", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector(".revealed")
    before = page.url
    page.keyboard.press("2")
    began = time.monotonic()
    page.keyboard.press("Shift+Enter")
    page.wait_for_function(
        "(old) => location.href !== old && !!document.querySelector('.question')",
        arg=before,
        polling=20,
    )
    return 1000 * (time.monotonic() - began)


def _together(people: list[Reader], work: Callable[[Reader], None]) -> None:
    threads = [threading.Thread(target=work, args=(reader,)) for reader in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> None:
    """Everything, or what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readers", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=150)
    parser.add_argument("--units", type=int, default=100_000)
    parts = ("slices", "agreement", "lists", "pages", "readers")
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    parser.add_argument("--postgres", default="", help="stations on this PostgreSQL server")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        places = Places(Path(scratch), given.postgres)
        if "agreement" in given.only:
            agreement(given.units)
        if "slices" in given.only:
            slices(Path(scratch))
        if "lists" in given.only:
            lists(places, given.units)
        if "pages" in given.only:
            pages(places)
        if "readers" in given.only:
            readers(places, given.readers, given.seconds)


if __name__ == "__main__":
    main()
