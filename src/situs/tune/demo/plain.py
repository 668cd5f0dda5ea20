"""Plain localization: bright and dark squares on grey, with the prompts of the bench's box
questions.

From random weights a small model learns nothing from anatomy in minutes; it is first taught what a
box is, on pictures that show no anatomy.
"""

from __future__ import annotations

import io
from pathlib import Path

import msgspec
import numpy as np

from situs.base.files import digest
from situs.base.publish import new_folder
from situs.space import FrameBox
from situs.tune.demo.slices import GRID, SIDE
from situs.tune.forms import box_form
from situs.tune.record import MARKER, Example, TrainingData, write_manifest

__all__ = ["write_plain"]

_SHADES = {"bright": 235.0, "dark": 10.0}
_PATCH = 8
"""Pixels: the grid of coarse pictures, on which a patch is wholly inside or outside."""


def write_plain(
    like: TrainingData, out: Path, count: int, seed: int, *, coarse: bool = False
) -> None:
    """`count` pictures with one square or two, asked with the box prompts of `like`.

    `coarse`: one square only, on a grid, asked in one wording. Where the answer is one of few, a
    model finds out in a few hundred steps that numbers come from pictures; from fine positions it
    does not.
    """
    from PIL import Image

    prompts = _box_prompts(like)
    if coarse:
        prompts = [next(pair for pair in prompts if pair[0] == label) for label in _SHADES]
    rng = np.random.default_rng(seed)
    form, space = box_form(like.manifest.box_form), like.profile.answer
    with new_folder(out, marker=MARKER, overwrite=True) as folder:
        (folder / "pictures").mkdir()
        with (folder / "train.jsonl").open("wb") as stream:
            for number in range(count):
                label, prompt = prompts[number % len(prompts)]
                picture, box = (_coarse_picture if coarse else _picture)(rng, label)
                buffer = io.BytesIO()
                Image.fromarray(picture).save(buffer, "png")
                name = f"pictures/{digest(buffer.getvalue())}.png"
                (folder / name).write_bytes(buffer.getvalue())
                example = Example(
                    item_id=f"plain-{number}",
                    patient_id=f"plain-{number}",
                    study_id=f"plain-{number}",
                    series="plain",
                    split="train",
                    task="localization",
                    form="boxes",
                    prompt=prompt,
                    completion=form.write([box], space, [(SIDE, SIDE)]),
                    pictures=(name,),
                    shown=1,
                    boxes=1,
                )
                stream.write(msgspec.json.encode(example) + b"\n")
        (folder / "profile.toml").write_bytes((like.folder / "profile.toml").read_bytes())
        manifest = msgspec.structs.replace(
            like.manifest,
            bench="plain localization",
            bench_hash="",
            source="squares on grey",
            licence="synthetic",
            target="boxes",
            counts={"train": count},
            patients={"train": count},
            by_task={"localization": count},
            negative=0,
            pictures=count,
            left_out={},
            files={
                name: digest((folder / name).read_bytes())
                for name in ("train.jsonl", "profile.toml")
            },
        )
        write_manifest(folder, manifest)


def _box_prompts(like: TrainingData) -> list[tuple[str, str]]:
    """Label and prompt of the box questions on one picture, each wording once."""
    label_of_prompt: dict[str, str] = {}
    for example in like.examples():
        if example.form == "boxes" and example.shown == 1:
            label_of_prompt.setdefault(
                example.prompt, "dark" if "edema" in example.prompt else "bright"
            )
    return sorted((label, prompt) for prompt, label in label_of_prompt.items())


def _coarse_picture(rng: np.random.Generator, label: str) -> tuple[np.ndarray, FrameBox]:
    """A grey field with one square, whose sides lie on a grid."""
    field = _field(rng)
    width, height = (int(v) * _PATCH for v in rng.integers(1, 4, 2))
    left, top = (
        int(rng.integers(0, (SIDE - side) // _PATCH + 1)) * _PATCH for side in (width, height)
    )
    field[top : top + height, left : left + width] = _SHADES[label]
    return field.clip(0, 255).astype(np.uint8), FrameBox(0, left, top, left + width, top + height)


def _field(rng: np.random.Generator) -> np.ndarray:
    return np.full((SIDE, SIDE), 110.0) + rng.normal(0, 4, (SIDE, SIDE))


def _picture(rng: np.random.Generator, label: str) -> tuple[np.ndarray, FrameBox]:
    """A grey field with a bright square and a dark one; the one asked for is the truth."""
    field = _field(rng)
    boxes: dict[str, FrameBox] = {}
    for name, shade in _SHADES.items():
        if name != label and rng.random() < 0.5:
            continue
        for _ in range(50):
            width, height = (int(v) * GRID for v in rng.integers(3, 7, 2))
            left, top = (
                int(rng.integers(0, (SIDE - side) // GRID + 1)) * GRID for side in (width, height)
            )
            box = FrameBox(0, left, top, left + width, top + height)
            if not any(_touch(box, other) for other in boxes.values()):
                boxes[name] = box
                field[top : top + height, left : left + width] = shade
                break
    if label not in boxes:
        return _picture(rng, label)
    return field.clip(0, 255).astype(np.uint8), boxes[label]


def _touch(one: FrameBox, other: FrameBox) -> bool:
    return not (one.x1 < other.x0 or other.x1 < one.x0 or one.y1 < other.y0 or other.y1 < one.y0)
