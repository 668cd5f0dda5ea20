"""No room left on the disk: one line of error, exit code 2, and nothing half-written."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("room_bytes", [4, 138])
def test_import_without_room(tmp_path: Path, room_bytes: int) -> None:
    items = tmp_path / "items.jsonl"
    row = {"study": "s", "patient": "p", "id": "i", "question": "Is it?", "answer": "yes"}
    items.write_text(json.dumps(row) + "\n")

    def no_room() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room_bytes, room_bytes))

    words = ["import", "items", str(items), "--out", str(tmp_path / "bench")]
    command = [sys.executable, "-m", "situs", *words]
    ran = subprocess.run(command, capture_output=True, text=True, preexec_fn=no_room, check=False)
    assert ran.returncode == 2
    assert [line.partition(":")[0] for line in ran.stderr.splitlines()] == ["situs"]
    assert [path.name for path in tmp_path.iterdir()] == ["items.jsonl"]


FULL = """
import resource, signal, sys
from pathlib import Path
from situs.base.files import write_files
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
write_files(Path(sys.argv[1]), {"a": "new", "b": "x" * 101, "c": "new"})
"""


@pytest.mark.parametrize("deep", ["", "one/two"])
def test_of_several_files_all_are_written_or_none(tmp_path: Path, deep: str) -> None:
    """Pictures, tables and charts go into a folder that may hold others."""
    folder = tmp_path / deep
    before = []
    if not deep:
        (tmp_path / "a").write_text("old")
        before = ["a"]
    command = [sys.executable, "-c", FULL, str(folder)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "cannot write (File too large)" in ran.stderr
    assert [path.name for path in tmp_path.iterdir()] == before
    assert not before or (tmp_path / "a").read_text() == "old"
