"""Other code, which loads nothing of Situs, comes to the same answers."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).parents[2]


def judged(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.referee", *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_every_answer_about_masks(bench: Path) -> None:
    ran = judged(bench)
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
    assert f"'agrees': {pq.read_table(bench / 'items.parquet').num_rows}" in ran.stdout


@pytest.mark.sweep
def test_every_answer_about_masks_of_many_patients(large_cohort: Path) -> None:
    ran = judged(large_cohort)
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-2000:]


def test_the_referee_sees_a_wrong_answer(bench: Path, tmp_path: Path) -> None:
    """Yes and no exchanged, everywhere: it says so of each."""
    table = pq.read_table(bench / "items.parquet")
    rows = [row for row in table.to_pylist() if row["form"] == "yes_no"][:6]
    for row in rows:
        row["answer"]["yes_no"]["value"] ^= True
    pq.write_table(pa.Table.from_pylist(rows, table.schema), tmp_path / "items.parquet")
    for name in ("studies.parquet", "locations.json"):
        (tmp_path / name).write_bytes((bench / name).read_bytes())
    ran = judged(tmp_path, "--data", bench)
    assert (ran.returncode, ran.stdout.splitlines()[-1]) == (1, f"in all {{'wrong': {len(rows)}}}")


def test_every_answer_about_boxes(situs, tmp_path: Path) -> None:
    """Tables in the published form, with overlaps, gaps and a box that leaves the picture."""
    places = [(3, 40, 30, 20, 12), (4, 42, 31, 22, 12), (4, 50, 33, 22, 12), (9, -1, 8, 30, 9)]
    labels = ("Meniscus Tear", "Joint Effusion", "Bone - Lesion")
    rows = [
        (f"file10000{n:02d}", frame + n % 3, "No", x + n, y, w, h, labels[(n + frame) % 3])
        for n in range(24)
        for frame, x, y, w, h in places[: 2 + n % 3]
    ]
    table = tmp_path / "knee.csv"
    with table.open("w", newline="") as stream:
        csv.writer(stream).writerows(
            [("file", "slice", "study_level", "x", "y", "width", "height", "label"), *rows]
        )
    out = tmp_path / "bench"
    assert situs("build", "boxes", table, "--out", out, "--ids", "table").code == 0
    ran = judged(out, "--boxes", table)
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
    assert "agrees" in ran.stdout.splitlines()[-1]
