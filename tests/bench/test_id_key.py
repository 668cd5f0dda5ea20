"""The key of opaque ids: whole or not there, and the same wherever it is read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from situs.bench.ids import opaque_id

_ID = "from situs.bench.ids import opaque_id; print(opaque_id('s', 'x'))"
_NO_ROOM = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); "


def id_in(script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """An id that another process gives, in surroundings of its own."""
    return subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_full_disk_leaves_no_key_that_is_too_short(tmp_path: Path) -> None:
    home = {"XDG_CONFIG_HOME": str(tmp_path), "SITUS_ID_KEY": ""}
    script = "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); " + _NO_ROOM + _ID
    refused = id_in(script, **home)
    assert "cannot read or create the key" in refused.stderr
    assert not list(tmp_path.rglob("*key*"))
    later = id_in(_ID, **home)
    assert later.stdout.startswith("s"), later.stderr
    assert id_in(_ID, **home).stdout == later.stdout
    assert (tmp_path / "situs" / "id.key").stat().st_mode & 0o777 == 0o600


def test_whoever_looks_while_the_key_is_made_finds_none_or_all_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two builds that are started at once, on a machine that has never made one."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("SITUS_ID_KEY")
    found: list[str] = []
    write = os.fsync

    def another_comes_first(descriptor: int) -> None:
        write(descriptor)
        if not found:
            found.append("")
            found[0] = opaque_id("s", "x")

    monkeypatch.setattr(os, "fsync", another_comes_first)
    assert [opaque_id("s", "x")] == found
    assert [path.name for path in (tmp_path / "situs").iterdir()] == ["id.key"]


def test_the_key_is_its_bytes_whatever_the_locale() -> None:
    key = "schlüssel für die ids"
    ids = {
        id_in(_ID, SITUS_ID_KEY=key, LC_ALL=locale, PYTHONUTF8="0", PYTHONCOERCECLOCALE="0").stdout
        for locale in ("C", "C.UTF-8")
    }
    assert len(ids) == 1
    assert ids != {""}
