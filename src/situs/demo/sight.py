"""What the demo's reader sees: pictures → a coarse grid of grey values → an organ for every point
of it.

Deliberately small: smoothed grey values and positions go through a perceptron of two hidden layers
that was trained on other synthetic patients (`benchmarks/train_reader.py`). It knows the phantoms
of Situs and nothing else; it is no model for patients.
"""

from __future__ import annotations

import io
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow
from scipy import ndimage

__all__ = [
    "CLASSES",
    "CLASS_LESION",
    "GRID_MM",
    "Sight",
    "Stack",
    "classify",
    "features",
    "stack_of",
]

Floats = NDArray[np.float32]

GRID_MM = 4.0
"""Pixels are averaged to about this size: organs stay whole and noise goes."""
CLASSES = ("other", "liver", "spleen", "kidney_left", "kidney_right", "pancreas", "lesion")
CLASS_LESION = CLASSES.index("lesion")

_AIR = 0.06
"""Points whose wide surroundings are no brighter lie outside the body."""
_WIDE = 2
"""Which feature these surroundings are."""
_OTHER_ODDS = 2.0
"""Organs are more frequent among the points it was trained on than in a scan."""


class Stack(NamedTuple):
    """The pictures of one request as one volume."""

    grey: Floats
    """(slice, y, x), 0 to 1; slices from the feet to the head, the patient's right on the left."""
    spacing_mm: tuple[float, float, float]
    """Along slice, y and x."""
    step: int
    """Pixels averaged to one, along y and x."""
    is_ct: bool


class Sight(NamedTuple):
    """What was recognised."""

    stack: Stack
    shares: Floats
    """(class, slice, y, x): how sure, adding up to 1."""


def stack_of(pictures: list[bytes], pixel_mm: float, gap_mm: float, *, is_ct: bool) -> Stack:
    """Decode the pictures and average them to a coarser grid."""
    step = max(1, round(GRID_MM / pixel_mm))
    slices = []
    for data in pictures:
        with Pillow.open(io.BytesIO(data)) as picture:
            pixels = np.asarray(picture.convert("L"), dtype=np.float32) / 255.0
        height, width = (length - length % step for length in pixels.shape)
        blocks = pixels[:height, :width].reshape(height // step, step, width // step, step)
        slices.append(blocks.mean(axis=(1, 3)))
    return Stack(np.stack(slices), (gap_mm, pixel_mm * step, pixel_mm * step), step, is_ct)


def features(stack: Stack) -> Floats:
    """(feature, slice, y, x): grey values at several scales,
    position in the body, and what kind of scan it is."""
    grey = stack.grey
    in_mm = np.array(stack.spacing_mm)

    def smooth(mm: float, across: float) -> Floats:
        blurred: Floats = ndimage.gaussian_filter(grey, np.array([across, mm, mm]) / in_mm)
        return blurred

    near, wide, far = smooth(3.0, 0.1), smooth(9.0, 6.0), smooth(22.0, 14.0)
    rough = np.sqrt(np.maximum(ndimage.uniform_filter(grey**2, (1, 3, 3)) - near**2, 0.0))
    spot = smooth(5.0, 4.0) - smooth(14.0, 9.0)
    body = wide > _AIR
    where = _positions(body, in_mm)
    inside = grey[body] if body.any() else grey.ravel()
    kind = [float(stack.is_ct), *np.quantile(inside, (0.1, 0.3, 0.5, 0.7, 0.9))]
    spread = [np.full(grey.shape, value, dtype=np.float32) for value in kind]
    return np.stack([grey, near, wide, far, rough, spot, np.abs(spot), *where, *spread])


def _positions(body: NDArray[np.bool_], in_mm: NDArray[np.float64]) -> list[Floats]:
    """Where a point lies in the trunk:
    across, front to back, along, in units of about ten centimetres."""
    z, y, x = (np.arange(size, dtype=np.float32) for size in body.shape)
    counts = body.sum(axis=0)
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    total = max(float(counts.sum()), 1.0)
    middle = float((rows * y).sum() / total), float((columns * x).sum() / total)
    shape = body.shape
    across = np.broadcast_to((x - middle[1]) * in_mm[2] / 100.0, shape)
    deep = np.broadcast_to(((y - middle[0]) * in_mm[1] / 100.0)[:, None], shape)
    up = np.broadcast_to((z * in_mm[0] / 100.0)[:, None, None], shape)
    down = np.broadcast_to(((body.shape[0] - 1 - z) * in_mm[0] / 100.0)[:, None, None], shape)
    return [across, deep, up, down]


class _Weights(NamedTuple):
    mean: Floats
    scale: Floats
    layers: tuple[tuple[Floats, Floats], ...]


@cache
def _weights() -> _Weights:
    with (
        files("situs.demo").joinpath("data/reader.npz").open("rb") as file,
        np.load(file) as stored,
    ):
        count = sum(name.startswith("w") for name in stored.files)
        layers = tuple(
            (stored[f"w{n}"].astype(np.float32), stored[f"b{n}"].astype(np.float32))
            for n in range(count)
        )
        return _Weights(stored["mean"], stored["scale"], layers)


def classify(stack: Stack) -> Sight:
    """Which organ each point of the grid belongs to."""
    weights, inputs = _weights(), features(stack)
    inputs = inputs.reshape(len(inputs), -1)
    # Half of a picture is air, which needs no judgement.
    body = inputs[_WIDE] > _AIR
    values = inputs[:, body].T - weights.mean
    values /= weights.scale
    # In place: to fetch new memory for millions of numbers takes longer than to work them out.
    for number, (matrix, bias) in enumerate(weights.layers):
        values = values @ matrix
        values += bias
        if number < len(weights.layers) - 1:
            np.maximum(values, 0.0, out=values)
    values -= values.max(axis=1, keepdims=True)
    np.exp(values, out=values)
    values[:, 0] *= _OTHER_ODDS
    values /= values.sum(axis=1, keepdims=True)
    shares = np.zeros((len(CLASSES), body.size), dtype=np.float32)
    shares[0] = 1.0
    shares[:, body] = values.T
    return Sight(stack, shares.reshape(len(CLASSES), *stack.grey.shape))
