"""What somebody mistypes in the first hour: each is one line that says what to write instead."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Situs = Callable[..., Any]


def test_a_folder_that_is_no_run_names_the_runs_in_it(
    situs: Situs, bench: Path, random_run: Path, tmp_path: Path
) -> None:
    for wrong, problem in (
        (bench, f"{bench}: is not a run: run.json is missing; give the --out of situs run"),
        (random_run.parent, f"give the runs in it, such as {random_run}"),
        (tmp_path / "none", f"{tmp_path / 'none'}: no such folder; give the --out of situs run"),
    ):
        ran = situs("report", wrong, "--out", tmp_path / "r.html")
        assert ran.code == 2
        assert problem in ran.err
    assert problem not in situs("score", bench, random_run).err


def test_a_run_and_other_kinds_of_pictures_are_not_shown(
    situs: Situs, bench: Path, random_run: Path, tmp_path: Path
) -> None:
    ran = situs("show", random_run, "--out", tmp_path / "s.png")
    assert (ran.code, "is a run without sessions; situs report shows runs" in ran.err) == (2, True)
    ran = situs("show", bench, "--out", tmp_path / "s.gif")
    assert (ran.code, "give a folder, or a .png for one sheet" in ran.err) == (2, True)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("openai:m", "export OPENAI_API_KEY=…, or name a server: openai:m@http://localhost"),
        ("anthropic:m", "export ANTHROPIC_API_KEY=…"),
        ("gemini:m", "export GEMINI_API_KEY=…"),
    ],
)
def test_a_provider_is_not_called_without_a_key(
    situs: Situs,
    bench: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    words: str,
) -> None:
    for name in ("OPENAI", "ANTHROPIC", "GEMINI", "GOOGLE"):
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)
    args = ("run", bench, "--model", model, "--allow-remote", "--profile", "montage")
    ran = situs(*args, "--out", tmp_path / "run")
    assert ran.code == 1
    assert words in ran.err
    assert situs(*args, "--dry-run", "--out", tmp_path / "run").code == 0, (
        "what it costs needs none"
    )


def test_the_bare_name_of_a_model_is_answered_with_how_to_write_it(
    situs: Situs, bench: Path, tmp_path: Path
) -> None:
    ran = situs("run", bench, "--model", "qwen3-vl", "--out", tmp_path / "run")
    assert ran.code == 2
    assert "write e.g. openai:qwen3-vl@http://localhost:8000/v1" in ran.err
    ran = situs("run", bench, "--model", "opnai:qwen3-vl", "--out", tmp_path / "run")
    assert "did you mean openai?" in ran.err


def test_what_is_missing_is_named_with_the_whole_command(situs: Situs, random_run: Path) -> None:
    ran = situs("score", random_run)
    assert ran.code == 2
    assert "write situs score [OPTIONS] BENCH RUN" in ran.err


def test_a_licence_that_opens_nothing_is_told(situs: Situs, small: Path, tmp_path: Path) -> None:
    args = ("build", "masks", small / "data", "--annotation", "exact", "--tasks", "extent")
    ran = situs(*args, "--licence", "CCBY", "--out", tmp_path / "b")
    assert "--licence CCBY: not one of the open licences" in ran.err
    ran = situs(*args, "--licence", "cc by 4.0", "--out", tmp_path / "c")
    assert "open licences" not in ran.err
