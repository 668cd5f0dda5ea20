"""A room's runs over real HTTP."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import scripted


@pytest.fixture
def play(situs, bench, tmp_path, monkeypatch) -> Callable[..., Any]:
    """`play(script, room=…)`: the run's JSON, its scores and its folder, with what the server saw."""
    monkeypatch.setenv("SITUS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    count = 0

    def played(
        script: scripted.Script,
        room: str = "free",
        *,
        tools: str | None = None,
        limit: int = 6,
        folder: Path | None = None,
        score: tuple[object, ...] = (),
        options: tuple[object, ...] = (),
    ) -> Any:
        nonlocal count
        count += 1
        known = scripted.Known(folder or bench, room, tools, limit)
        out = tmp_path / f"run{count}"
        more = ("--tools", tools) if tools else ()
        with scripted.server(known, script) as server:
            ran = situs(
                "run", folder or bench, "--model", server.spec, "--room", room, *more,
                "--limit", limit, "--out", out, "--json", *options,
            )  # fmt: skip
        assert ran.code == 0, ran.err
        scores = situs("score", folder or bench, out, "--stratum", "all", *score, "--json")
        assert scores.code == 0, scores.err
        return Played(ran.json, scores.json, out, server, known)

    return played


class Played:
    """One run and all that is known of it."""

    def __init__(self, run: Any, scores: Any, out: Path, server: Any, known: Any) -> None:
        self.run = run
        self.scores = scores
        self.out = out
        self.server = server
        self.known = known

    def cells(self) -> dict[str, float]:
        """The four shares."""
        names = ("right_seen", "right_unseen", "wrong_seen", "wrong_unseen")
        return {name: self.scores["evidence"][name]["value"] for name in names}
