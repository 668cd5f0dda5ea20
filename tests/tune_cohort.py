"""A small bench of fastMRI+ boxes with images and splits, for training data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from frame_make import make_cohort, picture, write_h5
from situs.base.files import digest
from situs.tune.record import Manifest, write_manifest

MIX = (
    "captioning=1,classification=1,diagnosis=1,counting=1,detection.slice=4,detection.volume=2,"
    "localization.slice=4,localization.volume=3"
)
"""Few questions a study: every training test goes through all of them."""
RECIPE = Path(__file__).parents[1] / "src" / "situs" / "facts" / "data" / "recipe.toml"


def low_recipe(folder: Path) -> Path:
    """The shipped recipe, splitting cohorts of ten patients on."""
    lines = RECIPE.read_text("utf-8").splitlines()
    changed = ["split_from = 10" if line.startswith("split_from") else line for line in lines]
    path = folder / "recipe.toml"
    path.write_text("\n".join(changed) + "\n", "utf-8")
    return path


def write_volumes(folder: Path, count: int = 7, seed: int = 1) -> list[object]:
    """Volumes of brains and knees, one patient each, no two frames alike;
    arguments for `situs build boxes`."""
    cohort = make_cohort(seed, count=count)
    files, lists = cohort.write(folder / "notes")
    rng = np.random.default_rng(seed)
    for volumes in cohort.lists.values():
        for volume in volumes:
            stack = picture(cohort.boxes(volume))
            stack += rng.uniform(0.0, 0.05, stack.shape).astype(np.float32)
            write_h5(folder / "images" / f"{volume}.h5", stack, patient=volume)
    listed = [part for path in lists for part in ("--lists", path)]
    return [*files, *listed, "--images", folder / "images"]


def reseal(folder: Path, **changes: Any) -> None:
    """The manifest as its builder would have written it for the files as they are now,
    with these fields changed."""
    manifest = msgspec.json.decode((folder / "manifest.json").read_bytes(), type=Manifest)
    files = {name: digest((folder / name).read_bytes()) for name in manifest.files}
    write_manifest(folder, msgspec.structs.replace(manifest, files=files, **changes))


def make_bench(folder: Path, situs: Callable[..., Any]) -> None:
    """`bench` with train, val and test, and `data`, its training data."""
    built = situs(
        "build",
        "boxes",
        *write_volumes(folder),
        *("--recipe", low_recipe(folder), "--licence", "CC0-1.0", "--mix", MIX),
        *("--out", folder / "bench"),
    )
    assert built.code == 0, built.err
    made = situs(
        *("tune", "build", folder / "bench", "--profile", "sgmri-frames"),
        *("--allow-restricted", "--out", folder / "data", "--json"),
    )
    assert made.code == 0, made.err
    (folder / "built.json").write_text(made.out)
