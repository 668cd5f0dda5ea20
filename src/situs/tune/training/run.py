"""A training run from its plan to the saved model;
supervised training and rewards differ in the trainer alone."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from situs.clients.hf.model import fingerprint
from situs.errors import SitusError
from situs.tune.training import grpo, sft
from situs.tune.training.config import Config
from situs.tune.training.folder import TrainingRun, last_checkpoint, model_data, start_training
from situs.tune.training.limits import refuse_resized, refuse_too_long
from situs.tune.training.log import last_loss, log_callback, trim_log
from situs.tune.training.models import (
    frozen_parts,
    keep_quiet,
    load_trainable,
    need_packages,
    processor_of,
)
from situs.tune.training.plan import Plan, make_plan
from situs.tune.training.saving import save_model
from situs.tune.training.setup import Setup, TrainerMaker

__all__ = ["Trained", "train"]

Progress = Callable[[int, int], None]

_METHODS: dict[str, Callable[[Config, Plan], TrainerMaker]] = {
    "sft": sft.method,
    "grpo": grpo.method,
}
"""Method → what makes its trainer.

Whatever may be wrong with the plan is refused before a file is written.
"""


class Trained(msgspec.Struct, frozen=True):
    """What came of a run."""

    model: str
    """The folder that `hf:` reads, or an adapter for `situs tune merge`."""
    steps: int
    loss: float | None
    """Mean of the last tenth of the logged losses."""
    frozen: dict[str, int]
    trained: dict[str, int]
    resumed_from: int = 0
    notes: tuple[str, ...] = ()


def train(
    config: Config,
    out: Path,
    *,
    resume: bool = False,
    most_steps: int = 0,
    progress: Progress = lambda done, total: None,
) -> Trained:
    """Train as the configuration says, from the start or from the last checkpoint."""
    need_packages("torch", "transformers", "trl", "peft", "accelerate")
    from transformers import PrinterCallback, set_seed

    _refuse_other_devices(config)
    plan = make_plan(config, most_steps=most_steps)
    refuse_resized(config, plan)
    make_trainer = _METHODS[config.method](config, plan)
    keep_quiet()
    set_seed(config.seed)
    model = load_trainable(config)
    record = _run_record(config, plan, model)
    processor, most_tokens = processor_of(Path(config.model), config), _most_tokens(config, model)
    if config.method == "sft":
        refuse_too_long(config, plan, processor, most_tokens)
    checkpoint = last_checkpoint(out) if resume else None
    if _is_first_process():
        start_training(out, record, plan, resume=resume)
        trim_log(out, _step_of(checkpoint))
    trainer = make_trainer(
        Setup(
            config,
            plan,
            model,
            processor,
            _settings(config, plan, out),
            most_tokens,
            (log_callback(out, plan, progress),),
        )
    )
    trainer.remove_callback(PrinterCallback)  # it would print every step to standard output
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    notes = save_model(trainer, config, out, writes=_is_first_process())
    return Trained(
        str(out / "model"),
        plan.steps,
        last_loss(out),
        record.frozen,
        record.trained,
        _step_of(checkpoint),
        (*record.notes, *notes),
    )


def _step_of(checkpoint: Path | None) -> int:
    return int(checkpoint.name.rpartition("-")[2]) if checkpoint else 0


def _refuse_other_devices(config: Config) -> None:
    """Steps are planned for the config's devices: with others each would take other examples."""
    import torch

    processes, planned = int(os.environ.get("WORLD_SIZE", "1")), config.hardware.devices
    if processes != planned:
        raise SitusError(
            f"is planned for {planned} device{'' if planned == 1 else 's'}, and {processes} process"
            f"{' was' if processes == 1 else 'es were'} started",
            where=config.name,
            fix=f"start it with the launch.sh of --launch-files, or add --devices {processes}",
        )
    cards = 0 if config.hardware.cpu else torch.cuda.device_count()
    if processes == 1 and cards > 1:
        # The trainer would spread every step over all of them.
        raise SitusError(
            f"is planned for one device, and one process sees {cards}",
            where=config.name,
            fix=f"set CUDA_VISIBLE_DEVICES=0, or use --launch-files with --devices {cards}",
        )


def _is_first_process() -> bool:
    """Whether this process writes: under torchrun only the first does."""
    return int(os.environ.get("RANK", "0")) == 0


def _run_record(config: Config, plan: Plan, model: Any) -> TrainingRun:
    """What a resumed run must agree with."""
    frozen, trained = frozen_parts(model)
    if not trained:
        raise SitusError("nothing is left to train", where=config.name, fix="freeze less")
    packages = ("torch", "transformers", "trl", "peft", "accelerate")
    return TrainingRun(
        config=config,
        model_hash=fingerprint(Path(config.model)),
        frozen=frozen,
        trained=trained,
        steps=plan.steps,
        versions={name: version(name) for name in packages},
        notes=config.defects,
        **model_data(plan),  # type: ignore[arg-type]
    )


def _settings(config: Config, plan: Plan, out: Path) -> dict[str, Any]:
    """What SFT and GRPO share."""
    import torch

    cpu = config.hardware.cpu or not torch.cuda.is_available()
    low = config.hardware.dtype == "bfloat16"
    return {
        "output_dir": str(out / "checkpoints"),
        "max_steps": plan.steps,
        "per_device_train_batch_size": config.batch.per_device,
        "gradient_accumulation_steps": config.batch.accumulate,
        "learning_rate": config.optimizer.learning_rate,
        "lr_scheduler_type": config.optimizer.schedule,
        "warmup_steps": math.ceil(config.optimizer.warmup * plan.steps),
        "weight_decay": config.optimizer.weight_decay,
        "max_grad_norm": config.optimizer.clip,
        "bf16": low and not cpu,
        "use_cpu": cpu,
        "gradient_checkpointing": config.hardware.checkpointing,
        "save_strategy": "steps",
        "save_steps": config.save_every,
        "save_total_limit": config.keep,
        "logging_strategy": "steps",
        "logging_steps": 1,
        "report_to": _loggers(),
        "remove_unused_columns": False,
        "dataloader_num_workers": 0,
        "dataloader_pin_memory": not cpu,
        "seed": config.seed,
        "data_seed": config.seed,
        "disable_tqdm": True,
    }


def _loggers() -> list[str]:
    import importlib.util

    return ["tensorboard"] if importlib.util.find_spec("tensorboard") else []


def _most_tokens(config: Config, model: Any) -> int:
    """Tokens an example may have: the run's limit or the model's context."""
    context = int(getattr(model.config.get_text_config(), "max_position_embeddings", 0) or 0)
    return min(filter(None, (config.max_length, context)), default=0)
