"""What reaches a terminal or a page is text:
no escape code, whatever the data hold, and no silent loss."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situs.base.text import json_safe, markdown_safe, printable

HOSTILE = "\x1b[31mred\x1b]0;title\x07\x9b2J\x7f\u202egnp.exe\u2028"


@given(st.text())
def test_json_means_the_same_and_holds_no_code(text: str) -> None:
    plain = json_safe(json.dumps(text, ensure_ascii=False))
    assert json.loads(plain) == text
    assert plain.isprintable()


@given(st.text())
def test_nothing_unprinted_is_printed(text: str) -> None:
    assert printable(text).isprintable()
    assert printable(text, lines=True).replace("\n", "").isprintable()


def test_markdown_holds_no_markup_of_the_data() -> None:
    assert (
        markdown_safe("<script>alert(1)</script> a|b [x](javascript:1) `c`")
        == r"&lt;script&gt;alert(1)&lt;/script&gt; a\|b \[x\](javascript:1) \`c\`"
    )
    assert markdown_safe("lesion_side") == "lesion_side"


@pytest.fixture
def hostile_bench(situs, tmp_path: Path) -> Path:
    """Questions whose every word may be an escape code."""
    rows = [
        {
            "study": f"s{n}",
            "question": f"{HOSTILE} {n}?",
            "answer": "a",
            "options": ["a", f"b{HOSTILE}"],
            "task": f"{HOSTILE}<img src=x onerror=alert(1)>",
            "tags": [HOSTILE],
        }
        for n in range(3)
    ]
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    built = situs("import", "items", tmp_path / "items.jsonl", "--out", tmp_path / "bench")
    assert built.code == 0, built.err
    shows(built)
    return tmp_path / "bench"


def shows(ran) -> None:
    """Both streams hold text and line breaks only."""
    assert ran.out.replace("\n", "").isprintable()
    assert ran.err.replace("\n", "").isprintable()


def test_escape_codes_of_data_reach_no_terminal(situs, hostile_bench, tmp_path) -> None:
    run = tmp_path / "run"
    shows(situs("run", hostile_bench, "--model", "random", "--out", run))
    shows(situs("check", hostile_bench))
    for words in (
        (),
        ("--breakdowns", "--signatures"),
        ("--json",),
        ("--tables", tmp_path / "tables"),
    ):
        ran = situs("score", hostile_bench, run, *words)
        assert ran.code == 0
        shows(ran)
    shows(situs("compare", run, run))
    shows(situs("report", run, "--out", tmp_path / "report.html"))
    shows(situs("show", hostile_bench, "--out", tmp_path / "shown"))
    shows(situs("run", hostile_bench, "--model", f"random:{HOSTILE}", "--out", tmp_path / "other"))
    cards = [hostile_bench / "README.md", *(tmp_path / "tables").glob("*.md")]
    assert not any("<img" in card.read_text() for card in cards)


def _run(*words: object, **more: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "situs", *map(str, words)]
    return subprocess.run(command, stderr=subprocess.PIPE, check=False, **more)  # type: ignore[call-overload]


def test_signs_that_an_encoding_lacks_are_spelt_out(hostile_bench) -> None:
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    ran = _run("check", hostile_bench, "--json", env=environment, stdout=subprocess.PIPE)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["items"] == 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_behind_standard_output_is_told(hostile_bench) -> None:
    with Path("/dev/full").open("wb") as full:
        ran = _run("check", hostile_bench, stdout=full)
    assert ran.returncode == 2
    assert ran.stderr.count(b"\n") == 1
    assert b"standard output" in ran.stderr


def test_a_closed_standard_output_is_told(hostile_bench) -> None:
    ran = _run("check", hostile_bench, preexec_fn=lambda: os.close(1))
    assert ran.returncode == 0
    assert b"standard output is closed" in ran.stderr
    assert b"Traceback" not in ran.stderr


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_stopped_while_it_loads(tmp_path: Path, stop: signal.Signals) -> None:
    """Nothing has been begun: the program ends as any other,
    without a traceback out of an import."""
    # A module that the first command needs waits in the middle of its import until it is stopped.
    (tmp_path / "click").mkdir()
    waiting = "import sys, time\nprint('loading', flush=True)\ntime.sleep(60)\n"
    (tmp_path / "click" / "__init__.py").write_text(waiting)
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "PYTHONSAFEPATH": "1"}
    command = [sys.executable, "-m", "situs", "doctor"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"loading\n"
        process.send_signal(stop)
        _, err = process.communicate(timeout=30)
    assert process.returncode == -stop
    assert err == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", [("nonsense",), ("list", "tasks"), ("list",), ("--help",)])
def test_no_room_for_any_word_is_no_traceback(words: tuple[str, ...]) -> None:
    """Neither the answer nor the complaint about it can be written; the exit code still tells."""
    command = [sys.executable, "-m", "situs", *words]
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(command, stdout=full, stderr=full, check=False)
    assert ran.returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_help_that_cannot_be_written_is_told() -> None:
    with Path("/dev/full").open("wb") as full:
        ran = _run("--help", stdout=full)
    assert ran.returncode == 2
    assert ran.stderr.count(b"\n") == 1
    assert b"standard output" in ran.stderr


def test_a_closed_standard_input_is_an_empty_one(tmp_path: Path) -> None:
    environment = os.environ | {"SITUS_CACHE": str(tmp_path)}
    (tmp_path / "slices").mkdir()
    (tmp_path / "slices" / "one").write_bytes(b"x")
    ran = _run("purge", env=environment, preexec_fn=lambda: os.close(0), stdout=subprocess.PIPE)
    assert (ran.returncode, b"add --yes" in ran.stderr) == (0, True)
