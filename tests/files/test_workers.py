"""Results come in order whatever ends a worker;
workers never outlive the program or run foreign code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from situs.base.workers import Lost, map_jobs


def _open_square() -> Callable[[int], int]:
    return _square


def _square(job: int) -> int:
    time.sleep(0.05 if job % 3 == 0 else 0.0)
    return job * job


def _open_killer(folder: Path, times: int) -> Callable[[int], int]:
    return partial(_die_on_two, folder, times)


def _die_on_two(folder: Path, times: int, job: int) -> int:
    """Job 2 kills its worker as often as it is told."""
    if job == 2 and len(list(folder.iterdir())) < times:
        (folder / f"death-{time.monotonic_ns()}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return job


def _open_failing() -> Callable[[int], int]:
    return _fail


def _fail(job: int) -> int:
    raise ZeroDivisionError(f"job {job}")


def test_results_in_the_order_of_the_jobs() -> None:
    jobs = list(range(20))
    assert list(map_jobs(_open_square, jobs, 2)) == [job * job for job in jobs]


def test_more_workers_than_any_machine_has_are_no_more_than_there_are_jobs() -> None:
    assert list(map_jobs(_open_square, range(3), 10**20)) == [0, 1, 4]


def test_a_killed_worker_costs_one_more_try(tmp_path: Path) -> None:
    assert list(map_jobs(partial(_open_killer, tmp_path, 1), range(6), 2)) == list(range(6))


def test_a_job_that_kills_twice_is_lost_and_the_others_go_on(tmp_path: Path) -> None:
    results = list(map_jobs(partial(_open_killer, tmp_path, 9), range(6), 2))
    assert [job for job in results if not isinstance(job, Lost)] == [0, 1, 3, 4, 5]
    lost = results[2]
    assert isinstance(lost, Lost)
    assert lost.job == 2
    assert "SIGKILL" in lost.reason
    assert len(list(tmp_path.iterdir())) == 2


def test_a_bug_is_raised_with_the_workers_traceback() -> None:
    with pytest.raises(ZeroDivisionError) as error:
        list(map_jobs(_open_failing, range(4), 2))
    assert "in a worker process" in error.value.__notes__[0]


def _script(tmp_path: Path, body: str) -> Path:
    script = tmp_path / "program" / "main.py"
    script.parent.mkdir()
    script.write_text(textwrap.dedent(body))
    return script


_SLOW = """
    import sys, time
    from pathlib import Path
    from situs.base.workers import map_jobs

    def open_slow():
        return slow

    def slow(job):
        import os
        Path(sys.argv[1], str(os.getpid())).touch()
        time.sleep(300)

    if __name__ == "__main__":
        list(map_jobs(open_slow, range(4), 2))
"""


def _is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_workers_end_when_the_program_is_killed(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    program = subprocess.Popen([sys.executable, _script(tmp_path, _SLOW), marks])
    deadline = time.monotonic() + 3000
    while len(list(marks.iterdir())) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    workers = [int(path.name) for path in marks.iterdir()]
    assert len(workers) == 2
    program.send_signal(signal.SIGKILL)
    program.wait()
    deadline = time.monotonic() + 300
    while any(map(_is_running, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(_is_running, workers))


_BUSY = """
    import ctypes, os, sys
    from pathlib import Path
    from situs.base.workers import map_jobs

    def open_busy():
        return busy

    def busy(job):
        Path(sys.argv[1], str(os.getpid())).touch()
        ctypes.PyDLL(None).sleep(1200)  # machine code that keeps the interpreter to itself

    if __name__ == "__main__":
        list(map_jobs(open_busy, range(4), 2))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_workers_in_machine_code_end_when_the_program_is_killed(tmp_path: Path) -> None:
    """No thread of a worker is served while compiled code runs: the system has to end it."""
    marks = tmp_path / "marks"
    marks.mkdir()
    program = subprocess.Popen([sys.executable, _script(tmp_path, _BUSY), marks])
    deadline = time.monotonic() + 300
    while len(list(marks.iterdir())) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    workers = [int(path.name) for path in marks.iterdir()]
    assert len(workers) == 2
    program.send_signal(signal.SIGKILL)
    program.wait()
    deadline = time.monotonic() + 300  # far less than the work would take
    while any(map(_is_running, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(_is_running, workers))


_INTERRUPTED_AT_BIRTH = """
    import os, signal, sys, time
    from situs.base.workers import map_jobs

    if __name__ != "__main__":  # a worker, as it loads the program: a terminal sends it Ctrl-C too
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)

    def open_nothing():
        return abs

    if __name__ == "__main__":
        print(list(map_jobs(open_nothing, range(4), 2)))
"""


def test_a_worker_that_is_interrupted_as_it_starts_says_nothing(tmp_path: Path) -> None:
    """The program hears Ctrl-C and ends its workers; their own tracebacks would be noise."""
    script = _script(tmp_path, _INTERRUPTED_AT_BIRTH)
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("[0, 1, 2, 3]\n", "")


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["multiprocessing", "numpy", "signal", "situs"])
def test_code_beside_the_data_does_not_run(tmp_path: Path, name: str) -> None:
    """A data folder may hold a file that is called like a module;
    workers start there and ignore it."""
    data = tmp_path / "data"
    data.mkdir()
    (data / f"{name}.py").write_text("from pathlib import Path\nPath('ran').touch()\n")
    code = """
        import sys
        from situs.base.workers import map_jobs

        def open_nothing():
            import numpy, signal
            return abs

        if __name__ == "__main__":
            print(list(map_jobs(open_nothing, [1, -2, 3], 2)))
    """
    script = _script(tmp_path, code)
    done = subprocess.run(
        [sys.executable, "-P", script], cwd=data, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "[1, 2, 3]", done.stderr
    assert not (data / "ran").exists()


@pytest.mark.parametrize("name", ["click", "typing", "enum", "signal", "__future__"])
def test_python_m_situs_does_not_run_code_beside_the_data(tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.py").write_text("from pathlib import Path\nPath('ran').touch()\n")
    command = [sys.executable, "-m", "situs", "--version"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "ran").exists()


def test_a_script_that_starts_itself_in_its_workers_is_told_so(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text(
        "from situs.base.workers import map_jobs\n"
        "def open_worker(): return abs\n"
        "list(map_jobs(open_worker, range(4), 2))\n"
    )
    ran = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 1
    last = ran.stderr.splitlines()[-1]
    assert "put the calls under `if __name__ ==" in last
    assert "situs.errors.SitusError" in last
    assert ran.stderr.count("Traceback") == 1, "one for the caller, none for workers"
