"""`situs view`: runs as they stand, items as they were asked,
and nothing for anyone but its own page."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from situs.bench import open_bench
from situs.errors import SitusError
from situs.profiles import Presenter, load_profile
from situs.view import WatchedRuns, view_app
from situs.view.server import app_runner

Ask = Callable[..., Awaitable[Any]]


@pytest.fixture(scope="session")
def prior_run(once: Callable[..., Path], bench: Path, situs: Callable[..., Any]) -> Path:
    """A finished run of the small bench."""

    def make(folder: Path) -> None:
        ran = situs("run", bench, "--model", "prior", "--out", folder / "prior")
        assert ran.code == 0, ran.err

    return once("viewed", make) / "prior"


@pytest.fixture
def runs(prior_run: Path, bench: Path, tmp_path: Path) -> Path:
    """A folder with a run that is half done."""
    run = Path(shutil.copytree(prior_run, tmp_path / "runs" / "half"))
    (run / "locations.json").write_text(json.dumps({"bench": str(bench)}))
    lines = (run / "answers.jsonl").read_bytes().splitlines(keepends=True)
    (run / "answers.jsonl").write_bytes(b"".join(lines[: len(lines) // 2]))
    (run / "rest").write_bytes(b"".join(lines[len(lines) // 2 :]))
    return run.parent


def served(folder: Path, talk: Callable[[TestClient[Any, Any]], Awaitable[None]]) -> None:
    """Talk to the application over HTTP on loopback."""

    async def session() -> None:
        async with TestClient(TestServer(view_app(WatchedRuns(folder)))) as client:
            await talk(client)

    asyncio.run(session())


def test_a_run_is_followed_while_it_grows(runs: Path, bench: Path) -> None:
    watched = WatchedRuns(runs)
    (state,) = watched.states()
    journal = runs / "half" / "answers.jsonl"
    items = sum(1 for _ in open_bench(bench).items())
    half = len(journal.read_bytes().splitlines())
    assert (state.folder, state.items) == ("half", items)
    assert sum(state.states.values()) == half < items
    rest = (runs / "half" / "rest").read_bytes()
    with journal.open("ab") as stream:
        stream.write(rest[:-20])  # a line that is still being written
    assert sum(watched.states()[0].states.values()) == items - 1
    with journal.open("ab") as stream:
        stream.write(rest[-20:])
    assert sum(watched.states()[0].states.values()) == items


def test_a_damaged_run_is_a_row_with_its_reason(runs: Path) -> None:
    (runs / "other").mkdir()
    (runs / "other" / "run.json").write_text("{")
    states = {state.folder: state for state in WatchedRuns(runs).states()}
    assert states["half"].problem == ""
    assert "run.json" in states["other"].problem
    with pytest.raises(SitusError, match="is not a folder"):
        WatchedRuns(runs / "nothing")


def test_an_item_shows_what_was_sent_and_said(runs: Path, bench: Path) -> None:
    opened = open_bench(bench)
    item = next(opened.items())
    row = json.loads((runs / "half" / "answers.jsonl").read_text().splitlines()[0])

    async def talk(client: TestClient[Any, Any]) -> None:
        (state,) = await (await client.get("/api/runs")).json()
        listed = await (await client.get(f"/api/runs/{state['key']}/items")).json()
        assert listed["matching"] == state["items"]
        path = f"/api/runs/{state['key']}/items/{row['item_id']}"
        page = await (await client.get(path)).json()
        detail = page["payload"]["details"][row["item_id"]]
        assert detail["answers"][0][3] == row["response"]
        first = await (await client.get(f"/api/runs/{state['key']}/items/{item.item_id}")).json()
        assert first["prompt"] == Presenter(opened, load_profile("default")).prompt(item)
        assert first["payload"]["shared"]["views"][item.item_id]
        assert str(runs) not in json.dumps([state, listed, page, first])
        chosen = {"task": item.task, "words": item.item_id}
        found = await (await client.get(f"/api/runs/{state['key']}/items", params=chosen)).json()
        assert [one["item_id"] for one in found["rows"]] == [item.item_id]

    served(runs, talk)


def test_nobody_else_is_answered(runs: Path) -> None:
    async def talk(client: TestClient[Any, Any]) -> None:
        page = await client.get("/")
        assert page.status == 200
        assert "script-src 'self'" in page.headers["Content-Security-Policy"]
        assert (await client.get("/api/runs", headers={"Host": "evil.example"})).status == 421
        assert (await client.get("/", headers={"Host": "evil.example:80"})).status == 421
        across = {"Sec-Fetch-Site": "cross-site"}
        assert (await client.get("/api/runs", headers=across)).status == 403
        for method in ("post", "put", "delete"):
            assert (await getattr(client, method)("/api/runs")).status == 405
        for path in ("/api/runs/..%2f..%2fetc/items", "/../../etc/passwd", "/templates/view.js"):
            reply = await client.get(path)
            assert reply.status == 404
            assert "problem" in await reply.json()

    served(runs, talk)


def test_a_file_that_cannot_be_read_is_a_line_not_a_fault(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from situs.view import server
    from situs.view.watching import WatchedRun

    def locked(*_: object) -> None:
        raise PermissionError(13, "Permission denied", str(runs / "half" / "hidden.jsonl"))

    async def talk(client: TestClient[Any, Any]) -> None:
        (state,) = await (await client.get("/api/runs")).json()
        with monkeypatch.context() as patch:
            patch.setattr(server, "item_rows", locked)
            reply = await client.get(f"/api/runs/{state['key']}/items")
        words = "hidden.jsonl: cannot be read (Permission denied)"
        assert (reply.status, await reply.json()) == (422, {"problem": words})
        monkeypatch.setattr(WatchedRun, "_read_on", locked)
        (state,) = await (await client.get("/api/runs")).json()
        assert state["problem"] == words
        for path in ("items", "items/any"):
            reply = await client.get(f"/api/runs/{state['key']}/{path}")
            assert (reply.status, await reply.json()) == (422, {"problem": words})

    served(runs, talk)


def test_an_answer_is_scored_once(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from situs.view import items

    asked: list[str] = []

    def counted(item: Any, *args: Any, **more: Any) -> Any:
        asked.append(item.item_id)
        return score(item, *args, **more)

    score = items.score_answer
    monkeypatch.setattr(items, "score_answer", counted)
    watched = WatchedRuns(runs)
    (state,) = watched.states()
    run = watched.run(state.key)
    assert run is not None
    first = items.item_rows(run)
    half = len(asked)
    assert half == sum(state.states.values())
    run.refresh()
    assert items.item_rows(run) is first
    assert len(asked) == half
    with (runs / "half" / "answers.jsonl").open("ab") as stream:
        stream.write((runs / "half" / "rest").read_bytes())
    run.refresh()
    assert "not asked yet" not in {row.state for row in items.item_rows(run)}
    assert len(asked) == len(set(asked)) == state.items


def test_a_run_costs_what_it_recorded(runs: Path) -> None:
    path = runs / "half" / "run.json"
    info = json.loads(path.read_text())
    rows = [json.loads(line) for line in (runs / "half" / "answers.jsonl").read_text().splitlines()]
    rows[0]["usage"] = {"prompt_tokens": 2e6, "completion_tokens": 1e6}
    (runs / "half" / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for price, cost in (
        ({"input": 3.0, "output": 15.0}, 2 * 3 + 15),
        ({"input": 0.0, "output": 0.0}, 0.0),
        (None, None),
    ):
        path.write_text(json.dumps(info | {"client": "openai:gpt-4o", "price": price}))
        (state,) = WatchedRuns(runs).states()
        assert state.cost == cost


NO_REQUESTS = [
    b"GET /' OR 1=1 HTTP/1.1\r\n\r\n",
    b"\x1b[31mred\x1b[0m / HTTP/1.1\r\n\r\n",
    b"\x16\x03\x01\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 5_000 + b"\r\n",
    b"POST / HTTP/1.1\r\nContent-Length: nan\r\n\r\n",
]


def test_what_is_no_request_is_not_on_the_terminal(tmp_path: Path, caplog: Any) -> None:
    async def knock() -> list[bytes]:
        runner = app_runner(view_app(WatchedRuns(tmp_path)))
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        replies = []
        for raw in NO_REQUESTS:
            reader, writer = await asyncio.open_connection(*runner.addresses[0][:2])
            writer.write(raw)
            replies.append(await reader.read(12))
            writer.close()
        await runner.cleanup()
        return replies

    assert asyncio.run(knock()) == [b"HTTP/1.0 400"] * len(NO_REQUESTS)
    assert caplog.records == []
