"""What the tests of the command line share."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def snapshot(folder: Path) -> dict[str, tuple[int, int] | None]:
    """Every entry of a folder, hidden ones too, with size and time of change of files."""
    entries = ((str(path.relative_to(folder)), path) for path in folder.rglob("*"))
    return {
        n: (p.stat().st_size, p.stat().st_mtime_ns) if p.is_file() else None for n, p in entries
    }


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which a command is called; all its inputs and outputs lie in it."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def refused(situs: Callable[..., Any], work: Path) -> Callable[..., str]:
    """Calls a command that must fail as a user's mistake does:
    exit code 2, one line, nothing left behind."""

    def call(*args: object) -> str:
        before = snapshot(work)
        ran = situs(*args)
        assert ran.code == 2, ran
        assert ran.out == "", ran.out
        assert ran.err.startswith("situs: ")
        assert len(ran.err.splitlines()) == 1, ran.err
        assert ran.err.endswith("\n")
        assert ran.err[:-1].isprintable()
        assert "Traceback" not in ran.err
        assert snapshot(work) == before, "something was left behind"
        return str(ran.err)

    return call


@pytest.fixture
def bench_copy(bench: Path, work: Path) -> Path:
    """A copy of the bench that may be damaged."""
    return Path(shutil.copytree(bench, work / "bench"))


@pytest.fixture(scope="session")
def random_run(once: Callable[..., Path], situs: Callable[..., Any], bench: Path) -> Path:
    """A run of `random` on the bench. Do not change it."""
    args = ("run", bench, "--model", "random", "--out")
    return once("random_run", lambda folder: situs(*args, folder / "run")) / "run"


@pytest.fixture
def run_copy(random_run: Path, work: Path) -> Path:
    """A copy of the run that may be damaged."""
    return Path(shutil.copytree(random_run, work / "run"))
