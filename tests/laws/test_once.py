"""Everything is done once: a study is measured once a build,
a reply is read and an item scored once a command."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from situs.build import study as build_study
from situs.facts import Ledger
from situs.score import scored_run
from situs.score.blind import beside
from situs.score.replies import READERS


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[str, str, str]]:
    """How often each reply was read as each answer: item, answer, reply."""
    counts: Counter[tuple[str, str, str]] = Counter()

    def counting(read: Callable[..., Any]) -> Callable[..., Any]:
        def counted(item: Any, answer: Any, response: str, shown: Any) -> Any:
            counts[item.item_id, repr(answer), response] += 1
            return read(item, answer, response, shown)

        return counted

    for kind, reader in list(READERS._entries.items()):
        monkeypatch.setitem(READERS._entries, kind, counting(reader))
    return counts


@pytest.fixture
def scorings(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each item of the run itself was scored."""
    counts: Counter[str] = Counter()
    score = scored_run.judged_replies

    def counted(asked: Any, replies: Any) -> Any:
        counts.update(one.item.item_id for one in asked)
        return score(asked, replies)

    monkeypatch.setattr(scored_run, "judged_replies", counted)
    return counts


@pytest.fixture
def blind_answers(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The runs for which blind rows were asked anything."""
    asked: list[Path] = []
    answer = beside.blind_rows_of

    def noted(answers: Any) -> Any:
        asked.append(answers.folder)
        return answer(answers)

    monkeypatch.setattr(beside, "blind_rows_of", noted)
    return asked


def test_a_reply_is_read_once_and_an_item_scored_once_a_command(
    bench: Path,
    tmp_path: Path,
    situs: Callable[..., Any],
    readings: Counter[tuple[str, str, str]],
    scorings: Counter[str],
    blind_answers: list[Path],
) -> None:
    run = tmp_path / "run"
    assert situs("run", bench, "--model", "random", "--out", run).code == 0
    assert not readings, "asking reads no reply"
    rows = [json.loads(line) for line in (run / "answers.jsonl").read_text().splitlines()]
    replies = {(row["item_id"], row["response"]) for row in rows}

    def of_the_run() -> Counter[tuple[str, str, str]]:
        return Counter({k: n for k, n in readings.items() if (k[0], k[2]) in replies})

    commands = {
        "first": ("score", bench, run),
        "again": ("score", bench, run, "--signatures", "--breakdowns"),
        "report": ("report", run, "--out", tmp_path / "report.html", "--pictures", 0),
        "compare": ("compare", run, "--blind", run),
    }
    for name, command in commands.items():
        readings.clear()
        scorings.clear()
        blind_answers.clear()
        assert situs(*command).code == 0, name
        assert set(of_the_run().values()) <= {1}, f"{name}: read more than once"
        assert set(scorings.values()) <= {1}, f"{name}: scored more than once"
        if name == "first":
            assert blind_answers == [run]
            assert scorings.keys() == {row["item_id"] for row in rows}
            assert {key[0] for key in of_the_run()} == {row["item_id"] for row in rows}
        else:
            assert not scorings, f"{name}: what is kept in the run is not scored again"
            assert not blind_answers, f"{name}: nor do blind rows answer again"


def test_a_study_is_measured_once(
    small: Path, tmp_path: Path, situs: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []
    start = Ledger.__init__

    def counted(self: Ledger, *given: Any, **how: Any) -> None:
        made.append(self)
        start(self, *given, **how)

    monkeypatch.setattr(Ledger, "__init__", counted)
    study = small / "data" / "patient000"
    args = ("--annotation", "exact", "--tasks", "volume", "--out", tmp_path / "bench")
    assert situs("build", "masks", study, *args).code == 0
    assert len(made) == 1


@pytest.fixture
def tables_read(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The tables that were opened, in their order, each as often as it was."""
    opened: list[Path] = []
    start = pq.ParquetFile.__init__

    def noted(self: Any, source: Any, *given: Any, **how: Any) -> None:
        opened.append(Path(source))
        start(self, source, *given, **how)

    monkeypatch.setattr(pq.ParquetFile, "__init__", noted)
    return opened


def test_a_build_goes_forward(
    small: Path,
    tmp_path: Path,
    situs: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    tables_read: list[Path],
) -> None:
    """A scan and its masks are opened once, and nothing of the bench is read back for its card."""
    opened: list[str] = []
    for name in ("open_volume", "open_labels"):
        whole = getattr(build_study, name)

        def noted(*given: Any, name: str = name, whole: Any = whole, **how: Any) -> Any:
            opened.append(name)
            return whole(*given, **how)

        monkeypatch.setattr(build_study, name, noted)
    studies = [small / "data" / f"patient00{number}" for number in range(2)]
    args = ("--annotation", "exact", "--out", tmp_path / "bench")
    assert situs("build", "masks", *studies, *args).code == 0
    assert sorted(opened) == ["open_labels"] * 2 + ["open_volume"] * 2
    assert tables_read == []


def test_a_command_that_scores_reads_the_tables_for_what_they_hold(
    bench: Path, tmp_path: Path, situs: Callable[..., Any], tables_read: list[Path]
) -> None:
    """The items once, beside the one column that tells whether any answer is free text; of studies
    their ids, and the grids of what was shown; facts not at all."""
    run = tmp_path / "run"
    assert situs("run", bench, "--model", "random", "--out", run).code == 0
    tables_read.clear()
    assert situs("score", bench, run).code == 0
    times = Counter(path.name for path in tables_read)
    assert times == {"items.parquet": 2, "studies.parquet": 2}
