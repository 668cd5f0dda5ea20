"""The file: alone, safe, within its promises."""

from __future__ import annotations

import base64
import csv
import hashlib
import html as html_words
import io
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest
from PIL import Image

from situs.bench import Locations, open_bench
from situs.errors import SitusError
from situs.items import marks_of
from situs.profiles import PatientVolume, Plane, Window
from situs.report import ReportOptions, write_report
from situs.volumes import open_volume


class Links(HTMLParser):
    """Elements and attributes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def test_the_file_needs_no_other(html: str) -> None:
    links = Links(html)
    for tag, attributes in links.tags:
        assert "src" not in attributes, tag
        assert tag not in ("link", "iframe", "object", "embed", "base")
        href = attributes.get("href")
        assert href is None or href.startswith(("#", "data:text/csv")), href
    assert not re.search(r"https?:|\bsrc=|url\(|@import|import\(", html.split('id="payload"')[0])
    assert not re.search(r"https?://|['\"]//\w", html)


def test_the_policy_allows_only_this_style_and_script(html: str) -> None:
    policy = next(
        a["content"]
        for t, a in Links(html).tags
        if a.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    assert policy.startswith("default-src 'none'; img-src data:;")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        text = re.search(rf"<{tag}>(.*?)</{tag}>", html, re.S)
        assert text is not None
        digest = base64.b64encode(hashlib.sha256(text[1].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert not any("style" in a or any(k.startswith("on") for k in a) for _, a in Links(html).tags)


def test_a_response_cannot_leave_its_place(
    html: str, evil: str, read_payload: Callable[[str], Any]
) -> None:
    assert "<script>alert" not in html
    assert "<img" not in html
    assert html.count("<script") == 2
    shown = [
        a[3] for d in read_payload(html)["details"].values() for a in d["answers"] if a[0] == 0
    ]
    assert evil in shown


def test_no_name_path_or_key_of_the_machine(
    html: str, planted: str, cohort: Any, tmp_path: Path
) -> None:
    assert planted not in html.lower()
    assert str(cohort.bench.parent) not in html
    assert "/home/" not in html
    assert "hf:local model?temperature=0.5" in html


def test_counts_and_marks(html: str, cohort: Any, read_payload: Callable[[str], Any]) -> None:
    payload = read_payload(html)
    items = list(open_bench(cohort.bench).items())
    assert [row[0] for row in payload["rows"]] == [item.item_id for item in items]
    marks = [row[4] for row in payload["rows"]]
    assert all(m[1] == "r" for m in marks), "the oracle is always right"
    assert marks[0][0] == "r"
    assert marks[2][0] == "m"
    assert marks[-1][0] == "x"
    # The planted response holds the digit 1, which is a fair answer to "how many".
    uncounted = [m[0] for m, item in zip(marks, items) if item.task != "count"]
    assert set(uncounted[3:-1]) <= {"u", "f", "w"}
    assert "is incomplete" in html
    for name in ("random", "majority", "prior"):
        row = (
            r'<tr class="(?:blind|baseline)">\s*<td class="rank"></td>\s*<th[^>]*><span'
            rf' class="run-name">{name}<'
        )
        assert len(re.findall(row, html)) == 1, "a baseline that was run is not shown twice"


def test_marks_are_drawn_and_said_to_lie_where_they_do(
    html: str, cohort: Any, read_payload: Callable[[str], Any]
) -> None:
    payload = read_payload(html)
    marked = [item for item in open_bench(cohort.bench).items() if item.task == "marks"]
    assert marked
    for item in marked:
        steps = payload["details"][item.item_id]["steps"]
        (words,) = [
            step["text"].partition(" Marks: ")[2] for step in steps if "Marks: " in step["text"]
        ]
        placed = dict(part.split(" in the ") for part in words.rstrip(".").split(", "))
        assert placed.keys() == marks_of(item).keys()
        inside = re.fullmatch(r"It is mark ([A-D]), in the (.+)\.", item.steps[-1].text)
        assert inside is not None
        # A lesion is called by its role in the answer ("largest liver lesion") and by its number
        # here.
        assert placed[inside[1]].rstrip(" 123456789") == inside[2].removeprefix("largest ")
        view = payload["shared"]["views"].get(item.item_id)
        if view is not None:
            (height,) = {round(point[2]) for _, point in view["asked"]}
            assert view["planes"]["axial"]["opening"] == height


def test_details_hold_the_derivation(
    html: str, cohort: Any, read_payload: Callable[[str], Any]
) -> None:
    payload = read_payload(html)
    for item in open_bench(cohort.bench).items():
        detail = payload["details"][item.item_id]
        texts = [step["text"].partition(" Marks: ")[0] for step in detail["steps"]]
        assert texts == [step.text for step in item.steps]
        assert len(detail["facts"]) == len(item.fact_ids)
        assert [text for _, text, _ in detail["options"]] == [
            option.text for option in item.options
        ]
        for step, shown in zip(item.steps, detail["steps"]):
            if step.value is not None:
                assert shown["value"] == pytest.approx(step.value.value, rel=1e-5)
                assert shown.get("threshold") == step.value.threshold
    functions = {payload["facts"][n][4] for d in payload["details"].values() for n in d["facts"]}
    assert {"box@1", "volume@1"} <= functions


@pytest.mark.parametrize("count", [0, 3])
def test_as_many_pictured_items_as_asked(
    cohort: Any, tmp_path: Path, count: int, read_payload: Callable[[str], Any]
) -> None:
    out = tmp_path / "r.html"
    result = write_report([cohort.random], out, ReportOptions(pictures=count))
    text = out.read_text("utf-8")
    payload = read_payload(text)
    items = open_bench(cohort.bench).info.counts["items"]
    assert result.pictures_embedded == len(payload["shared"]["views"]) == count
    assert result.items == items
    assert result.bytes == out.stat().st_size < 30_000_000
    assert (
        f"pictures of {items - count} of {items} items ({count} were asked for)" in result.left_out
    )
    assert html_words.escape(result.left_out) in text
    assert ("data:image" in text) is (count > 0)
    assert sum(row[5] for row in payload["rows"]) == count


def test_wrong_answers_and_every_task_come_first(
    cohort: Any, tmp_path: Path, read_payload: Callable[[str], Any]
) -> None:
    out = tmp_path / "r.html"
    write_report([cohort.random], out, ReportOptions(pictures=12))
    rows = read_payload(out.read_text("utf-8"))["rows"]
    wrong = {row[1] for row in rows if row[4] == "w"}
    assert len(wrong) > 3
    assert wrong <= {row[1] for row in rows if row[5]}
    assert all(row[4] == "w" for row in rows if row[5] and row[1] in wrong)


def test_pictures_are_the_voxels(
    html: str, cohort: Any, read_payload: Callable[[str], Any]
) -> None:
    bench = open_bench(cohort.bench)
    payload = read_payload(html)
    shared = payload["shared"]
    item_id, view = next(iter(shared["views"].items()))
    item = next(item for item in bench.items() if item.item_id == item_id)
    series = next(s for s in bench.studies() if s.study_id == item.study_id).series[0]
    image = open_volume(Locations.read(bench.folder).find(series.image_hash))
    volume = PatientVolume(image.array(), image.grid, series.modality)
    low, high = map(float, view["source"].rpartition("/")[2].split(":"))
    for plane in Plane:
        shown = view["planes"][plane.value]
        assert shown["opening"] in shown["slices"]
        assert shown["spoken"].startswith(str(shown["slices"][0] + 1))
        uri = shared["pictures"][view["source"]][plane.value][str(shown["opening"])]
        decoded = np.asarray(
            Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))), dtype=float
        )
        expected = volume.picture(plane, shown["opening"], Window(low, high)).grey
        assert decoded.shape == expected.shape
        scale = shared["tones"][view["source"]]
        intensities = np.interp(decoded, scale["levels"], scale["values"])
        windowed = Window(low, high).apply(intensities).astype(float)
        assert np.abs(windowed - expected).mean() < 6, "JPEG of the same pixels"


def test_a_restricted_bench_shows_no_pixels(restricted: Any, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    result = write_report([restricted.random], out)
    text = out.read_text("utf-8")
    assert "data:image" not in text
    assert result.pictures_embedded == 0
    assert "because the bench is restricted" in result.left_out
    assert 'class="banner"' not in text


def test_pixels_of_a_restricted_bench_come_with_a_banner(restricted: Any, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    result = write_report([restricted.random], out, ReportOptions(pictures=1, allow_pixels=True))
    text = out.read_text("utf-8")
    assert result.pictures_embedded == 1
    assert "data:image" in text
    assert re.search(r'<p class="banner"[^>]*>RESTRICTED DATA', text)


def test_missing_evidence_is_a_note(cohort: Any, tmp_path: Path) -> None:
    bench = tmp_path / "bench"
    bench.mkdir()
    for path in cohort.bench.iterdir():
        if path.is_file() and path.name != "locations.json":
            (bench / path.name).write_bytes(path.read_bytes())
    result = write_report([cohort.random], tmp_path / "r.html", ReportOptions(bench=bench))
    assert result.pictures_embedded == 0
    assert "items without an image at hand" in result.left_out


def test_tables_come_as_csv(html: str) -> None:
    links = [a for t, a in Links(html).tags if t == "a" and "download" in a]
    assert [a["download"] for a in links][:2] == ["leaderboard.csv", "tasks.csv"]
    text = unquote(str(links[0]["href"]).partition(",")[2]).lstrip("\ufeff")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["run"] for row in rows][-5:] == ["random", "majority", "minority", "prior", "grid"]
    oracle = next(row for row in rows if row["run"] == "oracle")
    assert float(oracle["overall_value"]) == 100.0
    assert oracle["rank"] == "", "a baseline takes no rank"


def test_same_seed_same_bytes(cohort: Any, tmp_path: Path) -> None:
    for name in ("a.html", "b.html"):
        write_report(
            [cohort.random, cohort.random], tmp_path / name, ReportOptions(pictures=2, seed=4)
        )
    text = (tmp_path / "a.html").read_text("utf-8")
    assert text == (tmp_path / "b.html").read_text("utf-8")
    assert "random #2" in text


def test_runs_of_two_benches_are_refused(cohort: Any, tmp_path: Path) -> None:
    with pytest.raises(SitusError, match="no run given"):
        write_report([], tmp_path / "r.html")
    with pytest.raises(SitusError, match="-1"):
        write_report([cohort.random], tmp_path / "r.html", ReportOptions(pictures=-1))


@pytest.mark.sweep
def test_a_small_budget_shortens_the_stacks_and_says_so(
    cohort: Any, tmp_path: Path, read_payload: Callable[[str], Any]
) -> None:
    out = tmp_path / "r.html"
    full = write_report([cohort.random], out, ReportOptions(pictures=4))
    small = write_report(
        [cohort.random], out, ReportOptions(pictures=4, max_bytes=200_000 + full.bytes // 2)
    )
    assert small.bytes < full.bytes
    assert "shortened, to keep the file under" in small.left_out
    for view in read_payload(out.read_text("utf-8"))["shared"]["views"].values():
        assert all(plane["opening"] in plane["slices"] for plane in view["planes"].values())


def test_items_of_one_scan_share_its_slices_and_are_not_shortened_for_them(
    cohort: Any, tmp_path: Path
) -> None:
    """The first item of a scan brings nearly all of its slices: equal shares would cut them."""
    result = write_report([cohort.random], tmp_path / "r.html", ReportOptions(pictures=24))
    assert result.pictures_embedded == 24, "of four patients"
    assert result.bytes < 15e6
    assert "shortened" not in result.left_out, "of 30 MB"


def test_rows_and_derivations_that_do_not_fit_are_counted(
    cohort: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read_payload: Callable[[str], Any]
) -> None:
    monkeypatch.setattr("situs.report.viewer.payload._TEXT_BYTES", 20_000)
    monkeypatch.setattr("situs.report.viewer.payload._ROW_BYTES", 6_000)
    out = tmp_path / "r.html"
    result = write_report([cohort.random], out, ReportOptions(pictures=0))
    payload = read_payload(out.read_text("utf-8"))
    listed = {row[0] for row in payload["rows"]}
    assert 0 < len(payload["details"]) < len(listed)
    assert payload["details"].keys() <= listed
    left = result.items - len(payload["details"])
    assert left == payload["details_left_out"]
    assert f"derivations of {left:,} items, to keep" in result.left_out
    assert len(json.dumps(payload["rows"])) < 1.2 * 6_000
    assert 0 < result.items - len(listed) == payload["rows_left_out"]
    assert f"{payload['rows_left_out']:,} items not listed" in result.left_out
