"""A room's runs over real HTTP."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import scripted
import shaped

from situs.clients import make_client, parse_spec
from situs.clients.turns import record_proof


@pytest.fixture
def play(situs, bench, tmp_path, own_cache, monkeypatch) -> Callable[..., Any]:
    """`play(script, room=…)`: the run's JSON,
    its scores and its folder, with what the server saw."""
    monkeypatch.setenv("SITUS_CACHE", own_cache(tmp_path / "cache"))
    for provider in ("OPENAI", "ANTHROPIC", "GEMINI", "GOOGLE"):
        monkeypatch.delenv(f"{provider}_API_KEY", raising=False)
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
        over: tuple[str, bool] = ("", False),
    ) -> Any:
        """`over` the protocol of a provider, and whether native calls were proved of it before."""
        nonlocal count
        count += 1
        provider, native = over
        known = scripted.Known(folder or bench, room, tools, limit, native=native)
        out = tmp_path / f"run{count}"
        more = ("--tools", tools) if tools else ()
        serving = (
            shaped.server(known, script, provider, native=native)
            if provider
            else scripted.server(known, script)
        )
        with serving as server:
            spec = shaped.spec(provider, server) if provider else server.spec
            if native:
                record_proof(make_client(parse_spec(spec)), proved=True)
            ran = situs(
                "run", folder or bench, "--model", spec, "--room", room, *more,
                "--limit", limit, "--out", out, "--json", *options,
            )  # fmt: skip
        assert ran.code == 0, ran.err
        scores = situs("score", folder or bench, out, "--stratum", "all", *score, "--json")
        assert scores.code == 0, scores.err
        return scripted.Played(ran.json, scores.json, out, server, known)

    return played
