"""The configuration of a training run, as a TOML file, and what may be wrong with it."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import Literal, get_args

import msgspec

from situs.base.files import parse_toml, read_text
from situs.base.numbers import number_problems
from situs.errors import SitusError, did_you_mean

__all__ = [
    "Batch",
    "Config",
    "Grpo",
    "Hardware",
    "Lora",
    "Optimizer",
    "Source",
    "Stage",
    "load_config",
    "shipped_configs",
]


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of the file: a misspelt field is refused."""


class Source(_Table, frozen=True):
    """Training data and how often they are drawn."""

    path: str
    weight: float = 1.0


class Stage(_Table, frozen=True):
    """A part of the curriculum: so many steps, or passes, over a weighted mixture."""

    data: tuple[Source, ...]
    name: str = ""
    steps: int = 0
    epochs: float = 0.0
    """Used where `steps` is 0: passes over as many examples as all sources have together."""


class Optimizer(_Table, frozen=True):
    """AdamW."""

    learning_rate: float = 2e-5
    schedule: Literal["cosine", "linear", "constant", "constant_with_warmup"] = "cosine"
    warmup: float = 0.03
    """Share of all steps."""
    weight_decay: float = 0.01
    clip: float = 1.0


class Batch(_Table, frozen=True):
    """Examples a step: per device × accumulation × devices."""

    per_device: int = 1
    accumulate: int = 8


class Lora(_Table, frozen=True):
    """Low-rank adapters."""

    rank: int = 16
    alpha: int = 32
    dropout: float = 0.0
    modules: str = "language"
    """`language` (linear layers of the language model only, which servers can load), `all-linear`
    (the vision tower and merger too), or a regular expression."""


Shard = Literal["none", "zero2", "zero3", "fsdp"]


class Hardware(_Table, frozen=True):
    """Precision, memory and devices."""

    dtype: Literal["float32", "bfloat16"] = "bfloat16"
    checkpointing: bool = True
    """Activations are computed again in the backward pass."""
    attention: str = "sdpa"
    devices: int = 1
    """Processes that train together. A run that is started with another number is refused: its
    steps would have other examples than were planned."""
    shard: Shard = "none"
    card_gib: float = 80.0
    cpu: bool = False


class Grpo(_Table, frozen=True):
    """Training by rewards."""

    generations: int = 8
    temperature: float = 1.0
    max_new_tokens: int = 512
    beta: float = 0.0
    format: float = 0.1
    answer: float = 1.0
    grounding: float = 1.0
    consistency: float = 0.5
    """Weights of the rewards."""


class Config(_Table, frozen=True):
    """A training run."""

    name: str
    model: str
    """A local folder with weights, tokenizer and processor."""
    stages: tuple[Stage, ...]
    method: Literal["sft", "grpo"] = "sft"
    tuning: Literal["full", "lora", "qlora"] = "lora"
    freeze: tuple[Literal["vision", "merger", "language"], ...] = ("vision", "merger")
    """With `full`: what is not trained. Adapters train what `lora.modules` names."""
    seed: int = 0
    optimizer: Optimizer = Optimizer()
    batch: Batch = Batch()
    lora: Lora = Lora()
    hardware: Hardware = Hardware()
    grpo: Grpo = Grpo()
    min_pixels: int = 0
    max_pixels: int = 0
    """The processor's limits; 0 leaves the folder's. They are written into the tuned folder."""
    max_length: int = 0
    """Tokens an example may have; a longer one is refused, never cut. 0: the model's context."""
    save_every: int = 200
    keep: int = 3
    billions: float = 0.0
    """Parameters, for estimates where the model's folder is not here."""
    about: str = ""
    defects: tuple[str, ...] = ()
    """Known faults of a published recipe, told when it is used."""


def _folder() -> list[str]:
    folder = files("situs.tune").joinpath("configs")
    names = (entry.name for entry in folder.iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def shipped_configs() -> dict[str, str]:
    """The shipped configurations and what each is, in one line."""
    return {name: load_config(name, whole=False).about for name in _folder()}


def load_config(
    spec: str,
    *,
    model: str = "",
    data: tuple[str, ...] = (),
    method: str = "",
    devices: int = 0,
    shard: str = "",
    whole: bool = True,
) -> Config:
    """A shipped configuration by name, or the user's own file; what is given replaces what it says.

    `whole`: refused if it names no model or no data.
    """
    if spec in _folder():
        text = files("situs.tune").joinpath("configs", f"{spec}.toml").read_text("utf-8")
        base = Path()
    elif Path(spec).is_file():
        text, base = read_text(Path(spec)), Path(spec).parent
    else:
        raise SitusError("no such config or file", where=spec, fix=did_you_mean(spec, _folder()))
    try:
        config = msgspec.convert(parse_toml(text), Config)
    except (ValueError, RecursionError) as error:
        raise SitusError(str(error), where=spec, fix="compare it with docs/tune.md") from error
    config = _placed(config, base)
    if model:
        config = msgspec.structs.replace(config, model=model)
    if method:
        if method not in ("sft", "grpo"):
            raise SitusError(f"unknown method {method!r}", where="--method", fix="sft or grpo")
        config = msgspec.convert({**msgspec.to_builtins(config), "method": method}, Config)
    if data:
        config = _with_data(config, data, spec)
    if config.hardware.devices > 0 and (devices or shard):
        config = _with_devices(config, devices or config.hardware.devices, shard)
    if problems := _problems(config, complete=whole):
        raise SitusError("; ".join(problems), where=spec, fix="see docs/tune.md")
    return config


def _placed(config: Config, base: Path) -> Config:
    """Paths of a file are relative to it."""
    stages = tuple(
        msgspec.structs.replace(
            stage,
            data=tuple(
                msgspec.structs.replace(one, path=str(base / one.path)) for one in stage.data
            ),
        )
        for stage in config.stages
    )
    model = str(base / config.model) if config.model else ""
    return msgspec.structs.replace(config, stages=stages, model=model)


def _with_data(config: Config, data: tuple[str, ...], spec: str) -> Config:
    """The data of each stage in turn; one folder stands for all stages."""
    if len(data) not in (1, len(config.stages)):
        raise SitusError(
            f"has {len(config.stages)} stages, and {len(data)} data folders were given",
            where=spec,
            fix="give --data once, or once for each stage",
        )
    folders = data * len(config.stages) if len(data) == 1 else data
    stages = tuple(
        msgspec.structs.replace(stage, data=(Source(folder),))
        for stage, folder in zip(config.stages, folders, strict=True)
    )
    return msgspec.structs.replace(config, stages=stages)


def _with_devices(config: Config, devices: int, shard: str) -> Config:
    """Other devices, and as many examples a step as before: fewer devices accumulate longer."""
    hardware = config.hardware
    if shard and shard not in get_args(Shard):
        fix = did_you_mean(shard, get_args(Shard))
        raise SitusError(f"unknown way to shard {shard!r}", where="--shard", fix=fix)
    together = config.batch.accumulate * hardware.devices
    if together % devices:
        size = together * config.batch.per_device
        divisor = f"give a number that divides {together}, or " if together > 1 else ""
        raise SitusError(
            f"a step of {size} examples, {config.batch.per_device} at a time, cannot be split over "
            f"{devices} devices",
            where="--devices",
            fix=f"{divisor}change batch in a file of your own",
        )
    changes = {"devices": devices, "shard": shard or hardware.shard}
    if devices == 1:
        changes["shard"] = "none"  # there is nobody to share with
    plain = msgspec.to_builtins(config)
    plain["batch"]["accumulate"] = together // devices
    plain["hardware"] |= changes
    return msgspec.convert(plain, Config)


def _problems(config: Config, *, complete: bool) -> list[str]:
    wrong = list(number_problems(config))
    if wrong:
        return wrong
    if not config.model and complete:
        wrong.append("no model is named (--model FOLDER)")
    if not config.stages:
        wrong.append("there is no stage")
    wrong += _stage_problems(config.stages, complete=complete)
    batch = config.batch
    counts = (batch.per_device, batch.accumulate, config.save_every, config.keep)
    if min(*counts, config.hardware.devices) < 1:
        wrong.append(
            "batch.per_device, batch.accumulate, save_every, keep and hardware.devices are at"
            " least 1"
        )
    if config.optimizer.learning_rate <= 0:
        wrong.append("optimizer.learning_rate is not above 0")
    if not 0 <= config.optimizer.warmup < 1:
        wrong.append("optimizer.warmup is a share of the steps, 0 to less than 1")
    if config.tuning == "full" and {"vision", "merger", "language"} <= set(config.freeze):
        wrong.append("everything is frozen")
    if config.method == "grpo" and config.grpo.generations < 2:
        wrong.append("grpo.generations is at least 2: a reply is compared with its neighbours")
    replies = config.batch.per_device * config.batch.accumulate
    if config.method == "grpo" and replies % max(1, config.grpo.generations):
        wrong.append(
            f"a step has {replies} replies (batch.per_device × batch.accumulate), no multiple of "
            f"grpo.generations ({config.grpo.generations})"
        )
    try:
        re.compile(config.lora.modules)
    except re.error as error:
        wrong.append(f"lora.modules is not a regular expression ({error})")
    return wrong


def _stage_problems(stages: tuple[Stage, ...], *, complete: bool) -> list[str]:
    wrong = []
    for number, stage in enumerate(stages, start=1):
        if not stage.data and complete:
            wrong.append(f"stage {number} names no data (--data FOLDER)")
        if stage.steps < 0 or stage.epochs < 0 or not (stage.steps or stage.epochs):
            wrong.append(f"stage {number} has neither steps nor epochs")
        if any(one.weight <= 0 for one in stage.data):
            wrong.append(f"a weight of stage {number} is not above 0")
    return wrong
