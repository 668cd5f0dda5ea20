"""`--events` and `--track`: what dashboards are told, and what a log file can hold."""

from __future__ import annotations

import json
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import wire


def events_in(path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_run_tells_where_it_is_and_how_it_ended(situs, bench, small_pictures, tmp_path) -> None:
    file = tmp_path / "events.jsonl"
    with wire.Server() as server:
        command = (
            "run",
            bench,
            "--model",
            server.spec,
            "--limit",
            6,
            "--profile",
            small_pictures,
            "--no-cache",
            "--events",
            file,
        )
        ran = situs(*command, "--out", tmp_path / "run")
        assert ran.code == 0, ran.err
    begin, *steps, end = events_in(file)
    assert (begin["event"], begin["command"], begin["name"]) == ("begin", "situs run", "run")
    assert (end["event"], end["code"]) == ("end", 0)
    assert all(step["event"] == "progress" for step in steps)
    last = steps[-1]
    assert (last["done"], last["total"]) == (6, 6)
    assert last["answered_items"] == 6
    assert last["tokens_in"] > 0
    # No question, no answer, no path.
    text = file.read_text()
    assert str(tmp_path) not in text
    assert "?" not in text
    # A second call adds to the file.
    assert (
        situs(
            "run",
            bench,
            "--model",
            "oracle",
            "--limit",
            2,
            "--events",
            file,
            "--out",
            tmp_path / "o",
        ).code
        == 0
    )
    assert [event["event"] for event in events_in(file)].count("begin") == 2


def test_a_build_tells_its_studies_and_a_failure_its_code(situs, composed, tmp_path) -> None:
    file = tmp_path / "events.jsonl"
    command = ("build", "masks", composed / "data", "--annotation", "exact", "--events", file)
    command += ("--tasks", "volume")
    assert situs(*command, "--out", tmp_path / "bench").code == 0
    last = [event for event in events_in(file) if event["event"] == "progress"][-1]
    assert (last["step"], last["done"], last["total"]) == ("studies", 3, 3)
    assert situs(*command, "--out", tmp_path / "bench").code == 2  # it exists
    assert events_in(file)[-1]["code"] == 2


class _Mlflow(ModuleType):
    """Stands for MLflow: what it was told."""

    def __init__(self) -> None:
        super().__init__("mlflow")
        self.told: list[tuple[str, Any]] = []

    def start_run(self, run_name: str) -> None:
        self.told.append(("start", run_name))

    def log_metrics(self, metrics: dict[str, float], step: int) -> None:
        assert all(isinstance(value, float) for value in metrics.values())
        self.told.append(("metrics", (step, metrics)))

    def end_run(self, status: str) -> None:
        self.told.append(("end", status))


def test_mlflow_and_weights_and_biases_get_the_same_numbers(
    situs, bench, tmp_path, monkeypatch
) -> None:
    mlflow, logged, finished = _Mlflow(), [], []
    run = SimpleNamespace(log=logged.append, finish=lambda exit_code: finished.append(exit_code))
    wandb = ModuleType("wandb")
    wandb.init = lambda name: run  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mlflow", mlflow)
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    for tracker in ("mlflow", "wandb"):
        out = tmp_path / tracker
        ran = situs(
            *("run", bench, "--model", "oracle", "--limit", 5, "--track", tracker, "--out", out)
        )
        assert ran.code == 0, ran.err
    assert mlflow.told[0] == ("start", "mlflow")
    assert mlflow.told[-1] == ("end", "FINISHED")
    steps = [value for kind, value in mlflow.told if kind == "metrics"]
    assert any(step == 5 and metrics["mlflow.done"] == 5.0 for step, metrics in steps)
    assert any(metrics.get("wandb.done") == 5.0 for metrics in logged)
    assert finished == [0]


def test_a_tracker_that_goes_away_does_not_end_the_run(situs, bench, tmp_path, monkeypatch) -> None:
    class Gone(Exception):
        pass

    def gone(*given: Any, **more: Any) -> None:
        raise Gone("https://user:secret@tracker is not there")

    mlflow = ModuleType("mlflow")
    mlflow.start_run = lambda run_name: None  # type: ignore[attr-defined]
    mlflow.log_metrics = mlflow.end_run = gone  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mlflow", mlflow)
    file = tmp_path / "events.jsonl"
    command = ("run", bench, "--model", "random", "--limit", 3, "--track", "mlflow")
    ran = situs(*command, "--events", file, "--out", tmp_path / "run")
    assert ran.code == 0, ran.err
    assert ran.err.count("--track mlflow failed (Gone)") == 1
    assert "secret" not in ran.err
    assert events_in(file)[-1]["event"] == "end"  # whoever else listens is told all
    mlflow.start_run = gone  # type: ignore[attr-defined]
    ran = situs(*command, "--out", tmp_path / "never")
    assert ran.code == 2
    assert len(ran.err.strip().splitlines()) == 1
    assert "secret" not in ran.err
    assert not (tmp_path / "never").exists()


def test_a_tracker_that_is_not_installed_is_one_line(situs, bench, tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    out = tmp_path / "run"
    ran = situs("run", bench, "--model", "oracle", "--track", "wandb", "--out", out)
    assert ran.code == 2
    assert "pip install wandb" in ran.err
    assert not out.exists()


def test_a_log_gets_plain_lines_now_and_then(monkeypatch, capsys) -> None:
    from situs.cli.output import progress

    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress.progress_bar("studies") as told:
        for done in range(1, 101):
            now[0] += 2.0
            told(done, 400)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 6  # 200 s, a line each 30 s
    # The first study began before anything was timed: 44 of 45 in 90 s, and 355 to go.
    assert lines[2] == f"situs: studies 45/400 · {44 / 90:.1f}/s · 0:12:06 left"
    assert all(line.isprintable() for line in lines)


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("probes", ["blind,swap", "text,blank,mirror,rotations,wordings"])
def test_a_dry_probe_counts_every_run_and_sends_nothing(
    situs, bench, small_pictures, tmp_path, probes
) -> None:
    with wire.Server() as server:
        common = (bench, "--model", server.spec, "--limit", 12, "--profile", small_pictures)
        common += ("--dry-run", "--json")
        one = situs("run", *common, "--out", tmp_path / "run").json
        told = situs("probe", *common, "--probes", probes, "--out", tmp_path / "probe")
        assert told.code == 0, told.err
        assert server.seen == []
    assert one["requests"] == 12
    result = told.json
    if probes == "blind,swap":
        # original, and the seven ways to withhold or blunt its pictures; an exchange asks nobody.
        assert result["requests"] == 8 * 12
        assert one["pictures"] < result["pictures"] < 8 * one["pictures"]
    else:
        from situs.bench import open_bench
        from situs.probe.profiles import WORDINGS
        from situs.probe.rotations import rotated
        from situs.run import selected_items

        turned = sum(1 for _ in rotated(list(selected_items(open_bench(bench), None, 12))))
        # original, text, silent, blank, mirror, and as many as there are rotations and wordings.
        assert result["requests"] == (5 + len(WORDINGS)) * 12 + turned
    assert not (tmp_path / "probe").exists()
