"""What a run remembers, and how it finds its bench again."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from situs.errors import SitusError
from situs.run import open_run
from situs.run.append_file import AppendFile


@pytest.mark.parametrize("place", ["run", "runs/oracle", "a/b/c/run"])
def test_a_run_below_the_benchs_folder_finds_it(situs, bench, tmp_path, place) -> None:
    """Also after both have been moved together."""
    shutil.copytree(bench, tmp_path / "old" / "bench")
    assert (
        situs(
            "run",
            tmp_path / "old/bench",
            "--model",
            "oracle",
            "--limit",
            3,
            "--out",
            tmp_path / "old" / place,
        ).code
        == 0
    )
    (tmp_path / "old").rename(tmp_path / "new")
    _, found = open_run(tmp_path / "new" / place)
    assert found.folder.resolve() == (tmp_path / "new" / "bench").resolve()


def test_a_run_elsewhere_names_the_benchs_own_folder_only(situs, bench, tmp_path) -> None:
    secret = shutil.copytree(bench, tmp_path / "Jane Doe" / "bench")
    assert (
        situs("run", secret, "--model", "oracle", "--limit", 3, "--out", tmp_path / "run").code == 0
    )
    assert "Jane" not in (tmp_path / "run" / "run.json").read_text()
    assert open_run(tmp_path / "run", Path(secret))[0].bench == "bench"


def test_a_run_holds_no_path_of_this_machine(situs, bench, tmp_path) -> None:
    assert (
        situs("run", bench, "--model", "oracle", "--limit", 3, "--out", tmp_path / "run").code == 0
    )
    text = (tmp_path / "run" / "run.json").read_text() + (
        tmp_path / "run" / "answers.jsonl"
    ).read_text()
    assert str(tmp_path) not in text
    assert str(bench.parent) not in text
    assert set(json.loads((tmp_path / "run" / "run.json").read_text())) >= {
        "client",
        "profile",
        "bench_hash",
        "versions",
    }


def test_another_bench_is_refused(situs, bench, words, tmp_path) -> None:
    assert (
        situs("run", bench, "--model", "oracle", "--limit", 3, "--out", tmp_path / "run").code == 0
    )
    with pytest.raises(SitusError, match="another bench"):
        open_run(tmp_path / "run", words(3))


def test_a_folder_without_an_answer_is_free_for_another_model(situs, bench, tmp_path) -> None:
    """As one whose server was not there leaves it."""
    out = tmp_path / "run"

    def ran(model: str) -> Any:
        return situs("run", bench, "--model", model, "--limit", 3, "--out", out, "--json")

    assert ran("random").code == 0
    assert "was run with another model" in ran("majority").err
    (out / "answers.jsonl").write_bytes(b"")
    with closing(AppendFile(out / "answers.jsonl")):
        assert "another situs run is writing here" in ran("majority").err
    assert json.loads((out / "run.json").read_text())["client"] == "random"
    assert ran("majority").json["requests"] == 3
    assert json.loads((out / "run.json").read_text())["client"] == "majority"


def test_a_longer_limit_goes_on(situs, bench, tmp_path) -> None:
    for limit, asked in ((5, 5), (8, 3), (8, 0)):
        ran = situs(
            "run", bench, "--model", "random", "--limit", limit, "--out", tmp_path / "run", "--json"
        ).json
        assert (ran["items"], ran["requests"]) == (limit, asked)
