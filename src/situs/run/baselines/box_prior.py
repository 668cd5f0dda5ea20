"""Boxes without looking: where a finding lies in other patients, and a fixed grid."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from situs.items import Boxes, Compound, Item
from situs.run.viewing import Viewing
from situs.space import FrameBox

__all__ = [
    "BoxPrior",
    "boxes_of",
    "centres",
    "extent_of",
    "fixed_grid",
    "labels_of",
    "random_boxes",
]

FloatArray = NDArray[np.float64]

_FOLDS = 5
"""Patients are put into so many groups; what one group is told was learnt from others."""
_GRID = ((4, 7), (8, 15), (16, 16))
"""Boxes of a quarter and an eighth of the side, half overlapping, and of a sixteenth, side by side: 530 a picture."""
_GRID_OF_MANY = ((4, 4),)


def boxes_of(item: Item) -> Boxes | None:
    """The boxes an item asks for, also as a part of its answer."""
    if isinstance(item.answer, Boxes):
        return item.answer
    if isinstance(item.answer, Compound):
        return next((part for part in item.answer.parts.values() if isinstance(part, Boxes)), None)
    return None


def labels_of(item: Item) -> list[str]:
    """The names of what is to be found: the question tells them."""
    asked = boxes_of(item)
    return sorted({box.label for box in asked.boxes}) if asked else []


class BoxPrior:
    """Median or k-means boxes of each label and the pictures it is mostly seen on, learnt from other patients.

    These are the patients of the training split (for one of them, the other folds of it); of a label that is not in
    it, all other patients.
    Places are shares of the picture's sides, or pixels where the size is not known. This is the shortcut that a
    score without a precision term rewards: 5 or 20 boxes a label beat every published model there.
    """

    def __init__(self, items: Iterable[Item], shown: Viewing, count: int = 1) -> None:
        self._viewing = shown
        self._count = count
        self._places: dict[tuple[str, bool, str], list[tuple[str, FloatArray]]] = defaultdict(list)
        self._spans: dict[tuple[str, bool, str], list[tuple[str, float, float]]] = defaultdict(list)
        patients = set()
        self._trained = set()
        for item in items:
            asked = boxes_of(item)
            if asked is not None and asked.boxes and not shown.obstacle(item):
                patients.add(item.patient_id)
                if item.split == "train":
                    self._trained.add(item.patient_id)
                self._learn(item, asked)
        folds = max(1, min(_FOLDS, len(patients)))
        self._fold = {patient: number % folds for number, patient in enumerate(sorted(patients))}
        self._fitted: dict[
            tuple[tuple[str, bool, str], int], tuple[FloatArray, tuple[float, float]] | None
        ] = {}

    def _learn(self, item: Item, asked: Boxes) -> None:
        sizes = self._viewing.sizes(item)
        known = math.isfinite(sizes[0][0])
        by_label: dict[str, list[FrameBox]] = defaultdict(list)
        for box in self._viewing.boxes(item, asked.boxes):
            by_label[box.label].append(box)
        for label, boxes in by_label.items():
            key = (label, known, item.level)
            scale = [
                (*sizes[box.frame], *sizes[box.frame]) if known else (1.0,) * 4 for box in boxes
            ]
            places = np.array([(b.x0, b.y0, b.x1, b.y1) for b in boxes]) / np.array(scale)
            self._places[key].append((item.patient_id, places))
            frames = [box.frame / len(sizes) for box in boxes]
            self._spans[key].append((item.patient_id, min(frames), max(frames)))

    def boxes(self, item: Item) -> list[FrameBox]:
        """What other patients suggest for the item; the middle of the middle picture where they do not tell."""
        sizes = self._viewing.sizes(item)
        known = math.isfinite(sizes[0][0])
        result: list[FrameBox] = []
        for label in labels_of(item) or [""]:
            fitted = self._fit((label, known, item.level), self._fold.get(item.patient_id, -1))
            if fitted is None and not known:
                continue
            places, (low, high) = fitted or (np.array([[0.375, 0.375, 0.625, 0.625]]), (0.45, 0.55))
            first, last = (
                min(len(sizes) - 1, max(0, round(share * len(sizes)))) for share in (low, high)
            )
            for frame in range(first, max(first, last) + 1):
                width, height = sizes[frame] if known else (1.0, 1.0)
                for x0, y0, x1, y1 in places.tolist():
                    box = FrameBox(
                        frame,
                        x0 * width,
                        y0 * height,
                        max(x0, x1) * width,
                        max(y0, y1) * height,
                        label,
                    )
                    result.append(box)
        return result

    def _fit(
        self, key: tuple[str, bool, str], fold: int
    ) -> tuple[FloatArray, tuple[float, float]] | None:
        if (key, fold) not in self._fitted:
            others = {patient for patient, _ in self._places[key] if self._fold[patient] != fold}
            others = others & self._trained or others
            held = [boxes for patient, boxes in self._places[key] if patient in others]
            spans = np.array([span[1:] for span in self._spans[key] if span[0] in others])
            if held:
                low, high = np.median(spans, axis=0)
                self._fitted[key, fold] = (
                    centres(np.concatenate(held), self._count),
                    (float(low), float(high)),
                )
            else:
                self._fitted[key, fold] = None
        return self._fitted[key, fold]


def centres(boxes: FloatArray, count: int) -> FloatArray:
    """The median box, or the centres of Lloyd's k-means from evenly spread starts in the order of the boxes' places."""
    if count == 1:
        return np.asarray(np.median(boxes, axis=0, keepdims=True))
    distinct = np.unique(boxes, axis=0)
    if len(distinct) <= count:
        return np.asarray(distinct)
    found = distinct[np.linspace(0, len(distinct) - 1, count).round().astype(int)]
    for _ in range(25):
        nearest = ((boxes[:, None, :] - found[None]) ** 2).sum(axis=2).argmin(axis=1)
        moved = np.array(
            [
                boxes[nearest == k].mean(axis=0) if (nearest == k).any() else found[k]
                for k in range(count)
            ]
        )
        if np.array_equal(moved, found):
            break
        found = moved
    return np.asarray(found)


def extent_of(items: Iterable[Item], shown: Viewing) -> tuple[float, float]:
    """How far the boxes of all items reach: the field of pictures whose size is not known."""
    reach = [(1.0, 1.0)]
    for item in items:
        asked = boxes_of(item)
        if asked is None or not asked.boxes or shown.obstacle(item):
            continue
        if math.isinf(shown.sizes(item)[0][0]):
            reach += [(box.x1, box.y1) for box in shown.boxes(item, asked.boxes)]
    widths, heights = zip(*reach)
    return max(widths), max(heights)


def fixed_grid(sizes: Sequence[tuple[float, float]], extent: tuple[float, float]) -> list[FrameBox]:
    """The same boxes on every picture, without a name: needs no knowledge at all."""
    single = len(sizes) == 1
    return [
        box
        for frame, size in enumerate(sizes)
        for box in _tiled(frame, _known(size, extent), single=single)
    ]


def _known(size: tuple[float, float], extent: tuple[float, float]) -> tuple[float, float]:
    return size if math.isfinite(size[0]) else extent


def _tiled(frame: int, size: tuple[float, float], *, single: bool) -> Iterator[FrameBox]:
    width, height = size
    for parts, steps in _GRID if single else _GRID_OF_MANY:
        for row in range(steps):
            for column in range(steps):
                x0 = width * (1 - 1 / parts) * column / (steps - 1)
                y0 = height * (1 - 1 / parts) * row / (steps - 1)
                yield FrameBox(frame, x0, y0, x0 + width / parts, y0 + height / parts)


def random_boxes(
    labels: Sequence[str],
    sizes: Sequence[tuple[float, float]],
    extent: tuple[float, float],
    rng: random.Random,
) -> list[FrameBox]:
    """For each thing asked for a box with uniform corners, on a uniform range of pictures."""
    result = []
    for label in labels:
        first, last = sorted((rng.randrange(len(sizes)), rng.randrange(len(sizes))))
        shares = [sorted((rng.random(), rng.random())) for _ in range(2)]
        for frame in range(first, last + 1):
            width, height = _known(sizes[frame], extent)
            (x0, x1), (y0, y1) = shares
            result.append(FrameBox(frame, x0 * width, y0 * height, x1 * width, y1 * height, label))
    return result
