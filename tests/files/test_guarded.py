"""What docs/care.md promises, one test a promise, by the command line and public names alone.

They need nothing that was made to keep the promises, so that they can be put to any version (copy
the file into its `tests`). Release 0.1.0, from before they were given, fails these and more:

    names stay in       names_stay_in, a_key_that_can_be_guessed, what_is_restricted
    paths stay inside   paths_stay_inside, code_beside_the_data, only_a_file_is_replaced
    nothing half-done   a_folder_that_appears, a_bench_that_is_replaced, a_terminated_build,
                        a_killed_worker, a_report_that_fails
    nothing hangs       nothing_hangs, a_reply_is_read_to_a_limit, a_pipe_is_no_file
    mistakes            mistakes_are_one_line, a_bench_that_contradicts_itself, nothing_usable
    text is text        text_is_text, a_stream_that_is_closed, a_terminal_of_another_alphabet,
                        markdown_is_no_page
    keys stay out       keys_stay_out_of_files
    the same bytes      a_report_has_the_same_bytes
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from situs.score import loose_values, parse_frames, sgmri

NAME = "Quixote"
KEY = "sk-guarded-0123456789abcdefghij"


def imported(situs: Any, folder: Path, **more: object) -> Path:
    """A bench of one question."""
    row = {"study": f"{NAME} 1", "patient": NAME, "question": "Is it?", "answer": "yes"} | more
    (folder / "items.jsonl").write_text(json.dumps(row) + "\n")
    ran = situs("import", "items", folder / "items.jsonl", "--out", folder / "bench")
    assert ran.code == 0, ran.err
    assert (ran.out + ran.err).replace("\n", "").isprintable()
    return folder / "bench"


def test_names_stay_in(situs, tmp_path) -> None:
    bench = imported(situs, tmp_path)
    tables = "".join(str(pq.read_table(path).to_pylist()) for path in bench.glob("*.parquet"))
    assert "Is it?" in tables
    assert NAME not in tables


def test_a_key_that_can_be_guessed_is_refused(situs, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("SITUS_ID_KEY", "short")
    (tmp_path / "items.jsonl").write_text('{"study": "s", "question": "Is it?", "answer": "yes"}\n')
    ran = situs("import", "items", tmp_path / "items.jsonl", "--out", tmp_path / "bench")
    assert (ran.code, (tmp_path / "bench").exists()) == (2, False)


def test_what_is_restricted_is_its_owners(situs, tmp_path) -> None:
    """Whatever the user lets others read otherwise."""
    before = os.umask(0)
    try:
        bench = imported(situs, tmp_path)
        assert situs("run", bench, "--model", "random", "--out", tmp_path / "run").code == 0
    finally:
        os.umask(before)
    assert (tmp_path / "run").stat().st_mode & 0o077 == 0
    assert (bench / "locations.json").stat().st_mode & 0o077 == 0


def test_a_folder_that_appears_meanwhile_is_not_removed(situs, tmp_path, monkeypatch) -> None:
    """Where a build began there was none; what somebody put there since is theirs."""
    write = pq.ParquetWriter.close

    def close(writer: pq.ParquetWriter) -> None:
        write(writer)
        (tmp_path / "bench").mkdir(exist_ok=True)
        (tmp_path / "bench" / "thesis.txt").write_text("years")

    monkeypatch.setattr(pq.ParquetWriter, "close", close)
    (tmp_path / "items.jsonl").write_text('{"study": "s", "question": "Is it?", "answer": "yes"}\n')
    ran = situs("import", "items", tmp_path / "items.jsonl", "--out", tmp_path / "bench")
    assert (tmp_path / "bench" / "thesis.txt").exists()
    assert ran.code == 2


def test_a_bench_that_is_replaced_is_old_or_new_at_any_moment(situs, tmp_path, monkeypatch) -> None:
    """As if the program were killed as soon as it has removed anything."""
    bench = imported(situs, tmp_path)
    remove = shutil.rmtree

    def remove_and_die(*args: Any, **more: Any) -> None:
        remove(*args, **more)
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "rmtree", remove_and_die)
    words = ("import", "items", tmp_path / "items.jsonl", "--out", bench, "--overwrite")
    with contextlib.suppress(KeyboardInterrupt):
        situs(*words)
    monkeypatch.undo()
    assert situs("check", bench).code == 0


def test_paths_stay_inside(situs, bench, tmp_path) -> None:
    made = Path(shutil.copytree(bench, tmp_path / "bench"))
    table = pq.read_table(made / "items.parquet")
    rows = [row | {"split": "../../outside"} for row in table.to_pylist()]
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), made / "items.parquet")
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    situs("export", made, "--to", "hf", "--limit", 1, "--allow-restricted", "--out", inside / "hf")
    assert {path.name for path in tmp_path.iterdir()} == {"a", "bench"}
    assert {path.name for path in (tmp_path / "a").iterdir()} == {"b"}


def test_code_beside_the_data_does_not_run(tmp_path) -> None:
    (tmp_path / "click.py").write_text("print('owned')\nraise SystemExit(7)\n")
    command = [sys.executable, "-m", "situs", "--version"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, "owned" in ran.stdout) == (0, False)


def test_a_terminated_build_leaves_no_process(tmp_path) -> None:
    """SIGTERM ends the workers too,
    and what is hidden beside --out is the next call's to resume."""
    words = ["build", "phantoms", "--studies", "4", "--jobs", "2", "--out", str(tmp_path / "bench")]
    process = subprocess.Popen(
        [sys.executable, "-m", "situs", *words], stderr=subprocess.PIPE, start_new_session=True
    )
    while process.poll() is None and len(members(process.pid)) < 3:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=600)
    deadline = time.monotonic() + 300
    while members(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    left = members(process.pid)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []
    assert b"Traceback" not in err
    assert not (tmp_path / "bench").exists()


def test_a_killed_worker_costs_no_study(situs, tmp_path) -> None:
    """What the system kills for want of memory is tried once more, and the rest goes on."""
    words = ["build", "phantoms", "--studies", "2", "--out"]
    process = subprocess.Popen(
        [sys.executable, "-m", "situs", *words, str(tmp_path / "killed"), "--jobs", "2"],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    while process.poll() is None and not (workers := workers_of(process.pid)):
        time.sleep(0.05)
    os.kill(workers[0], signal.SIGKILL)
    _, err = process.communicate(timeout=600)
    assert b"Traceback" not in err
    assert process.returncode == 0, err
    assert situs(*words, tmp_path / "whole").code == 0
    killed, whole = (
        pq.read_table(tmp_path / name / "items.parquet").to_pylist() for name in ("killed", "whole")
    )
    assert killed == whole


def workers_of(program: int) -> list[int]:
    """Its workers: not the tracker that Python starts beside them."""
    words = {process: Path(f"/proc/{process}/cmdline") for process in members(program)}
    return [
        process
        for process, file in words.items()
        if process != program and file.exists() and b"spawn_main" in file.read_bytes()
    ]


def members(session: int) -> list[int]:
    """Living processes of a session."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            fields = (
                (entry / "stat").read_text().rpartition(")")[2].split()
                if entry.name.isdigit()
                else []
            )
        except OSError:
            continue
        if fields and int(fields[3]) == session and fields[0] != "Z":
            found.append(int(entry.name))
    return found


@pytest.mark.parametrize(
    ("read", "piece"),
    [
        (lambda text: list(loose_values(text)), "["),
        (lambda text: parse_frames(text, 1, 40), "frames 1-2, "),
    ],
)
def test_nothing_hangs(read, piece) -> None:
    """A reply of 32 KB takes some hundredths of a second of work; by its square it took many."""
    text = piece * (32_000 // len(piece))
    read(text[:400])  # patterns are compiled once
    begun = time.thread_time()
    read(text)
    assert time.thread_time() - begun < 1.5


def test_a_pipe_is_no_file(situs, tmp_path) -> None:
    pipe = tmp_path / "items.jsonl"
    os.mkfifo(pipe)
    row = '{"study": "s", "question": "Is it?", "answer": "yes"}\n'
    # Whoever reads it gets a question; where nobody does, the thread ends with the tests.
    threading.Thread(target=pipe.write_text, args=(row,), daemon=True).start()
    ran = situs("import", "items", pipe, "--out", tmp_path / "bench")
    assert (ran.code, ran.err.count("\n")) == (2, 1)


def test_a_reply_is_read_to_a_limit() -> None:
    box = "<bbx>[1,2,30,40]</bbx>"
    assert sgmri.parse_boxes(f"Here: {box}")
    assert not sgmri.parse_boxes("a" * 300_000 + box)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("direction_margin_mm", "nan"),
        ("direction_margin_mm", "-1"),
        ("direction_margin_mm", "1e308"),
        ("contact_faces", "9" * 400),  # no float holds it
        ("contact_faces", f"0x{'f' * 5000}"),  # nor may Python write it in digits
    ],
)
def test_mistakes_are_one_line(situs, tmp_path, name, value) -> None:
    recipe = files("situs.facts").joinpath("data", "recipe.toml").read_text("utf-8")
    odd = re.sub(rf"(?m)^{name} = .*$", f"{name} = {value}", recipe)
    assert odd != recipe
    (tmp_path / "recipe.toml").write_text(odd)
    words = (
        "build",
        "phantoms",
        "--studies",
        1,
        "--recipe",
        tmp_path / "recipe.toml",
        "--out",
        tmp_path / "bench",
    )
    ran = situs(*words)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert not (tmp_path / "bench").exists()


def test_a_bench_that_contradicts_itself_is_one_line(situs, tmp_path) -> None:
    bench = imported(situs, tmp_path, options=["yes", "no"], answer="A")
    table = pq.read_table(bench / "items.parquet")
    (row,) = table.to_pylist()
    for changes in ({"options": []}, {"options": row["options"][1:]}, {"study_id": "nobody"}):
        odd = row | changes
        pq.write_table(pa.Table.from_pylist([odd], table.schema), bench / "items.parquet")
        for words in (
            ("check", bench),
            ("quiz", bench, "--items", 1, "--out", tmp_path / "q.html"),
        ):
            ran = situs(*words)
            assert ran.code in (1, 2)
            assert ran.err.count("\n") == ran.code - 1


def test_a_split_that_is_asked_for_is_no_error(situs, tmp_path) -> None:
    assert situs("check", imported(situs, tmp_path, split="val")).code == 0


def test_nothing_usable_is_not_a_success(situs, tmp_path) -> None:
    (tmp_path / "grades.csv").write_text(
        "study,patient,side,shape,affine,question,sub_score,grade\nk,p,right,x,y,1,size,bad\n"
    )
    words = ("build", "grades", tmp_path / "grades.csv", "--skip-bad", "--out", tmp_path / "knees")
    assert situs(*words).code != 0
    bench = imported(situs, tmp_path)
    nobody = "openai:m@http://127.0.0.1:9/v1"
    ran = situs("run", bench, "--model", nobody, "--tries", 1, "--out", tmp_path / "run")
    assert ran.code != 0


@pytest.mark.parametrize("closed", [1, 2])
def test_a_stream_that_is_closed_ends_nothing(situs, tmp_path, closed) -> None:
    bench = imported(situs, tmp_path)
    command = [sys.executable, "-m", "situs", "check", str(bench)]
    ran = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}>&-', "sh", *command], capture_output=True, check=False
    )
    assert b"Traceback" not in ran.stderr
    assert ran.returncode in (0, 2)


def test_a_terminal_of_another_alphabet_ends_nothing(situs, tmp_path) -> None:
    bench = imported(situs, tmp_path, task="größer als 3 µm ≥ 左")
    surroundings = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    for words in (["check", bench], ["check", bench, "--json"], ["list", "metrics"]):
        ran = subprocess.run(
            [sys.executable, "-m", "situs", *map(str, words)],
            env=os.environ | surroundings,
            capture_output=True,
            check=False,
        )
        assert (ran.returncode, ran.stderr) == (0, b"")
        ran.stdout.decode("ascii")


def test_markdown_is_no_page(situs, tmp_path) -> None:
    bench = imported(situs, tmp_path, task="<img src=x onerror=alert(1)>")
    assert situs("run", bench, "--model", "random", "--out", tmp_path / "run").code == 0
    scored = ("score", bench, tmp_path / "run", "--breakdowns", "--tables", tmp_path / "tables")
    assert situs(*scored).code == 0
    pages = [*(tmp_path / "tables").glob("*.md"), bench / "README.md"]
    assert len(pages) > 1
    assert not [page for page in pages if "<img" in page.read_text()]


def test_text_is_text(situs, tmp_path) -> None:
    bench = imported(situs, tmp_path, task="\x1b]0;owned\x07")
    for words in (("check", bench), ("run", bench, "--model", "random", "--out", tmp_path / "run")):
        ran = situs(*words)
        assert (ran.out + ran.err).replace("\n", "").isprintable()
    scored = situs("score", bench, tmp_path / "run")
    assert (scored.out + scored.err).replace("\n", "").isprintable()


@pytest.mark.parametrize(
    "spec",
    [
        "openai:m@http://127.0.0.1:9/{}/v1",
        "openai:m@http://127.0.0.1:9/v1?secret={}",
        'openai:m@http://127.0.0.1:9/v1?headers={{"Authorization": "Bearer {}"}}',
        "openai:{}@http://127.0.0.1:9/v1",
    ],
)
def test_keys_stay_out_of_files(situs, tmp_path, spec) -> None:
    bench = imported(situs, tmp_path)
    situs("run", bench, "--model", spec.format(KEY), "--tries", 1, "--out", tmp_path / "run")
    held = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert KEY.encode() not in held


def test_a_report_has_the_same_bytes_each_time(situs, tmp_path) -> None:
    """Python keeps sets of words in another order each time it is started."""
    bench, run = tmp_path / "bench", tmp_path / "run"
    assert situs("build", "phantoms", "--studies", 1, "--out", bench).code == 0
    assert situs("run", bench, "--model", "random", "--out", run).code == 0
    reports = []
    for seed in ("1", "2"):
        out = tmp_path / f"{seed}.html"
        words = ["report", str(run), "--bench", str(bench), "--out", str(out)]
        command = [sys.executable, "-m", "situs", *words, "--pictures", "4", "--allow-restricted"]
        environment = os.environ | {"PYTHONHASHSEED": seed}
        subprocess.run(command, check=True, env=environment, capture_output=True)
        reports.append(out.read_bytes())
    assert b"data:image" in reports[0]
    assert reports[0] == reports[1]


def test_a_report_that_fails_writes_nothing(situs, tmp_path) -> None:
    """The folder of tables is looked at before the page is written."""
    bench = imported(situs, tmp_path)
    assert situs("run", bench, "--model", "random", "--out", tmp_path / "run").code == 0
    (tmp_path / "tables").write_text("a file")
    words = ("report", tmp_path / "run", "--bench", bench, "--out", tmp_path / "report.html")
    ran = situs(*words, "--tables", tmp_path / "tables")
    assert (ran.code, (tmp_path / "report.html").exists()) == (2, False)


@pytest.mark.parametrize("option", ["--tables", "--charts"])
def test_a_report_is_written_with_all_that_belongs_to_it_or_not(situs, tmp_path, option) -> None:
    """A folder that no disk takes is known when it is made, after all others."""
    bench = imported(situs, tmp_path)
    assert situs("run", bench, "--model", "random", "--out", tmp_path / "run").code == 0
    before = sorted(tmp_path.iterdir())
    words = ("report", tmp_path / "run", "--bench", bench, "--out", tmp_path / "new" / "page.html")
    ran = situs(*words, option, f"{tmp_path}/{'d/' * 2500}x")
    assert (ran.code, sorted(tmp_path.iterdir())) == (2, before)
    assert ran.err.count("\n") == 1


def test_a_link_that_leads_to_itself_is_refused(situs, tmp_path) -> None:
    bench = imported(situs, tmp_path)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for words in (
        ("debias", bench, "--out", loop),
        ("run", bench, "--model", "random", "--out", loop),
        ("check", loop),
    ):
        ran = situs(*words)
        assert (ran.code, ran.err.count("\n")) == (2, 1)


def test_only_a_file_is_replaced(situs, tmp_path) -> None:
    """As root, a page written to /dev/null would take it away from all."""
    bench = imported(situs, tmp_path)
    assert situs("run", bench, "--model", "random", "--out", tmp_path / "run").code == 0
    os.mkfifo(tmp_path / "pipe")
    ran = situs("report", tmp_path / "run", "--bench", bench, "--out", tmp_path / "pipe")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("kind", ["link", "pipe"])
@pytest.mark.parametrize("name", ["answers.jsonl", "hidden.jsonl"])
def test_a_run_of_others_leads_nowhere_else(situs, tmp_path, kind, name) -> None:
    """Its journals are added to, and a torn last line is cut off: of that file, not of yours."""
    bench = imported(situs, tmp_path)
    run, diary = tmp_path / "run", tmp_path / "diary.txt"
    model = "random" if name == "answers.jsonl" else "openai:m@http://127.0.0.1:9/v1"
    words = ("run", bench, "--model", model, "--tries", 1, "--out", run)
    situs(*words)
    for journal in {"answers.jsonl", name}:
        (run / journal).unlink()
    diary.write_text("no line break at the end")
    if kind == "link":
        (run / name).symlink_to(diary)
    else:
        os.mkfifo(run / name)
    ran = situs(*words)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert diary.read_text() == "no line break at the end"
