"""A reading station on phantoms: on SQLite,
on PostgreSQL where its programs are, and people who speak to it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

_HERE = Path(__file__).parent
ADDRESS = "https://station.test"
PASSWORD = "words for a test account"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without `-m review` these tests are skipped, and say so."""
    asked = "review" in config.getoption("-m")
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.review)
            if not asked:
                item.add_marker(pytest.mark.skip(reason="the reading station: make test-review"))


@dataclass
class Person:
    """Somebody with a browser of their own."""

    client: Any
    code: str
    token: str = ""
    extra: dict[str, str] = field(default_factory=dict)

    def get(self, path: str, **headers: str) -> Any:
        return self.client.get(f"/api/v1{path}", headers=headers)

    def send(
        self,
        path: str,
        body: Any = None,
        *,
        version: int | None = None,
        key: str | None = None,
        method: str = "POST",
        **headers: str,
    ) -> Any:
        sent = {"Origin": ADDRESS, "X-Situs-Token": self.token, **headers}
        if version is not None:
            sent["If-Match"] = f'"v{version}"'
            sent["Idempotency-Key"] = key or uuid.uuid4().hex
        return self.client.request(method, f"/api/v1{path}", json=body, headers=sent)

    def case(self) -> Any:
        """The next case, as the page gets it."""
        found = self.get("/next").json()["id"]
        return self.get(f"/assignments/{found}").json() if found else None

    def answer(self, view: Any, said: str | None = None, confidence: int = 2) -> Any:
        """Answer stage 1; without words, the first choice."""
        return self.send(
            f"/assignments/{view['id']}/answer",
            first_answer(view, said, confidence),
            version=view["version"],
        )

    def rate(
        self, view: Any, score: int = 2, flags: tuple[str, ...] = (), comment: str = ""
    ) -> Any:
        body = {"score": score, "flags": list(flags), "comment": comment}
        return self.send(f"/assignments/{view['id']}/rating", body, version=view["version"])

    def read(
        self, view: Any, score: int = 2, flags: tuple[str, ...] = (), said: str | None = None
    ) -> Any:
        """Both stages."""
        if view["stage"] == 1:
            view = ok(self.answer(view, said))
        return ok(self.rate(view, score, flags))


def ok(answer: Any) -> Any:
    assert answer.status_code == 200, answer.text
    return answer.json()


def first_answer(view: Any, said: str | None = None, confidence: int = 2) -> dict[str, Any]:
    usual = {"yes_no": "yes", "choice": "A", "choices": "A", "number": "12", "boxes": "[]"}
    answers = {}
    for part in view["parts"]:
        grades = json.dumps(dict.fromkeys(part["grades"], 1)) if part["form"] == "grades" else "1"
        answers[part["name"]] = said or usual.get(part["form"], grades)
    return {"answers": answers, "confidence": confidence}


def browser(app: Any) -> Any:
    """A client with cookies of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # starlette would rather have a later httpx
        from starlette.testclient import TestClient
    return TestClient(app, base_url=ADDRESS, raise_server_exceptions=True)


@dataclass
class Running:
    """A station and its accounts."""

    folder: Any
    database: Any
    app: Any
    invitations: dict[str, str]
    people: dict[str, Person] = field(default_factory=dict)

    def person(self, code: str) -> Person:
        """The person with this code, signed in."""
        if code not in self.people:
            person = Person(browser(self.app), code)
            body = {"token": self.invitations[code], "password": PASSWORD}
            person.token = ok(person.send("/auth/invite", body))["token"]
            self.people[code] = person
        return self.people[code]

    def stranger(self) -> Person:
        """Somebody who has not signed in."""
        return Person(browser(self.app), "")

    def project(self) -> str:
        """The id of the first project."""
        return str(ok(self.person("C1").get("/projects"))[0]["id"])

    def freeze(self, *readers: str) -> None:
        """Hand the lists out."""
        ok(self.person("C1").send(f"/projects/{self.project()}/freeze", {"readers": list(readers)}))


CODES = {
    "C1": ["coordinator", "auditor"],
    "R1": ["reader"],
    "R2": ["reader"],
    "R3": ["reader"],
    "J1": ["adjudicator"],
}


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server of our own on loopback;
    skips, saying so, where there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    program = shutil.which("initdb") or (str(found[-1]) if found else "")
    if not program:
        pytest.skip("no PostgreSQL here (apt-get install postgresql)")
    binaries = Path(program).resolve().parent
    # A folder that the server's own account can reach, which pytest's is not.
    root = Path(tempfile.mkdtemp(prefix="situs-postgres-"))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    # PostgreSQL refuses to run as root.
    account = {"user": "postgres"} if os.geteuid() == 0 else {}
    if account:
        try:
            shutil.chown(root, "postgres")
        except LookupError:
            pytest.skip("PostgreSQL needs an account `postgres`")
    data = root / "data"
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
    run = dict(check=True, capture_output=True, cwd=root, env=environment, **account)  # type: ignore[arg-type]
    subprocess.run(
        [binaries / "initdb", "-D", data, "-U", "situs", "-A", "trust", "-N", "-E", "UTF8"], **run
    )  # type: ignore[call-overload]
    server = subprocess.Popen(
        [binaries / "postgres", "-D", data, "-p", str(port), "-h", "127.0.0.1", "-k", root, "-F"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=root,
        env=environment,
        **account,  # type: ignore[call-overload]
    )
    address = f"postgresql://situs@127.0.0.1:{port}/postgres"
    _wait_for(address)
    yield address
    server.send_signal(signal.SIGINT)  # at once, without waiting for connections to end
    server.wait(120)
    shutil.rmtree(root, ignore_errors=True)


def _wait_for(address: str) -> None:
    """Wait until the server takes connections: it listens a while before."""
    import psycopg

    end = time.monotonic() + 120
    while True:
        try:
            psycopg.connect(address, connect_timeout=10).close()
            return
        except psycopg.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def make_station(root: Path, bench: Path, address: str, **options: Any) -> Running:
    """A station with five accounts and one project."""
    from situs.bench import open_bench
    from situs.review.station.folder import create_folder
    from situs.review.station.protocol import load_protocol
    from situs.review.station.sample import Sample, take_sample
    from situs.review.station.store.accounts import add_user
    from situs.review.station.store.database import open_database
    from situs.review.station.store.projects import add_project
    from situs.review.station.web.app import create_app
    from situs.review.station.web.station import Station

    folder = create_folder(root, address)
    database = open_database(folder)
    protocol = load_protocol(options.pop("protocol", "default"))
    with database.write() as db:
        tokens = {code: add_user(db, code, roles, "test") for code, roles in CODES.items()}
        sample = Sample(**{"items": 14, "training": 1, **options})
        add_project(db, take_sample(folder, open_bench(bench), protocol, sample), "pilot")
    app = create_app(Station(folder, database, (ADDRESS,)))
    return Running(folder, database, app, tokens)


def opened(root: Path, tokens: dict[str, str]) -> Running:
    """A station that was made before."""
    from situs.review.station.folder import open_folder
    from situs.review.station.store.database import open_database
    from situs.review.station.web.app import create_app
    from situs.review.station.web.station import Station

    folder = open_folder(root)
    database = open_database(folder)
    return Running(folder, database, create_app(Station(folder, database, (ADDRESS,))), tokens)


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory, bench: Path) -> tuple[Path, dict[str, str]]:
    """A station on SQLite with the usual project; tests take copies."""
    root = tmp_path_factory.mktemp("template") / "station"
    running = make_station(root, bench, "")
    running.database.close()
    return root, running.invitations


@pytest.fixture(scope="session")
def lesions(tmp_path_factory: pytest.TempPathFactory, situs: Callable[..., Any]) -> Path:
    """A bench of boxes around lesions of phantoms, and of the slices that show them;"""
    from situs.volumes.phantoms import make_patient, write_patient

    folder = tmp_path_factory.mktemp("lesions")
    for index in range(3):
        patient = make_patient(31, index, spacing_mm=(4.0, 4.0, 4.0), noise=False)
        write_patient(patient, folder / "data" / f"patient{index}")
    args = ("--annotation", "exact", "--tasks", "location", "--licence", "CC0-1.0")
    ran = situs("build", "masks", folder / "data", *args, "--out", folder / "bench")
    assert ran.code == 0, ran.err
    return folder / "bench"


@pytest.fixture(scope="session")
def stacks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bench of boxes and slices on small stacks without millimetres."""
    from frame_make import make_cohort, write_images
    from situs.build import BuildOptions, build_boxes
    from situs.facts import load_recipe

    root = tmp_path_factory.mktemp("stacks")
    cohort = make_cohort(4, 12)
    files, lists = cohort.write(root / "notes")
    options = BuildOptions("stacks", load_recipe(), licence="synthetic", restricted=False)
    build_boxes(
        files, root / "bench", options, lists=lists, images=write_images(cohort, root / "images")
    )
    return root / "bench"


@pytest.fixture
def new_station(
    tmp_path: Path, bench: Path, template: tuple[Path, dict[str, str]]
) -> Iterator[Callable[..., Running]]:
    """Makes stations with a project on phantoms."""
    made: list[Running] = []

    def make(name: str = "station", address: str = "", **options: Any) -> Running:
        root = tmp_path / name
        if address or options:
            chosen = options.pop("bench", bench)
            made.append(make_station(root, chosen, address, **options))
        else:
            shutil.copytree(template[0], root)
            made.append(opened(root, dict(template[1])))
        return made[-1]

    yield make
    for running in made:
        for person in running.people.values():
            person.client.close()
        running.database.close()


@pytest.fixture(params=["sqlite", "postgres"])
def station(request: pytest.FixtureRequest, new_station: Callable[..., Running]) -> Running:
    """A station with a project that is not planned yet, on both databases."""
    if request.param == "sqlite":
        return new_station()
    import psycopg

    server = request.getfixturevalue("postgres")
    name = f"situs_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return new_station(address=server.rpartition("/")[0] + f"/{name}")


@pytest.fixture
def reading(station: Running) -> Running:
    """A station whose lists are handed out to R1 and R2."""
    station.freeze("R1", "R2")
    return station
