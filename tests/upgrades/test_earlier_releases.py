"""Benches and runs that earlier releases wrote,
and what those printed of them (`scores.json`), still serve."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import situs as package

HERE = Path(__file__).parent
RELEASES = ("0.1.0", "0.2.0")


def written_by(release: str) -> Path:
    return HERE / f"written_by_{release.replace('.', '_')}"


SCORES = {one: json.loads((written_by(one) / "scores.json").read_text()) for one in RELEASES}


@pytest.fixture
def kept(tmp_path: Path) -> Callable[[str], Path]:
    """A copy of what a release wrote."""
    return lambda release: Path(shutil.copytree(written_by(release), tmp_path / "kept"))


@pytest.mark.parametrize(
    ("release", "model"), [(release, model) for release in RELEASES for model in SCORES[release]]
)
def test_a_run_scores_to_the_same_digits(
    kept: Callable[[str], Path], release: str, model: str, situs: Callable
) -> None:
    folder, before = kept(release), SCORES[release][model]
    told = situs("score", folder / "bench", folder / "runs" / model, "--json").json
    now = {entry["metric"]: [entry["value"], entry["n"]] for entry in told["overall"]}
    assert {metric: now[metric] for metric in before["overall"]} == before["overall"]
    for task, then in before["by_task"].items():
        now = {entry["metric"]: [entry["value"], entry["n"]] for entry in told["by_task"][task]}
        assert {metric: now[metric] for metric in then} == then


@pytest.mark.parametrize("release", RELEASES)
def test_an_unfinished_run_resumes(
    kept: Callable[[str], Path], release: str, situs: Callable
) -> None:
    folder = kept(release)
    journal = folder / "runs" / "part" / "answers.jsonl"
    first = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(first[:25]))
    model = ("--model", "majority", "--limit", 40)
    ran = situs("run", folder / "bench", *model, "--out", folder / "runs" / "part", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["states"] == {"answered": 40}
    assert ran.json["requests"] == 15
    assert journal.read_text().startswith("".join(first[:25]))


@pytest.mark.parametrize("release", RELEASES)
def test_a_check_says_which_version_built_it(
    kept: Callable[[str], Path], release: str, situs: Callable
) -> None:
    problems = situs("check", kept(release) / "bench", "--json").json["problems"]
    versions = [one["problem"] for one in problems if one["code"] == "version"]
    if release == package.__version__:
        assert not versions
    else:
        assert f"built by Situs {release}" in versions[0]


def test_a_new_bench_says_who_wrote_it(bench: Path) -> None:
    assert json.loads((bench / "bench.json").read_text())["written_by"] == package.__version__
