"""A tiny model on disk in a reading room, through the program."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.models, pytest.mark.filterwarnings("default")]

LIMIT = 3
ROOM = """
name = "small"
about = "small pictures, two looks"
actions = ["look", "note", "answer"]
size_px = 96

[budget]
looks = 2
turns = 6

[windows.ct."soft tissue"]
low = -160.0
high = 240.0

[windows.any.all]
low_percentile = 1.0
high_percentile = 99.0
"""


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_sessions_of_a_model_in_this_process(
    bench: Path, tiny: Path, situs: Callable[..., Any], tmp_path: Path
) -> None:
    """A model of random weights writes no action: each session ends after three replies that are
    none, whoever shares its batches, and the journal holds every reply word for word."""
    room = tmp_path / "small.toml"
    room.write_text(ROOM)
    said = []
    for batch in (1, 3):
        run = tmp_path / f"run{batch}"
        model = f"hf:{tiny}?batch={batch}&max_tokens=12"
        options = ("--room", room, "--out", run, "--limit", LIMIT, "--no-cache", "--json")
        ran = situs("run", bench, "--model", model, *options)
        assert ran.code == 0, ran.err
        replies = defaultdict(list)
        for turn in rows(run / "turns.jsonl"):
            if turn["row"] == "reply":
                replies[turn["item_id"]].append((turn["state"], turn.get("text", "")))
        # Three replies that are no actions, and two more when it is asked for the answer.
        assert {len(turns) for turns in replies.values()} == {5}
        assert len(replies) == LIMIT
        assert {row["item_id"] for row in rows(run / "answers.jsonl")} == set(replies)
        scored = situs("score", bench, run, "--json")
        assert scored.code == 0, scored.err
        said.append(dict(replies))
    assert said[0] == said[1]
