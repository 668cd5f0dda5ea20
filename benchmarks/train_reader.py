"""Train the demo's reader on synthetic patients: writes `src/situs/demo/data/reader.npz`.

    python benchmarks/train_reader.py

The patients are those of population 20261; `situs demo` and the tests use others. Points are
labelled from the phantoms' closed form, through the profile's way from pixels back to millimetres.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path

import numpy as np

from situs.demo.sight import CLASSES, features, stack_of
from situs.profiles import Renderer, encode, layout_of, load_profile
from situs.volumes.phantoms import make_patient

POPULATION = 20261
POINTS = 900
"""Of each class and patient, at most."""
HIDDEN = (48, 32)
OUT = Path(__file__).parents[1] / "src/situs/demo/data/reader.npz"


def points_of(index: int) -> tuple[np.ndarray, np.ndarray]:
    """Features and classes of points of one patient."""
    patient, profile = make_patient(POPULATION, index), load_profile("default")
    layout = layout_of(profile, patient.grid)
    renderer = Renderer(profile, patient.image, patient.grid, patient.modality)
    data = [
        encode(renderer.picture(layout.lattice, frame), profile.encoding).data
        for frame in layout.frames
    ]
    first, second = layout.frames[0], layout.frames[1]
    origin = np.zeros((1, 2))
    gap = float(np.linalg.norm(second.to_source(origin) - first.to_source(origin)))
    stack = stack_of(data, first.mm_per_pixel[0], gap, is_ct=patient.modality == "ct")
    given = features(stack)
    labels = np.zeros(stack.grey.shape, dtype=np.int8)
    y, x = np.mgrid[: labels.shape[1], : labels.shape[2]]
    middle = (stack.step - 1) / 2
    pixels = np.stack([x.ravel(), y.ravel()], axis=1) * stack.step + middle
    for number, frame in enumerate(layout.frames):
        mm = frame.to_source(pixels.astype(np.float64))
        for structure in patient.truth.structures:
            name = "lesion" if "lesion" in structure.name else structure.name
            if name in CLASSES:
                inside = structure.shape.contains(mm).reshape(y.shape)
                labels[number][inside] = CLASSES.index(name)
    rng = np.random.default_rng([POPULATION, index])
    values, classes = given.reshape(len(given), -1).T, labels.ravel()
    near = np.isin(np.arange(len(classes)), np.flatnonzero(values[:, 2] > 0.06))
    chosen = []
    for number in range(len(CLASSES)):
        members = np.flatnonzero((classes == number) & near)
        most = POINTS * (4 if number == 0 else 1)
        chosen.append(rng.permutation(members)[:most])
    keep = np.concatenate(chosen)
    return values[keep], classes[keep]


def train(values: np.ndarray, classes: np.ndarray, steps: int) -> dict[str, np.ndarray]:
    """Adam on the cross-entropy, in numpy."""
    rng = np.random.default_rng(POPULATION)
    mean, scale = values.mean(axis=0), values.std(axis=0) + 1e-6
    data = ((values - mean) / scale).astype(np.float32)
    sizes = (data.shape[1], *HIDDEN, len(CLASSES))
    held: list[np.ndarray] = []
    for fan_in, fan_out in pairwise(sizes):
        held.append(rng.normal(0, np.sqrt(2 / fan_in), (fan_in, fan_out)).astype(np.float32))
        held.append(np.zeros(fan_out, dtype=np.float32))
    first = [np.zeros_like(part) for part in held]
    second = [np.zeros_like(part) for part in held]
    for step in range(1, steps + 1):
        batch = rng.integers(len(data), size=512)
        activity = [data[batch]]
        for n in range(0, len(held), 2):
            out = activity[-1] @ held[n] + held[n + 1]
            activity.append(np.maximum(out, 0) if n < len(held) - 2 else out)
        odds = np.exp(activity[-1] - activity[-1].max(axis=1, keepdims=True))
        odds /= odds.sum(axis=1, keepdims=True)
        back = odds
        back[np.arange(len(batch)), classes[batch]] -= 1
        back /= len(batch)
        slopes: list[np.ndarray] = [np.empty(0)] * len(held)
        for n in range(len(held) - 2, -1, -2):
            slopes[n] = activity[n // 2].T @ back + 1e-5 * held[n]
            slopes[n + 1] = back.sum(axis=0)
            if n:
                back = (back @ held[n].T) * (activity[n // 2] > 0)
        rate = 3e-3 * (1 - step / (steps + 1))
        for n, slope in enumerate(slopes):
            first[n] = 0.9 * first[n] + 0.1 * slope
            second[n] = 0.999 * second[n] + 0.001 * slope**2
            tall = np.sqrt(second[n] / (1 - 0.999**step)) + 1e-8
            held[n] -= rate * first[n] / (1 - 0.9**step) / tall
    weights = {f"w{n // 2}": held[n].astype(np.float16) for n in range(0, len(held), 2)}
    biases = {f"b{n // 2}": held[n + 1].astype(np.float16) for n in range(0, len(held), 2)}
    return {"mean": mean.astype(np.float32), "scale": scale.astype(np.float32), **weights, **biases}


def main() -> None:
    """Make the patients, train, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--patients", type=int, default=48)
    parser.add_argument("--steps", type=int, default=6000)
    chosen = parser.parse_args()
    rows = []
    for index in range(chosen.patients):
        rows.append(points_of(index))
        print(f"patient {index + 1} of {chosen.patients}", flush=True)
    values = np.concatenate([row[0] for row in rows])
    classes = np.concatenate([row[1] for row in rows]).astype(np.int64)
    held = train(values, classes, chosen.steps)
    OUT.parent.mkdir(exist_ok=True)
    np.savez_compressed(OUT, **held)
    print(f"{OUT.name}: {OUT.stat().st_size} bytes from {len(classes)} points")


if __name__ == "__main__":
    main()
