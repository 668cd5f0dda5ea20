"""A phantom bench put to a tiny model on disk, through the program."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.models, pytest.mark.filterwarnings("default")]

LIMIT = 10
SLICES = 32
SIDE = 96


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """The default profile with pictures so small that a tiny model reads them quickly."""
    text = files("situs.profiles").joinpath("data", "default.toml").read_text("utf-8")
    assert "size_px = 448" in text
    path = tmp_path / "small.toml"
    path.write_text(text.replace("size_px = 448", f"size_px = {SIDE}"))
    return path


def rows(run: Path) -> dict[str, dict[str, Any]]:
    lines = (run / "answers.jsonl").read_text().splitlines()
    return {row["item_id"]: row for row in map(json.loads, lines)}


def test_batches_answer_a_bench_alike(
    bench: Path, profile: Path, tiny: Path, situs: Callable[..., Any], tmp_path: Path
) -> None:
    said = []
    for batch in (1, 4):
        out = tmp_path / f"run{batch}"
        model = f"hf:{tiny}?batch={batch}&max_tokens=16"
        ran = situs(
            "run",
            bench,
            "--model",
            model,
            "--profile",
            profile,
            "--out",
            out,
            "--limit",
            LIMIT,
            "--no-cache",
            "--json",
        )
        assert ran.code == 0, ran.err
        assert ran.json["states"] == {"answered": LIMIT}
        said.append(
            {
                item_id: (row["state"], row["response"], row["usage"])
                for item_id, row in rows(out).items()
            }
        )
        text = (out / "run.json").read_text()
        assert str(tiny) not in text
        assert "transformers" in text
    assert said[0] == said[1]
    for _, _, usage in said[0].values():
        assert usage["image_tokens"] >= SLICES, "every slice costs at least a token"
        assert usage["prompt_tokens"] > usage["image_tokens"]
    scored = situs("score", bench, tmp_path / "run1", "--json")
    assert scored.code == 0, scored.err


def test_pictures_too_many_for_the_model_fail_in_words(
    bench: Path, tiny: Path, situs: Callable[..., Any], tmp_path: Path
) -> None:
    """32 pictures of 448 px are 32 × 14² tokens or near it, the tiny model reads 4,096."""
    out = tmp_path / "run"
    call = (
        "run",
        bench,
        "--model",
        f"hf:{tiny}?max_tokens=4",
        "--out",
        out,
        "--limit",
        2,
        "--no-cache",
        "--json",
    )
    situs(*call)
    assert {row["state"] for row in rows(out).values()} == {"failed"}
    assert all("the model reads 4,096" in row["error"] for row in rows(out).values())
