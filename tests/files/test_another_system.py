"""What differs between systems: the core runs where POSIX is not,
and files lie where each system has them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import situs
from situs.base.folders import cache_home, config_home
from wire import Server

POSIX_ONLY = ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty")


def test_no_module_of_one_system_is_imported_with_the_package() -> None:
    at_import = re.compile(rf"(?m)^(?:import|from) (?:{'|'.join(POSIX_ONLY)})\b")
    shared = Path(__file__).parents[1].glob("*.py")  # what tests of the core share
    for path in (*Path(situs.__file__).parent.rglob("*.py"), *shared):
        assert not at_import.search(path.read_text("utf-8")), path


@pytest.mark.parametrize(
    ("system", "variables", "cache", "config"),
    [
        ("linux", {}, ".cache", ".config"),
        ("linux", {"XDG_CACHE_HOME": "/c", "XDG_CONFIG_HOME": "/d"}, "/c", "/d"),
        ("darwin", {}, "Library/Caches", ".config"),
        ("win32", {}, "AppData/Local", "AppData/Roaming"),
        ("win32", {"LOCALAPPDATA": "/l", "APPDATA": "/r", "XDG_CACHE_HOME": "/c"}, "/l", "/r"),
    ],
)
def test_files_lie_where_the_system_has_them(
    monkeypatch: pytest.MonkeyPatch,
    system: str,
    variables: dict[str, str],
    cache: str,
    config: str,
) -> None:
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "LOCALAPPDATA", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", system)
    assert (cache_home(), config_home()) == (Path.home() / cache, Path.home() / config)


def run_elsewhere(*commands: str, cache: Path) -> subprocess.CompletedProcess[str]:
    script = Path(__file__).with_name("another_system.py")
    return subprocess.run(
        [sys.executable, str(script)],
        input="".join(f"{command}\n" for command in commands),
        capture_output=True,
        text=True,
        env=os.environ | {"SITUS_CACHE": str(cache)},
        timeout=600,
        check=False,
    )


def test_the_core_runs_without_what_only_posix_has(
    tmp_path: Path, label_phantoms: Callable[..., None], bench: Path
) -> None:
    label_phantoms(tmp_path / "data", seed=11, count=2)
    run, asked = f"{tmp_path}/run", f"{tmp_path}/asked --profile montage --limit 2"
    with Server() as server:
        ran = run_elsewhere(
            f"build masks {tmp_path}/data --annotation exact --jobs 2 --out {tmp_path}/bench",
            f"check {tmp_path}/bench",
            f"run {tmp_path}/bench --model random --out {run}",
            f"run {bench} --model {server.spec} --out {asked}",
            f"score {tmp_path}/bench {run}",
            f"report {run} --out {tmp_path}/report.html",
            cache=tmp_path / "cache",
        )
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert "all ran" in ran.stdout
    assert (tmp_path / "report.html").stat().st_size > 100_000
    assert not [p for p in tmp_path.iterdir() if p.name.endswith(".part")]
