"""`situs export`: what goes out, what stays, and that other tools would count what Situs counts."""

from __future__ import annotations

import ast
import base64
import csv
import json
import shutil
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from situs.bench import open_bench
from situs.export import FORMATS, Scope, export_bench, export_run
from situs.export.about import public_name
from situs.export.example import example_of
from situs.items import Choice, Item, Number, Option, Text, YesNo, letter_of
from situs.profiles import Presenter, load_profile

LIMIT = 64


@pytest.fixture(scope="session")
def profile(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The default profile with small pictures: quick to make."""
    text = files("situs.profiles").joinpath("data", "default.toml").read_text("utf-8")
    assert "size_px = 448" in text
    path = tmp_path_factory.mktemp("profile") / "small.toml"
    path.write_text(text.replace("size_px = 448", "size_px = 96"))
    return str(path)


@pytest.fixture(scope="session")
def exports(bench: Path, profile: str, once: Callable[..., Path]) -> Path:
    """The small bench, its first items, in every format. Do not change it."""

    def make(folder: Path) -> None:
        for to in FORMATS:
            export_bench(bench, to, folder / to, Scope(limit=LIMIT), profile=profile)

    return once("exports", make)


@pytest.fixture(scope="session")
def run(bench: Path, situs: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the random baseline in which some answers went wrong in every way."""
    folder = tmp_path_factory.mktemp("runs") / "random"
    assert situs("run", bench, "--model", "random", "--out", folder).code == 0
    rows = [json.loads(line) for line in (folder / "answers.jsonl").read_text().splitlines()]
    for number, row in enumerate(rows):
        if number % 7 == 1:
            row |= {"response": "I see many things.", "state": "answered"}
        elif number % 7 == 2:
            row |= {"response": "", "state": "failed", "error": "timeout"}
        elif number % 7 == 3:
            row |= {"response": "", "state": "refused"}
    kept = [row for number, row in enumerate(rows) if number % 11]
    (folder / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kept))
    return folder


def json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def tsv(path: Path) -> list[dict[str, str]]:
    csv.field_size_limit(1 << 30)
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t"))


def closed_accuracy(situs: Callable[..., Any], bench: Path, run: Path) -> tuple[float, int]:
    entries = situs("score", bench, run, "--json").json["overall"]
    entry = next(entry for entry in entries if entry["metric"] == "accuracy.closed")
    return entry["value"], entry["n"]


def expected_items(bench: Path, profile: str) -> dict[str, Item]:
    """Of the first items, those that the profile does not hide and other tools can score."""
    opened = open_bench(bench)
    presenter = Presenter(opened, load_profile(profile))
    items = [item for _, item in zip(range(LIMIT), opened.items())]
    scored = [item for item in items if isinstance(item.answer, YesNo | Choice | Number)]
    return {item.item_id: item for item in scored if not presenter.hidden(item)}


def test_every_format_holds_the_answerable_items_with_what_a_model_is_told(
    bench: Path, profile: str, exports: Path
) -> None:
    opened = open_bench(bench)
    presenter = Presenter(opened, load_profile(profile))
    items = expected_items(bench, profile)
    samples = {row["id"]: row for row in json_lines(exports / "inspect" / "samples.jsonl")}
    rows = {row["item_id"]: row for row in json_lines(exports / "lmms-eval" / "items.jsonl")}
    records = {
        row["item_id"]: row
        for path in (exports / "hf").glob("*/metadata.jsonl")
        for row in json_lines(path)
    }
    assert samples.keys() == rows.keys() == records.keys() == items.keys()
    for item_id, item in items.items():
        shown = presenter.present(item)
        *pictures, words = samples[item_id]["input"][0]["content"]
        assert (
            words["text"] == rows[item_id]["prompt"] == records[item_id]["prompt"] == shown.prompt
        )
        data = [image.data for image in shown.images]
        assert [(exports / "inspect" / part["image"]).read_bytes() for part in pictures] == data
        assert [
            (exports / "lmms-eval" / name).read_bytes() for name in rows[item_id]["images"]
        ] == data
        split = exports / "hf" / item.split
        assert [
            (split / name).read_bytes() for name in records[item_id]["images_file_names"]
        ] == data
        truth = samples[item_id]["target"]
        assert rows[item_id]["targets"] == records[item_id]["targets"] == truth
        match item.answer:
            case YesNo(value):
                assert truth == ["yes" if value else "no"]
            case Choice(value, also_right):
                assert truth == [letter_of(item, right) for right in (value, *also_right)]


def test_a_vlmevalkit_table_follows_its_documented_columns(
    bench: Path, profile: str, exports: Path
) -> None:
    """index, image (base64, or the index of a row with the same),
    image_path, question, A, B, …, answer, category."""
    items = expected_items(bench, profile)
    closed = tsv(exports / "vlmevalkit" / "situs_bench.tsv")
    others = tsv(exports / "vlmevalkit" / "situs_bench_openended.tsv")
    assert {row["item_id"] for row in closed + others} == items.keys()
    presenter = Presenter(open_bench(bench), load_profile(profile))
    reused = 0
    for rows in (closed, others):
        images = {row["index"]: row["image"] for row in rows}
        assert [row["index"] for row in rows] == [str(number) for number in range(len(rows))]
        for row in rows:
            item = items[row["item_id"]]
            cell = row["image"]
            if len(cell) <= 64:
                cell, reused = images[cell], reused + 1
            pictures = ast.literal_eval(cell) if cell.startswith("[") else [cell]
            assert [base64.b64decode(text) for text in pictures] == [
                i.data for i in presenter.present(item).images
            ]
            assert row["category"] == item.task
            assert item.question in row["question"]
    assert reused > 0
    for row in closed:
        item = items[row["item_id"]]
        if isinstance(item.answer, Choice):
            assert {row[letter_of(item, o.value)]: o.value for o in item.options}[
                row[row["answer"]]
            ] == item.answer.value
            assert item.options[0].text not in row["question"].replace(item.question, "")
        else:
            assert (row["A"], row["B"]) == ("Yes", "No")
            assert row["answer"] == {True: "A", False: "B"}[item.answer.value]  # type: ignore[union-attr]


def test_a_run_is_counted_by_other_tools_as_by_situs(
    bench: Path, run: Path, situs: Callable[..., Any], tmp_path: Path
) -> None:
    value, n = closed_accuracy(situs, bench, run)
    assert 0 < value < 1
    for to in FORMATS:
        export_run(run, to, tmp_path / to)
    table = tsv(tmp_path / "vlmevalkit" / "random_situs_bench.tsv")
    hits = [row["prediction"] == row["answer"] for row in table]
    assert (sum(hits) / len(hits), len(hits)) == (pytest.approx(value), n)
    said = {"Z"} | set("ABCDEFGH")
    assert {row["prediction"] for row in table} <= said
    log = json.loads((tmp_path / "inspect" / "log.json").read_text())
    closed = [
        sample for sample in log["samples"] if sample["metadata"]["form"] in ("yes_no", "choice")
    ]
    hits = [
        sample["output"]["choices"][0]["message"]["content"] in sample["target"]
        for sample in closed
    ]
    assert (sum(hits) / len(hits), len(hits)) == (pytest.approx(value), n)
    rows = [row for path in (tmp_path / "hf").glob("*/data.jsonl") for row in json_lines(path)]
    hits = [
        row["prediction"] in row["targets"] for row in rows if row["form"] in ("yes_no", "choice")
    ]
    assert (sum(hits) / len(hits), len(hits)) == (pytest.approx(value), n)
    assert {row["state"] for row in rows} == {
        "answered",
        "unparsed",
        "failed",
        "refused",
        "missing",
    }


def test_the_rules_that_go_along_read_what_is_written(run: Path, tmp_path: Path) -> None:
    """The reader in task.py and utils.py agrees with Situs on every answer of an exported run."""
    from situs.export.written import template

    code = template("reader.py.txt")
    rules: dict[str, Any] = {}
    exec(f"import re\n{code}", rules)
    assert code in template("inspect_task.py.txt")
    assert code in template("lmms_eval_utils.py.txt")
    export_run(run, "hf", tmp_path / "hf")
    rows = [row for path in (tmp_path / "hf").glob("*/data.jsonl") for row in json_lines(path)]
    assert len(rows) > 20
    for row in rows:
        args = row["form"], row["targets"], row["letters"], (row["low"], row["high"])
        assert rules["is_right"](row["prediction"], *args) is row["right"]


def test_nothing_of_the_machine_goes_out(
    small: Path, exports: Path, run: Path, tmp_path: Path
) -> None:
    for to in FORMATS:
        export_run(run, to, tmp_path / "runs" / to)
    texts = {
        path: path.read_text("utf-8")
        for root in (exports, tmp_path / "runs")
        for path in root.rglob("*")
        if path.is_file() and path.suffix not in (".png", ".jpg")
    }
    assert len(texts) > 20
    for path, text in texts.items():
        assert path.name != "locations.json"
        assert str(small) not in text
        assert "patient00" not in text
        assert ".nii" not in text


def test_what_a_model_is_told_holds_no_fact(bench: Path, exports: Path) -> None:
    """Steps, boxes, facts and parameters of an item stay behind."""
    kept = {
        "item_id",
        "study_id",
        "patient_id",
        "task",
        "form",
        "stratum",
        "tags",
        "prompt",
        "letters",
        "options",
    }
    kept |= {"targets", "low", "high", "images_file_names"}
    for path in (exports / "hf").glob("*/metadata.jsonl"):
        for row in json_lines(path):
            assert row.keys() == kept


@pytest.mark.sweep
def test_an_export_is_the_same_bytes_twice(
    bench: Path, profile: str, exports: Path, tmp_path: Path, little_of: Callable[..., Any]
) -> None:
    for to in little_of(list(FORMATS), 2):
        export_bench(bench, to, tmp_path / to, Scope(limit=LIMIT), profile=profile)
        first, second = (
            {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}
            for root in (exports / to, tmp_path / to)
        )
        assert first == second


def test_pictures_of_restricted_data_need_a_flag_and_carry_a_banner(
    small: Path, profile: str, situs: Callable[..., Any], tmp_path: Path
) -> None:
    bench = tmp_path / "bench"
    shutil.copytree(small / "bench", bench)
    about = json.loads((bench / "bench.json").read_text())
    (bench / "bench.json").write_text(json.dumps(about | {"restricted": True}))
    call = (
        "export",
        bench,
        "--to",
        "hf",
        "--profile",
        profile,
        "--limit",
        12,
        "--out",
        tmp_path / "out",
    )
    refused = situs(*call)
    assert refused.code == 2
    assert "--allow-restricted" in refused.err
    assert not (tmp_path / "out").exists()
    allowed = situs(*call, "--allow-restricted")
    assert allowed.code == 0
    assert "restricted" in allowed.err
    assert "RESTRICTED DATA" in (tmp_path / "out" / "README.md").read_text()
    run = tmp_path / "run"
    assert situs("run", bench, "--model", "random", "--out", run).code == 0
    assert situs("export", run, "--to", "inspect", "--out", tmp_path / "answers").code == 0
    assert not list((tmp_path / "answers").rglob("*.png"))


def test_mistakes_are_one_line(
    bench: Path, run: Path, situs: Callable[..., Any], tmp_path: Path
) -> None:
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "mine.txt").write_text("keep")
    for args, words in (
        ((bench, "--to", "lmmseval"), "did you mean lmms-eval"),
        ((tmp_path / "none", "--to", "hf"), "no such bench"),
        ((run, "--to", "hf", "--profile", "default"), "leave --profile out"),
        ((bench, "--to", "hf", "--bench", bench), "leave --bench out"),
        ((bench, "--to", "hf", "--split", "nowhere"), "no item to export"),
        ((bench, "--to", "hf", "--profile", "defalt"), "did you mean default"),
    ):
        ran = situs("export", *args, "--out", tmp_path / "out")
        assert (ran.code, len(ran.err.splitlines())) == (2, 1), ran
        assert words in ran.err
        assert not (tmp_path / "out").exists()
    ran = situs("export", bench, "--to", "hf", "--out", taken, "--overwrite")
    assert ran.code == 2
    assert (taken / "mine.txt").read_text() == "keep"


def test_an_export_can_be_replaced(
    bench: Path, profile: str, situs: Callable[..., Any], tmp_path: Path
) -> None:
    call = (
        "export",
        bench,
        "--to",
        "inspect",
        "--profile",
        profile,
        "--limit",
        12,
        "--out",
        tmp_path / "out",
        "--json",
    )
    first = situs(*call)
    assert situs(*call).code == 2
    assert situs(*call, "--overwrite").json == first.json
    assert first.json["items"] > 0


def item(answer: Any, options: tuple[str, ...] = ()) -> Item:
    pairs = tuple(Option(value, text) for value, text in zip("pqrst", options))
    return Item(
        "i1",
        "s",
        "ct",
        "p",
        "t",
        type(answer).__struct_config__.tag or "",
        "Which?",
        answer,
        options=pairs,
    )


def test_an_option_that_pandas_reads_as_nothing_stays_an_option(tmp_path: Path) -> None:
    """VLMEvalKit reads its tables with pandas, for which a cell `None` is empty."""
    from situs.export.vlmevalkit import _choice_cells

    example = example_of(item(Choice("q"), ("NA", "None", "both")))
    assert example is not None
    assert _choice_cells(example) == {"A": "NA.", "B": "None.", "C": "both", "answer": "B"}


def test_several_right_options_are_all_targets() -> None:
    example = example_of(item(Choice("q", ("p",)), ("left", "right", "both")))
    assert example is not None
    assert example.targets == ("B", "A")


def test_a_number_is_right_in_its_interval_and_text_keeps_its_references() -> None:
    number, exact = (
        example_of(item(Number(12.5, "mm", bounds))) for bounds in ((11.0, 14.0), None)
    )
    assert number is not None
    assert exact is not None
    assert (number.targets, number.interval) == (("12.5 mm",), (11.0, 14.0))
    assert exact.interval == (12.5, 12.5)
    text = example_of(item(Text(("on the left", "left side"))))
    assert text is not None
    assert text.targets == ("on the left", "left side")


@pytest.mark.parametrize(
    ("client", "name"),
    [
        ("hf:some/where/qwen3-vl?batch=4", "hf:qwen3-vl"),
        ("openai:org/qwen@http://localhost:8000/v1", "openai:qwen"),
        ("replay:results/answers.jsonl", "replay:answers.jsonl"),
        ("prior", "prior"),
    ],
)
def test_a_model_is_named_without_its_place(client: str, name: str) -> None:
    assert public_name(client) == name
