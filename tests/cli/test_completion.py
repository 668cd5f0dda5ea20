"""What a shell offers after Tab."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def offered(line: str, folder: Path) -> list[str]:
    """The values that bash would be offered for the last word of a line."""
    words = line.split(" ")
    shell = {
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
        "_SITUS_COMPLETE": "bash_complete",
    }
    done = subprocess.run(
        [sys.executable, "-m", "situs"],
        cwd=folder,
        env=os.environ | shell,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return [entry.partition(",")[2] for entry in done.stdout.split()]


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("situs dem", ["demo"]),
        ("situs run bench --profile one", ["one-slice"]),
        ("situs build masks data --tasks direction,vol", ["direction,volume"]),
        ("situs export bench --to dicom", ["dicom-seg", "dicom-sr"]),
        ("situs run bench --model ora", ["oracle"]),
        ("situs build masks data --annotation auto", ["automatic"]),
        ("situs build masks data --layout nn", ["nnunet"]),
        ("situs report run --stratum t", ["textbook"]),
        ("situs check be", ["bench"]),
        ("situs compare runs/", ["runs/one", "runs/two"]),
    ],
)
def test_values_of_options_and_folders_are_offered(
    tmp_path: Path, line: str, values: list[str]
) -> None:
    for name, marker in (
        ("bench", "bench.json"),
        ("runs/one", "run.json"),
        ("runs/two", "run.json"),
    ):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / marker).touch()
    assert [value for value in offered(line, tmp_path) if not value.endswith("/")] == values
