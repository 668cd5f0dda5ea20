"""What `situs score` keeps of a run is read by other programs as what it is: numbers as numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from situs.bench import open_bench
from situs.items import Number
from situs.score.scored_run import open_replies, read_run

SAID = ["12", "0.1", "1234.5", "1e-3"]
"""Numbers that a reader may say; a tenth is no float."""


@pytest.fixture
def run(bench: Path, tmp_path: Path, situs: Callable[..., Any]) -> Path:
    """A run whose numbers are those of `SAID`, one after the other."""
    folder = tmp_path / "run"
    assert situs("run", bench, "--model", "random", "--out", folder).code == 0
    lines = (folder / "answers.jsonl").read_text("utf-8").splitlines()
    rows = {row["item_id"]: row for row in map(json.loads, lines)}
    asked = [one for one in open_bench(bench).items() if isinstance(one.answer, Number)]
    assert len(asked) >= len(SAID)
    for place, item in enumerate(asked):
        rows[item.item_id]["response"] = f"{SAID[place % len(SAID)]} {item.answer.unit}"
    (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, rows.values())), "utf-8")
    assert situs("score", bench, folder).code == 0
    return folder


def test_what_was_said_is_a_number(bench: Path, run: Path) -> None:
    stored = pq.read_table(run / "scores.parquet")
    assert stored.schema.field("prediction").type == pa.float64()
    said = dict(zip(stored["item_id"].to_pylist(), stored["prediction"].to_pylist()))
    numbers = [one for one in open_bench(bench).items() if isinstance(one.answer, Number)]
    for place, item in enumerate(numbers):
        assert said.pop(item.item_id) == float(SAID[place % len(SAID)])
    assert set(said.values()) == {None}


def test_no_column_holds_numbers_as_text(run: Path) -> None:
    """But for the one that is named after being exact, and the reply as it was read."""
    table = pq.read_table(run / "scores.parquet").drop_columns(["prediction_exact", "parsed"])
    for name, column in zip(table.column_names, table.columns):
        words = column.unique().to_pylist() if pa.types.is_string(column.type) else []
        assert not [word for word in words if word and word.replace(".", "").isdigit()], name


def test_what_is_read_back_is_exact(run: Path, bench: Path) -> None:
    kept = read_run(open_replies(run, bench))
    (run / "scores.parquet").unlink()
    anew = read_run(open_replies(run, bench))
    assert kept.columns.predictions == anew.columns.predictions
    assert any(one is not None and one.denominator == 10 for one in kept.columns.predictions)
    assert kept.columns.table.schema.names == anew.columns.table.schema.names


def test_a_file_of_the_former_columns_is_made_anew(run: Path, bench: Path) -> None:
    """One that says it is of this run, and has not all columns, is none that can be read."""
    path = run / "scores.parquet"
    table = pq.read_table(path)
    pq.write_table(table.drop_columns(["prediction_exact"]), path)
    assert len(read_run(open_replies(run, bench)).columns) == len(table)
    assert "prediction_exact" in pq.read_schema(path).names
