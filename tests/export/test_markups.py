"""`export --to slicer-markups`:
lines, boxes and points that 3D Slicer draws, against the ledger."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from situs.bench import open_bench
from situs.errors import SitusError
from situs.export import export_bench
from situs.items import marks_of

LENGTHS = {
    "surface_gap",
    "main_gap",
    "boundary_distance",
    "centre_distance",
    "axial_diameter",
    "axial_perpendicular",
    "length_3d",
    "extent.left_right",
    "extent.anterior_posterior",
    "extent.superior_inferior",
}


@pytest.fixture(scope="session")
def exported(bench: Path, once: Callable[..., Path]) -> Path:
    """The bench's markups. Do not change it."""
    make = once("markups", lambda folder: export_bench(bench, "slicer-markups", folder / "out"))
    return make / "out"


def markups(folder: Path, pattern: str) -> list[dict[str, Any]]:
    documents = [json.loads(path.read_bytes()) for path in sorted(folder.glob(pattern))]
    markups = [markup for document in documents for markup in document["markups"]]
    assert all(markup["coordinateSystem"] == "LPS" for markup in markups)
    return markups


def ras(lps: list[float]) -> np.ndarray:
    return np.array(lps) * [-1, -1, 1]


def test_lines_are_as_long_as_the_ledger_says(bench: Path, exported: Path) -> None:
    facts = {f.fact_id: f for f in open_bench(bench).facts()}
    drawn = markups(exported, "*/*/line-*.mrk.json")
    for line in drawn:
        fact = facts[line["description"].removeprefix("fact ")]
        start, end = (np.array(point["position"]) for point in line["controlPoints"])
        assert np.linalg.norm(end - start) == pytest.approx(fact.value, rel=1e-9, abs=1e-6)
        assert line["measurements"][0]["value"] == fact.value
    expected = {f.fact_id for f in facts.values() if f.kind in LENGTHS and f.value}
    assert {line["description"].removeprefix("fact ") for line in drawn} == expected


def test_lines_end_at_the_structures(bench: Path, exported: Path) -> None:
    """Either end of a gap lies in the box of its structure;
    those of a centre line are the centroids."""
    facts = list(open_bench(bench).facts())
    boxes = {(f.study_id, f.subjects[0]): np.array(f.value) for f in facts if f.kind == "box"}
    gaps = {f.fact_id: f for f in facts if f.kind == "main_gap"}
    checked = 0
    for line in markups(exported, "*/*/line-main_gap-*.mrk.json"):
        fact = gaps[line["description"].removeprefix("fact ")]
        for name, point in zip(fact.subjects, line["controlPoints"], strict=True):
            low, high = boxes[fact.study_id, name].reshape(2, 3)
            position = ras(point["position"])
            assert (position >= low - 1e-3).all()
            assert (position <= high + 1e-3).all()
            checked += 1
    assert checked


def test_boxes_centres_and_marks_are_those_of_the_bench(bench: Path, exported: Path) -> None:
    opened = open_bench(bench)
    for study in opened.studies():
        folder = exported / study.study_id / study.series[0].series
        facts = {(f.kind, f.subjects): f.value for f in opened.facts(study_id=study.study_id)}
        boxes = {b["name"].removeprefix("box "): b for b in markups(folder, "box-*.mrk.json")}
        assert {(name,) for name in boxes} == {s for kind, s in facts if kind == "box"}
        for name, box in boxes.items():
            half = np.array(box["size"]) / 2.0
            corners = [*(ras(box["center"]) - half), *(ras(box["center"]) + half)]
            np.testing.assert_allclose(corners, facts["box", (name,)], atol=1e-9)
        (centres,) = markups(folder, "centres.mrk.json")
        for point in centres["controlPoints"]:
            expected = facts["centroid", (point["label"],)]
            np.testing.assert_allclose(ras(point["position"]), expected, atol=1e-9)
    marked = {i.item_id: marks_of(i) for i in opened.items() if marks_of(i)}
    drawn = {m["name"].removeprefix("marks of "): m for m in markups(exported, "*/*/marks-*")}
    assert drawn.keys() == marked.keys()
    for item_id, markup in drawn.items():
        for point in markup["controlPoints"]:
            expected = marked[item_id][point["label"]].lo_mm
            np.testing.assert_allclose(ras(point["position"]), expected, atol=1e-9)


def test_a_profile_and_a_run_do_not_go_with_it(bench: Path, tmp_path: Path) -> None:
    with pytest.raises(SitusError, match="--profile does not apply to slicer-markups"):
        export_bench(bench, "slicer-markups", tmp_path / "out", profile="default")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("to", ["dicom-seg", "slicer-markups", "croissant"])
def test_restricted_data_stay_unless_allowed(composed: Path, tmp_path: Path, to: str) -> None:
    with pytest.raises(SitusError, match="restricted"):
        export_bench(composed / "bench", to, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_study_more_costs_no_further_look_at_all_others(
    bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a cohort costs the square of its size: facts and items are gone through once each."""
    from situs.bench import Bench, tables

    opened: list[str] = []
    read_table = tables.read_table

    def counted(path: Path, *given: Any, **named: Any) -> Any:
        opened.append(path.name)
        return read_table(path, *given, **named)

    monkeypatch.setattr("situs.bench.folder.read_table", counted)
    monkeypatch.setattr("situs.bench.folder._MOST_HELD", 0)
    gone_through: list[Any] = []
    items = Bench.items
    monkeypatch.setattr(
        Bench, "items", lambda self, *a, **k: gone_through.append(a) or items(self, *a, **k)
    )
    assert open_bench(bench).info.counts["studies"] > 2
    export_bench(bench, "slicer-markups", tmp_path / "out")
    assert opened.count("items.parquet") == len(gone_through) == 1
    assert opened.count("facts.parquet") == 1
