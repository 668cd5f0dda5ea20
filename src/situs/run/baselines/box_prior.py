"""Boxes without looking: where a finding lies in other patients, and a fixed grid."""

from __future__ import annotations

import math
import random
from array import array
from collections import defaultdict
from collections.abc import Container, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from situs.items import Boxes, Compound, Item
from situs.run.viewing import Viewing
from situs.space import FrameBox, FrameBoxes, picture_sides

__all__ = [
    "BoxPlaces",
    "BoxPrior",
    "boxes_of",
    "centres",
    "fixed_grid",
    "labels_of",
    "random_boxes",
]

FloatArray = NDArray[np.float64]

_FOLDS = 5
"""Patients are put into so many groups; what one group is told was learnt from others."""
_GRID = ((4, 7), (8, 15), (16, 16))
"""Boxes of a quarter and an eighth of the side, half overlapping,
and of a sixteenth, side by side: 530 a picture."""
_GRID_OF_MANY = ((4, 4),)
_MOST_SUGGESTED = 2048
"""Suggestions for items alike that are remembered."""


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


_Key = tuple[str, bool, str]
"""A label, whether the size of its pictures is known, and the level of the question."""


class _LabelPlaces:
    """Where the boxes of one label lie, item by item, as columns: a bench has millions of boxes."""

    def __init__(self) -> None:
        self.patients: list[str] = []
        self._counts = array("q")
        self._sides = array("d")
        self._spans = array("d")

    def add(
        self, patients: list[str], counts: list[int], sides: FloatArray, frames: FloatArray
    ) -> None:
        """The boxes of some items: how many each has, their sides as shares of the picture's (or in
        pixels where these are not known), and their pictures as shares of all."""
        starts = np.cumsum([0, *counts[:-1]])
        spans = [ends.reduceat(frames, starts) for ends in (np.minimum, np.maximum)]
        self.patients += patients
        self._counts.extend(counts)
        self._sides.frombytes(np.ascontiguousarray(sides).tobytes())
        self._spans.frombytes(np.stack(spans, axis=1).tobytes())

    def of(self, patients: Container[str]) -> tuple[FloatArray, FloatArray]:
        """Of these patients: the boxes,
        as shares of the picture's sides or in pixels, and the spans."""
        chosen = np.array([patient in patients for patient in self.patients], dtype=bool)
        sides = np.array(self._sides).reshape(-1, 4)[np.repeat(chosen, self._counts)]
        return sides, np.array(self._spans).reshape(-1, 2)[chosen]


_Size = tuple[float, float]
_Waiting = tuple[str, FrameBoxes, Sequence[_Size]]
"""The patient of an item, its boxes under one label, and the sizes of its pictures."""
_MOST_WAITING = 2000
"""Items whose boxes are taken down at a time, as rows of one array."""


class BoxPlaces:
    """Where the boxes of a bench lie, gathered item by item, and how far they reach."""

    def __init__(self, viewing: Viewing) -> None:
        self.viewing = viewing
        self.patients: set[str] = set()
        self.trained: set[str] = set()
        """Patients of the training split."""
        self._places: dict[_Key, _LabelPlaces] = defaultdict(_LabelPlaces)
        self._extent = 1.0, 1.0
        self._waiting: dict[_Key, list[_Waiting]] = defaultdict(list)
        self._items = 0

    @property
    def places(self) -> dict[_Key, _LabelPlaces]:
        """Where the boxes of each label lie."""
        self._take_down()
        return self._places

    @property
    def extent(self) -> tuple[float, float]:
        """How far the boxes reach on pictures whose size is not known: their field."""
        self._take_down()
        return self._extent

    def add(self, item: Item) -> None:
        """The boxes of one item, if it asks for some that can be told."""
        asked = boxes_of(item)
        if asked is None or not asked.boxes or self.viewing.obstacle(item):
            return
        self.patients.add(item.patient_id)
        if item.split == "train":
            self.trained.add(item.patient_id)
        sizes = self.viewing.sizes(item)
        known = math.isfinite(sizes[0][0])
        boxes = self.viewing.boxes(item, asked.boxes)
        for label in dict.fromkeys(boxes.labels):
            own = boxes if boxes.has_one_label else boxes.labelled(label)
            self._waiting[label, known, item.level].append((item.patient_id, own, sizes))
        self._items += 1
        if self._items >= _MOST_WAITING:
            self._take_down()

    def _take_down(self) -> None:
        for key, waiting in self._waiting.items():
            patients, boxes, sizes = (list(column) for column in zip(*waiting))
            counts = [len(one) for one in boxes]
            table = np.concatenate([one.table for one in boxes])
            _, known, _ = key
            sides = table[:, 1:]
            if known:
                sides = sides / np.tile(picture_sides(table[:, 0], sizes, counts)[0], 2)
            else:
                width, height = sides[:, 2:].max(axis=0).tolist()  # plain numbers: they are said
                self._extent = max(self._extent[0], width), max(self._extent[1], height)
            pictures = np.repeat([len(one) for one in sizes], counts)
            self._places[key].add(patients, counts, sides, table[:, 0] / pictures)
        self._waiting.clear()
        self._items = 0


class BoxPrior:
    """Median or k-means boxes of each label and the pictures it is mostly seen on, learnt from
    other patients.

    These are the patients of the training split (for one of them, the other folds of it); of a
    label that is not in it, all other patients. This is the shortcut that a score without a
    precision term rewards: 5 or 20 boxes a label beat every published model there.
    """

    def __init__(self, gathered: BoxPlaces, count: int = 1) -> None:
        self._viewing = gathered.viewing
        self._count = count
        self._places = gathered.places
        self._trained = gathered.trained
        patients = gathered.patients
        folds = max(1, min(_FOLDS, len(patients)))
        self._fold = {patient: number % folds for number, patient in enumerate(sorted(patients))}
        self._fitted: dict[tuple[_Key, int], tuple[FloatArray, tuple[float, float]] | None] = {}
        self._suggested: dict[object, tuple[Sequence[_Size], list[FrameBox]]] = {}

    def boxes(self, item: Item) -> list[FrameBox]:
        """What other patients suggest for the item; the middle of the middle picture where they do
        not tell. It is the same list for all items that are alike."""
        sizes, labels = self._viewing.sizes(item), labels_of(item) or [""]
        fold = self._fold.get(item.patient_id, -1)
        key = (*labels, item.level, fold, id(sizes))
        suggested = self._suggested.get(key)
        # The sizes are held, so that no others can have their id.
        if suggested is None or suggested[0] is not sizes:
            if len(self._suggested) >= _MOST_SUGGESTED:
                self._suggested.clear()
            boxes = self._suggest(labels, item.level, fold, sizes)
            suggested = self._suggested[key] = sizes, boxes
        return suggested[1]

    def _suggest(
        self, labels: Sequence[str], level: str, fold: int, sizes: Sequence[_Size]
    ) -> list[FrameBox]:
        known = math.isfinite(sizes[0][0])
        result: list[FrameBox] = []
        for label in labels:
            fitted = self._fit((label, known, level), fold)
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

    def _fit(self, key: _Key, fold: int) -> tuple[FloatArray, tuple[float, float]] | None:
        if (key, fold) not in self._fitted:
            label_places = self._places[key]
            others = {patient for patient in label_places.patients if self._fold[patient] != fold}
            others = others & self._trained or others
            if others:
                boxes, spans = label_places.of(others)
                low, high = np.median(spans, axis=0)
                self._fitted[key, fold] = (
                    centres(boxes, self._count),
                    (float(low), float(high)),
                )
            else:
                self._fitted[key, fold] = None
        return self._fitted[key, fold]


def centres(boxes: FloatArray, count: int) -> FloatArray:
    """The median box, or the centres of Lloyd's k-means from
    evenly spread starts in the order of the boxes' places."""
    if count == 1:
        return np.asarray(np.median(boxes, axis=0, keepdims=True))
    distinct = np.unique(boxes, axis=0)
    if len(distinct) <= count:
        return np.asarray(distinct)
    means = distinct[np.linspace(0, len(distinct) - 1, count).round().astype(int)]
    for _ in range(25):
        nearest = ((boxes[:, None, :] - means[None]) ** 2).sum(axis=2).argmin(axis=1)
        moved = np.array(
            [
                boxes[nearest == k].mean(axis=0) if (nearest == k).any() else means[k]
                for k in range(count)
            ]
        )
        if np.array_equal(moved, means):
            break
        means = moved
    return np.asarray(means)


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
