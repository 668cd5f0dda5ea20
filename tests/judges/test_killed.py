"""Judging and writing killed with SIGKILL:
what was told is kept, and only calls in flight are asked again."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from wire import Behaviour, Server, completion, words_of

IN_FLIGHT = 2


def slow(
    reply: Callable[[dict[str, Any]], dict[str, Any]], killed: list[bool], at_once: int
) -> Server:
    """Answers every entry by its id;
    after so many requests it waits with the next until the program was killed."""

    def behave(number: int, body: dict[str, Any]) -> Behaviour:
        async def answer(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
            while number >= at_once and not killed:
                await asyncio.sleep(0.02)
            told = [{"id": entry["id"]} | reply(entry) for entry in json.loads(words_of(body))]
            return web.json_response(completion(json.dumps({"entries": told}), 100))

        return answer

    return Server(behave)


def kill_after(killed: list[bool], journal: Path, rows: int, *args: object) -> None:
    """Start the program and kill it once its journal holds so many rows; `killed` says so then."""
    process = subprocess.Popen(
        [sys.executable, "-m", "situs", *map(str, args)], stderr=subprocess.DEVNULL
    )
    for _ in range(15_000):
        if journal.is_file() and journal.read_bytes().count(b"\n") >= rows:
            break
        assert process.poll() is None, "it ended before it was killed"
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    killed.append(True)


def asked(server: Server) -> Counter[str]:
    return Counter(entry["id"] for body in server.bodies for entry in json.loads(words_of(body)))


@pytest.fixture
def _own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("SITUS_CACHE", str(tmp_path / "cache"))
    Path("prices.toml").write_text(
        '["test"]\ninput = 10.0\noutput = 10.0\n["other"]\ninput = 10.0\noutput = 10.0\n'
    )


@pytest.mark.sweep
@pytest.mark.usefixtures("_own")
def test_a_killed_judge(situs: Callable[..., Any]) -> None:
    rows = [{"study": f"v{n}", "question": f"Where is {n}?", "answer": "left"} for n in range(40)]
    said = [{"case_id": row["study"], "question": row["question"], "prediction": f"left {n % 3}"}
            for n, row in enumerate(rows)]  # fmt: skip
    for name, held in (("items.jsonl", rows), ("said.jsonl", said)):
        Path(name).write_text("\n".join(json.dumps(row) for row in held))
    assert situs("import", "items", "items.jsonl", "--out", "bench").code == 0
    assert situs("run", "bench", "--model", "replay:said.jsonl", "--out", "run").code == 0
    journal, killed = Path("run/verdicts/j.jsonl"), list[bool]()
    with slow(lambda entry: {"correct": entry["answer"] == "left 1"}, killed, 4) as server:
        args = ("score", "bench", "run", "--judge", f"{server.spec}?name=j&batch=4", "--no-cache")
        args += (
            "--concurrency",
            str(IN_FLIGHT),
            "--prices",
            "prices.toml",
            "--metrics",
            "accuracy",
            "--json",
        )
        kill_after(killed, journal, 12, *args)
        kept = journal.read_bytes().rpartition(b"\n")[0]
        ran = situs(*args)
        assert ran.code == 0, ran.err
        assert journal.read_bytes().startswith(kept)
        counts = asked(server)
        calls = len(server.bodies)
    assert set(counts.values()) <= {1, 2}
    assert sum(count == 2 for count in counts.values()) <= 4 * IN_FLIGHT
    told = {
        row["item_id"]: row["is_correct"]
        for row in map(json.loads, journal.read_text().splitlines())
    }
    assert Counter(told.values()) == {False: 27, True: 13}
    (done,) = ran.json["judges"]
    assert (done["answered"], done["given_up"]) == (40, 0)
    assert 0 < done["requests"] < calls
    # $10 a million tokens in and out; this call's own, as every command tells.
    assert done["cost"] == pytest.approx(
        1e-5 * (done["tokens"]["prompt"] + done["tokens"]["completion"])
    )


@pytest.mark.sweep
@pytest.mark.usefixtures("_own")
@pytest.mark.parametrize("role", ["writer", "validator"])
def test_a_killed_build(role: str, situs: Callable[..., Any]) -> None:
    reports = {
        f"valid_{n}_a_1.nii.gz": {"Findings_EN": f"A {n} mm nodule in the left lung."}
        for n in range(3, 23)
    }
    Path("reports.json").write_text(json.dumps(reports))

    def writes(entry: dict[str, Any]) -> dict[str, Any]:
        question = {
            "question": "Which lung has the nodule?",
            "answer": "The left lung",
            "quote": entry["findings"],
        }
        return {"questions": [question | {"dimension": "Laterality & Bilateral Symmetry"}]}

    def vets(entry: dict[str, Any]) -> dict[str, Any]:
        return {"is_spatial": True, "is_relevant": True, "supported": True, "ambiguous": False}

    killed, all_of_them = list[bool](), len(reports)
    answered = {"writer": 6, "validator": 1}  # one report a request, and five questions
    with (
        slow(writes, killed, answered["writer"] if role == "writer" else all_of_them) as writer,
        slow(
            vets, killed, answered["validator"] if role == "validator" else all_of_them
        ) as validator,
    ):
        args = (
            "build",
            "reports",
            "reports.json",
            "--out",
            "bench",
            "--writer",
            writer.spec,
            "--validator",
        )
        args += (validator.spec.replace("openai:test", "openai:other"), "--no-cache", "--json")
        args += ("--concurrency", str(IN_FLIGHT), "--prices", "prices.toml")
        kill_after(killed, Path(f"bench.asked/{role}.jsonl"), 5, *args)
        assert not Path("bench").exists()
        ran = situs(*args)
        assert ran.code == 0, ran.err
        counts = asked(writer), asked(validator)
    assert ran.json["items"] == len(reports)
    assert any(held["cost"] > 0 for held in ran.json["asked"])
    assert situs("check", "bench").code == 0
    for held, batch in zip(counts, (1, 5)):
        assert len(held) == len(reports)
        assert sum(count - 1 for count in held.values()) <= batch * IN_FLIGHT
    assert not list(Path.cwd().glob(".bench*")), "no half a bench is left"
