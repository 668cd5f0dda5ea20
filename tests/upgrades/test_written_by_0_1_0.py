"""A bench and runs that release 0.1.0 wrote, and what it printed of them (`scores.json`), still serve."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

KEPT = Path(__file__).parent / "written_by_0_1_0"
SCORES = json.loads((KEPT / "scores.json").read_text())


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return Path(shutil.copytree(KEPT, tmp_path / "kept"))


@pytest.mark.parametrize("model", SCORES)
def test_a_run_scores_to_the_same_digits(kept: Path, model: str, situs: Callable) -> None:
    told = situs("score", kept / "bench", kept / "runs" / model, "--json").json
    now = {entry["metric"]: [entry["value"], entry["n"]] for entry in told["overall"]}
    assert {metric: now[metric] for metric in SCORES[model]["overall"]} == SCORES[model]["overall"]
    for task, before in SCORES[model]["by_task"].items():
        now = {entry["metric"]: [entry["value"], entry["n"]] for entry in told["by_task"][task]}
        assert {metric: now[metric] for metric in before} == before


def test_an_unfinished_run_resumes(kept: Path, situs: Callable) -> None:
    journal = kept / "runs" / "part" / "answers.jsonl"
    first = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(first[:25]))
    model = ("--model", "majority", "--limit", 40)
    ran = situs("run", kept / "bench", *model, "--out", kept / "runs" / "part", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["states"] == {"answered": 40}
    assert ran.json["requests"] == 15
    assert journal.read_text().startswith("".join(first[:25]))


def test_a_check_says_which_version_built_it(kept: Path, situs: Callable) -> None:
    problems = situs("check", kept / "bench", "--json").json["problems"]
    assert problems[0]["code"] == "version"
    assert "built by Situs 0.1.0" in problems[0]["problem"]


def test_a_new_bench_says_who_wrote_it(bench: Path, situs: Callable) -> None:
    import situs as package

    assert json.loads((bench / "bench.json").read_text())["written_by"] == package.__version__
