"""What `situs measure` prints of a study, measured again."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.referee.scan import Mask, Scan
from scipy.spatial import cKDTree

__all__ = ["compare", "tally"]

_AXES = ("left_right", "anterior_posterior", "superior_inferior")
_PAIRS = 150
"""So many, drawn at random:
a tree of corners for each pair of dozens of structures takes minutes."""
_POSITIVE = ("right", "anterior", "superior")


def compare(study: Path, more: list[str]) -> Iterator[tuple[str, str]]:
    """Every number by what it is of, and what is wrong with it, if anything."""
    command = [sys.executable, "-m", "situs", "measure", str(study), "--json", *more]
    told = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    masks_path = study / "segmentations" if (study / "segmentations").is_dir() else study
    scan = Scan(masks_path, {row["name"]: row["label"] for row in told["structures"]})
    masks = {row["name"]: scan[row["name"]] for row in told["structures"]}
    for row in told["structures"]:
        for what, wrong in _structure(row, masks[row["name"]]):
            yield f"{row['name']} {what}", wrong
    pairs = told["pairs"]
    for row in random.Random(len(pairs)).sample(pairs, min(_PAIRS, len(pairs))):
        for what, wrong in _pair(row, masks[row["a"]], masks[row["b"]]):
            yield f"{row['a']} {row['b']} {what}", wrong


def _structure(row: dict[str, Any], mask: Mask) -> Iterator[tuple[str, str]]:
    low, high = mask.box
    extents = [row["extent_mm"][axis] for axis in _AXES]
    yield "voxels", _equal(row["voxels"], len(mask.index))
    yield "volume", _equal(row["volume_ml"], mask.ml)
    yield "centroid", _equal(row["centroid_mm"], mask.points.mean(0))
    yield "box", _equal(row["box_mm"], [low, high])
    yield "extent", _equal(extents, high - low)
    yield "components", _equal(row["components"], len(mask.parts()))
    edge = min(mask.index.min(), (np.array(mask.shape) - 1 - mask.index.max(0)).min()) == 0
    yield "border", _equal(row["touches_border"], edge)


def _pair(row: dict[str, Any], a: Mask, b: Mask) -> Iterator[tuple[str, str]]:
    # Centres are those of the main parts; the shortest distance is that of all voxels.
    step = a.main.points.mean(0) - b.main.points.mean(0)
    yield "centre distance", _equal(row["centre_distance_mm"], np.linalg.norm(step))
    if row["gap_mm"] is not None:
        yield "gap", _equal(row["gap_mm"], a.gap_mm(b))
        yield "boundary distance", _equal(row["boundary_distance_mm"], _between_centres(a, b))
    for axis, name in enumerate(_AXES):
        told = row["direction"][name]
        if told is not None:
            yield f"direction {name}", _equal(told == _POSITIVE[axis], step[axis] > 0)


def _between_centres(a: Mask, b: Mask) -> float:
    if np.isin(a.codes, b.codes).any():
        return 0.0
    first, second = (mask.points[mask.on_surface] for mask in (a, b))
    return float(cKDTree(first).query(second)[0].min())


# Files of one study may lie some hundredths of a millimetre apart: DEFINITIONS, one grid.
def _equal(told: object, ours: object) -> str:
    same = np.allclose(np.asarray(told, float), np.asarray(ours, float), rtol=1e-4, atol=0.1)
    return "" if same else f"{ours}, not {told}"


def tally(results: Iterator[tuple[str, str]]) -> Counter[str]:
    """How many agree; what does not is printed."""
    counts: Counter[str] = Counter()
    for what, wrong in results:
        counts["wrong" if wrong else "agrees"] += 1
        if wrong:
            print(f"{what}: {wrong}")
    return counts
