"""Files to start a run on several devices: accelerate, DeepSpeed, FSDP, torchrun."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from situs.base.files import write_files
from situs.tune.training.config import Config

__all__ = ["write_launch_files"]


def write_launch_files(config: Config, spec: str, folder: Path) -> list[str]:
    """`accelerate.yaml`, `launch.sh`,
    and the sharding file that the config asks for; their names."""
    hardware = config.hardware
    files = {"accelerate.yaml": _accelerate(config)}
    if hardware.shard in ("zero2", "zero3"):
        files["deepspeed.json"] = json.dumps(_deepspeed(config), indent=2) + "\n"
    # A file is named by its whole path: the script may be started from anywhere.
    recipe = str(Path(spec).resolve()) if Path(spec).is_file() else spec
    # What the files are for is said again: the recipe itself may be for other devices.
    devices = f"--devices {hardware.devices} --shard {hardware.shard}"
    command = f'-m situs tune run {shlex.quote(recipe)} {devices} "$@"'
    zero = hardware.shard in ("zero2", "zero3")
    sharded = '--deepspeed_config_file "$here/deepspeed.json" ' if zero else ""
    files["launch.sh"] = "\n".join(
        [
            "#!/usr/bin/env bash",
            "# bash launch.sh --model FOLDER --data DATA --out RUN [--resume]",
            "set -euo pipefail",
            'here="$(cd "$(dirname "$0")" && pwd)"',
            f'accelerate launch --config_file "$here/accelerate.yaml" {sharded}{command}',
            "# the same without accelerate's launcher, where nothing is sharded:",
            f"# torchrun --nproc_per_node {hardware.devices} {command}",
            "",
        ]
    )
    write_files(folder, files)
    return sorted(files)


def _accelerate(config: Config) -> str:
    hardware = config.hardware
    lines = {
        "compute_environment": "LOCAL_MACHINE",
        "num_machines": 1,
        "num_processes": hardware.devices,
        "machine_rank": 0,
        "main_training_function": "main",
        "mixed_precision": "bf16" if hardware.dtype == "bfloat16" and not hardware.cpu else "'no'",
        "use_cpu": str(hardware.cpu).lower(),
        "distributed_type": "'NO'" if hardware.devices == 1 else "MULTI_GPU",
    }
    text: list[str] = []
    if hardware.cpu and hardware.devices > 1:
        lines["distributed_type"] = "MULTI_CPU"
    elif hardware.shard in ("zero2", "zero3"):
        lines["distributed_type"] = "DEEPSPEED"
        # Accelerate takes precision from the DeepSpeed file; both would contradict each other.
        lines.pop("mixed_precision")
        text = [
            "deepspeed_config:",
            "  deepspeed_config_file: deepspeed.json",
            f"  zero3_init_flag: {str(hardware.shard == 'zero3').lower()}",
        ]
    elif hardware.shard == "fsdp":
        lines["distributed_type"] = "FSDP"
        text = [
            "fsdp_config:",
            "  fsdp_version: 2",
            "  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP",
            "  fsdp_reshard_after_forward: true",
            "  fsdp_state_dict_type: SHARDED_STATE_DICT",
            "  fsdp_cpu_ram_efficient_loading: true",
        ]
    return "\n".join([*(f"{key}: {value}" for key, value in lines.items()), *text, ""])


def _deepspeed(config: Config) -> dict[str, object]:
    stage = 3 if config.hardware.shard == "zero3" else 2
    return {
        "zero_optimization": {
            "stage": stage,
            "overlap_comm": True,
            "contiguous_gradients": True,
            **(
                {"stage3_gather_16bit_weights_on_model_save": True}
                if stage == 3  # else a checkpoint would hold shards that no loader reads
                else {}
            ),
        },
        "bf16": {"enabled": config.hardware.dtype == "bfloat16"},
        "train_micro_batch_size_per_gpu": config.batch.per_device,
        "gradient_accumulation_steps": config.batch.accumulate,
        "gradient_clipping": config.optimizer.clip,
    }
