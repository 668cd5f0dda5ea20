"""Whatever happens to the process, no answer is lost, doubled or invented;
only calls in flight are asked again."""

from __future__ import annotations

import json
import random
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import wire

IN_FLIGHT = 8


def start(*args: object, **more: Any) -> subprocess.Popen[str]:
    """The program in a process of its own."""
    command = [sys.executable, "-m", "situs", *map(str, args)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more
    )


def wait_until(what: Callable[[], bool], seconds: float = 300.0) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.005)


def rows_of(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "answers.jsonl").read_text().splitlines()]


def test_killed_three_times_every_item_has_one_answer(words, situs, tmp_path) -> None:
    items, rng = 240, random.Random(4)
    args = (
        "run",
        words(items),
        "--out",
        tmp_path / "run",
        "--concurrency",
        IN_FLIGHT,
        "--json",
        "--no-cache",
    )
    # Slow enough that it is not done before it is killed, however busy the machine is.
    pause = [0.1]
    with wire.Server(lambda number, body: wire.silent(pause[0])) as server:
        for kill in range(3):
            process = start(*args, "--model", server.spec)
            enough = len(server.seen) + rng.randint(10, 40)
            wait_until(lambda enough=enough: len(server.seen) >= enough)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            assert process.returncode == -signal.SIGKILL, kill
        pause[0] = 0.0
        ran = situs(*args, "--model", server.spec)
        asked = Counter(server.keys)
    assert ran.json["states"] == {"answered": items}, ran.err
    answered = [row["item_id"] for row in rows_of(tmp_path / "run") if row["state"] != "failed"]
    assert len(answered) == len(set(answered)) == items
    assert len(asked) == items
    assert max(asked.values()) <= 4
    assert asked.total() - items <= 3 * IN_FLIGHT


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_lets_calls_in_flight_end_and_says_how_to_go_on(
    words, situs, tmp_path, number
) -> None:
    items, pause = 120, [0.25]
    args = (
        "run",
        words(items),
        "--out",
        tmp_path / "run",
        "--concurrency",
        IN_FLIGHT,
        "--json",
        "--model",
    )
    with wire.Server(lambda number, body: wire.silent(pause[0])) as server:
        process = start(*args, server.spec)
        wait_until(lambda: len(server.seen) >= 20)
        process.send_signal(number)
        out, err = process.communicate(timeout=300)
        assert process.returncode == 130, err
        assert "the same command resumes" in err
        assert "Traceback" not in err
        result = json.loads(out)
        assert result["interrupted"]
        # What was asked was also written down: nothing in flight was thrown away.
        assert result["states"]["answered"] == len(server.seen) == len(rows_of(tmp_path / "run"))
        assert result["unasked"] == items - len(server.seen)
        pause[0] = 0.0
        done = situs(*args, server.spec)
        assert done.code == 0, done.err
        assert len(server.seen) == items
    assert done.json["states"] == {"answered": items}


def test_a_second_interruption_does_not_wait(words, tmp_path) -> None:
    args = ("run", words(30), "--out", tmp_path / "run", "--model")
    with wire.Server(lambda number, body: wire.silent(30)) as server:
        process = start(*args, server.spec)
        wait_until(lambda: len(server.seen) >= 4)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "Traceback" not in err


def test_a_full_disk_is_one_line_and_the_run_goes_on_later(words, situs, tmp_path) -> None:
    bench = words(200)
    args = ("run", bench, "--out", tmp_path / "run", "--no-cache", "--json", "--model")

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8000, 8000))

    with wire.Server() as server:
        process = start(*args, server.spec, preexec_fn=small_files)
        out, err = process.communicate(timeout=300)
        assert process.returncode == 2, err
        assert out == ""
        assert "answers.jsonl" in err
        assert "Traceback" not in err
        assert len(err.strip().splitlines()) == 1
        lost = len(server.seen) - (tmp_path / "run/answers.jsonl").read_text().count("\n")
        assert lost <= 2 * IN_FLIGHT
        ran = situs(*args, server.spec)
        assert ran.json["states"] == {"answered": 200}, ran.err
        assert len(server.seen) == 200 + lost
    answered = [row["item_id"] for row in rows_of(tmp_path / "run")]
    assert len(answered) == len(set(answered)) == 200


def test_a_device_without_room_is_one_line(words, tmp_path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    from situs.errors import SitusError
    from situs.run import AnswerRow, Journal

    journal = Journal(tmp_path / "answers.jsonl")
    journal._file._stream.close()
    journal._file._stream = open("/dev/full", "ab", buffering=0)  # noqa: PTH123, SIM115
    with pytest.raises(SitusError, match="free some space"):
        journal.add(AnswerRow("x"))
    assert not journal.is_done("x")
    journal._file._stream.close()
