"""A whole project with scripted people over the real interface:
two readers, an adjudicator, a coordinator."""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from situs.bench import open_bench
from situs.errors import SitusError
from situs.review.station.exported import export_station
from situs.review.station.folder import StationFolder, create_folder
from situs.review.station.protocol import load_protocol
from situs.review.station.sample import Sample, take_sample
from situs.review.station.store.accounts import add_user
from situs.review.station.store.database import Database, open_database
from situs.review.station.store.projects import add_project, find_project
from situs.review.station.store.verify import verify
from situs.review.station.web.app import create_app
from situs.review.station.web.server import Binding, listen_on, make_station, server_config

__all__ = ["ScriptedPerson", "main", "run_demo", "serve_in_thread"]

PASSWORD = "demo words for demo people"
Judge = Callable[[dict[str, Any]], dict[str, Any]]


class ScriptedPerson:
    """Somebody at the station, who speaks to it as the page does."""

    def __init__(self, address: str, code: str, invitation: str, password: str = PASSWORD) -> None:
        self.code = code
        self.http = httpx.Client(
            base_url=f"{address}/api/v1", headers={"Origin": address}, timeout=60
        )
        self.cookies: dict[str, str] = {}
        body = {"token": invitation, "password": password}
        self.token = self.post("/auth/invite", body)["token"]

    def post(self, path: str, body: dict[str, Any], version: int | None = None) -> dict[str, Any]:
        """A write, as the page sends it."""
        headers = {"X-Situs-Token": getattr(self, "token", "")}
        if version is not None:
            headers |= {"If-Match": f'"v{version}"', "Idempotency-Key": uuid.uuid4().hex}
        answer = self.http.post(path, json=body, headers=headers | self._cookie())
        return self._checked(answer)

    def get(self, path: str) -> dict[str, Any]:
        """A look."""
        return self._checked(self.http.get(path, headers=self._cookie()))

    def close(self) -> None:
        """Leave."""
        self.http.close()

    def _cookie(self) -> dict[str, str]:
        # On loopback without TLS a browser keeps Secure cookies, a plain client does not.
        return {"Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items())}

    def _checked(self, answer: httpx.Response) -> dict[str, Any]:
        for line in answer.headers.get_list("set-cookie"):
            name, _, value = line.partition(";")[0].partition("=")
            self.cookies[name] = value
        if answer.is_error:
            raise SitusError(f"{self.code}: {answer.status_code} {answer.text[:300]}")
        result: dict[str, Any] = answer.json()
        return result

    def read_all(self, answer: Judge, rate: Judge) -> int:
        """Read every case that is due; returns how many."""
        count = 0
        while True:
            case = self.get("/next")["id"]
            if not case:
                return count
            view = self.get(f"/assignments/{case}")
            if view["stage"] == 1:
                reply = answer(view)
                view = self.post(f"/assignments/{case}/answer", reply, view["version"])
            path = "decision" if view["purpose"] == "adjudicate" else "rating"
            self.post(f"/assignments/{case}/{path}", rate(view), view["version"])
            count += 1


def serve_in_thread(folder: StationFolder, database: Database) -> tuple[str, Callable[[], None]]:
    """Serve on a free port of this machine; returns the address and how to stop."""
    listener = listen_on("127.0.0.1", 0)
    binding = Binding(port=listener.getsockname()[1])
    app = create_app(make_station(folder, database, binding))
    server = uvicorn.Server(server_config(app, binding))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            raise SitusError("the station did not start")
        time.sleep(0.05)

    def stop() -> None:
        server.should_exit = True
        thread.join(30)
        listener.close()

    return binding.origins[0], stop


def _reader(seed: int, right: float, sees: float) -> tuple[Judge, Judge]:
    """A reader who guesses more or less well, and sees planted errors more or less often."""
    draw = random.Random(seed)

    def answer(view: dict[str, Any]) -> dict[str, Any]:
        answers = {}
        for part in view["parts"]:
            if part["form"] == "yes_no":
                answers[part["name"]] = draw.choice(["yes", "no"])
            elif part["form"] in ("choice", "choices"):
                answers[part["name"]] = draw.choice(view["options"])[0]
            elif part["form"] in ("boxes", "frames", "grades"):
                answers[part["name"]] = _pointed(part, view["series"]["shape"], draw)
            else:
                answers[part["name"]] = str(draw.randint(5, 30))
        return {"answers": answers, "confidence": draw.choice([1, 2, 2, 3]), "active_ms": 21_000}

    def rate(view: dict[str, Any]) -> dict[str, Any]:
        if view["kind"] == "wording":
            return {"score": draw.choice([1, 2, 2]), "comment": ""}
        agrees = draw.random() < right
        wrong = not agrees and draw.random() < sees
        flags = ["key wrong"] if wrong else ["wording"] if draw.random() < 0.1 else []
        return {"score": 0 if wrong else 2 if agrees else 1, "flags": flags, "comment": ""}

    return answer, rate


def _pointed(part: dict[str, Any], shape: list[int], draw: random.Random) -> str:
    """A box, slices or grades at random."""
    if part["form"] == "grades":
        return json.dumps({name: draw.randrange(3) for name in part["grades"]})
    middle = shape[2] // 2
    if part["form"] == "frames":
        return f"{middle}-{middle + draw.randint(0, 3)}"
    x, y = draw.uniform(0, shape[0] / 2), draw.uniform(0, shape[1] / 2)
    return json.dumps([{"frame": middle, "x0": x, "y0": y, "x1": x + 9, "y1": y + 9}])


def _adjudicator(view: dict[str, Any]) -> dict[str, Any]:
    votes = sum("key wrong" in reading.get("flags", []) for reading in view["readings"])
    wrong = 2 * votes > len(view["readings"])
    words = "most readers call the key wrong" if wrong else "the measured fact bears the key out"
    return {"decision": "drop" if wrong else "keep", "key_wrong": wrong, "reason": words}


def run_demo(
    out: Path, bench: Path, *, items: int = 24, say: Callable[[str], None] = print
) -> Path:
    """Take a project from import to export; returns the station's folder."""
    folder = create_folder(out / "station")
    database = open_database(folder)
    people = {
        "coordinator": ["coordinator", "auditor"],
        "R1": ["reader"],
        "R2": ["reader"],
        "ADJ": ["adjudicator"],
    }
    sample = Sample(items, seed=1, training=2, wordings=True)
    taken = take_sample(folder, open_bench(bench), load_protocol("default"), sample)
    with database.write() as db:
        tokens = {code: add_user(db, code, roles, "demo") for code, roles in people.items()}
        project_units = add_project(db, taken, "demo").units
    say(f"taken in: {project_units}")
    address, stop = serve_in_thread(folder, database)
    try:
        seats = {code: ScriptedPerson(address, code, token) for code, token in tokens.items()}
        desk = seats["coordinator"]
        project = desk.get("/projects")[0]["id"]  # type: ignore[index]
        desk.post(f"/projects/{project}/freeze", {"readers": ["R1", "R2"]})
        for code, skill in (("R1", 0.92), ("R2", 0.85)):
            answer, rate = _reader(hash_of(code), skill, 0.7)
            say(f"{code} read {seats[code].read_all(answer, rate)} cases")
        answer, _ = _reader(3, 0.9, 0.9)
        say(f"ADJ settled {seats['ADJ'].read_all(answer, _adjudicator)} cases")
        desk.post(f"/projects/{project}/lock", {})
        agreement = desk.get(f"/projects/{project}/agreement")
        for seat in seats.values():
            seat.close()
    finally:
        stop()
    for name, entry in agreement["agreement"].items():
        numbers = ((key, entry.get(key)) for key in ("raw", "ac1", "alpha", "kappa"))
        words = ", ".join(f"{key} {'–' if v is None else format(v, '.3f')}" for key, v in numbers)
        say(f"{name:24} n {entry['n']:3}  {words}")
    with database.read() as db:
        stored_project, verified = find_project(db, "demo"), verify(db, folder)
    say(f"record: {verified.events} events, {'intact' if verified.ok else 'NOT INTACT'}")
    export_station(database, stored_project, out / "export", bench=open_bench(bench))
    database.close()
    return folder.root


def hash_of(code: str) -> int:
    """A seed that is the same on every machine."""
    return sum(map(ord, code))


def main() -> None:
    """`python -m situs.review.station.demo`."""
    from situs.review.station.folder import open_folder
    from situs.review.station.web.server import serve

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo-review"))
    parser.add_argument("--bench", type=Path, required=True, help="a bench with images")
    parser.add_argument("--items", type=int, default=24)
    parser.add_argument("--exit", action="store_true", help="do not serve the page at the end")
    options = parser.parse_args()
    if (options.out / "station").exists():
        shutil.rmtree(options.out / "station")
        shutil.rmtree(options.out / "export", ignore_errors=True)
    try:
        station = run_demo(options.out, options.bench, items=options.items)
        print(f"station: {station}; results: {options.out / 'export'}")
        if not options.exit:
            print(f"sign in as coordinator, R1, R2 or ADJ with the password: {PASSWORD}")
            serve(
                open_folder(station), Binding(), lambda where: print(f"on {where}; Ctrl-C stops it")
            )
    except SitusError as error:
        sys.exit(f"demo-review: {error}")


if __name__ == "__main__":
    main()
