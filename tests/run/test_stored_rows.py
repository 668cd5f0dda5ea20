"""Rows that stay in the journal's file are those that reading all of it gives."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest

from situs.errors import SitusError
from situs.run.journal import AnswerRow, StoredRows, read_journal


def _written(path: Path, rows: list[AnswerRow]) -> Path:
    path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    return path


@pytest.mark.parametrize("seed", range(5))
def test_rows_in_the_file_are_those_in_memory(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    rows = []
    for number in rng.sample(range(60), 40):
        for _ in range(rng.randint(0, 2)):
            rows.append(AnswerRow(f"i{number}", "failed", error="timeout"))
        said = "é\n" * rng.randint(0, 3) + "x" * rng.randint(0, 5000)
        answered = AnswerRow(f"i{number}", response=said, usage={"input": 3.0})
        rows += [answered] * rng.randint(1, 2)
    path = _written(tmp_path / "answers.jsonl", rows)
    with path.open("ab") as stream:
        stream.write(b'\n  \n{"item_id": "cut o')
    known, stored = read_journal(path), StoredRows(path)
    assert len(stored) == len(known) == 40
    assert list(stored) == list(known)
    assert dict(stored) == known
    assert stored.get("i60") is None
    assert "i60" not in stored
    backwards = list(stored)[::-1]
    assert [stored[one] for one in backwards] == [known[one] for one in backwards]


def test_two_answers_to_an_item_are_refused(tmp_path: Path) -> None:
    rows = [AnswerRow("i1", response="yes"), AnswerRow("i2"), AnswerRow("i1", response="no")]
    path = _written(tmp_path / "answers.jsonl", rows)
    with pytest.raises(SitusError, match="item i1 has two answers"):
        StoredRows(path)


def test_no_file_and_no_row(tmp_path: Path) -> None:
    with pytest.raises(SitusError, match="no such file"):
        StoredRows(tmp_path / "answers.jsonl")
    assert not StoredRows(_written(tmp_path / "answers.jsonl", []))


@pytest.mark.parametrize("change", ["cut", "cut within a row", "rewritten", "shifted"])
def test_answers_that_change_while_they_are_read_are_one_error(change: str, tmp_path: Path) -> None:
    rows = [AnswerRow(f"i{number}", response="yes" * 9000) for number in range(3)]
    path = _written(tmp_path / "answers.jsonl", rows)
    stored = StoredRows(path)
    assert stored["i0"] == rows[0]  # the file is open from now on
    content = path.read_bytes()
    match change:
        case "cut":
            path.write_bytes(b"")
        case "cut within a row":
            path.write_bytes(content[:-40])
        case "rewritten":
            path.write_bytes(content.replace(b'"i2"', b'"i7"'))
        case "shifted":
            path.write_bytes(b"\n\n\n" + content)
    with pytest.raises(SitusError, match="the answers changed while they were read"):
        stored["i2"]
