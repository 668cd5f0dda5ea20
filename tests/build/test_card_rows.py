"""The card's blind rows come from the items in hand:
a build reads none of the tables that it writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from frame_make import make_cohort
from situs.bench import StudyRecord, open_bench
from situs.build import BenchWriter, BuildOptions
from situs.errors import SitusError
from situs.facts import load_recipe
from situs.items import Item, YesNo


def test_a_build_reads_no_table_that_it_writes(
    situs: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **named: object) -> None:
        raise AssertionError("a table was read back")

    monkeypatch.setattr("situs.bench.folder.read_table", refuse)
    files, lists = make_cohort(5, 20).write(tmp_path / "annotations")
    out = tmp_path / "bench"
    built = situs("build", "boxes", *files, *lists, "--licence", "CC0-1.0", "--out", out)
    assert built.code == 0, built.err
    card = (out / "README.md").read_text()
    assert "## How much needs no image" in card
    assert "| majority |" in card
    with pytest.raises(AssertionError, match="read back"):
        next(open_bench(out).items())


def _writer(folder: Path) -> BenchWriter:
    return BenchWriter(folder, "items", BuildOptions("twice", load_recipe()), {})


def _item(number: int) -> Item:
    return Item(
        f"i{number}", "s1", "", "p1", "imported", "yes_no", "Is it?", YesNo(number % 2 == 0)
    )


def test_an_item_that_occurs_twice_is_refused_when_it_is_written(tmp_path: Path) -> None:
    study = StudyRecord("s1", "p1", "test", ())
    with _writer(tmp_path) as writer:
        writer.add(study, [], [_item(1), _item(2)], {}, {})
        again = msgspec.structs.replace(study, study_id="s2")
        with pytest.raises(SitusError, match="i2 occurs twice"):
            writer.add(again, [], [_item(2)], {}, {})


def test_more_items_than_one_batch_are_counted(tmp_path: Path) -> None:
    """1,200 questions, half of them yes: the card counts them all, and chance is one half."""
    study = StudyRecord("s1", "p1", "test", ())
    with _writer(tmp_path) as writer:
        for number in range(0, 1200, 400):
            name = f"s{number}"
            items = [
                msgspec.structs.replace(_item(one), study_id=name, patient_id=name)
                for one in range(number, number + 400)
            ]
            record = msgspec.structs.replace(study, study_id=name, patient_id=name)
            writer.add(record, [], items, {}, {})
    writer.finish([])
    card = (tmp_path / "README.md").read_text()
    row = card[card.index("## How much needs no image") :].partition("|\n")[2]
    assert "1,200" in row
    assert "0.500" in row
    assert len(list(open_bench(tmp_path).items())) == 1200
