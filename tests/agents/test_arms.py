"""`situs author --arms`, stopped in the middle."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from situs.build import authoring


def test_arms_that_were_stopped_are_finished_by_the_same_command(
    composed: Path,
    situs: Callable[..., Any],
    plain_content: Callable[[Path], bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = ("author", composed / "bench", "--per-study", 1, "--arms", "--out")
    make, made = authoring.author_bench, []

    def stopped(*given: Any) -> Any:
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append(given)
        return make(*given)

    with monkeypatch.context() as patch:
        patch.setattr(authoring, "author_bench", stopped)
        assert situs(*words, tmp_path / "arms").code == 130
    assert situs("compare-arms", tmp_path / "arms").code == 2
    other = situs(
        "author", composed / "bench", "--per-study", 2, "--arms", "--out", tmp_path / "arms"
    )
    assert (other.code, "is not empty" in other.err) == (2, True)
    ran = situs(*words, tmp_path / "arms")
    assert ran.code == 0, ran.err
    assert situs("compare-arms", tmp_path / "arms").code == 0
    assert {path.name for path in (tmp_path / "arms").iterdir()} == {"T", "P", "W", "PW"}
    assert situs(*words, tmp_path / "whole").code == 0
    for name in ("T", "PW"):
        for table in ("items.parquet", "facts.parquet"):
            of_both = {
                plain_content(tmp_path / place / name / table) for place in ("arms", "whole")
            }
            assert len(of_both) == 1
    # What is complete is nobody's to replace.
    assert situs(*words, tmp_path / "arms").code == 2


def test_arms_that_cannot_be_made_leave_nothing(
    composed: Path, situs: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "bank.toml").write_text('[[wording]]\nshape = "x"\n')
    words = ("author", composed / "bench", "--arms", "--wordings", tmp_path / "bank.toml")
    assert situs(*words, "--out", tmp_path / "arms").code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["bank.toml"]
