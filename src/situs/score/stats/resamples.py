"""Samples of clusters with repeats, drawn once for all statistics of as many clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["Samples", "drawn", "every", "left_out"]

Draw = Callable[[], Iterator[NDArray[np.intp]]]


class Samples:
    """Several samples of `count` clusters:
    as numbers of clusters in the order drawn, or as times of each."""

    def __init__(self, count: int, number: int, draw: Draw) -> None:
        self.count = count
        self._number = number
        self._draw = draw
        self.known: dict[object, NDArray[np.float64]] = {}
        """Values over these samples that were worked out before, by whatever names them."""

    def __len__(self) -> int:
        return self._number

    def __iter__(self) -> Iterator[NDArray[np.intp]]:
        return self._draw()

    @cached_property
    def times(self) -> NDArray[np.float32]:
        """How often each cluster occurs in each sample: samples × clusters.

        Whole numbers, which sum exactly.
        """
        times = np.empty((self._number, self.count), dtype=np.float32)
        for row, sample in zip(times, self._draw()):
            row[:] = np.bincount(sample, minlength=self.count)
        return times


@lru_cache(maxsize=256)
def every(count: int) -> Samples:
    """One sample with every cluster once."""
    return Samples(count, 1, lambda: iter([np.arange(count)]))


@lru_cache(maxsize=64)
def left_out(count: int) -> Samples:
    """For each cluster the sample of all others.

    Asked of few clusters only (`estimates.FEW_CLUSTERS`), and by every group of so many.
    """
    return Samples(count, count, lambda: (np.delete(np.arange(count), i) for i in range(count)))


def drawn(count: int, number: int, seed: int) -> Samples:
    """So many bootstrap samples: with one seed the same whoever asks."""
    # Groups of few clusters are many and take little memory; each of them comes again and again.
    return (_of_few if count <= _FEW else _of_many)(count, number, seed)


_FEW = 128


@lru_cache(maxsize=128)
def _of_few(count: int, number: int, seed: int) -> Samples:
    return _drawn(count, number, seed)


@lru_cache(maxsize=4)
def _of_many(count: int, number: int, seed: int) -> Samples:
    return _drawn(count, number, seed)


def _drawn(count: int, number: int, seed: int) -> Samples:
    def draw() -> Iterator[NDArray[np.intp]]:
        generator = np.random.default_rng(seed)
        return (generator.integers(0, count, count) for _ in range(number))

    return Samples(count, number, draw)
