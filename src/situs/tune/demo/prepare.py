"""What the demonstration trains on:
a bench of synthetic slices, the data of both arms, a tiny base."""

from __future__ import annotations

from pathlib import Path

import msgspec

from situs.build import BuildOptions, build_boxes, parse_mix
from situs.facts import load_recipe
from situs.tune.build import build_data
from situs.tune.dataset import BuildChoices
from situs.tune.demo.plain import write_plain
from situs.tune.demo.slices import write_cohort
from situs.tune.demo.tiny import phrase_tokenizer, write_tiny_model
from situs.tune.record import MARKER, open_data
from situs.tune.training.config import Batch, Config, Hardware, Optimizer, Source, Stage

__all__ = [
    "Sizes",
    "arm_config",
    "base_config",
    "base_model",
    "is_prepared",
    "prepare",
    "write_start",
]

_PROFILE = """\
name = "demo-slices"
about = "One slice of 64 by 64 pixels, few words"

[view]
slices = "item"

[window.any]
low = 0.0
high = 1.0

[prompt]
intro = "One slice."
intro_pixels = "One slice. {marks}"
"""
_MIX = (
    "detection.slice=4,localization.slice=6,classification.slice=0,diagnosis=0,captioning=0,"
    "counting=0,detection.volume=0,localization.volume=0,classification.volume=0"
)


class Sizes(msgspec.Struct, frozen=True):
    """How much is trained; fewer steps for a look at the machinery alone."""

    patients: int = 1500
    plain: int = 8_000
    coarse_steps: int = 200
    base_steps: int = 300
    arm_steps: int = 300
    batch: int = 32


def prepare(out: Path, sizes: Sizes, seed: int) -> None:
    """Write `bench`, `boxes`, `answer`, `coarse` and `plain` into the folder.

    What an interrupted call left is replaced.
    """
    table, listed, images = write_cohort(out / "cohort", sizes.patients, seed)
    recipe = load_recipe()
    recipe = msgspec.structs.replace(recipe, boxes=parse_mix(_MIX, recipe.boxes))
    options = BuildOptions(
        "demo-tune", recipe, seed=seed, restricted=False, licence="synthetic", overwrite=True
    )
    build_boxes([table], out / "bench", options, lists=[listed], images=images)
    (out / "demo-slices.toml").write_text(_PROFILE, "utf-8")
    choices = BuildChoices(
        target="boxes+answer", profile=str(out / "demo-slices.toml"), box_form="qwen3"
    )
    build_data(out / "bench", out / "boxes", choices, overwrite=True)
    # The control is asked with the very same prompts; only what it is taught to reply differs.
    same = msgspec.structs.replace(
        choices, target="answer", profile=str(out / "boxes" / "profile.toml")
    )
    build_data(out / "bench", out / "answer", same, overwrite=True)
    boxes = open_data(out / "boxes")
    write_plain(boxes, out / "coarse", sizes.plain // 2, seed + 1, coarse=True)
    write_plain(boxes, out / "plain", sizes.plain, seed + 2)


def is_prepared(out: Path) -> bool:
    """Whether `prepare` came to its end: what it writes last is there."""
    return (out / "plain" / MARKER).is_file()


def write_start(folder: Path, seed: int) -> Path:
    """The random weights that a seed starts from, written once;
    the tokenizer is that of all seeds."""
    model_folder = folder / f"tiny-seed{seed}"
    if model_folder.is_dir():
        return model_folder
    texts = (
        text
        for name in ("boxes", "answer", "coarse", "plain")
        for example in open_data(folder / name).examples()
        for text in (example.prompt, example.completion)
    )
    part = folder / f".tiny-seed{seed}.part"
    write_tiny_model(
        part,
        tokenizer=phrase_tokenizer(texts),
        patch=8,
        spread=0.08,
        vision_spread=0.08,
        seed=seed,
        context=1024,
    )
    return part.rename(model_folder)


def base_model(folder: Path, seed: int) -> Path:
    """Where the model lies that was taught plain localization."""
    return folder / f"base-seed{seed}" / "model"


def base_config(folder: Path, sizes: Sizes, seed: int) -> Config:
    """Plain localization from random weights: coarse squares first."""
    stages = (
        Stage((Source(str(folder / "coarse")),), name="coarse", steps=sizes.coarse_steps),
        Stage((Source(str(folder / "plain")),), name="plain", steps=sizes.base_steps),
    )
    return _config("base", write_start(folder, seed), stages, 4e-3, sizes, seed)


def arm_config(folder: Path, arm: str, sizes: Sizes, seed: int) -> Config:
    """One arm, from the base of its seed."""
    stage = Stage((Source(str(folder / arm)),), name=arm, steps=sizes.arm_steps)
    return _config(arm, base_model(folder, seed), (stage,), 2e-3, sizes, seed)


def _config(
    name: str, model: Path, stages: tuple[Stage, ...], rate: float, sizes: Sizes, seed: int
) -> Config:
    return Config(
        name=name,
        model=str(model),
        stages=stages,
        tuning="full",
        freeze=(),
        seed=seed,
        optimizer=Optimizer(learning_rate=rate, warmup=0.05, weight_decay=0.0),
        batch=Batch(sizes.batch, 1),
        hardware=Hardware(dtype="float32", checkpointing=False, cpu=True),
        save_every=10**6,
        keep=1,
    )
