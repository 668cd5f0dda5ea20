"""Readers' ratings of arms, and banks of wordings, from files that anybody may have written."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from situs.build.authoring.arms import read_ratings
from situs.errors import SitusError
from situs.items.programs.bank import Wording, read_bank, write_bank


def test_ratings_are_read_as_every_other_table_is(tmp_path: Path) -> None:
    file = tmp_path / "ratings.csv"
    file.write_text("\ufeffitem;rating;arm\na;2;P\na;1;P\nb;0;\n", encoding="utf-8")
    assert read_ratings(file) == {("P", "a"): [2.0, 1.0], ("", "b"): [0.0]}


@pytest.mark.parametrize(
    "content",
    ["item,rating\na,3\n", "item,rating\na\n", f'item,rating\n"{"a" * 200_000}",1\n', 'item\n"a'],
)
def test_ratings_that_cannot_be_read_are_one_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "ratings.csv").write_text(content)
    with pytest.raises(SitusError):
        read_ratings(tmp_path / "ratings.csv")


def test_a_pipe_is_no_table_of_ratings(tmp_path: Path) -> None:
    """Nobody writes to it: whoever reads it waits for ever."""
    file = tmp_path / "ratings.csv"
    os.mkfifo(file)
    # Whoever reads it gets a table; where nobody does, the thread ends with the tests.
    threading.Thread(target=file.write_text, args=("item,rating\na,1\n",), daemon=True).start()
    with pytest.raises(SitusError, match="file"):
        read_ratings(file)


def test_a_bank_that_is_written_can_be_read(tmp_path: Path) -> None:
    bank = [
        Wording("volume({A})", "What is {A}'s volume, in mL?", 'R\x7f\x01"\\\u202e', "", ("x",))
    ]
    write_bank(tmp_path / "bank.toml", bank)
    assert read_bank(tmp_path / "bank.toml") == bank
