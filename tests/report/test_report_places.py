"""Boxes on the model's pictures, stacks without millimetres, benches without images."""

from __future__ import annotations

import base64
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from frame_make import make_cohort, write_images
from situs.bench import open_bench
from situs.build import BuildOptions, build_boxes
from situs.facts import load_recipe
from situs.items import Boxes
from situs.profiles import Presenter, load_profile
from situs.report import ReportOptions, write_report
from situs.report.pictures.strips import fewer_frames
from situs.run import parse_spec, run_baseline


@pytest.fixture(scope="module")
def stacks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bench of boxes with HDF5 images, one without,
    and runs on both under the published profile."""
    root = tmp_path_factory.mktemp("stacks")
    cohort = make_cohort(3, 4)
    files, lists = cohort.write(root / "annotations")
    images = write_images(cohort, root / "images")
    profile = load_profile("sgmri-frames")
    for name, folder in (("bench", images), ("bare", None)):
        options = BuildOptions(
            name, load_recipe(), licence="synthetic", tasks="localization,captioning,detection"
        )
        build_boxes(files, root / name, options, lists=lists, images=folder)
        for model in ("oracle", "grid"):
            run_baseline(
                open_bench(root / name), parse_spec(model), profile, root / f"{name}-{model}"
            )
    return root


def _report(runs: list[Path], out: Path, **options: Any) -> tuple[Any, str]:
    result = write_report(runs, out, ReportOptions(**options))
    return result, out.read_text("utf-8")


def test_boxes_are_drawn_where_the_profile_shows_them(
    stacks: Path, tmp_path: Path, read_payload: Callable[[str], Any]
) -> None:
    runs = [stacks / "bench-oracle", stacks / "bench-grid"]
    result, html = _report(runs, tmp_path / "r.html", pictures=10, allow_pixels=True)
    payload = read_payload(html)
    bench = open_bench(stacks / "bench")
    presenter = Presenter(bench, load_profile("sgmri-frames"))
    seen = 0
    for item in bench.items():
        strips = payload["shared"]["strips"].get(item.item_id)
        if strips is None:
            continue
        (strip,) = strips
        shown = presenter.present(item)
        for place, key, width, height, source in strip["frames"]:
            uri = payload["shared"]["frames"][key]
            assert base64.b64decode(uri.partition(",")[2]) == shown.images[place].data, (
                "the very bytes the model got"
            )
            assert (width, height) == (shown.images[place].width, shown.images[place].height)
            assert source == shown.layout.frames[place].source_index
        if not isinstance(item.answer, Boxes):
            continue
        seen += 1
        expected = sorted(
            (b.frame, b.x0, b.y0, b.x1, b.y1) for b in shown.layout.shown_boxes(item.answer.boxes)
        )
        np.testing.assert_allclose(sorted(box[:5] for box in strip["truth"]), expected)
        np.testing.assert_allclose(
            sorted(box[:5] for box in strip["said"]["0"]), expected, atol=0.51
        )
        assert len(strip["said"]["1"]) > len(expected), "the grid's"
    assert seen >= 3
    assert result.pictures_embedded == len(payload["shared"]["strips"]) == 10
    assert re.search(r'<p class="banner"[^>]*>RESTRICTED DATA', html)


def test_without_images_boxes_stand_on_empty_frames(
    stacks: Path, tmp_path: Path, read_payload: Callable[[str], Any]
) -> None:
    result, html = _report([stacks / "bare-oracle"], tmp_path / "r.html", pictures=5)
    payload = read_payload(html)
    assert result.pictures_embedded == 0
    assert "data:image" not in html
    strips = [strip for (strip,) in payload["shared"]["strips"].values()]
    assert len(strips) == 5
    for strip in strips:
        sizes = {place: (width, height) for place, _, width, height, _ in strip["frames"]}
        for place, _, _, x1, y1, _ in strip["truth"]:
            assert x1 <= sizes[place][0]
            assert y1 <= sizes[place][1]
    captions = [d["answer"] for d in payload["details"].values() if d["form"] == "text"]
    assert captions
    assert all(captions)


def test_restricted_stacks_embed_no_pixels(stacks: Path, tmp_path: Path) -> None:
    result, html = _report([stacks / "bench-oracle"], tmp_path / "r.html")
    assert open_bench(stacks / "bench").info.restricted
    assert "data:image" not in html
    assert result.pictures_embedded == 0


@pytest.mark.parametrize(
    ("count", "wanted", "most", "chosen"),
    [
        (3, [], 5, [0, 1, 2]),
        (100, [50], 3, [49, 50, 51]),
        (100, [0], 4, [0, 1, 33, 66]),
        (10, [-3, 99], 2, [0, 9]),
    ],
)
def test_fewer_frames(count: int, wanted: list[int], most: int, chosen: list[int]) -> None:
    assert fewer_frames(count, wanted, most) == chosen


def _as_model(run: Path, out: Path, name: str, *, withheld: bool, wrong_every: int) -> Path:
    """The oracle's run as that of a model which misses every n-th item."""
    shutil.copytree(run, out)
    info = json.loads((out / "run.json").read_text()) | {
        "client": f"hf:{name}",
        "withheld": withheld,
    }
    (out / "run.json").write_text(json.dumps(info))
    rows = [json.loads(line) for line in (out / "answers.jsonl").read_text().splitlines()]
    for place, row in enumerate(rows):
        if place % wrong_every == 0:
            row["response"] = "no idea at all"
    (out / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return out


def test_sight_gain_and_groups(cohort: Any, tmp_path: Path) -> None:
    a = _as_model(cohort.oracle, tmp_path / "a", "a", withheld=False, wrong_every=10)
    text = _as_model(cohort.oracle, tmp_path / "text", "a", withheld=True, wrong_every=2)
    b = _as_model(cohort.oracle, tmp_path / "b", "b", withheld=False, wrong_every=10)
    result, html = _report(
        [a, text, b],
        tmp_path / "r.html",
        bench=cohort.bench,
        pictures=0,
        tables=tmp_path / "tables",
    )
    # Both miss every n-th row of the run; the headline counts its questions with options.
    asked = [json.loads(line)["item_id"] for line in (a / "answers.jsonl").read_text().splitlines()]
    headline = {
        i.item_id for i in open_bench(cohort.bench).items() if i.stratum == "headline" and i.options
    }
    headline |= {
        i.item_id
        for i in open_bench(cohort.bench).items()
        if i.stratum == "headline" and i.form == "yes_no"
    }
    places = [place for place, item_id in enumerate(asked) if item_id in headline]
    right = [sum(place % every != 0 for place in places) for every in (10, 2)]
    gain = 100 * (right[0] - right[1]) / len(places)
    assert f"+{gain:.1f}" in html
    head, *lines = (tmp_path / "tables" / "leaderboard.csv").read_text().splitlines()
    rows = {
        row["run"]: row for row in (dict(zip(head.split(","), line.split(","))) for line in lines)
    }
    assert float(rows["hf:a"]["sight_gain"]) == pytest.approx(gain, abs=0.01)
    over = rows["hf:a"]
    best = max(float(rows[name]["headline_value"]) for name in ("majority", "minority", "prior"))
    assert float(over["over_best_shortcut"]) == pytest.approx(
        float(over["headline_value"]) - best, abs=0.02
    )
    assert over["best_shortcut"] in rows
    assert ">Over best shortcut<" in html
    assert rows["hf:a (text only)"]["rank"] == "", "a text-only run takes no rank"
    assert rows["hf:a"]["group"] == rows["hf:b"]["group"] == "a", "equal runs cannot be told apart"
    assert {"random", "majority", "prior"} <= rows.keys()
    assert result.tables == len(list((tmp_path / "tables").iterdir()))
    assert {path.suffix for path in (tmp_path / "tables").iterdir()} == {".csv", ".md", ".tex"}


def test_runs_are_called_as_told(cohort: Any, tmp_path: Path) -> None:
    _, html = _report(
        [cohort.random, cohort.oracle], tmp_path / "r.html", pictures=0, names=["chance", "key"]
    )
    assert '<span class="run-name">chance<' in html
    assert '<span class="run-name">key<' in html


def test_twins_stand_beside(html: str, cohort: Any, read_payload: Callable[[str], Any]) -> None:
    payload = read_payload(html)
    items = {item.item_id: item for item in open_bench(cohort.bench).items()}
    paired = {key: d["twins"] for key, d in payload["details"].items() if d.get("twins")}
    assert paired
    for key, twins in paired.items():
        assert key not in twins
        assert {items[twin].twin_group for twin in twins} == {items[key].twin_group}
