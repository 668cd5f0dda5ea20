"""`export --to croissant`: files, hashes and columns (that it validates:
tests/models/test_open_formats.py)."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from situs.errors import SitusError
from situs.export import Scope, export_bench


def test_it_describes_the_files_beside_it(bench: Path, tmp_path: Path) -> None:
    export_bench(bench, "croissant", tmp_path / "out")
    document = json.loads((tmp_path / "out" / "croissant.json").read_bytes())
    for entry in document["distribution"]:
        content = (tmp_path / "out" / entry["contentUrl"]).read_bytes()
        assert entry["sha256"] == hashlib.sha256(content).hexdigest()
        assert content == (bench / entry["contentUrl"]).read_bytes()
    for records in document["recordSet"]:
        schema = pq.read_schema(tmp_path / "out" / f"{records['name']}.parquet")
        assert {f["source"]["extract"]["column"] for f in records["field"]} <= set(schema.names)
    assert not (tmp_path / "out" / "locations.json").exists()
    assert document["rai:personalSensitiveInformation"]
    with pytest.raises(SitusError, match="--limit does not apply to croissant"):
        export_bench(bench, "croissant", tmp_path / "other", Scope(limit=3))


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_card_that_is_no_file_is_not_copied(situs, bench, tmp_path, kind) -> None:
    made = Path(shutil.copytree(bench, tmp_path / "bench"))
    (made / "README.md").unlink()
    if kind == "pipe":
        os.mkfifo(made / "README.md")
    else:
        (made / "README.md").symlink_to("/dev/null")
    ran = situs("export", made, "--to", "croissant", "--out", tmp_path / "out")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "README.md: is a pipe or device" in ran.err
    assert not (tmp_path / "out").exists()


def test_measure_writes_csv_in_full_precision(
    small: Path, situs: Callable[..., Any], tmp_path: Path
) -> None:
    study = next((small / "data").iterdir())
    args = ("--pairs", "liver,spleen", "--csv", tmp_path / "m.csv")
    measured = situs("measure", study, *args, "--json").json
    with (tmp_path / "m.csv").open(encoding="utf-8", newline="") as stream:
        rows = {row["structure"]: row for row in csv.DictReader(stream)}
    assert rows.keys() == {one["name"] for one in measured["structures"]}
    for one in measured["structures"]:
        row = rows[one["name"]]
        assert float(row["mL"]) == one["volume_ml"]
        assert [float(row["low"]), float(row["high"])] == one["volume_ml_interval"]
        assert [float(row[f"{axis} mm"]) for axis in "xyz"] == one["centroid_mm"]
    with (tmp_path / "m.pairs.csv").open(encoding="utf-8", newline="") as stream:
        (pair,) = csv.DictReader(stream)
    assert float(pair["gap mm"]) == measured["pairs"][0]["gap_mm"]
