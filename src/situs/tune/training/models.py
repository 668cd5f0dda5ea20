"""The model of a run: loaded, frozen in parts, with or without an adapter."""

from __future__ import annotations

import importlib.util
import json
import math
import re
from pathlib import Path
from typing import Any

from situs.clients.hf.processor import load_processor
from situs.errors import SitusError
from situs.tune.training.config import Config

__all__ = [
    "frozen_parts",
    "keep_quiet",
    "load_trainable",
    "model_type",
    "need_packages",
    "processor_of",
]

_PARTS = {
    "merger": re.compile(r"merger|multi_modal_projector|deepstack_merger|aligner"),
    "vision": re.compile(r"visual|vision_tower|vision_model"),
}
"""Name of a parameter → the part it belongs to, tried in this order: mergers live inside the tower.

Older trainers froze the tower by its prefix and left Qwen3-VL's deepstack mergers unfrozen, or the
other way round; here each parameter is asked for its part.
"""


def need_packages(*names: str) -> None:
    """Refuse with one line where the extra is not installed."""
    for name in names:
        if importlib.util.find_spec(name) is None:
            raise SitusError(
                f"needs {name}, which is not installed",
                where="situs tune",
                fix="pip install 'situs[tune]' (without a GPU, install torch's CPU build first)",
            )


def keep_quiet() -> None:
    """Standard output is for results: no bars of the libraries, and warnings as errors only."""
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    if importlib.util.find_spec("datasets") is not None:
        import datasets

        # A table of draws is never cached, so that its fingerprint does not matter.
        datasets.logging.set_verbosity_error()


def part_of(name: str) -> str:
    """The part of the model a parameter belongs to."""
    return next((part for part, words in _PARTS.items() if words.search(name)), "language")


def model_type(folder: Path) -> str:
    """The family of a model folder."""
    file = folder / "config.json"
    if not file.is_file():
        raise SitusError(
            "is not a model folder: config.json is missing",
            where=folder,
            fix="download the model first; nothing is fetched",
        )
    try:
        return str(json.loads(file.read_text("utf-8")).get("model_type", ""))
    except (OSError, ValueError, AttributeError) as error:
        raise SitusError(
            "config.json cannot be read", where=folder, fix="download it again"
        ) from error


def processor_of(folder: Path, config: Config | None = None) -> Any:
    """The model's own processor, with the pixel limits of the run."""
    processor = load_processor(folder, model_type(folder))
    if config is not None:
        pictures = processor.image_processor
        for name in ("min_pixels", "max_pixels"):
            value = getattr(config, name)
            if value:
                setattr(pictures, name, value)
                edge = "shortest_edge" if name == "min_pixels" else "longest_edge"
                if isinstance(getattr(pictures, "size", None), dict) or hasattr(
                    getattr(pictures, "size", None), "get"
                ):
                    pictures.size[edge] = value
    return processor


def load_trainable(config: Config) -> Any:
    """The model with what is to be trained, and nothing else, open to training."""
    import torch
    from transformers import AutoModelForImageTextToText

    folder = Path(config.model)
    model_type(folder)
    settings: dict[str, Any] = {
        "dtype": getattr(torch, config.hardware.dtype),
        "attn_implementation": config.hardware.attention,
        "local_files_only": True,
    }
    if config.tuning == "qlora":
        settings["quantization_config"] = _four_bits(config)
    try:
        model = AutoModelForImageTextToText.from_pretrained(folder, **settings)
    except (OSError, ValueError, ImportError) as error:
        raise SitusError(
            f"cannot be loaded ({' '.join(str(error).split())[:200]})",
            where=folder,
            fix="give a folder with all of an image-text model's files",
        ) from error
    if config.tuning == "full":
        for name, parameter in model.named_parameters():
            parameter.requires_grad_(part_of(name) not in config.freeze)
        return model
    return _with_adapter(model, config)


def _four_bits(config: Config) -> Any:
    """Weights in four bits, as QLoRA was published (NF4, doubly quantised)."""
    if importlib.util.find_spec("bitsandbytes") is None:
        raise SitusError(
            "QLoRA needs bitsandbytes, which is not installed",
            where="tuning = qlora",
            fix="pip install bitsandbytes, or use lora",
        )
    import torch
    from transformers import BitsAndBytesConfig

    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=getattr(torch, config.hardware.dtype),
    )


def adapted_modules(model: Any, modules: str) -> list[str]:
    """The linear layers that get an adapter, by their full names."""
    import torch

    linear = [
        name
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear) and "lm_head" not in name
    ]
    if modules == "all-linear":
        return linear
    if modules == "language":
        return [name for name in linear if part_of(name) == "language"]
    return [name for name in linear if re.search(modules, name)]


def _with_adapter(model: Any, config: Config) -> Any:
    from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training

    if config.tuning == "qlora":
        model = prepare_model_for_kbit_training(
            model, use_gradient_checkpointing=config.hardware.checkpointing
        )
    modules = adapted_modules(model, config.lora.modules)
    if not modules:
        raise SitusError(
            "no linear layer matches", where="lora.modules", fix="language, all-linear or a regex"
        )
    adapter = LoraConfig(
        r=config.lora.rank,
        lora_alpha=config.lora.alpha,
        lora_dropout=config.lora.dropout,
        target_modules=modules,
        task_type="CAUSAL_LM",
    )
    return get_peft_model(model, adapter)


def frozen_parts(model: Any) -> tuple[dict[str, int], dict[str, int]]:
    """Parameters by part: those that stay as they are, and those that are trained."""
    frozen: dict[str, int] = {}
    trained: dict[str, int] = {}
    for name, parameter in model.named_parameters():
        counts = trained if parameter.requires_grad else frozen
        part = f"adapter on {part_of(name)}" if "lora_" in name else part_of(name)
        counts[part] = counts.get(part, 0) + _size(parameter)
    return frozen, trained


def _size(parameter: Any) -> int:
    """Numbers in a parameter; four-bit weights are stored two to a byte."""
    quantized = getattr(parameter, "quant_state", None)
    shape = parameter.shape if quantized is None else quantized.shape
    return math.prod(shape)
