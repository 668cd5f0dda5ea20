"""What is known of a run before anything is loaded: who is learnt from, lengths, pixel limits."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from situs.bench import open_bench
from situs.errors import SitusError
from situs.tune import open_data
from situs.tune.training.config import load_config
from situs.tune.training.folder import last_checkpoint
from situs.tune.training.log import last_loss, trim_log
from situs.tune.training.plan import make_plan
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
    words = ran.stdout.splitlines()
    assert words[words.index("run") + 1 :] == [
        *(str(config.resolve()), "--devices", "1", "--shard", "none", "--steps", "1")
    ]


def test_launch_files_are_written_all_or_none(situs: Situs, tmp_path: Path) -> None:
    launch = tmp_path / "launch"
    (launch / "launch.sh").mkdir(parents=True)
    ran = situs("tune", "run", "sgmri-qwen3-vl-8b", "--launch-files", launch)
    assert ran.code == 2
    assert "launch.sh" in ran.err
    assert [entry.name for entry in launch.iterdir()] == ["launch.sh"]


def test_other_devices_leave_a_step_its_examples(situs: Situs, tmp_path: Path) -> None:
    """The recipe takes 64 examples a step, on eight cards."""
    loaded = load_config("sgmri-qwen3-vl-8b", devices=2, shard="fsdp", whole=False)
    assert (loaded.batch.per_device, loaded.batch.accumulate) == (1, 32)
    assert (loaded.hardware.devices, loaded.hardware.shard) == (2, "fsdp")
    alone = load_config("sgmri-qwen3-vl-8b", devices=1, whole=False)
    assert (alone.batch.accumulate, alone.hardware.shard) == (64, "none")
    for options, problem in (
        (("--devices", 3), "64 examples, 1 at a time, cannot be split over 3 devices"),
        (("--shard", "zero1"), "did you mean"),
    ):
        launch = ("--launch-files", tmp_path / "launch")
        ran = situs("tune", "run", "sgmri-qwen3-vl-8b", *options, *launch)
        assert ran.code == 2
        assert problem in ran.err
        assert ran.err.count("\n") == 1
    assert not (tmp_path / "launch").exists()


def test_passes_over_prompts_are_counted_in_prompts(trained_on: Path, tmp_path: Path) -> None:
    """With rewards a step of 16 replies, eight to a prompt, takes two prompts."""
    folder = trained_on / "data"
    examples = len(list(open_data(folder).examples()))
    text = write_config(tmp_path, folder, method="grpo").read_text()
    text = text.replace("steps = 2", "epochs = 1.0") + "[batch]\naccumulate = 16\n"
    (tmp_path / "c.toml").write_text(text)
    plan = make_plan(load_config(str(tmp_path / "c.toml")))
    assert plan.steps == -(-examples // 2)
    drawn = {plan.example(draw)[1].item_id for draw in range(len(plan))}
    assert len(drawn) == examples


def test_a_log_is_cut_back_to_the_checkpoint(tmp_path: Path) -> None:
    """What a kill left after it, or half of a line, is not there twice."""
    lines = [f'{{"step": {step}, "loss": {step}.5}}\n' for step in range(1, 6)]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(lines) + '{"step": 6, "lo')
    trim_log(tmp_path, 4)
    assert log.read_text() == "".join(lines[:4])
    assert last_loss(tmp_path) == 4.5
    trim_log(tmp_path, 0)
    assert log.read_text() == ""


@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe"])
@pytest.mark.parametrize(
    "name", ["log.jsonl", "training.json", "checkpoints/checkpoint-2/model.safetensors", "model"]
)
def test_a_training_run_of_others_leads_nowhere_else(tmp_path: Path, kind: str, name: str) -> None:
    """Resuming adds to its log, replaces its checkpoints and writes its model."""
    run, diary = tmp_path / "run", tmp_path / "diary.txt"
    (run / "checkpoints" / "checkpoint-2").mkdir(parents=True)
    (run / "log.jsonl").write_text("")
    (run / name).unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(run / name)
    else:
        (run / name).symlink_to(diary)
        if kind == "link":
            diary.write_text("mine")
    with pytest.raises(SitusError, match=r"is a link|is a pipe"):
        last_checkpoint(run)
    if name == "log.jsonl":
        with pytest.raises(SitusError, match=r"is a link|is a pipe"):
            trim_log(run, 4)
    assert diary.exists() == (kind == "link")


def test_lines_of_a_log_that_are_no_steps_are_dropped(tmp_path: Path) -> None:
    odd = ["[" * 100_000, '{"step": Infinity}', '{"step": []}', "3"]
    (tmp_path / "log.jsonl").write_text("\n".join([*odd, '{"step": 1, "loss": 2.0}', ""]))
    trim_log(tmp_path, 4)
    assert (tmp_path / "log.jsonl").read_text() == '{"step": 1, "loss": 2.0}\n'


def _manifest(data: Path) -> Any:
    return json.loads((data / "manifest.json").read_text())
