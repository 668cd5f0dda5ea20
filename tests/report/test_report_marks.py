"""What is measured is drawn where it was measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from situs.bench import open_bench
from situs.report import ReportOptions, write_report
from situs.space import Affine, Grid, IndexPoints


@pytest.fixture(scope="module")
def drawn(
    cohort: Any, tmp_path_factory: pytest.TempPathFactory, read_payload: Callable[[str], Any]
) -> Any:
    """Views of many items of all tasks."""
    out = tmp_path_factory.mktemp("marks") / "r.html"
    write_report([cohort.random], out, ReportOptions(pictures=16))
    return read_payload(out.read_text("utf-8"))["shared"]["views"]


def test_lines_have_the_length_of_their_fact(drawn: Any, cohort: Any) -> None:
    bench = open_bench(cohort.bench)
    facts = {fact.fact_id: fact for fact in bench.facts()}
    studies = {study.study_id: study.series[0] for study in bench.studies()}
    seen = set()
    for item in bench.items():
        if item.item_id not in drawn:
            continue
        series = studies[item.study_id]
        grid = Grid(series.shape, Affine(np.reshape(series.affine, (4, 4)))).in_patient_order()
        held = [facts[fact_id] for fact_id in item.fact_ids]
        for line in drawn[item.item_id]["marks"]["lines"]:
            ends = np.asarray(
                grid.affine.to_world(IndexPoints(np.array([line["start"], line["end"]])))
            )
            step = ends[1] - ends[0]
            seen.add(line["kind"])
            if line["kind"] == "gap":
                expected = min(float(f.value) for f in held if f.kind == "main_gap")  # type: ignore[arg-type]
                assert np.linalg.norm(step) == pytest.approx(expected, abs=0.2)
            else:
                kinds = {"centres": "gap.", "extent": "extent."}[line["kind"]]
                values = [float(f.value) for f in held if f.kind.startswith(kinds)]  # type: ignore[arg-type]
                assert min(abs(step[line["axis"]] - value) for value in values) < 0.2
    assert "centres" in seen


def test_boxes_and_outlines_agree(drawn: Any) -> None:
    """Every structure of the item is outlined on the slice that shows it best."""
    for view in drawn.values():
        assert view["structures"]
        for plane in view["planes"].values():
            assert len(plane["jumps"]) == len(view["structures"])
            assert set(plane["jumps"]) <= set(plane["slices"])
