"""Law 8, resume: killed anywhere and resumed,
a run ends with the same (item_id, state, response) set."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from situs.bench import open_bench
from situs.run import AnswerRow, Journal, read_journal

Answers = set[tuple[str, str, str]]
MODEL = "random?delay=0.02"


def answers(run: Path) -> Answers:
    """What the journal holds; every item has exactly one row that is not `failed`."""
    rows = [json.loads(line) for line in (run / "answers.jsonl").read_text().splitlines()]
    counts = Counter(row["item_id"] for row in rows if row["state"] != "failed")
    assert set(counts.values()) <= {1}
    return {(row["item_id"], row["state"], row["response"]) for row in rows}


@pytest.fixture(scope="module")
def uninterrupted(situs, bench, tmp_path_factory) -> Answers:
    """The answers of a run that nothing disturbed."""
    out = tmp_path_factory.mktemp("whole") / "run"
    assert situs("run", bench, "--model", "random", "--out", out).code == 0
    return answers(out)


def start(bench: Path, out: Path, model: str = MODEL, **settings: Any) -> subprocess.Popen[bytes]:
    command = [
        sys.executable,
        "-m",
        "situs",
        "run",
        str(bench),
        "--model",
        model,
        "--out",
        str(out),
    ]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **settings)


def wait_for_lines(run: Path, more_than: int, process: subprocess.Popen[bytes]) -> None:
    journal = run / "answers.jsonl"
    while process.poll() is None:
        if journal.exists() and journal.read_bytes().count(b"\n") > more_than:
            return
        time.sleep(0.002)


def lines(run: Path) -> int:
    journal = run / "answers.jsonl"
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def test_killed_again_and_again_it_ends_with_the_same_answers(
    bench, tmp_path, uninterrupted
) -> None:
    out, rng, killed, seen = tmp_path / "run", random.Random(8), 0, 0
    for attempt in range(4):
        with start(bench, out) as process:
            if attempt == 0:
                time.sleep(rng.uniform(0.1, 0.4))  # before or while run.json is written
            else:
                wait_for_lines(out, lines(out) + rng.randrange(8), process)
                time.sleep(rng.uniform(0.0, 0.01))
            process.kill()
            killed += process.wait() == -signal.SIGKILL
        assert lines(out) >= seen, "an answer that was there is lost"
        seen = lines(out)
    # On a busy machine it may be done before a kill arrives; what was killed and resumed is what
    # counts.
    assert killed >= 2
    assert seen > 0
    with start(bench, out) as process:
        assert process.wait() == 0, process.stderr and process.stderr.read()
    assert answers(out) == uninterrupted
    assert {path.name for path in out.iterdir()} == {"answers.jsonl", "locations.json", "run.json"}


def test_a_finished_run_asks_nothing_again(situs, bench, tmp_path) -> None:
    args = ("run", bench, "--model", "random", "--out", tmp_path / "run", "--json")
    first, again = situs(*args).json, situs(*args).json
    assert first["requests"] == first["items"] == again["items"]
    assert again["requests"] == 0
    assert again["states"] == first["states"]


def test_a_journal_cut_anywhere_is_mended(situs, bench, tmp_path, uninterrupted) -> None:
    """As a crash of the machine may leave it:
    inside a line, at its end, in the first one, empty."""
    out = tmp_path / "run"
    situs("run", bench, "--model", "random", "--out", out)
    whole = (out / "answers.jsonl").read_bytes()
    rng = random.Random(1)
    ends = [n + 1 for n, byte in enumerate(whole) if byte == 10]
    for cut in [
        0,
        1,
        ends[0] - 1,
        ends[0],
        ends[0] + 1,
        ends[5] - 1,
        *(rng.randrange(len(whole)) for _ in range(14)),
    ]:
        (out / "answers.jsonl").write_bytes(whole[:cut])
        assert situs("run", bench, "--model", "random", "--out", out).code == 0
        assert answers(out) == uninterrupted


def test_rubbish_after_the_last_line_is_dropped(situs, bench, tmp_path, uninterrupted) -> None:
    """A file system may leave zeros where the last block was being written."""
    out = tmp_path / "run"
    situs("run", bench, "--model", "random", "--out", out)
    journal = out / "answers.jsonl"
    for rubbish in (b"\0" * 100_000, b"\xff\xfe{", b'{"item_id": "'):
        journal.write_bytes(journal.read_bytes()[:2000].rpartition(b"\n")[0] + b"\n" + rubbish)
        assert situs("run", bench, "--model", "random", "--out", out).code == 0
        assert answers(out) == uninterrupted


def test_what_a_kill_leaves_before_run_json_is_there_does_not_matter(
    situs, bench, tmp_path, uninterrupted
) -> None:
    out = tmp_path / "run"
    out.mkdir()
    (out / ".run.json.0011aabb.part").write_bytes(b'{"cli')
    assert situs("run", bench, "--model", "random", "--out", out).code == 0
    assert answers(out) == uninterrupted
    assert {path.name for path in out.iterdir()} == {"answers.jsonl", "locations.json", "run.json"}


def test_failed_calls_are_asked_again(situs, bench, tmp_path, uninterrupted) -> None:
    out = tmp_path / "run"
    situs("run", bench, "--model", "random", "--out", out)
    first, *rest = (out / "answers.jsonl").read_text().splitlines()
    failed = json.dumps(json.loads(first) | {"state": "failed", "response": "", "error": "timeout"})
    (out / "answers.jsonl").write_text("\n".join([failed, *rest, ""]))
    assert situs("run", bench, "--model", "random", "--out", out, "--json").json["requests"] == 1
    assert {row for row in answers(out) if row[1] != "failed"} == uninterrupted
    assert read_journal(out / "answers.jsonl")[json.loads(first)["item_id"]].state == "answered"


def test_ctrl_c_ends_with_130_and_keeps_the_journal(bench, tmp_path) -> None:
    out = tmp_path / "run"
    with start(bench, out, "random?delay=0.05") as process:
        wait_for_lines(out, 3, process)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=300)
    assert process.returncode == 130
    assert b"Traceback" not in errors
    assert [line for line in errors.decode().splitlines() if line] == [
        "situs: stopped; finished answers are kept; the same command resumes"
    ]
    assert 3 < len(answers(out)) < len(list(open_bench(bench).items()))


@pytest.fixture
def run(situs, bench, tmp_path) -> Path:
    """An unfinished run."""
    out = tmp_path / "run"
    situs("run", bench, "--model", "random", "--out", out)
    journal = out / "answers.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:10]))
    return out


def content(run: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in run.iterdir()}


def another_profile(bench: Path, folder: Path) -> tuple[object, ...]:
    import situs.profiles as room

    text = (Path(room.__file__).parent / "data" / "default.toml").read_text()
    (folder / "other.toml").write_text(text.replace("slices = 32", "slices = 8"))
    return (bench, "--model", "random", "--profile", folder / "other.toml")


def another_bench(bench: Path, folder: Path) -> tuple[object, ...]:
    copy = Path(shutil.copytree(bench, folder / "other"))
    info = json.loads((copy / "bench.json").read_text()) | {"content_hash": "0" * 32}
    (copy / "bench.json").write_text(json.dumps(info))
    return (copy, "--model", "random")


OTHERS: dict[str, Callable[[Path, Path], tuple[object, ...]]] = {
    "model": lambda bench, folder: (bench, "--model", "majority"),
    "model's settings": lambda bench, folder: (bench, "--model", "random?seed=1"),
    "profile": another_profile,
    "bench": another_bench,
}


@pytest.mark.parametrize("name", OTHERS)
def test_resuming_with_another_is_refused_and_changes_nothing(
    situs, bench, tmp_path, run, name
) -> None:
    before = content(run)
    ran = situs("run", *OTHERS[name](bench, tmp_path), "--out", run)
    assert ran.code == 2
    assert "another" in ran.err
    assert content(run) == before


def full_after(count: int) -> Callable[[Any, Any], int]:
    written = 0

    def write(stream: Any, data: Any) -> int:
        nonlocal written
        written += 1
        if written == count:
            return os.write(
                stream.fileno(), bytes(data)[:7]
            )  # a short write, as the last block takes it
        if written > count:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return os.write(stream.fileno(), bytes(data))

    return write


def test_a_full_disk_is_one_line_and_loses_nothing(
    situs, bench, tmp_path, run, uninterrupted, monkeypatch
) -> None:
    kept = answers(run)
    before = Journal.__init__

    class Full:
        """The journal's file on a disk that fills up."""

        def __init__(self, stream: Any) -> None:
            self._stream, self._write = stream, full_after(4)

        def write(self, data: Any) -> int:
            return self._write(self._stream, data)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._stream, name)

    def init(self: Journal, path: Path) -> None:
        before(self, path)
        self._file._stream = Full(self._file._stream)  # type: ignore[assignment]

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "__init__", init)
        ran = situs("run", bench, "--model", "random", "--out", run)
    assert ran.code == 2
    assert "No space left" in ran.err
    assert len(ran.err.splitlines()) == 1
    journal = (run / "answers.jsonl").read_bytes()
    assert not journal.endswith(b"\n"), "the torn line this test is about"
    assert len(read_journal(run / "answers.jsonl")) == len(kept) + 3
    assert situs("run", bench, "--model", "random", "--out", run).code == 0
    assert answers(run) == uninterrupted


def test_a_real_limit_on_the_file_size_is_one_line_too(bench, tmp_path, uninterrupted) -> None:
    """The kernel itself cuts the write short, and closing the file must not bring it up again."""
    import resource

    out = tmp_path / "run"

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    with start(bench, out, "random", preexec_fn=limit) as process:
        _, errors = process.communicate(timeout=300)
    assert process.returncode == 2
    assert len(errors.decode().splitlines()) == 1
    assert (out / "answers.jsonl").stat().st_size == 4096
    with start(bench, out, "random") as process:
        assert process.wait() == 0
    assert answers(out) == uninterrupted


def test_a_folder_in_the_journals_place_is_refused(situs, bench, run) -> None:
    (run / "answers.jsonl").unlink()
    (run / "answers.jsonl").mkdir()
    ran = situs("run", bench, "--model", "random", "--out", run)
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)


def test_rows_survive_any_text(tmp_path) -> None:
    said = ['"', "\n\r\u2028", "\0", "é – 正", "{", "a" * 100_000]
    with Journal(tmp_path / "answers.jsonl") as journal:
        for number, text in enumerate(said):
            journal.add(AnswerRow(f"i{number}", response=text))
    assert [row.response for row in read_journal(tmp_path / "answers.jsonl").values()] == said
