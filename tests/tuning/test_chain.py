"""From a bench to an evaluated model, for every source that the papers train on:
boxes, grades, published questions."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from tune_sources import Situs, fastmri_plus, knees, sgmri_vqa

pytestmark = pytest.mark.tune

STEPS = 20


@pytest.fixture(scope="session")
def roomy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model whose context holds whole prompts. Do not change it."""
    from situs.tune.demo.tiny import write_tiny_model

    folder = tmp_path_factory.mktemp("roomy") / "tiny"
    write_tiny_model(folder, context=16384)
    return folder


CHAINS = {
    "fastmri+": (fastmri_plus, ("--box-form", "qwen3", "--profile", "sgmri-frames")),
    "knees": (
        knees,
        *(("--box-form", "json", "--profile", "3dreasonknee-qwen", "--frames", 4, "--size", 64),),
    ),
    "sgmri-vqa": (sgmri_vqa, ("--box-form", "bbx", "--profile", "sgmri-frames")),
}


def write_config(path: Path, model: Path, data: Path) -> Path:
    path.write_text(
        f"""name = "chain"
model = "{model}"
tuning = "lora"
save_every = 1000
[[stages]]
steps = {STEPS}
data = [{{ path = "{data}" }}]
[optimizer]
learning_rate = 1e-3
[batch]
per_device = 1
accumulate = 1
[lora]
rank = 4
alpha = 8
[hardware]
dtype = "float32"
checkpointing = false
cpu = true
"""
    )
    return path


@pytest.mark.parametrize("source", CHAINS)
def test_from_bench_to_evaluation(source: str, roomy: Path, situs: Situs, tmp_path: Path) -> None:
    make, options = CHAINS[source]
    bench, data, run = make(tmp_path, situs), tmp_path / "data", tmp_path / "run"
    target = "reasoning+boxes+answer" if source == "knees" else "boxes+answer"
    for command in (
        ("build", bench, "--target", target, *options, "--out", data),
        ("check", data, "--model", roomy, "--limit", 16),
        ("export", data, "--to", "trl", "--out", tmp_path / "trl"),
        ("run", write_config(tmp_path / "c.toml", roomy, data), "--out", run),
        ("merge", run, "--out", tmp_path / "merged", "--sample", 2),
    ):
        ran = situs("tune", *command)
        assert ran.code == 0, f"{command[0]}: {ran.out}\n{ran.err}"
    rows = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    losses = [row["loss"] for row in rows if "loss" in row]
    assert len(losses) == STEPS
    assert all(map(math.isfinite, losses))
    assert sum(losses[-5:]) < sum(losses[:5])  # it learns what it is shown
    ran = situs(
        *("tune", "eval", run, "--bench", bench, "--out", tmp_path / "evaluation", "--json"),
        *("--limit", 4, "--max-tokens", 8, "--no-sight"),
    )
    assert ran.code == 0, ran.err
    assert set(ran.json["arms"]) == {"base", "boxes"}
    assert ran.json["arms"]["boxes"]["grounding"]["n"] > 0
    assert (tmp_path / "evaluation" / "report.html").is_file()
