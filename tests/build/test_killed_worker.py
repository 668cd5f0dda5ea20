"""A worker that the system kills costs no study and no traceback,
through the command that users call."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import nibabel
import numpy as np
import pytest

NAMES = ("liver", "spleen", "kidney_left", "kidney_right", "aorta")
CENTRES = ((9, 9, 18), (24, 9, 18), (24, 22, 9), (9, 22, 9), (16.5, 16, 14))


def write_studies(folder: Path) -> None:
    """Two studies of five balls each."""
    labels = np.zeros((34, 32, 28), np.uint8)
    grid = np.moveaxis(np.indices(labels.shape), 0, -1)
    for value, centre in enumerate(CENTRES, 1):
        labels[np.linalg.norm(grid - centre, axis=-1) < 3.8] = value
    nibabel.save(nibabel.Nifti1Image(labels, np.diag([-5.0, 5.0, 5.0, 1.0])), folder / "l.nii.gz")
    rows = "".join(f"s{n},p{n},l.nii.gz\n" for n in range(2))
    (folder / "studies.csv").write_text("study,patient,labels\n" + rows)
    names = "".join(f"{n},{name}\n" for n, name in enumerate(NAMES, 1))
    (folder / "names.csv").write_text("label,name\n" + names)


def children_of(process: int) -> list[int]:
    """Workers of a program: not the tracker that Python starts beside them."""
    try:
        listed = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return []
    found = []
    for child in map(int, listed):
        try:
            words = Path(f"/proc/{child}/cmdline").read_bytes()
        except OSError:
            continue
        if b"spawn_main" in words:
            found.append(child)
    return found


@pytest.mark.sweep
@pytest.mark.skipif(
    not Path(f"/proc/self/task/{os.getpid()}/children").exists(), reason="needs /proc"
)
def test_a_build_whose_worker_is_killed_gives_the_same_bench(
    situs, tmp_path: Path, plain_content
) -> None:
    write_studies(tmp_path)
    trust = [word for n in range(2) for word in ("--trust", f"s{n}")]
    words = ["build", "masks", tmp_path / "studies.csv", "--names", tmp_path / "names.csv"]
    words += ["--ids", "table", *trust]
    command = [sys.executable, "-m", "situs", *words, "--jobs", "2", "--out", tmp_path / "killed"]
    begun = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 300
    while not (workers := children_of(begun.pid)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert workers
    os.kill(workers[0], signal.SIGKILL)
    _, error = begun.communicate(timeout=500)
    assert b"Traceback" not in error
    assert begun.returncode == 0, error
    assert situs(*words, "--out", tmp_path / "whole").code == 0
    for name in ("items.parquet", "facts.parquet", "studies.parquet"):
        killed, whole = (tmp_path / folder / name for folder in ("killed", "whole"))
        assert plain_content(killed) == plain_content(whole)
