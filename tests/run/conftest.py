"""What the tests of runs share: benches of words only, and no cache but their own."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from asking import wait_little


@pytest.fixture(autouse=True)
def _own_cache(
    tmp_path: Path, own_cache: Callable[[Path], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No test reads or fills the user's caches, prices or keys."""
    monkeypatch.setenv("SITUS_CACHE", own_cache(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """`wait_little` for a test that needs no more of it."""
    wait_little(monkeypatch)


@pytest.fixture
def small_pictures(tmp_path: Path) -> Path:
    """The usual profile with smaller pictures: they are drawn in a moment."""
    shipped = files("situs.profiles").joinpath("data", "default.toml").read_text("utf-8")
    assert "size_px = 448" in shipped
    profile = tmp_path / "small-pictures.toml"
    profile.write_text(shipped.replace("size_px = 448", "size_px = 64"), encoding="utf-8")
    return profile


@pytest.fixture
def words(situs: Callable[..., Any], tmp_path: Path) -> Callable[[int], Path]:
    """A restricted bench of so many questions without scans."""

    def make(count: int) -> Path:
        given = tmp_path / f"items{count}.jsonl"
        rows = (
            {"study": f"s{n // 20}", "question": f"Question {n}?", "answer": "yes"}
            for n in range(count)
        )
        given.write_text("\n".join(map(json.dumps, rows)))
        assert situs("import", "items", given, "--out", tmp_path / f"words{count}").code == 0
        return tmp_path / f"words{count}"

    return make
