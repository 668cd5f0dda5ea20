"""Studies without an image: what can be asked is asked;
a run that could not begin leaves no folder behind."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

import wire
from situs.bench import StudyRecord, TableWriter, open_bench
from situs.errors import SitusError
from situs.profiles import Presenter
from situs.run import forecast, read_hidden, read_journal

ASKED = ("--profile", "montage")


def without_images(bench: Path, target: Path, count: int) -> set[str]:
    """A copy of a bench whose first studies have no image; the ids of these."""
    shutil.copytree(bench, target)
    studies = list(open_bench(bench).studies())
    with TableWriter(target / "studies.parquet", StudyRecord) as writer:
        for number, study in enumerate(studies):
            bare = tuple(msgspec.structs.replace(s, image_hash="") for s in study.series)
            series = bare if number < count else study.series
            writer.write([msgspec.structs.replace(study, series=series)])
    return {study.study_id for study in studies[:count]}


def test_items_of_studies_with_an_image_are_asked(
    situs: Callable[..., Any], bench: Path, small_pictures: Path, tmp_path: Path
) -> None:
    bare = without_images(bench, tmp_path / "bench", 3)
    out = tmp_path / "run"
    with wire.Server() as server:
        asked = ("--model", server.spec, "--profile", small_pictures)
        ran = situs("run", tmp_path / "bench", *asked, "--out", out)
    assert ran.code == 0, ran.err
    items = {item.item_id: item.study_id for item in open_bench(bench).items()}
    blind = {item_id for item_id, study in items.items() if study in bare}
    assert read_journal(out / "answers.jsonl").keys() == items.keys() - blind
    hidden = read_hidden(out / "hidden.jsonl")
    assert {item_id for item_id, why in hidden.items() if "no image" in why[0]} == blind
    scored = situs("score", tmp_path / "bench", out, "--json").json["overall"]
    assert scored[0]["states"]["not answerable"] >= len(blind)


def test_where_no_study_has_an_image_nothing_is_begun(
    situs: Callable[..., Any], bench: Path, tmp_path: Path
) -> None:
    without_images(bench, tmp_path / "bench", 99)
    with wire.Server() as server:
        ran = situs(
            "run", tmp_path / "bench", "--model", server.spec, *ASKED, "--out", tmp_path / "run"
        )
    assert (ran.code, server.bodies) == (2, [])
    assert "no study that is asked about has an image to show" in ran.err
    assert not (tmp_path / "run").exists()


def test_one_study_with_an_image_is_found_among_many_without(
    situs: Callable[..., Any], bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forecast, "_SAMPLE", 1)
    without_images(bench, tmp_path / "bench", 1)
    with wire.Server() as server:
        asked = ("run", tmp_path / "bench", "--model", server.spec, *ASKED)
        ran = situs(*asked, "--out", tmp_path / "run")
        assert ran.code == 0, ran.err
        first = situs(*asked, "--limit", 1, "--out", tmp_path / "first")
    assert "raise --limit" in first.err


def test_an_error_before_the_first_answer_leaves_room_for_another_model(
    situs: Callable[..., Any], bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Presenter, item: object) -> None:
        raise SitusError("evidence is no longer there")

    monkeypatch.setattr(Presenter, "present", fail)
    with wire.Server() as server:
        ran = situs("run", bench, "--model", server.spec, *ASKED, "--out", tmp_path / "run")
    assert ran.code == 2
    assert "no longer there" in ran.err
    assert not (tmp_path / "run").exists()
    assert situs("run", bench, "--model", "random", "--out", tmp_path / "run").code == 0
