"""One line without an end is refused before it has filled the memory."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from situs.base.files import bounded_lines
from situs.errors import SitusError
from situs.facts.grades.grouped import GroupedTable
from situs.room.journal import read_turns
from situs.run.hidden import read_hidden
from situs.run.journal import read_journal
from situs.tune.record import read_examples


@pytest.mark.parametrize("ending", [b"\n", b""])
def test_lines_are_those_of_the_file(monkeypatch: pytest.MonkeyPatch, ending: bytes) -> None:
    monkeypatch.setattr("situs.base.files._LONGEST_LINE", 4)
    raw = b"a\n\nabc\nabc" + ending
    assert list(bounded_lines(io.BytesIO(raw), "x")) == list(io.BytesIO(raw))
    with pytest.raises(SitusError, match="line 2 is longer"):
        list(bounded_lines(io.BytesIO(b"a\nabcd\n"), "x"))


READERS: dict[str, Callable[[Path], Any]] = {
    "turns": lambda path: list(read_turns(path)),
    "examples": lambda path: list(read_examples(path)),
    "answers": read_journal,
    "hidden": read_hidden,
    "grades": lambda path: GroupedTable(path, "study"),
}


@pytest.mark.parametrize("name", READERS)
def test_a_file_that_is_one_line_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("situs.base.files._LONGEST_LINE", 1 << 16)
    (tmp_path / "x.jsonl").write_bytes(b" " * (1 << 17))
    with pytest.raises(SitusError, match="longer than"):
        READERS[name](tmp_path / "x.jsonl")


def test_questions_in_one_endless_line_are_refused(
    situs: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("situs.base.files._LONGEST_LINE", 1 << 16)
    (tmp_path / "x.jsonl").write_bytes(b" " * (1 << 17))
    ran = situs("import", "items", tmp_path / "x.jsonl", "--out", tmp_path / "bench")
    assert ran.code == 2
    assert "line 1 is longer than" in ran.err
