"""Exports in the hands of the tools they are for:
Inspect, lmms-eval and datasets load, ask and score them."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from situs.bench import open_bench
from situs.export import Scope, export_bench, export_run
from situs.score import open_replies, read_run

pytestmark = [pytest.mark.models, pytest.mark.filterwarnings("ignore")]

LIMIT = 16


@pytest.fixture(scope="module")
def run(bench: Path, situs: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the random baseline, every fifth answer unreadable."""
    folder = tmp_path_factory.mktemp("runs") / "random"
    assert situs("run", bench, "--model", "random", "--out", folder).code == 0
    lines = (folder / "answers.jsonl").read_text().splitlines(keepends=True)
    unread = '"response":"I see many things."'
    lines = [
        line
        if number % 5
        else line[: line.index('"response"')] + unread + line[line.index(',"usage"') :]
        for number, line in enumerate(lines)
    ]
    (folder / "answers.jsonl").write_text("".join(lines))
    return folder


def scores(situs: Callable[..., Any], bench: Path, run: Path) -> dict[str, tuple[float, int]]:
    entries = situs("score", bench, run, "--json").json["overall"]
    return {entry["metric"]: (entry["value"], entry["n"]) for entry in entries}


def load(path: Path) -> Any:
    """A Python file as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def test_inspect_scores_a_run_as_situs_does(
    bench: Path, run: Path, situs: Callable[..., Any], tmp_path: Path
) -> None:
    from inspect_ai import score
    from inspect_ai.log import read_eval_log

    export_run(run, "inspect", tmp_path / "out")
    log = read_eval_log(str(tmp_path / "out" / "log.json"))
    result = score(
        log, load(tmp_path / "out" / "task.py").situs_accuracy(), display="none"
    ).results.scores[0]
    forms = {item.item_id: item.form for item in open_bench(bench).items()}
    told = [
        outcome.right
        for name, outcome in read_run(open_replies(run, bench)).outcomes().items()
        if forms[name] in ("yes_no", "choice", "number") and outcome.right is not None
    ]
    assert result.scored_samples == len(told)
    assert result.metrics["accuracy"].value == pytest.approx(sum(map(bool, told)) / len(told))


def test_inspect_asks_the_questions_of_a_bench_with_their_pictures(
    bench: Path, tmp_path: Path
) -> None:
    from inspect_ai import eval as evaluate
    from inspect_ai import task_with
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import solver

    exported = export_bench(bench, "inspect", tmp_path / "out", Scope(limit=LIMIT))
    seen = []

    @solver
    def always_right() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            seen.append([part for part in state.messages[0].content if part.type == "image"])
            state.output = ModelOutput.from_content("none", f"The answer is {state.target[0]}.")
            return state

        return solve

    task = load(tmp_path / "out" / "task.py").situs_bench()
    (log,) = evaluate(
        task_with(task, solver=always_right()),
        model="none/none",
        log_dir=str(tmp_path / "logs"),
        display="none",
    )
    assert log.status == "success"
    assert log.results.scores[0].metrics["accuracy"].value == 1.0
    assert len(seen) == exported.items
    assert all(images for images in seen)
    assert all(image.image.startswith("data:image/png") for images in seen for image in images)


def test_lmms_eval_scores_a_run_as_situs_does(
    bench: Path,
    run: Path,
    situs: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from lmms_eval.evaluator import simple_evaluate
    from lmms_eval.tasks import TaskManager

    export_run(run, "lmms-eval", tmp_path / "out")
    monkeypatch.chdir(tmp_path / "out")
    manager = TaskManager(include_path=".", include_defaults=False)
    results = simple_evaluate(
        model="from_log",
        model_args="logs=logs",
        tasks=["situs_bench"],
        task_manager=manager,
        batch_size=1,
    )["results"]["situs_bench"]
    ours = scores(situs, bench, run)
    assert results["accuracy_closed,none"] == pytest.approx(ours["accuracy.closed"][0])
    assert results["within_interval,none"] == pytest.approx(ours["within-interval@1"][0])


def test_lmms_eval_builds_requests_from_a_bench(
    bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lmms_eval.tasks import TaskManager, get_task_dict

    exported = export_bench(bench, "lmms-eval", tmp_path / "out", Scope(limit=LIMIT))
    monkeypatch.chdir(tmp_path / "out")
    manager = TaskManager(include_path=".", include_defaults=False, model_name="x")
    task = get_task_dict(["situs_bench"], manager)["situs_bench"]
    docs = list(task.test_docs())
    assert len(docs) == exported.items
    for doc in docs:
        pictures = task.doc_to_visual(doc)
        assert len(pictures) == len(doc["images"]) > 1
        assert max(pictures[0].size) == 448
        assert task.doc_to_text(doc) == doc["prompt"]


def test_datasets_loads_a_bench_and_a_run(bench: Path, run: Path, tmp_path: Path) -> None:
    from datasets import load_dataset

    exported = export_bench(bench, "hf", tmp_path / "bench", Scope(limit=LIMIT))
    loaded = load_dataset(str(tmp_path / "bench"), cache_dir=str(tmp_path / "cache"))
    rows = [row for split in loaded.values() for row in split]
    assert len(rows) == exported.items
    assert all(len(row["images"]) > 1 and max(row["images"][0].size) == 448 for row in rows)
    answers = export_run(run, "hf", tmp_path / "run")
    loaded = load_dataset(str(tmp_path / "run"), cache_dir=str(tmp_path / "cache"))
    assert sum(len(split) for split in loaded.values()) == answers.items
    assert "prediction" in next(iter(loaded.values())).column_names


def test_pandas_reads_a_vlmevalkit_table_as_that_tool_does(bench: Path, tmp_path: Path) -> None:
    """VLMEvalKit itself is not on PyPI: this holds its documented columns, not its code."""
    import pandas

    exported = export_bench(bench, "vlmevalkit", tmp_path / "out", Scope(limit=LIMIT))
    tables = [pandas.read_csv(path, sep="\t") for path in sorted((tmp_path / "out").glob("*.tsv"))]
    assert sum(map(len, tables)) == exported.items
    closed = next(table for table in tables if "A" in table)
    assert {"index", "image", "image_path", "question", "A", "B", "answer", "category"} <= set(
        closed.columns
    )
    assert (
        not closed[["index", "image", "image_path", "question", "A", "B", "answer", "category"]]
        .isna()
        .any()
        .any()
    )
    for _, row in closed.iterrows():
        assert not pandas.isna(row[row["answer"]])
