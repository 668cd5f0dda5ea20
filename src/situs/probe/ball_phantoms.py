"""Bright balls in a dark body,
with questions whose answers follow from where the balls were put."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from situs.base.files import digest
from situs.bench import SeriesRecord, StudyRecord
from situs.build import BenchWriter, BuildOptions
from situs.facts import load_recipe
from situs.items import Choice, Item, Option
from situs.volumes import open_volume

__all__ = ["ABILITIES", "write_ball_bench"]

ABILITIES = {
    "left_right": (
        "On which side of the patient is the bright ball?",
        "the patient's left",
        "the patient's right",
    ),
    "front_back": (
        "Is the bright ball nearer to the front or the back of the patient?",
        "the back",
        "the front",
    ),
    "up_down": ("Is the bright ball nearer to the patient's feet or head?", "the feet", "the head"),
    "slice_order": (
        (
            "There are two bright balls, a large and a small one. From the patient's feet to the"
            " head, which comes first?"
        ),
        "the large ball",
        "the small ball",
    ),
}
"""What is asked for, with the option that a coordinate below zero makes right, and the other."""

_NEEDS = {
    "left_right": "side_convention",
    "front_back": "view_convention",
    "up_down": "slice_order",
    "slice_order": "slice_order",
}
_AXES = ("left_right", "front_back", "up_down")
_SHAPE = (72, 72, 60)
_SPACING_MM = 4.0
_AIR, _BODY, _BALL = -1000, -60, 300


def write_ball_bench(folder: Path, trials: int, seed: int) -> None:
    """A bench of `trials` questions of each ability, every answer right equally often;
    nothing in it is restricted."""
    rng = np.random.default_rng(seed)
    options = BuildOptions(
        "adapter-check", load_recipe(), seed=seed, restricted=False, licence="synthetic"
    )
    folder.mkdir(parents=True, exist_ok=True)
    signs = {ability: _balanced(trials, rng) for ability in ABILITIES}
    orders = {ability: _balanced(trials, rng) for ability in ABILITIES}
    with BenchWriter(folder, "phantoms", options, {}) as writer:
        for trial in range(trials):
            one = np.array([signs[axis][trial] for axis in _AXES]) * rng.uniform(0.3, 0.5, 3)
            first = signs["slice_order"][trial]
            two = rng.uniform(-0.3, 0.3, (2, 3))
            two[:, 2] = np.array([first, -first]) * rng.uniform(0.3, 0.5, 2)
            for name, balls, asked in (
                (f"one{trial}", [(one, 26.0)], _AXES),
                (f"two{trial}", [(two[0], 30.0), (two[1], 16.0)], ("slice_order",)),
            ):
                path = folder / "volumes" / f"{name}.nii.gz"
                _write(path, _phantom(balls, rng), rng)
                items = [
                    _item(name, ability, signs[ability][trial], orders[ability][trial])
                    for ability in asked
                ]
                study = _study(name, path)
                writer.add(study, [], items, {}, {study.series[0].image_hash: str(path)})
    writer.finish([])


def _balanced(count: int, rng: np.random.Generator) -> list[int]:
    """-1 and 1 equally often, in random order."""
    signs = np.resize([-1, 1], count)
    rng.shuffle(signs)
    return [int(sign) for sign in signs]


def _phantom(
    balls: list[tuple[NDArray[np.float64], float]], rng: np.random.Generator
) -> NDArray[np.int16]:
    """An ellipsoid body with balls at fractions of its half-axes from the centre;
    axes run right, front, head."""
    half = np.array(_SHAPE) * _SPACING_MM / 2
    grid = np.meshgrid(
        *((np.arange(n) + 0.5) * _SPACING_MM - h for n, h in zip(_SHAPE, half)), indexing="ij"
    )
    inside = sum((axis / (0.94 * h)) ** 2 for axis, h in zip(grid, half)) <= 1
    values = np.where(inside, _BODY, _AIR) + rng.normal(0, 8, _SHAPE)
    for share_of_half, radius in balls:
        centre = share_of_half * half
        values[sum((axis - c) ** 2 for axis, c in zip(grid, centre)) <= radius**2] = _BALL
    return values.astype(np.int16)


def _write(path: Path, values: NDArray[np.int16], rng: np.random.Generator) -> None:
    """Stored with axes flipped at random and an affine that says so, as real files are."""
    import nibabel

    flips = rng.integers(0, 2, 3).astype(bool)
    affine = np.diag([*np.where(flips, -_SPACING_MM, _SPACING_MM), 1.0])
    affine[:3, 3] = np.where(flips, (np.array(_SHAPE) - 1) * _SPACING_MM, 0.0)
    path.parent.mkdir(exist_ok=True)
    stored = np.flip(values, tuple(np.flatnonzero(flips)))
    nibabel.save(nibabel.Nifti1Image(stored, affine), path)


def _study(name: str, path: Path) -> StudyRecord:
    volume = open_volume(path)
    series = SeriesRecord(
        series="ct",
        modality="ct",
        image_hash=volume.content_hash(),
        labels_hash="",
        shape=volume.grid.shape,
        affine=tuple(float(v) for v in volume.grid.affine.matrix.ravel()),
        side_basis="affine",
        annotation="exact",
        structures={},
    )
    return StudyRecord(name, name, "test", (series,))


def _item(study: str, ability: str, sign: int, order: int) -> Item:
    question, below, above = ABILITIES[ability]
    texts = [below, above][:: -1 if order > 0 else 1]
    # The first ball of a pair is the large one, and the one at the lower place comes first.
    return Item(
        item_id=digest("adapter-check", study, ability),
        study_id=study,
        series="ct",
        patient_id=study,
        task=ability,
        form="choice",
        question=question,
        answer=Choice(below if sign < 0 else above),
        options=tuple(Option(text, text) for text in texts),
        needs=(_NEEDS[ability],),
        split="test",
        stratum="phantom",
    )
