"""Breakdowns: groups, number errors, sides,
thirds and sources against hand-made answers and numpy."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from forms import write_bench
from situs.bench import Bench
from situs.errors import SitusError
from situs.items import Choice, Item, Number, Option
from situs.run import AnswerRow
from situs.score import (
    PUBLISHED,
    Breakdowns,
    Entry,
    Replies,
    ScoredRun,
    breakdown_tables,
    breakdowns,
    cluster_mean,
    facet_matrix,
    over_sources,
    published_tables,
    source_of,
)
from situs.tables import Table, csv_text, latex_text, markdown_text, write_tables


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return write_bench(tmp_path_factory.mktemp("broken") / "bench", patients=12)


SIDES = (Option("left", "the left"), Option("right", "the right"), Option("middle", "neither"))


def _number(k: int, truth: float) -> Item:
    answer = Number(truth, "mL", (truth * 0.9, truth * 1.1))
    tags = ("structure:liver", "system:digestive", f"dataset:{'big' if k % 3 else 'small'}")
    return Item(
        f"n{k}",
        f"s{k % 12:03d}",
        "volume",
        f"p{k % 12:03d}",
        "volume",
        "number",
        "?",
        answer,
        tags=tags,
    )


def _side(k: int, truth: str) -> Item:
    tags = ("structure:kidney_lesion",)
    return Item(f"c{k}", f"s{k % 12:03d}", "volume", f"p{k % 12:03d}", "lesion_side", "choice", "?", Choice(truth),
                options=SIDES, tags=tags, difficulty=(1.5, 3.0, 50.0)[k % 3])  # fmt: skip


def _scored(bench: Bench, items: list[Item], said: dict[str, str]) -> ScoredRun:
    rows = {one: AnswerRow(one, response=text) for one, text in said.items()}
    return ScoredRun.of(Replies(bench, rows, chosen=lambda: items))


def test_bland_altman_by_numpy(bench: Bench) -> None:
    rng = np.random.default_rng(2)
    truths = rng.uniform(50, 500, 36).round(1)
    told = (truths * rng.lognormal(0.1, 0.2, 36)).round(1)
    items = [_number(k, float(t)) for k, t in enumerate(truths)]
    scored = _scored(bench, items, {f"n{k}": f"{v} mL" for k, v in enumerate(told)})
    (row,) = breakdowns(scored).numbers
    gaps = told - truths
    assert (row.task, row.unit, row.n) == ("volume", "mL", 36)
    assert row.bias == pytest.approx(gaps.mean())
    assert (row.low, row.high) == pytest.approx((gaps.mean() - 1.96 * np.std(gaps, ddof=1),
                                                 gaps.mean() + 1.96 * np.std(gaps, ddof=1)))  # fmt: skip
    assert row.median_log_ratio == pytest.approx(np.median(np.log(told / truths)))
    assert row.ci95 is not None
    assert row.ci95[0] < row.bias < row.ci95[1]


def test_confusion_of_sides(bench: Bench) -> None:
    items = [_side(k, "left" if k % 2 else "right") for k in range(24)]
    said = {item.item_id: "B" if item.answer.value == "left" else "A" for item in items}
    said |= {"c1": "C", "c3": "I cannot tell.", "c5": "A"}
    table = breakdowns(_scored(bench, items, said)).sides
    assert table["left"] == {"left": 1, "right": 9, "other": 1, "no answer": 1}
    assert table["right"] == {"left": 12, "right": 0, "other": 0, "no answer": 0}


def test_groups_hold_the_items_they_name(bench: Bench) -> None:
    numbers = [_number(k, 100.0 + k) for k in range(12)]
    sides = [_side(k, "left") for k in range(12)]
    items = [*numbers, *sides]
    said = {i.item_id: "A" if i.form == "choice" else f"{i.answer.value} mL" for i in items}
    result = breakdowns(_scored(bench, items, said))

    def counts(facet: str) -> dict[str, int]:
        return {
            g: next(e.n for e in table if e.metric == "accuracy")
            for g, table in result.by[facet].items()
        }

    assert counts("structure") == {"liver": 12, "kidney_lesion": 12}
    assert counts("side") == {"left": 12, "unsided": 12}
    assert counts("difficulty") == {"1 to 2 (barely provable)": 4, "2 to 5": 4, "20 or more": 4}
    assert counts("source") == {"big": 8, "small": 4}
    assert counts("modality") == {"mr": 24}
    matrix = facet_matrix({"one": result, "two": result}, "structure")
    assert matrix.columns == ("structure", "one", "two")
    assert matrix.rows == (("kidney_lesion", 1.0, 1.0), ("liver", 1.0, 1.0))


def test_sizes_and_spans_come_from_facts_and_boxes(small: Path) -> None:
    from situs.bench import open_bench
    from situs.score import facets_of

    phantoms = open_bench(small / "bench")
    facets = facets_of(phantoms, phantoms.items())
    asked = next(i for i in phantoms.items() if i.task == "volume" and i.form == "number")
    liver = asked.answer.value
    bucket = (
        "1000 mL or more" if liver >= 1000 else "100 to 1000 mL" if liver >= 100 else "10 to 100 mL"
    )
    assert facets[asked.item_id]["size"] == (bucket,)
    spanned = next(i for i in phantoms.items() if i.form == "frames")
    slices = len(spanned.answer.frames)
    wanted = (
        "17 to 64 slices" if slices > 16 else "5 to 16 slices" if slices > 4 else "1 to 4 slices"
    )
    assert facets[spanned.item_id]["span"] == (wanted,)


def test_thirds_of_the_true_volume(bench: Bench) -> None:
    items = [_number(k, 100.0 * (k + 1)) for k in range(9)]
    said = {f"n{k}": f"{100 * (k + 1) if k < 3 else 1} mL" for k in range(9)}
    thirds = breakdowns(_scored(bench, items, said)).volume_thirds
    assert [(t.third, t.from_ml, t.to_ml) for t in thirds] == [
        ("small", 100.0, 300.0), ("medium", 400.0, 600.0), ("large", 700.0, 900.0),
    ]  # fmt: skip
    assert [t.entries[0].value for t in thirds] == [1.0, 0.0, 0.0]


def test_macro_over_sources_and_without_each() -> None:
    values = [1.0] * 30 + [0.0] * 10 + [1.0, 0.0] * 5
    sources = ["a"] * 30 + ["b"] * 10 + ["c"] * 10
    clusters = [f"p{k}" for k in range(50)]
    result = over_sources(values, clusters, sources)
    assert result is not None
    assert result.micro == pytest.approx(35 / 50)
    assert result.macro == pytest.approx((1 + 0 + 0.5) / 3)
    assert {s.source: s.macro_without for s in result.sources} == pytest.approx(
        {"a": 0.25, "b": 0.75, "c": 0.5}
    )
    assert {s.source: s.without for s in result.sources} == pytest.approx(
        {"a": 5 / 20, "b": 35 / 40, "c": 30 / 40}
    )
    assert result.macro_ci95 is not None
    assert result.macro_ci95[0] < result.macro < result.macro_ci95[1]
    assert over_sources(values, clusters, ["a"] * 50) is None


def test_the_source_is_a_tag() -> None:
    item = _number(3, 1.0)
    assert source_of(item) == "small"
    assert source_of(_side(1, "left")) == ""


def test_bootstrap_agrees_with_scipy_on_balanced_clusters() -> None:
    """With as many items each, the mean over items is that of the patients' means,
    which scipy resamples."""
    rng = np.random.default_rng(8)
    means = rng.beta(2, 2, 60)
    values = rng.random((60, 10)) < means[:, None]
    ours = cluster_mean(values.ravel().astype(float), [f"p{k // 10}" for k in range(600)])
    theirs = stats.bootstrap(
        (values.mean(axis=1),),
        np.mean,
        n_resamples=9999,
        method="percentile",
        rng=np.random.default_rng(1),
    ).confidence_interval
    assert ours.ci95 == pytest.approx((theirs.low, theirs.high), abs=0.006)
    plain = stats.bootstrap(
        (values.ravel().astype(float),),
        np.mean,
        n_resamples=999,
        method="percentile",
        rng=np.random.default_rng(1),
    ).confidence_interval
    assert theirs.high - theirs.low > 1.4 * (plain.high - plain.low)


ODD = (("=a|b_c", 1234, 0.5), ("x", None, None), ("-1.35", -2, -0.5))
TABLE = Table("odd", "An odd & table", ("name", "n", "share"), ODD, "50 % | …")


def test_csv_reads_back_and_runs_no_formula() -> None:
    rows = list(csv.reader(io.StringIO(csv_text(TABLE))))
    assert rows == [
        ["name", "n", "share"],
        ["'=a|b_c", "1234", "0.5"],
        ["x", "", ""],
        ["-1.35", "-2", "-0.5"],
    ]


def test_markdown_and_latex_escape() -> None:
    assert r"| =a\|b_c | 1,234 | 0.500 |" in markdown_text(TABLE)
    assert r"=a|b\_c & 1,234 & 0.500 \\" in latex_text(TABLE)
    assert r"\caption{An odd \& table. 50 \% | …}" in latex_text(TABLE)


def test_tables_are_written_three_times(bench: Bench, tmp_path: Path) -> None:
    items = [_number(k, 100.0 + k) for k in range(12)]
    said = {i.item_id: f"{i.answer.value} mL" for i in items}
    tables = breakdown_tables(breakdowns(_scored(bench, items, said)))
    written = write_tables(tmp_path / "new", tables)
    assert len(written) == 3 * len(tables)
    assert {path.name for path in (tmp_path / "new").iterdir()} == {path.name for path in written}
    (tmp_path / "file").write_text("")
    with pytest.raises(SitusError, match="not a folder"):
        write_tables(tmp_path / "file", tables)


def test_published_averages_are_those_of_their_columns() -> None:
    """The papers' own arithmetic: what is printed as a mean must be one,
    which guards the data against slips."""
    for table in published_tables("sgmri-vqa"):
        for name, (*columns, average) in table.rows.items():
            two_detections = name in ("Qwen2.5-VL", "MedGemma") and table.name == "sgmri_image"
            assert two_detections or sum(columns) / 6 == pytest.approx(average, abs=0.02), name
    main, categories = published_tables("ct-spatialvqa")
    models = {name: row for name, row in main.rows.items() if name != "mean"}
    for column in range(4):
        assert np.mean([row[column] for row in models.values()]) == pytest.approx(
            main.rows["mean"][column], abs=0.025
        )
    assert set(categories.rows) == set(models)


def test_every_paper_has_a_table_with_source_and_caveat() -> None:
    for paper in PUBLISHED:
        for table in published_tables(paper):
            assert table.source
            assert table.caveat
            assert all(len(row) == len(table.columns) for row in table.rows.values())
    with pytest.raises(SitusError, match="no published results"):
        published_tables("sgmri")


def test_the_summary_names_the_groups_that_differ_most_for_their_size() -> None:
    def group(share: float, n: int) -> list[Entry]:
        return [Entry("accuracy", share, n, None, {}, clusters=n)]

    groups = {"a": group(0.5, 100), "b": group(0.4, 100), "c": group(0.9, 9), "d": group(0.0, 4)}
    by = {"structure": groups, "task": {"volume": group(0.0, 213)}}
    (table,) = breakdown_tables(Breakdowns(by, [], {}, [], None), brief=True)
    # The mean of a, b and c is (50 + 40 + 8.1) / 209 = .4694; |share − mean| √n: a .306, b .694, c
    # 1.292. d has too few items, and tasks have a table of their own.
    assert [row[1] for row in table.rows] == ["c", "b", "a"]
    assert "(0.469)" in table.caption
