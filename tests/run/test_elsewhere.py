"""A run finds its bench again, wherever the two lie."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from situs.bench import open_bench
from situs.errors import SitusError
from situs.profiles import load_profile
from situs.run import Spec, open_run, run_baseline


@pytest.mark.parametrize("where", ["runs/oracle", "far/away/runs/oracle", "oracle"])
def test_a_run_finds_its_bench(bench: Path, tmp_path: Path, where: str) -> None:
    shutil.copytree(bench, tmp_path / "data" / "bench")
    opened = open_bench(tmp_path / "data" / "bench")
    run_baseline(opened, Spec("oracle"), load_profile("default"), tmp_path / where)
    _, found = open_run(tmp_path / where)
    assert found.folder.resolve() == opened.folder.resolve()
    (tmp_path / "data").rename(tmp_path / "moved")
    with pytest.raises(SitusError, match="--bench"):
        open_run(tmp_path / where)
    _, found = open_run(tmp_path / where, tmp_path / "moved" / "bench")
    assert found.info == opened.info


def test_beside_its_bench_a_run_remembers_no_absolute_path(bench: Path, tmp_path: Path) -> None:
    shutil.copytree(bench, tmp_path / "bench")
    run_baseline(
        open_bench(tmp_path / "bench"), Spec("oracle"), load_profile("default"), tmp_path / "run"
    )
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "answers.jsonl",
        "run.json",
    ]
