"""Supervised fine-tuning with TRL: the plan's order, our collator, logs that survive a crash."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from situs.base.files import write_atomic
from situs.clients.hf.model import fingerprint
from situs.errors import SitusError
from situs.tune.training.config import Config
from situs.tune.training.examples import make_collator, planned_examples
from situs.tune.training.folder import (
    TrainingRun,
    copy_processor,
    last_checkpoint,
    model_data,
    start_training,
)
from situs.tune.training.models import (
    frozen_parts,
    keep_quiet,
    load_trainable,
    need_packages,
    processor_of,
)
from situs.tune.training.plan import Plan, make_plan

__all__ = [
    "Trained",
    "is_first_process",
    "last_loss",
    "log_callback",
    "run_record",
    "save_model",
    "train",
    "trainer_settings",
]

Progress = Callable[[int, int], None]


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
    if config.method == "grpo":
        from situs.tune.training.grpo import train_by_reward

        return train_by_reward(config, out, resume=resume, most_steps=most_steps, progress=progress)
    from torch.utils.data import SequentialSampler
    from transformers import PrinterCallback, set_seed
    from trl import SFTConfig, SFTTrainer

    plan = make_plan(config, most_steps=most_steps)
    keep_quiet()
    set_seed(config.seed)
    model = load_trainable(config)
    processor = processor_of(Path(config.model), config)
    _check_lengths(config, plan, model)
    record = run_record(config, plan, model)
    checkpoint = last_checkpoint(out) if resume else None
    if is_first_process():
        start_training(out, record, plan, resume=resume)
    settings = SFTConfig(
        **trainer_settings(config, plan, out),
        max_length=None,
        completion_only_loss=True,
        dataset_kwargs={"skip_prepare_dataset": True},
    )

    class InOrder(SFTTrainer):  # type: ignore[misc]
        """Takes examples in the order of the plan."""

        def _get_train_sampler(self, *_: Any, **__: Any) -> Any:
            return SequentialSampler(self.train_dataset)

    trainer = InOrder(
        model=model,
        args=settings,
        train_dataset=planned_examples(plan),
        data_collator=make_collator(processor),
        processing_class=processor,
        callbacks=[log_callback(out, plan, progress)],
    )
    trainer.remove_callback(PrinterCallback)  # it would print every step to standard output
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    notes = save_model(trainer, config, out)
    return Trained(
        str(out / "model"),
        plan.steps,
        last_loss(out),
        record.frozen,
        record.trained,
        int(checkpoint.name.rpartition("-")[2]) if checkpoint else 0,
        (*record.notes, *notes),
    )


def is_first_process() -> bool:
    """Whether this process writes: under torchrun only the first does."""
    import os

    return int(os.environ.get("RANK", "0")) == 0


def run_record(config: Config, plan: Plan, model: Any) -> TrainingRun:
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


def trainer_settings(config: Config, plan: Plan, out: Path) -> dict[str, Any]:
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


def _check_lengths(config: Config, plan: Plan, model: Any) -> None:
    """An example that does not fit is refused, never cut: the boxes stand at its end."""
    text = model.config.get_text_config()
    context = int(getattr(text, "max_position_embeddings", 0) or 0)
    most = min(filter(None, (config.max_length, context)), default=0)
    longest = max(
        (one.longest for data in plan.data for one in data.manifest.lengths[:1]), default=0
    )
    if most and longest > 2 * most:
        raise SitusError(
            f"its longest example has about {longest:,} tokens, the run takes {most:,}",
            where=", ".join(data.folder.name for data in plan.data),
            fix="build with fewer or smaller pictures, or raise max_length",
        )


def log_callback(out: Path, plan: Plan, progress: Progress) -> Any:
    """Writes every logged step to `log.jsonl` at once, and shows progress."""
    from transformers import TrainerCallback

    ends: list[tuple[int, str]] = []
    passed = 0
    for name, steps in plan.stage_steps:
        passed += steps
        ends.append((passed, name))

    class Log(TrainerCallback):  # type: ignore[misc]
        """One line a step."""

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            if not state.is_world_process_zero or not logs:
                return
            stage = next((name for end, name in ends if state.global_step <= end), "")
            row = {"step": state.global_step, "stage": stage} | {
                key: value for key, value in logs.items() if isinstance(value, int | float)
            }
            with (out / "log.jsonl").open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(row) + "\n")
            loss = logs.get("loss")
            if loss is not None and not math.isfinite(loss):
                raise SitusError(
                    f"the loss is {loss} at step {state.global_step}",
                    where=out,
                    fix="run situs tune check; lower the learning rate",
                )
            progress(state.global_step, plan.steps)

    return Log()


def save_model(trainer: Any, config: Config, out: Path) -> tuple[str, ...]:
    """The tuned weights (or adapter) and the processor beside them."""
    folder = out / "model"
    trainer.save_model(str(folder))
    if not is_first_process():
        return ()
    copy_processor(Path(config.model), folder)
    _write_pixel_limits(folder, config)
    if config.tuning == "full":
        return ()
    # A plain save may leave base weights beside the adapter, which a loader would take for the model.
    for stray in folder.glob("model*.safetensors"):
        stray.unlink()
    note = "vision is adapted too: merge before serving, since servers load language adapters only"
    return (note,) if config.lora.modules != "language" else ()


def _write_pixel_limits(folder: Path, config: Config) -> None:
    """The limits a model was trained with are those it must be asked with."""
    file = folder / "preprocessor_config.json"
    if not file.is_file() or not (config.min_pixels or config.max_pixels):
        return
    settings = json.loads(file.read_text("utf-8"))
    for name, edge in (("min_pixels", "shortest_edge"), ("max_pixels", "longest_edge")):
        if value := getattr(config, name):
            settings[name] = value
            if isinstance(settings.get("size"), dict):
                settings["size"][edge] = value
    write_atomic(file, json.dumps(settings, indent=2) + "\n")


def last_loss(out: Path) -> float | None:
    """The mean of the last tenth of the logged losses."""
    losses = [
        row["loss"]
        for line in (out / "log.jsonl").read_text("utf-8").splitlines()
        if "loss" in (row := json.loads(line))
    ]
    tail = losses[-max(1, len(losses) // 10) :]
    return sum(tail) / len(tail) if tail else None
