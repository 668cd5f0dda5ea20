"""`situs run --batch`: jobs at half price;
every question is answered once or plainly failed, whatever happens."""

from __future__ import annotations

import json
import os
import stat
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from batch_server import BatchServer
from situs.run.batches import BatchLedger

RATE_LIMIT = {"response": {"status_code": 429, "body": {"error": {"message": "slow down"}}}}
CRASHED = {"response": None, "error": {"code": "server_error", "message": "it crashed"}}


def rows_of(run: Path) -> dict[str, dict[str, Any]]:
    rows = [json.loads(line) for line in (run / "answers.jsonl").read_text().splitlines()]
    counts = Counter(row["item_id"] for row in rows if row["state"] != "failed")
    assert set(counts.values()) <= {1}
    return {row["item_id"]: row for row in rows}


@pytest.fixture
def asked(situs, tmp_path, impatient):
    def run(bench: Path, server: BatchServer, *more: object) -> Any:
        return situs(
            *("run", bench, "--model", server.spec, "--out", tmp_path / "run", "--batch"),
            *("--json", "--no-cache", *more),
        )

    return run


def test_every_question_is_answered_in_a_job(words, asked, tmp_path) -> None:
    bench = words(30)
    with BatchServer() as server:
        ran = asked(bench, server)
    assert ran.code == 0, ran.err
    assert ran.json["states"] == {"answered": 30}
    # One is asked at once, to see that the server takes it; the others in one job.
    assert (server.steps["upload"], server.steps["start"]) == (1, 1)
    assert len(server.files["file-0"].splitlines()) == 29
    assert set(server.asked.values()) == {1}
    rows = rows_of(tmp_path / "run")
    assert {row["response"] for row in rows.values()} == {
        f"you said {text}" for text in server.asked
    }
    # Neither ids of items nor anything else of the bench goes out.
    assert not any(item_id.encode() in server.files["file-0"] for item_id in rows)
    # Nothing of the upload is left.
    assert not (tmp_path / "run" / ".batch.part").exists()


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_the_upload_of_a_run_of_others_is_written_nowhere_else(
    words, asked, tmp_path, kind
) -> None:
    diary, file = tmp_path / "diary.txt", tmp_path / "run" / ".batch.part"
    diary.write_text("mine")
    bench = words(3)
    with BatchServer(line_fault=lambda text: CRASHED) as server:
        asked(bench, server)
        if kind == "link":
            file.symlink_to(diary)
        else:
            os.mkfifo(file)
        ran = asked(bench, server)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert f".batch.part: is a {kind}" in ran.err
    assert diary.read_text() == "mine"


def test_answers_go_to_the_questions_they_were_given_to(words, asked, tmp_path) -> None:
    """Replies come in another order than requests."""
    bench = words(12)
    with BatchServer() as server:
        asked(bench, server)
    from situs.bench import open_bench

    rows = rows_of(tmp_path / "run")
    for item in open_bench(bench).items():
        assert item.question in rows[item.item_id]["response"]


def test_lines_that_fail_are_failed_and_asked_again(words, asked, tmp_path) -> None:
    bench = words(40)
    faulty = {"Question 7?": RATE_LIMIT, "Question 21?": CRASHED}
    with BatchServer(line_fault=lambda text: faulty.get(text.split("\n")[0])) as server:
        ran = asked(bench, server)
        assert ran.json["states"] == {"answered": 38, "failed": 2}
        errors = [row["error"] for row in rows_of(tmp_path / "run").values() if row["error"]]
        assert sorted("crashed" in error for error in errors) == [False, True]
        faulty.clear()
        ran = asked(bench, server)
    assert ran.json["states"] == {"answered": 40}
    assert max(server.asked.values()) == 2
    assert sum(server.asked.values()) == 42


def test_a_job_that_expires_leaves_the_rest_failed(words, asked) -> None:
    bench = words(21)
    with BatchServer(ends_as="expired") as server:
        ran = asked(bench, server)
    assert ran.json["states"] == {"answered": 11, "failed": 10}


def test_a_job_that_failed_says_why_in_the_servers_words(words, asked, tmp_path) -> None:
    """As OpenAI describes a job that was never begun: no files, and its reasons in a list."""
    why = "Enqueued token limit reached for some-model. Limit: 90,000 enqueued tokens."
    errors = {"object": "list", "data": [{"code": "token_limit_exceeded", "message": why}]}

    def failed(step: str, count: int) -> web.StreamResponse | None:
        job = {"id": "batch_0", "status": "failed", "errors": errors}
        return web.json_response(job) if step == "look" else None

    bench = words(5)
    with BatchServer(step_fault=failed) as server:
        ran = asked(bench, server)
    assert ran.json["states"] == {"answered": 1, "failed": 4}
    told = {row["error"] for row in rows_of(tmp_path / "run").values() if row["error"]}
    assert told == {f"the batch ended (failed) without an answer to this: {why}"}


def test_what_is_in_a_job_is_not_asked_at_full_price_beside_it(
    words, asked, situs, tmp_path
) -> None:
    bench, run = words(6), tmp_path / "run"
    with BatchServer() as server:
        server.step_fault = lambda step, count: web.Response(status=403) if step == "look" else None
        asked(bench, server)
        before = server.asked.copy()
        ran = situs("run", bench, "--model", server.spec, "--out", run, "--no-cache")
        assert ran.code == 2
        assert "5 questions are in batch jobs at the server" in ran.err
        assert "--batch" in ran.err
        assert server.asked == before
        # Whoever gives the jobs up says so, and is then served as if they had never been.
        (run / "batches.jsonl").unlink()
        ran = situs("run", bench, "--model", server.spec, "--out", run, "--no-cache", "--json")
    assert ran.json["states"] == {"answered": 6}


def test_a_job_that_the_server_forgot_names_the_way_out(words, asked, tmp_path) -> None:
    bench = words(6)
    with BatchServer() as server:
        server.step_fault = lambda step, count: web.Response(status=403) if step == "look" else None
        asked(bench, server)
        server.step_fault = lambda step, count: (
            web.json_response({"error": {"message": "No batch found"}}, status=404)
            if step == "look"
            else None
        )
        ran = asked(bench, server)
        assert ran.code == 1
        assert "No batch found" in ran.json["stopped"]
        assert "delete batches.jsonl in the run" in ran.json["stopped"]


@pytest.mark.parametrize("step", ["upload", "start", "look", "fetch", "list"])
def test_a_step_that_fails_once_is_tried_again(words, asked, step) -> None:
    """Also where a job was started and the reply that says so was lost:
    it is found, not started anew."""
    bench = words(6)

    def once(name: str, count: int) -> web.StreamResponse | None:
        return web.Response(status=503) if (name, count) == (step, 1) else None

    with BatchServer(step_fault=once) as server:
        ran = asked(bench, server)
    assert ran.json["states"] == {"answered": 6}, ran.err
    assert len(server.jobs) == 1
    assert set(server.asked.values()) == {1}


def test_a_run_that_ends_while_a_job_is_worked_on_collects_it_later(words, asked, tmp_path) -> None:
    bench = words(10)

    def down(name: str, count: int) -> web.StreamResponse | None:
        return web.json_response({"error": {"message": "gone"}}, status=403)

    with BatchServer() as server:
        server.step_fault = lambda step, count: down(step, count) if step == "look" else None
        ran = asked(bench, server)
        assert ran.code == 1
        assert ran.json["states"] == {"answered": 1}
        with BatchLedger(tmp_path / "run" / "batches.jsonl") as ledger:
            assert len(ledger.pending) == 9
        server.step_fault = lambda step, count: None
        ran = asked(bench, server)
    assert ran.json["states"] == {"answered": 10}
    assert len(server.jobs) == 1
    assert set(server.asked.values()) == {1}


def test_a_job_started_just_before_a_crash_is_found_by_its_token(words, asked, tmp_path) -> None:
    """The ledger says "prepared", the server has the job."""
    bench = words(8)
    with BatchServer() as server:
        server.step_fault = lambda step, count: web.Response(status=403) if step == "look" else None
        asked(bench, server)
        ledger = tmp_path / "run" / "batches.jsonl"
        lines = ledger.read_text().splitlines(keepends=True)
        assert '"submitted"' in lines[-1]
        ledger.write_text("".join(lines[:-1]))
        server.step_fault = lambda step, count: None
        ran = asked(bench, server)
    assert ran.json["states"] == {"answered": 8}
    assert len(server.jobs) == 1
    assert set(server.asked.values()) == {1}


def test_a_job_that_never_started_is_handed_over_anew(words, asked, tmp_path) -> None:
    bench = words(8)
    with BatchServer() as server:
        server.step_fault = lambda step, count: (
            web.Response(status=403) if step == "upload" else None
        )
        ran = asked(bench, server)
        assert ran.code == 1
        server.step_fault = lambda step, count: None
        ran = asked(bench, server)
    assert ran.json["states"] == {"answered": 8}
    assert set(server.asked.values()) == {1}


def test_large_runs_are_cut_into_jobs_of_the_servers_size(words, asked, monkeypatch) -> None:
    monkeypatch.setattr("situs.clients.openai.batches.BatchServer.most_requests", 4)
    bench = words(14)
    with BatchServer() as server:
        ran = asked(bench, server)
    assert ran.json["states"] == {"answered": 14}
    sizes = [len(server.files[job["input_file_id"]].splitlines()) for job in server.jobs.values()]
    assert sizes == [4, 4, 4, 1]


def test_a_batch_costs_half_and_the_budget_holds_the_worst_case(words, situs, tmp_path) -> None:
    """Every call takes 20 + 3 tokens by the server's count;
    one is asked at once, nine in the job."""
    bench = words(10)
    prices = tmp_path / "prices.toml"
    prices.write_text('["test"]\ninput = 1000.0\noutput = 2000.0\n')
    with BatchServer() as server:
        model = ("run", bench, "--model", f"{server.spec}?max_tokens=8", "--batch", "--json")
        more = ("--prices", prices, "--no-cache")
        ran = situs(*model, *more, "--out", tmp_path / "all")
        one = (20 * 1000 + 3 * 2000) / 1e6
        assert ran.json["cost"] == pytest.approx(one + 9 * one / 2)
        # Worst case of a question in a batch: about 20 tokens in, 8 out. Two more fit into this
        # budget.
        worst = (20 * 1000 + 8 * 2000) / 2e6
        ran = situs(*model, *more, "--out", tmp_path / "some", "--max-cost", one + 2.5 * worst)
    assert ran.code == 1
    assert ran.json["unasked"] >= 7
    assert ran.json["cost"] <= one + 2.5 * worst


def test_models_without_batches_say_so(words, situs, tmp_path) -> None:
    ran = situs(
        "run",
        words(2),
        "--model",
        "anthropic:x",
        "--batch",
        "--out",
        tmp_path / "run",
        "--allow-remote",
    )
    assert ran.code == 2
    assert "takes no batches" in ran.err


def test_the_file_of_requests_is_private(words, asked, tmp_path) -> None:
    modes: list[int] = []

    def look(step: str, count: int) -> None:
        file = tmp_path / "run" / ".batch.part"
        if file.exists():
            modes.append(stat.S_IMODE(file.stat().st_mode))

    with BatchServer(step_fault=look) as server:
        asked(words(5), server)
    assert modes
    assert set(modes) == {0o600}


@pytest.mark.parametrize("name", ["{key}", "{KEY}", "../files", "a?b", "\x1b[2J", ""])
def test_what_a_server_calls_a_job_is_a_name(words, asked, tmp_path, monkeypatch, name) -> None:
    """It is kept in the run and part of an address; a server that repeats the key names no job."""
    key = "secret-of-the-server-1234"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    named = {"id": name.format(key=key, KEY=key.upper()), "status": "validating"}
    with BatchServer(
        step_fault=lambda step, count: web.json_response(named) if step == "start" else None
    ) as server:
        ran = asked(words(4), server)
    assert ran.code == 1
    kept = b"".join(path.read_bytes() for path in (tmp_path / "run").iterdir()).lower()
    assert key.encode() not in kept + (ran.out + ran.err).lower().encode()
    assert b"submitted" not in (tmp_path / "run" / "batches.jsonl").read_bytes()
    assert server.steps["look"] == 0


def test_answered_before_is_not_handed_over(words, situs, tmp_path) -> None:
    """A second run takes its answers from the cache, whoever filled it."""
    bench = words(6)
    with BatchServer() as server:
        model = ("run", bench, "--model", server.spec, "--batch", "--json")
        assert situs(*model, "--out", tmp_path / "one").json["states"] == {"answered": 6}
        ran = situs(*model, "--out", tmp_path / "other")
    assert ran.json["states"] == {"answered": 6}
    assert ran.json["cached"] == 6
    assert set(server.asked.values()) == {1}


def test_a_dry_run_of_a_batch_tells_half_the_price_of_all_but_the_first(
    words, situs, tmp_path
) -> None:
    bench = words(10)
    prices = tmp_path / "prices.toml"
    prices.write_text('["test"]\ninput = 100.0\noutput = 1000.0\n')

    def forecast(*more: object) -> Any:
        model = ("--model", "openai:test@http://127.0.0.1:9/v1", "--prices", prices)
        where = ("--out", tmp_path / "never", "--dry-run", "--json")
        return situs("run", bench, *model, *where, *more).json

    usual, batch = forecast(), forecast("--batch")
    # One question is asked at once, nine at half the price: 0.1 + 0.9 / 2.
    assert batch["cost"] == pytest.approx(0.55 * usual["cost"])
    assert batch["cost_at_most"] == pytest.approx(0.55 * usual["cost_at_most"])
    assert "half the price" in batch["basis"]
    assert "half the price" not in usual["basis"]
    assert forecast("--batch", "--limit", 1)["cost"] == pytest.approx(
        forecast("--limit", 1)["cost"]
    )


def test_a_dry_run_of_a_batch_refuses_what_the_run_would(words, situs, tmp_path) -> None:
    model = ("--model", "gemini:m@http://127.0.0.1:9/v1beta", "--batch", "--dry-run")
    ran = situs("run", words(3), *model, "--out", tmp_path / "never")
    assert ran.code == 2
    assert "this model takes no batches" in ran.err
