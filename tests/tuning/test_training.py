"""Training end to end with a tiny model: resume, refusals, adapters, rewards, two processes."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from situs.bench import open_bench
from situs.errors import SitusError
from situs.profiles import load_profile
from situs.tune import BuildChoices, build_data, merge, open_data
from situs.tune.demo.demonstration import demonstrate, one_thread
from situs.tune.demo.prepare import Sizes
from situs.tune.evaluation.evaluate import EvalChoices, Evaluated, evaluate
from situs.tune.evaluation.replies import read_arm
from situs.tune.merge import merge_adapter
from situs.tune.training.config import (
    Batch,
    Config,
    Grpo,
    Hardware,
    Lora,
    Optimizer,
    Source,
    Stage,
    load_config,
)
from situs.tune.training.examples import chat_row, make_collator
from situs.tune.training.folder import last_checkpoint
from situs.tune.training.launch import write_launch_files
from situs.tune.training.limits import refuse_too_long
from situs.tune.training.models import frozen_parts, load_trainable, processor_of
from situs.tune.training.plan import make_plan
from situs.tune.training.run import train

pytestmark = pytest.mark.tune


def config(prepared: Path, data: str = "boxes", steps: int = 4, **changes: Any) -> Config:
    base = Config(
        name="test",
        model=str(prepared / "tiny-seed0"),
        stages=(Stage((Source(str(prepared / data)),), steps=steps),),
        tuning="full",
        freeze=(),
        optimizer=Optimizer(learning_rate=1e-3, warmup=0.0, schedule="constant"),
        batch=Batch(4, 1),
        lora=Lora(rank=4, alpha=8),
        hardware=Hardware(dtype="float32", checkpointing=False, cpu=True),
        save_every=2,
    )
    return msgspec.structs.replace(base, **changes)


def losses(run: Path) -> dict[int, float]:
    rows = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    return {row["step"]: row["loss"] for row in rows if "loss" in row}


def write_config(path: Path, prepared: Path, data: str, steps: int, save_every: int = 2) -> Path:
    path.write_text(
        f"""name = "killed"
model = "{prepared / "tiny-seed0"}"
tuning = "full"
freeze = []
save_every = {save_every}
[[stages]]
steps = {steps}
data = [{{ path = "{prepared / data}" }}]
[optimizer]
learning_rate = 1e-3
schedule = "constant"
warmup = 0.0
[batch]
per_device = 4
accumulate = 1
[hardware]
dtype = "float32"
checkpointing = false
cpu = true
"""
    )
    return path


def situs(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "situs", *map(str, arguments)]


def test_kill_and_resume_gives_the_same_losses(prepared: Path, tmp_path: Path) -> None:
    file = write_config(tmp_path / "c.toml", prepared, "boxes", steps=8)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    subprocess.run(situs("tune", "run", file, "--out", whole), check=True, capture_output=True)
    process = subprocess.Popen(
        situs("tune", "run", file, "--out", killed),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 300
    while not (killed / "checkpoints" / "checkpoint-4" / "trainer_state.json").is_file():
        assert time.monotonic() < deadline
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = subprocess.run(
        situs("tune", "run", file, "--out", killed, "--resume", "--json"),
        check=True,
        capture_output=True,
    )
    assert json.loads(done.stdout)["resumed_from"] >= 2
    assert losses(killed) == pytest.approx(losses(whole))
    assert sorted(losses(whole)) == list(range(1, 9))


def test_a_run_is_not_resumed_with_other_data_profile_or_box_form(
    prepared: Path, tmp_path: Path
) -> None:
    file = write_config(tmp_path / "c.toml", prepared, "boxes", steps=2)
    out = tmp_path / "run"
    subprocess.run(situs("tune", "run", file, "--out", out), check=True, capture_output=True)
    profile = str(prepared / "demo-slices.toml")
    for name, choices, word in (
        ("form", BuildChoices(profile=profile, box_form="unit"), "profile"),
        ("seed", BuildChoices(profile=profile, mix={"detection": 0.5}), "data"),
    ):
        build_data(prepared / "bench", tmp_path / name, choices)
        ran = subprocess.run(
            situs(*("tune", "run", file, "--out", out, "--resume", "--data", tmp_path / name)),
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 2, ran.stderr
        assert f"another {word}" in ran.stderr
        assert len([line for line in ran.stderr.splitlines() if line.startswith("situs:")]) == 1
    again = subprocess.run(situs("tune", "run", file, "--out", out), capture_output=True, text=True)
    assert again.returncode == 2
    assert "--resume" in again.stderr


def test_an_adapter_is_merged_and_answers_the_same(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = config(prepared, steps=3, tuning="lora")
    trained = train(changed, tmp_path / "run")
    assert set(trained.trained) == {"adapter on language"}
    assert not list((tmp_path / "run" / "model").glob("model*.safetensors"))  # no stray weights
    merged = merge_adapter(tmp_path / "run", tmp_path / "merged", sample=3, max_tokens=24)
    assert merged.compared + merged.ties == 3
    assert (tmp_path / "merged" / "preprocessor_config.json").is_file()
    with pytest.raises(SitusError, match="not empty"):
        merge_adapter(tmp_path / "run", tmp_path / "merged", sample=1, max_tokens=4)
    from peft import PeftModel

    # An adapter that gets lost is found even if no greedy reply shows it.
    monkeypatch.setattr(PeftModel, "merge_and_unload", lambda self: self.unload(), raising=False)
    monkeypatch.setattr(merge, "_replies", lambda *_: ["Yes"])
    with pytest.raises(SitusError, match="1 of 1 greedy replies, or their logits, changed"):
        merge_adapter(tmp_path / "run", tmp_path / "lost", sample=1, max_tokens=4)
    assert not (tmp_path / "lost").exists()


def test_a_tie_is_no_change_and_a_lost_adapter_is() -> None:
    import torch

    from situs.tune.merge import _ROUNDING, _agree, _likeliest

    logits = torch.tensor([[10.0, 9.9999, -3.0], [1.0, 8.0, 2.0]])
    held = _likeliest(logits)
    rounded = logits + torch.tensor([[-2e-4, 2e-4, 0.0], [0.0, 0.0, 1e-4]])
    assert rounded[0].argmax() != logits[0].argmax()  # greedy replies part here
    assert _agree(held, rounded, _ROUNDING["float32"])
    assert not _agree(held, logits + torch.tensor([0.2, 0.0, 0.0]), _ROUNDING["float32"])
    assert not _agree(held, logits * 1.1, _ROUNDING["bfloat16"])


def test_stages_and_weights_are_the_order_of_examples(prepared: Path, tmp_path: Path) -> None:
    stages = (
        Stage((Source(str(prepared / "plain")),), name="plain", steps=3),
        Stage(
            (Source(str(prepared / "plain"), 1.0), Source(str(prepared / "boxes"), 3.0)), steps=200
        ),
    )
    plan = make_plan(config(prepared, stages=stages))
    first = [plan.example(draw)[0].folder.name for draw in range(12)]
    assert set(first) == {"plain"}
    later = [plan.data[source].folder.name for source in plan.order[0][12:]]
    # 800 draws, three of four from the second source: within four standard deviations.
    assert abs(later.count("boxes") / 800 - 0.75) < 4 * (0.75 * 0.25 / 800) ** 0.5
    assert plan.hash == make_plan(config(prepared, stages=stages)).hash


def test_rewards_train(prepared: Path, tmp_path: Path) -> None:
    changed = config(
        prepared,
        steps=2,
        method="grpo",
        grpo=Grpo(generations=2, max_new_tokens=8),
        save_every=100,
    )
    trained = train(changed, tmp_path / "run")
    assert trained.steps == 2
    logged = (tmp_path / "run" / "log.jsonl").read_text()
    for part in ("format", "answer", "grounding"):
        assert f"rewards/{part}_reward/mean" in logged


def test_two_processes(prepared: Path, tmp_path: Path) -> None:
    file = write_config(tmp_path / "c.toml", prepared, "boxes", steps=2, save_every=100)
    text = file.read_text().replace("cpu = true", "cpu = true\ndevices = 2")
    file.write_text(text)
    subprocess.run(
        situs("tune", "run", file, "--launch-files", tmp_path / "launch"),
        check=True,
        capture_output=True,
    )
    assert (tmp_path / "launch" / "accelerate.yaml").is_file()
    command = [
        *(sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2"),
        *("--master_port", "29731", "-m", "situs", "tune", "run", str(file)),
        *("--out", str(tmp_path / "run")),
    ]
    ran = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"}
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert sorted(losses(tmp_path / "run")) == [1, 2]
    assert (tmp_path / "run" / "model" / "model.safetensors").is_file()


def test_the_three_arms_are_evaluated(prepared: Path, tmp_path: Path) -> None:
    for arm in ("boxes", "answer"):
        train(config(prepared, arm, steps=2, save_every=100), tmp_path / arm)
    found = evaluate(
        [tmp_path / "boxes"],
        prepared / "bench",
        tmp_path / "out",
        controls=[tmp_path / "answer"],
        choices=EvalChoices(limit=24, batch=8, max_tokens=12, sight=False, pictures=2),
    )
    assert set(found.arms) == {"base", "answer", "boxes"}
    assert {"box_miou", "accuracy", "consistency", "format_errors"} <= set(found.arms["boxes"])
    assert "of boxes on answers" in found.statement or "Nothing can be concluded" in found.statement
    assert (tmp_path / "out" / "report.html").is_file()
    with pytest.raises(SitusError, match="answers only"):
        evaluate([tmp_path / "answer"], prepared / "bench", tmp_path / "other")
    with pytest.raises(SitusError, match="learnt"):
        evaluate(
            [tmp_path / "boxes"],
            prepared / "bench",
            tmp_path / "other",
            choices=EvalChoices(split="train"),
        )


def test_four_bit_weights_are_trained_on_where_that_is_installed(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = config(prepared, steps=2, tuning="qlora", save_every=100)
    with monkeypatch.context() as patched:
        patched.setattr(importlib.util, "find_spec", lambda name: None)
        with pytest.raises(SitusError, match="bitsandbytes"):
            load_trainable(changed)
    pytest.importorskip("bitsandbytes")
    trained = train(changed, tmp_path / "run")
    assert set(trained.trained) == {"adapter on language"}
    plain = frozen_parts(load_trainable(config(prepared, tuning="lora")))
    # Packed two to a byte, the same numbers of weights stay as they are.
    assert (trained.frozen, trained.trained) == plain


def test_an_example_that_is_too_long_stops_the_run(prepared: Path, tmp_path: Path) -> None:
    with pytest.raises(SitusError, match=r"examples have more than 30 tokens.*the longest has"):
        train(config(prepared, max_length=30), tmp_path / "run")
    assert not (tmp_path / "run").exists()  # it is told before the first step


def test_lengths_are_counted_as_the_collator_makes_them(prepared: Path) -> None:
    """Exactly as many tokens as the longest planned example has are enough, one less is not."""
    data = open_data(prepared / "boxes")
    processor = processor_of(prepared / "tiny-seed0")
    planned = config(prepared, steps=8)
    plan = make_plan(planned)
    rows = [chat_row(plan.example(draw)[1], data.folder) for draw in range(len(plan))]
    longest = int(make_collator(processor)(rows)["attention_mask"].sum(dim=1).max())
    refuse_too_long(planned, plan, processor, longest)
    with pytest.raises(SitusError, match=f"the longest has {longest}"):
        refuse_too_long(planned, plan, processor, longest - 1)


def test_a_run_is_started_with_the_devices_it_is_planned_for(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    alone = config(prepared)
    on_cards = msgspec.structs.replace(alone.hardware, cpu=False)
    for changed, processes, cards, problem in (
        (msgspec.structs.replace(alone.hardware, devices=8), 1, 0, "8 devices, and 1 process was"),
        (alone.hardware, 2, 0, "1 device, and 2 processes were"),
        (on_cards, 1, 4, "one process sees 4"),
    ):
        monkeypatch.setenv("WORLD_SIZE", str(processes))
        monkeypatch.setattr(torch.cuda, "device_count", lambda cards=cards: cards)
        with pytest.raises(SitusError, match=problem):
            train(msgspec.structs.replace(alone, hardware=changed), tmp_path / "run")
        assert not (tmp_path / "run").exists()


def test_data_that_were_tampered_with_are_not_trained_on(prepared: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(prepared / "boxes", tmp_path / "boxes"))
    stage = (Stage((Source(str(copy)),), steps=2),)
    table = copy / "train.jsonl"
    table.write_bytes(table.read_bytes().replace(b"Yes", b"No ", 1))
    with pytest.raises(SitusError, match="is not what the manifest says"):
        train(config(prepared, stages=stage), tmp_path / "run")
    assert not (tmp_path / "run").exists()
    shutil.copyfile(prepared / "boxes" / "train.jsonl", table)
    pictures = sorted((copy / "pictures").rglob("*.png"))
    for picture in pictures[1:]:
        picture.write_bytes(pictures[0].read_bytes())
    with pytest.raises(SitusError, match="named by"):
        train(config(prepared, stages=stage), tmp_path / "run")


@pytest.mark.parametrize("name", ["sgmri-qwen3-vl-8b", "3dreasonknee-qwen2.5-vl-3b"])
@pytest.mark.parametrize("shard", ["none", "zero2", "zero3", "fsdp"])
def test_launch_files_are_read_by_accelerate_and_deepspeed(
    name: str, shard: Any, tmp_path: Path
) -> None:
    from accelerate.commands.config.config_args import load_config_from_file

    loaded = load_config(name, whole=False)
    hardware = msgspec.structs.replace(loaded.hardware, shard=shard, devices=4)
    loaded = msgspec.structs.replace(loaded, hardware=hardware)
    written = write_launch_files(loaded, name, tmp_path)
    read = load_config_from_file(str(tmp_path / "accelerate.yaml"))
    kinds = {"none": "MULTI_GPU", "zero2": "DEEPSPEED", "zero3": "DEEPSPEED", "fsdp": "FSDP"}
    assert read.distributed_type == kinds[shard]
    assert read.num_processes == 4
    assert ("deepspeed.json" in written) is shard.startswith("zero")
    if shard.startswith("zero") and importlib.util.find_spec("deepspeed") is not None:
        from deepspeed.runtime.config import DeepSpeedConfig

        zero = DeepSpeedConfig(str(tmp_path / "deepspeed.json"))
        assert zero.zero_config.stage == int(shard[-1])
        assert zero.train_micro_batch_size_per_gpu == loaded.batch.per_device
        assert zero.gradient_accumulation_steps == loaded.batch.accumulate


AS_CARDS = """
import sys
import torch
from accelerate import state

torch.distributed.init_process_group("gloo")
state.PartialState._prepare_backend = lambda *_, **__: ("gloo", state.DistributedType.MULTI_GPU)
state.PartialState.set_device = lambda self: setattr(self, "device", torch.device("cpu"))
from situs.__main__ import main

sys.exit(main())
"""
"""accelerate shards on accelerators only; here two processes on CPUs are told to be such."""


def test_whole_weights_are_saved_under_fsdp(prepared: Path, tmp_path: Path) -> None:
    """With the shipped file; transformers' Trainer writes nothing while the state is sharded."""
    file = write_config(tmp_path / "c.toml", prepared, "boxes", steps=2, save_every=1)
    text = file.read_text().replace("cpu = true", 'cpu = true\ndevices = 2\nshard = "fsdp"')
    file.write_text(text)
    launch, loaded = tmp_path / "launch", load_config(str(file))
    cards = msgspec.structs.replace(loaded.hardware, cpu=False)
    write_launch_files(msgspec.structs.replace(loaded, hardware=cards), str(file), launch)
    (tmp_path / "as_cards.py").write_text(AS_CARDS)
    accelerate = str(Path(sys.executable).with_name("accelerate"))
    command = [
        *(accelerate, "launch", "--config_file", str(launch / "accelerate.yaml")),
        *("--main_process_port", "29733", str(tmp_path / "as_cards.py"), "tune", "run", str(file)),
        *("--out", str(tmp_path / "run")),
    ]
    ran = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"}
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert sorted(losses(tmp_path / "run")) == [1, 2]
    checkpoint = last_checkpoint(tmp_path / "run")
    assert checkpoint is not None
    assert list(checkpoint.glob("pytorch_model_fsdp_0/*.distcp"))  # it was sharded
    model = tmp_path / "run" / "model"
    assert (model / "tokenizer.json").is_file()
    before, after = (
        load_trainable(config(prepared, model=str(folder))).state_dict()
        for folder in (prepared / "tiny-seed0", model)
    )
    assert before.keys() == after.keys()
    assert any(bool((before[name] != after[name]).any()) for name in before)


def test_a_seed_may_have_its_own_base(prepared: Path, tmp_path: Path) -> None:
    runs: dict[str, list[Path]] = {"boxes": [], "answer": []}
    for arm, own in runs.items():
        for seed in range(2):
            own.append(tmp_path / f"{arm}-{seed}")
            model = str(prepared / f"tiny-seed{seed}")
            train(config(prepared, arm, steps=1, model=model, save_every=100), own[-1])
    asked = EvalChoices(limit=8, batch=8, max_tokens=8, sight=False, pictures=1)

    def found(out: str, controls: list[Path]) -> Evaluated:
        bench = prepared / "bench"
        return evaluate(runs["boxes"], bench, tmp_path / out, controls=controls, choices=asked)

    evaluated = found("out", runs["answer"])
    assert evaluated.seeds == 2
    assert evaluated.notes == ()
    bench, profile = (
        open_bench(prepared / "bench"),
        load_profile(str(runs["boxes"][0] / "profile.toml")),
    )
    errors = [
        list(
            read_arm(bench, tmp_path / "out" / "runs" / f"base-{seed}", profile, "test", 8)
            .values["format_errors"]
            .values()
        )
        for seed in range(2)
    ]
    mean = sum(map(sum, errors)) / sum(map(len, errors))
    assert evaluated.arms["base"]["format_errors"].value == pytest.approx(mean)
    (note,) = found("swapped", runs["answer"][::-1]).notes
    assert "different base models" in note


def test_the_demonstration_leaves_the_number_of_threads_as_it_was() -> None:
    import torch

    before = torch.get_num_threads()
    with one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


@pytest.mark.seeds
def test_the_demonstration_in_three_seeds(tmp_path: Path) -> None:
    """Held-out patients: from at most .2 to at least .6, and above answers alone in every seed."""
    evaluated = demonstrate(tmp_path, Sizes(), seeds=3)
    value = {arm: entries["box_miou"].value for arm, entries in evaluated.arms.items()}
    assert value["base"] <= 0.2
    assert value["boxes"] >= 0.6
    bench, profile = open_bench(tmp_path / "bench"), None
    for seed in range(3):
        means = {}
        for arm in ("boxes", "answer"):
            run = tmp_path / "evaluation" / "runs" / f"{arm}-{seed}"
            profile = profile or load_profile(str(tmp_path / "boxes-seed0" / "profile.toml"))
            values = read_arm(bench, run, profile, "test", 300).values["box_miou"]
            means[arm] = sum(values.values()) / len(values)
        assert means["boxes"] > means["answer"], seed


def test_configs_that_ship_are_whole() -> None:
    from situs.tune.training.config import shipped_configs

    assert set(shipped_configs()) >= {"sgmri-qwen3-vl-8b", "3dreasonknee-qwen2.5-vl-3b"}
    for name in shipped_configs():
        loaded = load_config(name, model="m", data=("d",))
        assert bool(loaded.defects) == name.endswith("published")
