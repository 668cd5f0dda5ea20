"""Blind rows stand beside the runs that could look, on their items, and not a second time."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest

from situs.report.tables.leaderboard import _same_items
from situs.score.blind.beside import kept_blind_tables
from situs.score.outcomes import Outcome
from situs.score.scored_run import open_replies, read_run


def run_of(kind: str, items: str) -> Any:
    return SimpleNamespace(kind=kind, columns=SimpleNamespace(judged_ids=list(items)))


@pytest.mark.parametrize(
    ("runs", "items_with_blind_rows"),
    [
        ([("model", "ab"), ("baseline", "abc")], ["ab"]),
        ([("model", "ab"), ("model", "abc"), ("baseline", "abc")], ["ab", "abc"]),
        ([("model", "ab"), ("text", "a"), ("reader", "b")], ["ab", "a", "b"]),
        # Where nothing could look, a baseline has blind rows beside it like any other run.
        ([("baseline", "ab"), ("baseline", "abc")], ["ab", "abc"]),
    ],
)
def test_a_baseline_run_brings_no_second_set(
    runs: list[tuple[str, str]], items_with_blind_rows: list[str]
) -> None:
    groups = _same_items([run_of(*run) for run in runs])
    assert ["".join(group[0].columns.judged_ids) for group in groups] == items_with_blind_rows


@pytest.fixture
def scored(bench: Path, tmp_path: Path, situs: Callable[..., Any]) -> Callable[..., Any]:
    """A run that was scored, on a bench of its own; gives what is kept of its blind rows."""
    own, run = tmp_path / "bench", tmp_path / "run"
    shutil.copytree(bench, own)
    assert situs("run", own, "--model", "majority", "--out", run).code == 0
    assert situs("score", own, run).code == 0

    def kept(metrics: tuple[str, ...] = ("accuracy",), **made_of: Any) -> Any:
        wanted = {"seed": 0, "stratum": "headline", **made_of}
        return kept_blind_tables(read_run(open_replies(run, own)), metrics, **wanted)

    return kept


def test_a_report_shows_the_same_blind_rows_whether_they_were_kept_or_not(
    scored: Callable[..., Any], tmp_path: Path, situs: Callable[..., Any]
) -> None:
    run, pages = tmp_path / "run", []
    for name in ("kept", "anew", "kept in part"):
        if name == "anew":
            (run / "scores.blind.json").unlink()
        assert situs("report", run, "--out", tmp_path / "page.html", "--pictures", 0).code == 0
        pages.append((tmp_path / "page.html").read_bytes())
    assert pages[0] == pages[1] == pages[2]


def test_blind_rows_are_kept_for_what_they_were_made_of_only(
    scored: Callable[..., Any], tmp_path: Path
) -> None:
    own, file = tmp_path / "bench", tmp_path / "run" / "scores.blind.json"
    assert {entry.metric for entry in scored().baselines["prior"].overall} == {"accuracy"}
    assert scored(seed=1) is None
    assert scored(stratum="textbook") is None
    # The rows learn from the facts of other patients, which the run's own scores do not know.
    facts = pq.read_table(own / "facts.parquet")
    pq.write_table(facts, own / "facts.parquet", compression="gzip")
    assert scored() is None
    file.write_bytes(file.read_bytes()[:-9])
    assert scored() is None


def test_a_jurys_word_is_no_part_of_what_is_kept(
    scored: Callable[..., Any], tmp_path: Path
) -> None:
    run = read_run(open_replies(tmp_path / "run", tmp_path / "bench"))
    item_id = run.columns.item_ids[0]
    judged = dataclasses.replace(run, judged={item_id: Outcome(item_id, "answered", True, "")})
    assert kept_blind_tables(run, ("accuracy",), seed=0, stratum="headline") is not None
    assert kept_blind_tables(judged, ("accuracy",), seed=0, stratum="headline") is None


def test_a_run_that_cannot_be_written_to_is_reported(
    scored: Callable[..., Any], tmp_path: Path, situs: Callable[..., Any]
) -> None:
    run = tmp_path / "run"
    for name in ("scores.parquet", "scores.blind.json"):
        (run / name).unlink()
        (run / name).mkdir()  # where a folder lies, no file can be put
    assert situs("report", run, "--out", tmp_path / "page.html", "--pictures", 0).code == 0


def test_a_report_opens_each_run_and_their_bench_once(
    bench: Path, tmp_path: Path, situs: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And works out the digest of a file of the bench once, however many runs there are."""
    from collections import Counter

    from situs.base import files
    from situs.bench import folder as of_bench
    from situs.run import folder as of_run

    runs = [tmp_path / "one", tmp_path / "two"]
    for run, model in zip(runs, ("majority", "random")):
        assert situs("run", bench, "--model", model, "--out", run).code == 0
    opened: Counter[str] = Counter()

    def counting(read: Callable[..., Any], kind: str) -> Callable[..., Any]:
        def counted(path: Path, *more: Any, **named: Any) -> Any:
            opened[f"{kind} {path.parent.name}/{path.name}"] += 1
            return read(path, *more, **named)

        return counted

    monkeypatch.setattr(of_run, "read_json", counting(files.read_json, "read"))
    monkeypatch.setattr(of_bench, "read_json", counting(files.read_json, "read"))
    monkeypatch.setattr(of_bench, "file_digest", counting(files.file_digest, "digest"))
    page = tmp_path / "page.html"
    assert situs("report", *runs, "--pictures", 0, "--out", page).code == 0
    expected = {"read one/run.json", "read two/run.json", f"read {bench.name}/bench.json"}
    assert expected < opened.keys()
    assert f"digest {bench.name}/items.parquet" in opened
    assert set(opened.values()) == {1}, opened
