"""What a run remembers, and how it finds its bench again."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import wire
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


def test_a_run_resumes_on_other_nodes_where_the_weights_are_stated(situs, words, tmp_path) -> None:
    """A cluster gives a job other nodes each time; what is served there is the user's to say."""
    bench, out = words(12), tmp_path / "run"

    def run(server: wire.Server, weights: str, *more: object) -> Any:
        model = f"openai:judged@http://127.0.0.1:{server.port}/v1{weights}"
        return situs("run", bench, "--model", model, "--no-cache", "--json", *more)

    with wire.Server() as one, wire.Server() as other:
        ran = run(one, "?weights=Qwen3-VL-8B", "--out", out, "--limit", 4)
        assert ran.json["states"] == {"answered": 4}
        assert "weights" not in one.bodies[0]
        for weights in ("", "?weights=Qwen3-VL-32B"):
            refused = run(other, weights, "--out", out)
            assert refused.code == 2
            assert "was run with" in refused.err
        assert not other.bodies
        ran = run(other, "?weights=Qwen3-VL-8B", "--out", out)
        assert ran.json["states"] == {"answered": 12}
        assert sum(other.keys.values()) == 8
        # Without the statement another address may be another model; the message says what helps.
        plain = tmp_path / "plain"
        run(one, "", "--out", plain, "--limit", 4)
        refused = run(other, "", "--out", plain)
        assert refused.code == 2
        assert "?weights=" in refused.err
        # Parts that were asked at different nodes are parts of one run.
        for number, server in ((1, one), (2, other)):
            folder = tmp_path / f"part{number}"
            ran = run(server, "?weights=X", "--out", folder, "--shard", f"{number}/2")
            assert ran.code == 0
        merged = situs("merge", tmp_path / "part1", tmp_path / "part2", "--out", tmp_path / "all")
        assert merged.code == 0, merged.err
    assert len(set(items_of(tmp_path / "all"))) == 12


def items_of(run: Path) -> list[str]:
    """The items that a run has rows of."""
    rows = (run / "answers.jsonl").read_text("utf-8").splitlines()
    return [json.loads(row)["item_id"] for row in rows]
