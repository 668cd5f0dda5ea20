"""What a run will take, before it is started:
steps, tokens, memory and GPU hours, with the basis."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from situs.errors import SitusError
from situs.tune.training.config import Config
from situs.tune.training.limits import lengths_of, refuse_resized
from situs.tune.training.plan import Plan

__all__ = ["Estimate", "estimate_run"]

_GIB = 2.0**30
_PEAK_FLOPS = 989e12
"""Dense bf16 of an H100, as its maker states it."""
_UTILISATION = 0.35
"""Share of the peak that fine-tuning of vision-language models commonly reaches."""
_ADAM_BYTES = 16.0
"""A trained parameter in mixed precision: weight 2, gradient 2, master copy 4, two moments 8."""
_FOUR_BITS = 0.56
"""Bytes of a 4-bit weight with its doubly quantised scales."""
_LAYERS, _WIDTH = 36, 4096
"""Of an 8B model, where the folder does not say."""


class Estimate(msgspec.Struct, frozen=True):
    """A plan in numbers."""

    steps: int
    stages: dict[str, int]
    examples: int
    batch: int
    tokens: int
    longest: int
    """Tokens of the longest example."""
    too_long: bool
    """Whether that is more than the run takes: it would stop there."""
    parameters: int
    trained: int
    memory_gib: float
    """Per device."""
    fits: bool
    gpu_hours: float
    basis: tuple[str, ...]
    notes: tuple[str, ...]


def estimate_run(config: Config, plan: Plan) -> Estimate:
    """Estimates from the data's lengths and the model's size; no torch is loaded."""
    refuse_resized(config, plan)
    lengths = [one for data in plan.data if (one := lengths_of(config, data.manifest)) is not None]
    median = max((one.median for one in lengths), default=0)
    longest = max((one.longest for one in lengths), default=0)
    families = " and ".join(sorted({one.family for one in lengths})) or "no family"
    size = config.batch.per_device * config.batch.accumulate * config.hardware.devices
    tokens = plan.steps * size * median
    parameters, layers, width = _model(config)
    trained = _trained(config, parameters, layers, width)
    memory = _memory(config, parameters, trained, longest, layers, width)
    passes = 6.0 if config.tuning == "full" else 4.0
    if config.hardware.checkpointing:
        passes += 2.0
    if config.method == "grpo":
        passes += 2.0 * config.grpo.generations
    hours = passes * parameters * tokens / (_PEAK_FLOPS * _UTILISATION) / 3600.0
    return Estimate(
        plan.steps,
        dict(plan.stage_steps),
        plan.steps * size,
        size,
        tokens,
        longest,
        bool(config.max_length) and longest > config.max_length,
        parameters,
        trained,
        memory,
        memory <= config.hardware.card_gib,
        hours,
        (
            (
                f"{median:,} tokens per example (median of the data, for {families}), longest"
                f" {longest:,}"
            ),
            (
                f"{passes:g} FLOP per parameter and token, {_UTILISATION:.0%} of"
                f" {_PEAK_FLOPS / 1e12:g} TFLOP/s (H100, bf16)"
            ),
            (
                "memory: weights, gradients, AdamW in mixed precision, and the activations of the "
                "longest example; add 2–4 GiB for the framework"
            ),
        ),
        config.defects,
    )


def _model(config: Config) -> tuple[int, int, int]:
    """Parameters, layers and width."""
    folder = Path(config.model)
    layers, width = _LAYERS, _WIDTH
    if (folder / "config.json").is_file():
        try:
            described = json.loads((folder / "config.json").read_text("utf-8"))
            text = described.get("text_config", described)
            layers = int(text.get("num_hidden_layers", layers))
            width = int(text.get("hidden_size", width))
        except (ValueError, TypeError, AttributeError) as error:
            raise SitusError(
                "config.json cannot be read", where=folder, fix="download it again"
            ) from error
        weights = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
        if weights:
            stored = described.get("dtype") or described.get("torch_dtype") or "float32"
            return weights // (2 if "16" in str(stored) else 4), layers, width
    if config.billions:
        return int(config.billions * 1e9), layers, width
    raise SitusError(
        "the model's size is not known", where=config.name, fix="give --model FOLDER, or billions"
    )


def _trained(config: Config, parameters: int, layers: int, width: int) -> int:
    if config.tuning == "full":
        # Vision towers of this family have a tenth of the parameters.
        vision = 0.1 if {"vision", "merger"} & set(config.freeze) else 0.0
        language = 0.9 if "language" in config.freeze else 0.0
        return int(parameters * (1.0 - vision - language))
    # Seven matrices a layer; the wide ones of the feed-forward are about three times the width.
    return int(layers * config.lora.rank * width * (4 * 2 + 3 * 4))


def _memory(
    config: Config, parameters: int, trained: int, longest: int, layers: int, width: int
) -> float:
    weight = _FOUR_BITS if config.tuning == "qlora" else 2.0
    states = (parameters - trained) * weight if config.tuning == "full" else parameters * weight
    states += trained * _ADAM_BYTES
    if config.hardware.shard in ("zero3", "fsdp"):
        states /= config.hardware.devices
    elif config.hardware.shard == "zero2":
        unsharded = parameters * weight
        states = unsharded + (states - unsharded) / config.hardware.devices
    rows = longest * config.batch.per_device
    whole_layer = 34.0 * rows * width
    # Korthikanti et al. 2022: 34·s·b·h bytes a layer without checkpointing, 2·s·b·h with it.
    kept_layers = 2.0 * rows * width * layers + whole_layer
    activations = kept_layers if config.hardware.checkpointing else whole_layer * layers
    return (states + activations) / _GIB
