"""The study desk: samples, accounts and results on the page;
and the files that start a station in containers."""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import PASSWORD, Person, Running, browser, ok

_DEPLOY = Path(__file__).parents[3] / "deploy" / "review"


@pytest.fixture
def offering(new_station: Callable[..., Running], bench: Path) -> Running:
    """A station whose administrator offers one bench."""
    running = new_station()
    running.app.state.station.benches = bench.parent
    return running


def taken_in(head: Person) -> Any:
    """Wait for the import that runs."""
    for _ in range(3000):
        last = ok(head.get("/benches"))["last"]
        if last["state"] != "running":
            return last
        time.sleep(0.1)
    raise AssertionError("the import does not end")


def test_a_coordinator_takes_in_an_offered_bench(offering: Running, bench: Path) -> None:
    head, reader = offering.person("C1"), offering.person("R1")
    told = ok(head.get("/benches"))
    assert bench.name in told["benches"]
    assert "default" in told["protocols"]
    body = {"project": "second", "bench": bench.name, "items": 6, "training": 1}
    assert reader.send("/projects", body).status_code == 403
    # A bench is one of those offered: no path, and nothing beside them.
    for name in ("../" + bench.name, str(bench), ".", "", "data"):
        assert head.send("/projects", body | {"bench": name}).status_code == 404, name
    assert head.send("/projects", body | {"protocol": "/etc/passwd.toml"}).status_code == 404
    assert head.send("/projects", body | {"project": "../x"}).status_code == 422
    assert head.send("/projects", body | {"project": "pilot"}).status_code == 409
    ok(head.send("/projects", body))
    assert taken_in(head) == {
        "project": "second", "state": "done", "done": 7, "of": 7, "problem": "",
    }  # fmt: skip
    second = ok(head.get("/projects"))[1]
    assert (second["name"], second["state"], second["units"]["item"]) == ("second", "draft", 6)
    ok(head.send("/projects", body | {"project": "third", "items": 100_000}))
    assert "cannot draw" in taken_in(head)["problem"]


def test_a_station_that_offers_nothing_takes_in_nothing(new_station: Any, bench: Path) -> None:
    head = new_station().person("C1")
    assert ok(head.get("/benches"))["offered"] is False
    assert head.send("/projects", {"project": "x", "bench": bench.name}).status_code == 404


def test_readers_write_while_a_sample_is_taken_in(
    offering: Running, bench: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Taking in minutes' worth of volumes holds no lock: a draft is kept in the middle of it."""
    from situs.review.station.web import bringing_in

    offering.freeze("R1", "R2")
    reader = offering.person("R1")
    view = reader.case()
    saved = []
    real = bringing_in.take_sample

    def slow(*args: Any, **options: Any) -> Any:
        taken = real(*args, **options)
        body = {"draft": {"comment": "meanwhile"}}
        path = f"/assignments/{view['id']}/draft"
        saved.append(reader.send(path, body, version=view["version"], method="PUT").status_code)
        return taken

    monkeypatch.setattr(bringing_in, "take_sample", slow)
    head = offering.person("C1")
    ok(head.send("/projects", {"project": "second", "bench": bench.name, "items": 4}))
    assert taken_in(head)["state"] == "done"
    assert saved == [200]


def test_accounts_are_added_and_invited_again(offering: Running) -> None:
    head = offering.person("C1")
    assert (
        offering.person("R1").send("/users", {"code": "R9", "roles": ["reader"]}).status_code == 403
    )
    assert head.send("/users", {"code": "R9", "roles": ["king"]}).status_code == 422
    assert head.send("/users", {"code": "a name", "roles": ["reader"]}).status_code == 409
    first = ok(head.send("/users", {"code": "R9", "roles": ["reader"]}))["token"]
    second = ok(head.send("/users/invite", {"code": "R9"}))["token"]
    told = head.send("/users", {"code": "R9", "roles": ["reader"]}).json()["title"]
    assert told == "R9 exists; choose another code", "no page speaks of the command line"
    new = Person(browser(offering.app), "R9")
    assert new.send("/auth/invite", {"token": first, "password": PASSWORD}).status_code == 409
    assert ok(new.send("/auth/invite", {"token": second, "password": PASSWORD}))["code"] == "R9"
    assert second not in head.get("/events").text
    new.client.close()


def test_results_are_downloaded_once_the_reads_are_locked(
    offering: Running, tmp_path: Path
) -> None:
    """The file restores into an empty station: nothing is missing from it."""
    from situs.review.station.exported import restore_station
    from situs.review.station.folder import create_folder
    from situs.review.station.store.database import open_database

    offering.freeze("R1", "R2")
    reader = offering.person("R1")
    reader.read(reader.case())
    head, path = offering.person("C1"), f"/projects/{offering.project()}/export"
    assert head.send(path).status_code == 409
    ok(head.send(f"/projects/{offering.project()}/lock"))
    assert reader.send(path).status_code == 403
    answer = head.send(path)
    assert answer.headers["content-type"] == "application/zip"
    zipfile.ZipFile(io.BytesIO(answer.content)).extractall(tmp_path / "out")
    database = open_database(create_folder(tmp_path / "again"))
    assert restore_station(database, tmp_path / "out")["readings"] == 2
    database.close()
    event = ok(head.get("/events?kind=exported"))[-1]
    assert event["actor"] == "C1"


def words_of(path: Path) -> list[list[str]]:
    """The commands of a shell script that begin with `situs`,
    with what the shell would fill in left as it is."""
    text = path.read_text().replace("\\\n", " ")
    return [
        shlex.split(re.sub(r"\$\((?:[^()]*)\)", "X", line.strip().removeprefix("exec ")))
        for line in text.splitlines()
        if re.match(r"\s*(exec )?situs ", line)
    ]


def test_the_containers_start_what_the_command_line_has() -> None:
    """Every command and option of the start script parses,
    and every name the files share is set by one of them."""
    import click

    from situs.cli.review import command as review

    yaml = pytest.importorskip("yaml")

    commands = words_of(_DEPLOY / "start.sh")
    assert [words[1:3] for words in commands] == [["review", "init"], ["review", "serve"]]
    for _, *words in commands:
        command = review.get_command(click.Context(review), words[1])
        assert command is not None
        given = [word.replace("$STATION_ADDRESS", "https://x") for word in words[2:]]
        command.make_context(words[1], given)
    compose = yaml.safe_load((_DEPLOY / "compose.yaml").read_text())
    services = compose["services"]
    for name, service in services.items():
        assert set(service.get("networks", ())) <= set(compose["networks"]), name
        assert set(service.get("secrets", ())) <= set(compose["secrets"]), name
        assert set(service.get("depends_on", ())) <= set(services), name
        for volume in (text.split(":")[0] for text in service.get("volumes", ())):
            if volume.startswith(
                "${"
            ):  # a folder that whoever starts it names; the script reads it there
                continue
            if volume.startswith("."):
                assert (_DEPLOY / volume).is_file(), volume
            else:
                assert volume in compose["volumes"], volume
    station, database = services["station"], services["database"]["environment"]
    script = (_DEPLOY / "start.sh").read_text()
    assert f"postgresql://{database['POSTGRES_USER']}:" in script
    assert f"@database/{database['POSTGRES_DB']}" in script
    assert "/run/secrets/database" in script
    mounted = {text.rpartition("}:")[2] for text in station["volumes"] if text.startswith("${")}
    assert mounted == {"/benches:ro", "/data:ro"}
    assert set(re.findall(r"\$\{?([A-Z_]+)", script)) <= set(station["environment"])
    proxy = (_DEPLOY / "Caddyfile").read_text()
    assert set(re.findall(r"\{\$([A-Z_]+)\}", proxy)) <= set(services["proxy"]["environment"])
    assert "reverse_proxy station:8765" in proxy
    # Only the proxy is reached from outside, and the database by the station alone.
    assert [name for name, service in services.items() if "ports" in service] == ["proxy"]
    assert set(services["proxy"]["networks"]) & set(services["database"]["networks"]) == set()
    # Nor does a station or a database that was broken into reach anything beyond them.
    for name in (*services["station"]["networks"], *services["database"]["networks"]):
        assert compose["networks"][name].get("internal") is True, name
    docker = (_DEPLOY / "Dockerfile").read_text()
    for source in re.findall(r"^COPY (\S+) ", docker, re.M):
        assert (_DEPLOY.parents[1] / source).exists(), source
    assert (_DEPLOY.parents[1] / station["build"]["dockerfile"]).is_file()


def test_the_containers_take_any_password(tmp_path: Path) -> None:
    """A password with the signs of an address reaches PostgreSQL as it stands in the file."""
    from sqlalchemy import make_url

    password = "p@ss/wo:rd#1%2F?+ ß"
    (tmp_path / "secret").write_text(password + "\n", encoding="utf-8")
    stub = tmp_path / "situs"
    stub.write_text('#!/bin/sh\nprintf "%s\\n" "$@" >> "$SAID"\n')
    stub.chmod(0o755)
    script = (_DEPLOY / "start.sh").read_text()
    script = script.replace("/run/secrets/database", str(tmp_path / "secret"))
    script = script.replace("/station/data", str(tmp_path / "station"))
    (tmp_path / "start.sh").write_text(script)
    path = f"{tmp_path}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    given = {**os.environ, "PATH": path, "SAID": str(tmp_path / "said"), "STATION_ADDRESS": "x"}
    subprocess.run(["sh", tmp_path / "start.sh"], env=given, check=True, timeout=60)
    words = (tmp_path / "said").read_text().splitlines()
    url = make_url(words[words.index("--database") + 1])
    assert (url.password, url.host, url.database) == (password, "database", "situs")


def test_the_password_is_neither_in_the_image_nor_in_the_repository() -> None:
    root = _DEPLOY.parents[1]
    ignored = (root / ".dockerignore").read_text().splitlines()
    assert ignored.index("deploy/review/secrets") > ignored.index("!deploy")
    assert "/deploy/review/secrets/" in (root / ".gitignore").read_text().splitlines()
