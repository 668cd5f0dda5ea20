"""A real small model plays every role of `situs author`:
whatever it says, the bench is valid and the card tells."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.models, pytest.mark.filterwarnings("default")]


def test_a_language_model_drives_the_whole_pipeline(
    language: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    situs: Callable[..., Any],
    label_phantoms: Callable[..., None],
) -> None:
    """No word on its wisdom: 135 million parameters have little.

    What it cannot do falls back, and the card says so.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SITUS_CACHE", str(tmp_path / "cache"))
    label_phantoms(tmp_path / "data", seed=11, count=1)
    build = ("build", "masks", "data", "--annotation", "exact", "--tasks", "volume")
    assert situs(*build, "--out", "bench").code == 0
    spec = f"openai:smollm2@{language}?max_tokens=48"
    roles = ("--planner", spec, "--writer", spec, "--critic", f"{spec}&name=c")
    # Few questions: every role is played by a model on one thread.
    few = ("--per-study", "4", "--out", "authored")
    args = ("author", "bench", *roles, "--panel", f"{spec}&name=p", *few)
    ran = situs(*args, "--json")
    assert ran.code == 0, ran.err
    result = ran.json
    assert result["items"] > 0
    assert {"planner", "writer", "critic c", "panel p"} <= result["roles"].keys()
    assert all(state["asks"] for name, state in result["roles"].items() if name != "librarian")
    checked = situs("check", "authored", "--json").json
    assert checked["problems"] == []
    assert checked["recomputed"] == result["items"]
    card = Path("authored/README.md").read_text("utf-8")
    assert "Role writer" in card
    assert "Role critic c" in card
    again = situs(*args, "--overwrite", "--json")
    assert again.code == 0
    assert sum(state["asks"] for state in again.json["roles"].values()) == 0, (
        "all is in the journals"
    )
