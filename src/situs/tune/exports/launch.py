"""Launch files whose pixel limits, lengths and box form are those of the data."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

from situs.tune.record import Manifest

__all__ = ["LAUNCH", "write_launch"]

_ROOM = 1.25
"""Lengths are estimates; a quarter more is left, and nothing is cut at that."""


def _longest(manifest: Manifest) -> int:
    longest = max((one.longest for one in manifest.lengths), default=2048)
    return math.ceil(longest * _ROOM / 256) * 256


def _pixels(manifest: Manifest) -> tuple[int, int]:
    """Limits between which no picture is scaled but to the grid of patches."""
    areas = [width * height for width, height in manifest.sizes] or [448 * 448]
    return min(areas), math.ceil(max(areas) * 1.1)


def _family(manifest: Manifest) -> str:
    return "Qwen2.5-VL" if manifest.box_form == "qwen2.5" else "Qwen3-VL"


def _trl(folder: Path, manifest: Manifest) -> None:
    least, most = _pixels(manifest)
    script = f'''"""Fine-tune on this folder with TRL: python train.py MODEL_FOLDER OUT"""

import sys

from datasets import Image, Sequence, load_dataset
from peft import LoraConfig
from transformers import AutoProcessor
from trl import SFTConfig, SFTTrainer

model, out = sys.argv[1:3]
data = load_dataset("json", data_files="train.jsonl", split="train")
data = data.cast_column("images", Sequence(Image()))  # paths are relative to this folder
processor = AutoProcessor.from_pretrained(model, min_pixels={least}, max_pixels={most})
trainer = SFTTrainer(
    model=model,
    args=SFTConfig(
        output_dir=out,
        # A limit would cut the boxes off, silently; longest here: about {_longest(manifest)}
        max_length=None,
        completion_only_loss=True,
        remove_unused_columns=False,
        per_device_train_batch_size=1,
        gradient_accumulation_steps=8,
        learning_rate=1e-4,
        num_train_epochs=1,
        bf16=True,
        gradient_checkpointing=True,
    ),
    train_dataset=data,
    processing_class=processor,
    peft_config=LoraConfig(r=16, lora_alpha=32, target_modules=r".*language_model.*proj"),
)
trainer.train()
trainer.save_model(out)
'''
    (folder / "train.py").write_text(script, "utf-8")


def _ms_swift(folder: Path, manifest: Manifest) -> None:
    least, most = _pixels(manifest)
    lines = [
        "#!/usr/bin/env bash",
        (
            "# MODEL_FOLDER as the only argument. Strict: an over-long example stops the run; by"
            " default another"
        ),
        "# one would be taken in its place, without a word.",
        "set -euo pipefail",
        f"export MIN_PIXELS={least} MAX_PIXELS={most}  # the same at inference",
        "export QWENVL_BBOX_FORMAT=new  # boxes are text here; legacy would rewrite them",
        'swift sft --model "$1" --dataset train.jsonl \\',
        f"  --max_length {_longest(manifest)} --truncation_strategy delete --strict true \\",
        "  --lora_rank 16 --lora_alpha 32 --freeze_vit true \\",
        "  --per_device_train_batch_size 1 --gradient_accumulation_steps 8 \\",
        "  --learning_rate 1e-4 --num_train_epochs 1 --torch_dtype bfloat16 --output_dir output",
    ]
    (folder / "train.sh").write_text("\n".join(lines) + "\n", "utf-8")


def _llama_factory(folder: Path, manifest: Manifest) -> None:
    info = {
        f"situs_{split}": {
            "file_name": f"{split}.jsonl",
            "formatting": "sharegpt",
            "columns": {"messages": "messages", "images": "images"},
            "tags": {
                "role_tag": "role",
                "content_tag": "content",
                "user_tag": "user",
                "assistant_tag": "assistant",
            },
        }
        for split in manifest.counts
    }
    (folder / "dataset_info.json").write_text(json.dumps(info, indent=2) + "\n", "utf-8")
    least, most = _pixels(manifest)
    template = "qwen2_vl" if manifest.box_form == "qwen2.5" else "qwen3_vl_nothink"
    lines = [
        "# llamafactory-cli train train.yaml (set model_name_or_path first)",
        "model_name_or_path: MODEL_FOLDER",
        "stage: sft",
        "do_train: true",
        "finetuning_type: lora",
        "lora_rank: 16",
        "lora_target: all",
        "freeze_vision_tower: true",
        "freeze_multi_modal_projector: true",
        "dataset_dir: .",
        "media_dir: .",
        "dataset: situs_train",
        f"template: {template}",
        "mask_history: true  # of a conversation only the last reply is learnt",
        f"cutoff_len: {_longest(manifest)}  # its usual 2048 would cut the boxes off",
        f"image_max_pixels: {most}",
        f"image_min_pixels: {least}",
        "per_device_train_batch_size: 1",
        "gradient_accumulation_steps: 8",
        "learning_rate: 1.0e-4",
        "num_train_epochs: 1.0",
        "bf16: true",
        "output_dir: output",
    ]
    (folder / "train.yaml").write_text("\n".join(lines) + "\n", "utf-8")


def _qwen(folder: Path, manifest: Manifest) -> None:
    least, most = _pixels(manifest)
    lines = [
        "#!/usr/bin/env bash",
        "# In Qwen's finetuning folder, with this data set entered in data/__init__.py:",
        '#   SITUS = {"annotation_path": "PATH/train.json", "data_path": "PATH"}',
        '#   data_dict["situs"] = SITUS',
        "# MODEL_FOLDER as the only argument; its name must say which Qwen it is.",
        "set -euo pipefail",
        "torchrun --nproc_per_node=8 qwenvl/train/train_qwen.py \\",
        '  --model_name_or_path "$1" --dataset_use situs%100 \\',
        "  --tune_mm_vision False --tune_mm_mlp False --tune_mm_llm True --bf16 \\",
        f"  --model_max_length {_longest(manifest)} --data_flatten False --data_packing False \\",
        f"  --min_pixels {least} --max_pixels {most} \\",
        "  --per_device_train_batch_size 1 --gradient_accumulation_steps 8 \\",
        "  --learning_rate 2e-5 --num_train_epochs 1 --output_dir output",
    ]
    (folder / "train.sh").write_text("\n".join(lines) + "\n", "utf-8")


def _openai(folder: Path, manifest: Manifest) -> None:
    lines = [
        "#!/usr/bin/env bash",
        "# Uploads pictures of patients: only with data that may leave this machine.",
        "# MODEL as the only argument, as gpt-4o-2024-08-06; OPENAI_API_KEY in the environment.",
        "# OpenAI takes 10 to 50,000 examples, and new jobs from accounts that had some before.",
        "set -euo pipefail",
        "api=https://api.openai.com/v1",
        'key="Authorization: Bearer $OPENAI_API_KEY"',
        'file=$(curl -sS "$api/files" -H "$key" -F purpose=fine-tune -F file=@train.jsonl |',
        """  python3 -c 'import json, sys; print(json.load(sys.stdin)["id"])')""",
        'curl -sS "$api/fine_tuning/jobs" -H "$key" -H "Content-Type: application/json" \\',
        """  -d '{"training_file": "'"$file"'", "model": "'"$1"'"}'""",
    ]
    (folder / "upload.sh").write_text("\n".join(lines) + "\n", "utf-8")


LAUNCH: dict[str, Callable[[Path, Manifest], None]] = {
    "trl": _trl,
    "ms-swift": _ms_swift,
    "llama-factory": _llama_factory,
    "qwen": _qwen,
    "openai": _openai,
}


def write_launch(to: str, folder: Path, manifest: Manifest) -> list[str]:
    """Write the launch files of a trainer; what a user must know, as lines of a README."""
    LAUNCH[to](folder, manifest)
    least, most = _pixels(manifest)
    return [
        f"For {_family(manifest)} and its like: boxes are written as {manifest.box_form}.",
        f"Pictures have {least:,} to {most:,} pixels; ask the tuned model with the same limits and",
        (
            "`situs run --profile profile.toml`, or boxes are read in another scale than they were"
            " learnt."
        ),
        (
            f"The longest example has about {_longest(manifest):,} tokens: a lower limit cuts boxes"
            " off."
        ),
    ]
