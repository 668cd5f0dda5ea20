"""What is known of a run before anything is loaded: who is learnt from, lengths, pixel limits."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from situs.bench import open_bench
from tune_cohort import reseal

Situs = Callable[..., Any]
QWEN25 = {"patch_size": 14, "merge_size": 2, "min_pixels": 3136, "max_pixels": 12_845_056}


def write_config(folder: Path, data: Path, **changes: Any) -> Path:
    """A run of two steps with a model of which only the description is here."""
    model = folder / "model"
    model.mkdir(exist_ok=True)
    (model / "config.json").write_text('{"num_hidden_layers": 2, "hidden_size": 64}')
    (model / "preprocessor_config.json").write_text(json.dumps(QWEN25))
    lines = {"name": "plan", "model": str(model), "billions": 1.0} | changes
    path = folder / "two words.toml"
    path.write_text(
        "\n".join(f"{key} = {json.dumps(value)}" for key, value in lines.items())
        + f'\n[[stages]]\nsteps = 2\ndata = [{{ path = "{data}" }}]\n'
    )
    return path


@pytest.mark.parametrize("split", ["test", "val"])
def test_a_held_out_patient_in_the_training_table_is_refused(
    split: str, trained_on: Path, situs: Situs, tmp_path: Path
) -> None:
    """Even where the manifest was written for the table as it is now."""
    data = Path(shutil.copytree(trained_on / "data", tmp_path / "data"))
    held_out = next(iter(open_bench(trained_on / "bench").items(split))).patient_id
    first, *others = (data / "train.jsonl").read_text().splitlines(keepends=True)
    row = json.loads(first) | {"patient_id": held_out}
    (data / "train.jsonl").write_text(json.dumps(row) + "\n" + "".join(others))
    reseal(data)
    ran = situs("tune", "run", write_config(tmp_path, data), "--dry-run")
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert f"{held_out}, who is in the {split} split" in ran.err


def test_an_estimate_counts_tokens_for_the_family_of_the_model(
    trained_on: Path, situs: Situs, tmp_path: Path
) -> None:
    data = trained_on / "data"
    lengths = {one["family"]: one for one in _manifest(data)["lengths"]}
    ran = situs("tune", "run", write_config(tmp_path, data), "--dry-run", "--json")
    assert ran.json["longest"] == lengths["qwen2.5-vl"]["longest"] != lengths["qwen3-vl"]["longest"]
    assert "qwen2.5-vl" in " ".join(ran.json["basis"])
    assert not ran.json["too_long"]
    short = write_config(tmp_path, data, max_length=ran.json["longest"] - 1)
    assert "the run would stop there" in " ".join(
        situs("tune", "run", short, "--dry-run").out.split()
    )


def test_pixel_limits_that_resize_once_more_are_refused(
    trained_on: Path, situs: Situs, tmp_path: Path
) -> None:
    """Boxes of 84 × 84 pictures, and a run that shows at most 56 × 56 of them."""
    built = situs(
        *("tune", "build", trained_on / "bench", "--profile", "sgmri-frames", "--size", 84),
        *("--box-form", "qwen2.5", "--mix", "detection=0,localization=0.2", "--split", "train"),
        *("--allow-restricted", "--out", tmp_path / "data"),
    )
    assert built.code == 0, built.err
    assert situs("tune", "run", write_config(tmp_path, tmp_path / "data"), "--dry-run").code == 0
    small = write_config(tmp_path, tmp_path / "data", max_pixels=56 * 56)
    ran = situs("tune", "run", small, "--dry-run")
    assert ran.code == 2
    assert "pixels of 84 × 84" in ran.err
    assert "sees 56 × 56" in ran.err


def test_a_launch_file_finds_its_config_from_anywhere(
    trained_on: Path, situs: Situs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = write_config(tmp_path, trained_on / "data")
    monkeypatch.chdir(tmp_path)
    assert situs("tune", "run", config.name, "--launch-files", tmp_path / "launch").code == 0
    heard = tmp_path / "accelerate"
    heard.write_text('#!/bin/sh\nfor word in "$@"; do echo "$word"; done\n')
    heard.chmod(0o755)
    ran = subprocess.run(
        ["bash", tmp_path / "launch" / "launch.sh", "--steps", "1"],
        cwd="/",
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.splitlines()[-4:] == ["run", str(config.resolve()), "--steps", "1"]


def _manifest(data: Path) -> Any:
    return json.loads((data / "manifest.json").read_text())
